"""TU data sets: real ones, written ones, and broken ones."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import graph_sets, letters, numbers, words

from ugraphemb import GraphSet
from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs.archive import Archive
from ugraphemb.graphs.formats.tu import read_tu, write_tu

# Two graphs: a path of three nodes and an edge.
GOOD = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "7\n-1\n",
    "node_labels": "0\n1\n0\n2\n2\n",
    "edge_labels": "5\n5\n6\n6\n5\n5\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n 3.5, 4\n4.5, nan\n",
}


def folder_of(parent: Path, changes: dict[str, str | bytes | None] | None = None, name: str = "T") -> Path:
    folder = parent / name
    folder.mkdir(exist_ok=True)
    for kind, text in {**GOOD, **(changes or {})}.items():
        if text is not None:
            data = text if isinstance(text, bytes) else text.encode()
            (folder / f"{name}_{kind}.txt").write_bytes(data)
    return folder


def zip_of(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def good_zip(parent: Path) -> Path:
    return zip_of(parent / "T.zip", {f"T/T_{kind}.txt": text.encode() for kind, text in GOOD.items()})


def outcome(path: Path) -> tuple[GraphSet | None, str]:
    """What was read, or the message of an error of this library; any other error is raised."""
    try:
        return read_tu(path, strict=True), ""
    except GraphFormatError as error:
        return None, str(error)


def test_every_file_of_a_set_is_understood(tmp_path: Path):
    graphs = read_tu(folder_of(tmp_path))
    expected = GraphSet.from_edges(
        [3, 2],
        [(0, 1), (1, 2), (3, 4)],
        node_labels=[0, 1, 0, 2, 2],
        edge_labels=[5, 6, 5],
        node_attributes=[[0.5, 1], [1.5, 2], [2.5, 3], [3.5, 4], [4.5, np.nan]],
        targets=[7, -1],
    )
    assert graphs == expected
    assert graphs.name == "T"
    assert read_tu(good_zip(tmp_path)) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"A": "1,2\r\n2,1\r\n2,3\r\n3,2\r\n4,5\r\n5,4\r\n"},
        {"A": "\ufeff1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n\n \n"},
        {"A": "+1, 2\n2, 1.0\n2, 3\n3, 2\n4, 5\n5, 4"},
        {"graph_labels": "7\n -1"},
    ],
    ids=["line ends of Windows", "byte order mark and blank end", "signs and points", "no last line end"],
)
def test_ways_of_writing_numbers_do_not_matter(tmp_path: Path, changes: dict[str, str]):
    assert read_tu(folder_of(tmp_path, changes)) == read_tu(folder_of(tmp_path, name="U"))


def test_edges_given_once_are_the_same_as_edges_given_twice(tmp_path: Path):
    once = folder_of(tmp_path, {"A": "2, 1\n2, 3\n5, 4\n", "edge_labels": "5\n6\n5\n"})
    assert read_tu(once, strict=True) == read_tu(folder_of(tmp_path, name="U"))


def test_nodes_may_stand_in_any_order(tmp_path: Path):
    shuffled = folder_of(
        tmp_path,
        {
            "graph_indicator": "2\n1\n1\n2\n1\n",  # nodes 4, 1, 2, 5, 3 of the good set
            "A": "2, 3\n3, 2\n3, 5\n5, 3\n1, 4\n4, 1\n",
            "node_labels": "2\n0\n1\n2\n0\n",
            "node_attributes": "3.5, 4\n0.5, 1\n1.5, 2\n4.5, nan\n2.5, 3\n",
        },
    )
    assert read_tu(shuffled) == read_tu(folder_of(tmp_path, name="U"))


def test_names_become_labels_and_ids(tmp_path: Path):
    names = {"node_label_names": "H\nC\nN\n", "edge_labels": None, "graph_names": "a b.gxl\nc.gxl\n"}
    graphs = read_tu(folder_of(tmp_path, names))
    assert graphs[0].node_labels == ["H", "C", "H"]
    assert graphs.ids.tolist() == ["a b.gxl", "c.gxl"]
    repeated = read_tu(folder_of(tmp_path, {"graph_names": "a\na\n"}, name="U"))
    assert repeated.ids.tolist() == ["0", "1"]


def test_several_columns_of_labels_become_tuples(tmp_path: Path):
    graphs = read_tu(folder_of(tmp_path, {"node_labels": "0, 1\n1, 1\n0, 1\n2, 0\n2, 2\n"}))
    assert graphs[0].node_labels == [(0, 1), (1, 1), (0, 1)]
    assert len(graphs.node_vocabulary) == 4


def test_numbers_for_regression_are_read(tmp_path: Path):
    changes = {"graph_labels": None, "graph_attributes": "0.25, 1\n-3e2, 2\n"}
    folder = folder_of(tmp_path, changes)
    with pytest.raises(GraphFormatError, match="target=0 to 1"):
        read_tu(folder)
    assert read_tu(folder, target=0).targets.tolist() == [0.25, -300.0]
    assert read_tu(folder, target=1).targets.tolist() == [1.0, 2.0]
    assert read_tu(folder_of(tmp_path, {"graph_labels": "0.5\n1\n"}, name="U")).targets.tolist() == [0.5, 1.0]


@pytest.mark.filterwarnings("ignore::ugraphemb.errors.GraphWarning")
@given(
    st.one_of(
        graph_sets(node_labels=words, edge_labels=None),
        graph_sets(node_labels=numbers, edge_labels=letters),
        graph_sets(node_labels=st.tuples(numbers, numbers), edge_labels=numbers),
        graph_sets(node_labels=None, edge_labels=st.tuples(numbers, numbers, numbers)),
    ),
    st.booleans(),
)
def test_what_is_written_is_read_back_equal(tmp_path_factory: pytest.TempPathFactory, graphs: GraphSet, zipped: bool):
    path = tmp_path_factory.mktemp("tu") / ("T.zip" if zipped else "T")
    write_tu(graphs, path)
    assert read_tu(path, strict=True) == graphs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"node_labels": ["a", 1]}, "node labels such as"),
        ({"node_labels": [1.5, 2.5]}, "1.5"),
        ({"node_labels": ["a\nb", "c"]}, "line break"),
        ({"node_labels": ["\ud800", "c"]}, "UTF-8"),
        ({"node_labels": [2**63, 1]}, "whole numbers"),
        ({"targets": np.array([None])}, "targets of type object"),
        ({"ids": ["a\rb"]}, "line break"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(tmp_path: Path, options: dict, message: str):
    with pytest.raises(GraphFormatError, match=message):
        write_tu(GraphSet.from_edges([2], [(0, 1)], **options), tmp_path / "T")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": None}, r"T: no NAME_A.txt; expected one TU data set"),
        ({"graph_indicator": None}, r"T_graph_indicator.txt: missing"),
        ({"A": "1, 2\n2, 1\n0, 1\n" * 2}, r"T_A.txt:3: edge \(0, 1\), but node ids go from 1 to 5"),
        ({"A": "1, 2\n2, 6\n" * 3}, r"T_A.txt:2: edge \(2, 6\), but node ids go from 1 to 5"),
        ({"A": "1, 2\n3, 4\n" * 3}, r"T_A.txt:2: edge \(3, 4\), which joins graph 1 and graph 2"),
        ({"A": "1, 2\n2, x\n" * 3}, r"T_A.txt:2: 'x'; expected a whole number"),
        ({"A": "1, 2\n2, 1.5\n" * 3}, r"T_A.txt:2: '1.5'; expected a whole number"),
        ({"A": "1, 2\n2, 1_0\n" * 3}, r"T_A.txt:2: '1_0'"),
        ({"A": "1, 2\n2, inf\n" * 3}, r"T_A.txt:2: 'inf'"),
        ({"A": "1, 2\n2, 99999999999\n" * 3}, r"T_A.txt:2: edge \(2, 99999999999\), but node ids"),
        ({"A": f"1, 2\n2, {10**30}\n" * 3}, r"T_A.txt:2: 10+ does not fit"),
        ({"A": "1, 2\n2\n" * 3}, r"T_A.txt:2: 1 value; expected 2 numbers"),
        ({"A": "1, 2\n2, 1, 3\n" * 3}, r"T_A.txt:2: 3 values; expected 2 numbers"),
        ({"A": "1, 2\n\n" * 6}, r"T_A.txt:2: an empty line"),
        ({"A": "1, 2\n".encode("utf-16")}, r"T_A.txt:1: UTF-16"),
        ({"A": b"1, 2\n2, \xff\n" * 3}, r"T_A.txt:2: '\\\\xff'"),
        ({"A": b"1, 2\n2, \x00\n" * 3}, r"T_A.txt:2: "),
        ({"A": "1, 2\n2, 1\n"}, r"T_edge_labels.txt: 6 lines; expected 2, as many as T_A.txt has"),
        ({"A": ""}, r"T_edge_labels.txt: 6 lines; expected 0"),
        ({"graph_indicator": ""}, r"T_node_labels.txt: 5 lines; expected 0"),
        ({"graph_indicator": "1\n1\n1\n2\n3\n"}, r"T_graph_indicator.txt:5: graph 3, but graph ids go from 1 to 2"),
        ({"graph_indicator": "0\n1\n1\n2\n2\n"}, r"T_graph_indicator.txt:1: graph 0, but graph ids go from 1 to 2"),
        ({"graph_indicator": "1\n1\n1\n2\nzwei\n"}, r"T_graph_indicator.txt:5: 'zwei'"),
        ({"graph_indicator": "1\n1\n1\n3\n3\n", "graph_labels": None}, r"no node of graph 2 of 3"),
        ({"graph_indicator": "1\n1\n1\n2\n900\n", "graph_labels": None}, r"T_graph_indicator.txt:5: graph 900"),
        ({"graph_labels": ""}, r"T_graph_indicator.txt:1: graph 1, but graph ids go from 1 to 0"),
        ({"graph_labels": "1\nA\n"}, r"T_graph_labels.txt:2: 'A'"),
        ({"graph_names": "a\nb\nc\n"}, r"T_graph_names.txt: 3 lines; expected 2, as many as T_graph_labels.txt has"),
        ({"graph_names": b"a\n\xe4\n"}, r"T_graph_names.txt:2: byte 0xe4"),
        ({"node_labels": "0\n1\n0\n2\n"}, r"T_node_labels.txt: 4 lines; expected 5"),
        ({"node_labels": "0\n1, 2\n0\n2\n2\n"}, r"T_node_labels.txt:2: 2 values; expected a whole number"),
        ({"node_label_names": "a\nb\n"}, r"T_node_labels.txt:4: label 2, but T_node_label_names.txt names .* 0 to 1"),
        ({"node_attributes": "1\n2\n3\n4\n"}, r"T_node_attributes.txt: 4 lines; expected 5"),
        ({"node_attributes": "1\n2\n3\n4\nfive\n"}, r"T_node_attributes.txt:5: 'five'; expected a number"),
    ],
)  # fmt: skip
def test_broken_sets_are_refused_with_file_and_line(tmp_path: Path, changes: dict, message: str):
    folder = folder_of(tmp_path, changes)
    for kind, text in changes.items():
        if text is None:
            (folder / f"T_{kind}.txt").unlink(missing_ok=True)
    with pytest.raises(GraphFormatError, match=message):
        read_tu(folder)


def test_attributes_of_edges_are_ignored_and_said_to_be(tmp_path: Path):
    with pytest.warns(GraphWarning, match=r"T_edge_attributes.txt: ignored"):
        assert len(read_tu(folder_of(tmp_path, {"edge_attributes": "1\n" * 6}))) == 2


def test_loops_and_repeats_are_dropped_or_refused(tmp_path: Path):
    folder = folder_of(tmp_path, {"A": "1, 2\n1, 2\n3, 3\n", "edge_labels": None})
    (folder / "T_edge_labels.txt").unlink(missing_ok=True)
    with pytest.warns(GraphWarning, match="dropped 1 self loop and 1 repeated edge"):
        assert read_tu(folder).num_edges.tolist() == [1, 0]
    with pytest.raises(GraphFormatError, match=r"T_A.txt: 1 self loop"):
        read_tu(folder, strict=True)


@pytest.mark.parametrize("kept", [0, 1, 30, 200, 0.5, 0.9, 0.999])
def test_a_truncated_zip_is_refused(tmp_path: Path, kept: float):
    path = good_zip(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: kept if isinstance(kept, int) else int(len(data) * kept)])
    with pytest.raises(GraphFormatError, match=r"T\.zip: not a whole zip file"):
        read_tu(path)


@given(st.data())
def test_a_zip_with_a_changed_byte_is_refused_or_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    path = good_zip(tmp_path_factory.mktemp("zip"))
    good = read_tu(path)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(bytes(content))
    graphs, message = outcome(path)
    if graphs is None:
        assert str(path) in message
    else:  # only names and dates carry no checksum, and a set may do without some of its files
        assert graphs.num_nodes.tolist() == good.num_nodes.tolist()


@pytest.mark.parametrize("name", ["../T_A.txt", "/T/T_A.txt", "T/../../T_A.txt", "C:/T_A.txt", "..\\T_A.txt"])
def test_members_that_climb_out_are_refused(tmp_path: Path, name: str):
    path = zip_of(tmp_path / "T.zip", {name: b"1, 2\n"})
    with pytest.raises(GraphFormatError, match=r"T\.zip: member .* leads out"):
        read_tu(path)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = zip_of(tmp_path / "T.zip", {"T/T_A.txt": b"0" * 20_000_000})
    with pytest.raises(GraphFormatError, match=r"unpacks to 20000000 bytes, \d+ times its size; the limit is 100"):
        read_tu(path)
    monkeypatch.setenv("UGRAPHEMB_LIMITS", "ratio=2000,members=0")
    with pytest.raises(GraphFormatError, match="1 members; the limit is 0"):
        read_tu(path)
    monkeypatch.setenv("UGRAPHEMB_LIMITS", "ratio=2000")
    with pytest.raises(GraphFormatError, match="missing"):
        read_tu(path)


def test_a_member_that_lies_about_its_size_is_refused(tmp_path: Path):
    path = good_zip(tmp_path)
    content = path.read_bytes()
    size = len(GOOD["A"]).to_bytes(4, "little")
    assert content.count(size + b"\x09\x00") or content.count(size)
    path.write_bytes(content.replace(size, (3).to_bytes(4, "little")))
    with pytest.raises(GraphFormatError, match=r"T\.zip: member"):
        read_tu(path)


def test_several_sets_in_one_zip_ask_for_a_choice(tmp_path: Path):
    members = {f"{name}/{name}_{kind}.txt": text.encode() for name in "TU" for kind, text in GOOD.items()}
    path = zip_of(tmp_path / "both.zip", members)
    with pytest.raises(GraphFormatError, match=r"both.zip: 2 files NAME_A.txt \(T/T, U/U\)"):
        read_tu(path)
    assert read_tu(path, name="U") == read_tu(folder_of(tmp_path))


def test_what_a_mac_adds_to_a_zip_does_not_count(tmp_path: Path):
    members = {f"T/T_{kind}.txt": text.encode() for kind, text in GOOD.items()}
    path = zip_of(tmp_path / "T.zip", {**members, "__MACOSX/T/._T_A.txt": b"\0"})
    assert len(read_tu(path)) == 2


def test_an_encrypted_member_is_refused(tmp_path: Path):
    path = good_zip(tmp_path)
    content = bytearray(path.read_bytes())
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        at = content.find(mark) + (6 if mark == b"PK\x03\x04" else 8)
        content[at] |= 1
    path.write_bytes(bytes(content))
    with pytest.raises(GraphFormatError, match="encrypted"):
        read_tu(path)


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), st.text("0123, .-x\n\r", max_size=30), max_size=3))
def test_nothing_but_our_error_comes_out(tmp_path_factory: pytest.TempPathFactory, changes: dict[str, str]):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for kind, text in {**GOOD, **changes}.items():
            archive.writestr(f"T/T_{kind}.txt", text)
    path = tmp_path_factory.mktemp("fuzz") / "T.zip"
    path.write_bytes(data.getvalue())
    graphs, message = outcome(path)
    if graphs is None:
        assert re.match(rf"{re.escape(str(path))}[:/]", message)
    else:
        assert graphs.num_nodes.sum() == len(graphs.node_labels)


def test_the_mutag_of_grakel_is_read_as_its_lines_say(tmp_path: Path):
    spec = find_spec("grakel")
    source = Path(spec.origin).parent / "tests" / "data" / "MUTAG" if spec and spec.origin else tmp_path / "none"
    if not source.is_dir():
        pytest.skip("grakel's copy of MUTAG is not installed")
    shutil.copytree(source, tmp_path / "MUTAG")
    graphs = read_tu(tmp_path / "MUTAG", label_names=False)
    lines = {kind: (source / f"MUTAG_{kind}.txt").read_text().split("\n")[:-1] for kind in ("A", "node_labels")}
    assert graphs.num_edges.sum() * 2 == len(lines["A"])
    assert [label for graph in graphs for label in graph.node_labels] == [int(line) for line in lines["node_labels"]]
    given_edges = {tuple(int(end) - 1 for end in line.split(",")) for line in lines["A"]}
    ours = {
        (int(u + start), int(v + start))
        for graph, start in zip(graphs, graphs.node_offsets, strict=False)
        for u, v in graph.edges
    }
    assert ours | {(v, u) for u, v in ours} == given_edges


def test_verify_reads_every_member(tmp_path: Path):
    path = zip_of(tmp_path / "x.zip", {"a": b"12345678" * 100, "b": b"x"})
    with Archive(path) as archive:
        archive.verify()
        assert archive.names == ["a", "b"]
        assert archive.read("b") == b"x"


README = """README for dataset T

=== Usage ===
(4) DS_node_labels.txt (n lines)
	column vector of node labels,
	0  nothing

Node labels:

  0  C
  1  N
  2  Cl

Edge labels:

  0  aromatic
  1  single

=== References ===
  3  Kriege
"""
MAP = """Node labels:\t\t[symbol]

Node attributes:\t[chem, x]
\t0\tx
Node labels were converted to integer values using this map:

Component 0:
\t0\tC  
\t1\tN  
\t2\tCl 


Edge labels were converted to integer values using this map:

Component 0:
\t0\taromatic
\t1\tsingle

Class labels were converted to integer values using this map:
\t0\ta
"""  # noqa: W291
LABELED = {
    "A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n", "node_labels": "0\n2\n", "edge_labels": "1\n1\n",
}  # fmt: skip


@pytest.mark.parametrize(("file", "text"), [("README.txt", README), ("T_label_readme.txt", MAP)])
@pytest.mark.parametrize("zipped", [False, True])
def test_labels_have_the_names_of_the_readme(tmp_path: Path, file: str, text: str, zipped: bool):
    members = {f"T_{kind}.txt": content for kind, content in LABELED.items()} | {file: text}
    if zipped:
        path = zip_of(tmp_path / "T.zip", {f"T/{name}": content.encode() for name, content in members.items()})
    else:
        path = tmp_path / "T"
        path.mkdir()
        for name, content in members.items():
            (path / name).write_text(content)
    graphs = read_tu(path)
    assert graphs[0].node_labels == ["C", "Cl"]
    assert graphs[0].edge_labels == ["single"]
    numbered = read_tu(path, label_names=False)
    assert numbered[0].node_labels == [0, 2]


@pytest.mark.parametrize(
    "text",
    [README.replace("  2  Cl\n", ""), README.replace("2  Cl", "2  C"), README.replace("2  Cl", "1  Cl"),
     MAP.replace("Edge labels were", "Component 1:\n\t0\tx\nEdge labels were"), "", "Node labels:\n\n 99999999999 C\n"],
)  # fmt: skip
def test_a_readme_that_does_not_name_all_labels_changes_nothing(tmp_path: Path, text: str):
    for kind, content in LABELED.items():
        (tmp_path / f"T_{kind}.txt").write_text(content)
    (tmp_path / "README.txt").write_text(text)
    assert read_tu(tmp_path)[0].node_labels == [0, 2]


@pytest.mark.parametrize(
    ("name", "some"), [("MUTAG", {"C", "N", "Br"}), ("PTC_MR", {"Sn", "Cl"}), ("AIDS", {"C", "Pt"})]
)
def test_molecules_of_tu_have_elements_as_labels(data_root: Path, name: str, some: set[str]):
    graphs = read_tu(data_root / name / f"{name}.zip")
    assert some <= set(graphs.node_vocabulary)
    assert all(isinstance(label, str) for label in graphs.node_vocabulary)
    if name == "AIDS":
        assert graphs.edge_vocabulary == (1, 2, 3)  # valences
    else:
        assert set(graphs.edge_vocabulary) <= {"single", "double", "triple", "aromatic"}
