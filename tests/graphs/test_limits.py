"""Small files that need much memory are refused before it is allocated, and the limits can be raised."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ugraphemb import GraphSet, read_graphs
from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs.limits import limits


def zipped(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def newlines(path: Path) -> None:
    zipped(path, {"T_A.txt": b"\n" * 2_000_000 + b"1,1\n", "T_graph_indicator.txt": b"1\n"})


def many_newlines(path: Path) -> None:
    zipped(path, {"T_A.txt": b"\n" * 26_000_000, "T_graph_indicator.txt": b"1\n"})


def zeros(path: Path) -> None:
    zipped(path, {"T_A.txt": b"1,1\n", "T_graph_indicator.txt": b"1\n" * 20_000_000})


def one_bad_line(path: Path) -> None:
    """As much as a zip may hold, and only the last line is wrong."""
    zipped(path, {"T_A.txt": b"1,1\n", "T_graph_indicator.txt": b"1\n" * 8_000_000 + b"x\n"})


def one_long_id(path: Path) -> None:
    records = [{"id": str(i), "num_nodes": 0, "edges": []} for i in range(10_000)]
    records.append({"id": "x" * 500_000, "num_nodes": 0, "edges": []})
    path.write_text("\n".join(map(json.dumps, records)))


def one_long_target(path: Path) -> None:
    records = [{"id": str(i), "num_nodes": 0, "edges": [], "target": "a"} for i in range(10_000)]
    records.append({"id": "x", "num_nodes": 0, "edges": [], "target": "x" * 500_000})
    path.write_text("\n".join(map(json.dumps, records)))


def names_in_gxl(path: Path) -> None:
    nodes = (f'<node id="{i}"><attr name="a{i}"><int>1</int></attr></node>' for i in range(20_000))
    path.write_text(f"<gxl><graph id='g'>{''.join(nodes)}</graph></gxl>")


def words_in_gxl(path: Path) -> None:
    nodes = (f'<node id="{i}"><attr name="a{i}"><string>x</string></attr></node>' for i in range(20_000))
    path.write_text(f"<gxl><graph id='g'>{''.join(nodes)}</graph></gxl>")


def names_in_graphml(path: Path) -> None:
    keys = (f'<key id="d{i}" for="node" attr.name="a{i}" attr.type="int"/>' for i in range(20_000))
    nodes = (f'<node id="{i}"><data key="d{i}">1</data></node>' for i in range(20_000))
    path.write_text(f"<graphml>{''.join(keys)}<graph>{''.join(nodes)}</graph></graphml>")


def fewer_names_in_graphml(path: Path) -> None:
    keys = (f'<key id="d{i}" for="node" attr.name="a{i}" attr.type="int"/>' for i in range(9_000))
    nodes = (f'<node id="{i}"><data key="d{i}">1</data></node>' for i in range(9_000))
    path.write_text(f"<graphml>{''.join(keys)}<graph>{''.join(nodes)}</graph></graphml>")


def defaults_in_graphml(path: Path) -> None:
    keys = (f'<key id="d{i}" for="edge" attr.name="a{i}"><default>x</default></key>' for i in range(20_000))
    edges = "<edge source='0' target='0'/>" * 20_000
    path.write_text(f"<graphml>{''.join(keys)}<graph><node id='0'/>{edges}</graph></graphml>")


def many_columns(path: Path) -> None:
    zipped(
        path,
        {
            "T_A.txt": b"1,1\n", "T_graph_indicator.txt": b"1\n1\n",
            "T_node_attributes.txt": b",".join([b"1"] * 1_000_000) + b"\n",
        },
    )  # fmt: skip


def long_smiles(path: Path) -> None:
    path.write_text("C" * 100_000 + " long\n")


def long_block(path: Path) -> None:
    path.write_text("name\n\n\n" + "C" * 2_000_000)


def names_in_sdf(path: Path) -> None:
    block = "\n\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n"
    path.write_text("".join(f"{i}{block}> <p{i}>\n1\n\n$$$$\n" for i in range(5_000)))


def claimed_nodes(path: Path) -> None:
    path.write_text(json.dumps({"id": "a", "num_nodes": 5_000_000, "edges": []}))


def one_file_again_and_again(path: Path) -> None:
    nodes = "".join(f"<node id='{i}'/>" for i in range(5_000))
    (path.parent / "g.gxl").write_text(f"<gxl><graph id='g'>{nodes}</graph></gxl>")
    entries = "<print file='g.gxl'/>" * 20_000
    path.write_text(f"<GraphCollection>{entries}</GraphCollection>")


def packed_newlines(path: Path) -> None:
    path.write_bytes(gzip.compress(b"\n" * 40_000_000, 6))


BOMBS: list[tuple[Callable[[Path], None], str, str]] = [
    (newlines, ".zip", "T_A.txt:1: an empty line"),
    (many_newlines, ".zip", "unpacks to 26000002 bytes"),
    (zeros, ".zip", "unpacks to 40000004 bytes"),
    (one_bad_line, ".zip", "T_graph_indicator.txt:8000001: 'x'"),
    (one_long_id, ".jsonl", "ids: .* one has 500000 characters"),
    (one_long_target, ".jsonl", "targets: .* one has 500000 characters"),
    (names_in_gxl, ".gxl", "20000 different attributes"),
    (names_in_graphml, ".graphml", "20000 different attributes"),
    (fewer_names_in_graphml, ".graphml", "9000 nodes and 9000 attributes, most of them missing"),
    (defaults_in_graphml, ".graphml", "20000 default values"),
    (many_columns, ".zip", "1000000 numbers in a line; the limit is 10000"),
    (long_smiles, ".smi", "of 100000 characters; the limit is 5000"),
    (long_block, ".sdf", "a molecule of 2000007 characters"),
    (names_in_sdf, ".sdf", "5000 graphs and 5001 columns of metadata, most of them missing"),
    (claimed_nodes, ".jsonl", "5000000 nodes claimed by"),
    (one_file_again_and_again, ".cxl", "names files repeatedly"),
    (packed_newlines, ".edges.gz", "unpacks to more than"),
]


@pytest.mark.parametrize(("bomb", "suffix", "message"), BOMBS, ids=[bomb.__name__ for bomb, _, _ in BOMBS])
def test_a_bomb_is_refused_in_little_time_and_memory(
    tmp_path: Path, bomb: Callable[[Path], None], suffix: str, message: str
):
    path = tmp_path / f"set{suffix}"
    if suffix in (".smi", ".sdf"):
        pytest.importorskip("rdkit")
    bomb(path)
    before = resource.getrusage(resource.RUSAGE_SELF)
    with pytest.raises(GraphFormatError, match=message):
        read_graphs(path)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 5
    assert after.ru_maxrss - before.ru_maxrss < 800_000  # KiB; the peak of the process


def test_attributes_of_other_kinds_are_counted_in_one_pass(tmp_path: Path):
    words_in_gxl(tmp_path / "set.gxl")
    with pytest.warns(match=r"ignored 1 node attributes 'a0'.* 19990 other kinds of data") as caught:
        assert read_graphs(tmp_path / "set.gxl").num_nodes.tolist() == [20_000]
    assert len(str(caught[0].message)) < 1_000


def test_long_smiles_are_skipped_if_asked(tmp_path: Path):
    pytest.importorskip("rdkit")
    (tmp_path / "set.smi").write_text("CC a\n" + "C" * 100_000 + " long\nCO b\n")
    with pytest.warns(GraphWarning, match="1 molecule that cannot be read"):
        assert read_graphs(tmp_path / "set.smi", on_error="skip").ids.tolist() == ["a", "b"]


def test_limits_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    one_long_id(tmp_path / "set.jsonl")
    monkeypatch.setenv("UGRAPHEMB_LIMITS", "text=100000000000 nodes=7")
    assert (limits().text, limits().nodes, limits().ratio) == (100_000_000_000, 7, 100)
    claimed_nodes(tmp_path / "nodes.jsonl")
    monkeypatch.setenv("UGRAPHEMB_LIMITS", "nodes=5000000")
    assert read_graphs(tmp_path / "nodes.jsonl").num_nodes.tolist() == [5_000_000]


@pytest.mark.parametrize("text", ["smile=5", "smiles=-5", "smiles", "smiles=²", "smiles=1e3"])
def test_a_limit_that_makes_no_sense_is_refused(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UGRAPHEMB_LIMITS", text)
    with pytest.raises(ValueError, match="expected NAME=NUMBER with one of unpacked"):
        limits()


def test_many_ids_of_one_length_are_no_bomb():
    ids = [f"{i:040d}" for i in range(200_000)]
    assert GraphSet.from_edges([0] * len(ids), [], ids=ids).ids[-1] == ids[-1]


CAREFUL = """
import sys, threading, warnings
from pathlib import Path
from ugraphemb import read_graphs
from ugraphemb.errors import GraphWarning
folder = Path(sys.argv[1])
seen = []
warnings.simplefilter("always")
warnings.showwarning = lambda message, category, file, line, *_: seen.append((str(message), category, file, line))
def work(name):
    for _ in range(100):
        read_graphs(folder / name)  # here
threads = [threading.Thread(target=work, args=(name,)) for name in sorted(p.name for p in folder.iterdir())]
[t.start() for t in threads]
[t.join() for t in threads]
here = next(i for i, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith("# here"))
assert all(entry[1:] == (GraphWarning, __file__, here) for entry in seen), seen[0]
for name in sorted(p.name for p in folder.iterdir()):
    assert sum(name in text for text, *_ in seen) == 100, name
print(len(seen))
"""


def test_no_warning_is_lost_under_threads_and_each_names_the_callers_line(tmp_path: Path):
    """Each reader drops a self loop, in a thread of its own, a hundred times."""
    files = {
        "a.edges": b"1 1\n1 2\n",
        "a.gspan": b"t # 0\nv 0 1\ne 0 0 1\n",
        "b.gspan": b"t # 0\nv 0 1\ne 0 0 1\n# by hand\n",
        "a.jsonl": b'{"id": 0, "num_nodes": 1, "edges": [[0, 0]]}',
        "a.gxl": b"<gxl><graph id='g'><node id='a'/><edge from='a' to='a'/></graph></gxl>",
        "a.graphml": b"<graphml><graph><node id='a'/><edge source='a' target='a'/></graph></graphml>",
        "a.s6": b":AN\n",
    }
    (tmp_path / "files").mkdir()
    for name, data in files.items():
        (tmp_path / "files" / name).write_bytes(data)
    zipped(tmp_path / "files" / "a.zip", {"T_A.txt": b"1,1\n", "T_graph_indicator.txt": b"1\n"})
    script = tmp_path / "script.py"
    script.write_text(CAREFUL)
    command = [sys.executable, str(script), str(tmp_path / "files")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("800\n", "")
