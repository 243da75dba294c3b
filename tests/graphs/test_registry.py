"""read_graphs and write_graphs: which format, and whole files only."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ugraphemb
from ugraphemb import GraphSet, read_graphs, write_graphs
from ugraphemb.errors import GraphFormatError, GraphWarning, StorageError
from ugraphemb.files import system
from ugraphemb.graphs import formats

GRAPHS = GraphSet.from_edges([3, 2, 0], [(0, 1), (1, 2), (3, 4)])


NAMES = (
    "T.zip T g.jsonl g.ndjson g.gxl g.cxl g.graphml g.edges g.edgelist g.g6 g.graph6 g.s6 g.sparse6 g.JSONL g.gml "
    "g.json g.jsonl.gz g.gml.gz g.s6.gz"
)


@pytest.mark.parametrize("name", NAMES.split())
def test_the_suffix_says_the_format(tmp_path: Path, name: str):
    write_graphs(GRAPHS, tmp_path / name)
    again = read_graphs(tmp_path / name)
    assert [graph.edges.tolist() for graph in again] == [graph.edges.tolist() for graph in GRAPHS]


@pytest.mark.parametrize("suffix", [".zip", ".jsonl", ".gxl", ".graphml", ".s6", ".gml", ".json"])
@pytest.mark.parametrize("neutral", ["", ".txt", ".data"])
def test_the_content_says_the_format_where_the_suffix_does_not(tmp_path: Path, suffix: str, neutral: str):
    write_graphs(GRAPHS, tmp_path / f"g{suffix}")
    (tmp_path / f"g{suffix}").rename(tmp_path / f"other{neutral}")
    assert read_graphs(tmp_path / f"other{neutral}").num_edges.tolist() == GRAPHS.num_edges.tolist()


def test_a_list_of_numbers_is_an_edge_list(tmp_path: Path):
    (tmp_path / "edges.txt").write_text("# a comment\n0 1\n1 2\n")
    assert read_graphs(tmp_path / "edges.txt").num_edges.tolist() == [2]


def test_every_format_has_its_two_doors():
    for format in formats.FORMATS.values():
        assert callable(format.reader())
        assert callable(format.writer())


def test_unknown_suffixes_are_told_the_known_ones(tmp_path: Path):
    (tmp_path / "g.foo").write_text("0 1")
    (tmp_path / "g.txt").write_text("no graph at all")
    for known in (".zip", ".jsonl", ".smi"):
        with pytest.raises(GraphFormatError, match=rf"unknown suffix '\.foo'.*\{known}"):
            read_graphs(tmp_path / "g.foo")
        with pytest.raises(GraphFormatError, match=rf"neither its suffix nor its content.*\{known}"):
            read_graphs(tmp_path / "g.txt")
    with pytest.raises(GraphFormatError, match="no such file or folder"):
        read_graphs(tmp_path / "nothing.zip")
    with pytest.raises(ValueError, match="no format 'foo'; there are tu, jsonl"):
        read_graphs(tmp_path / "g.txt", format="foo")


def test_a_folder_of_files_becomes_one_collection(tmp_path: Path):
    for name, position in (("b", 0), ("a", 1)):
        write_graphs(GRAPHS[[position]], tmp_path / "set" / f"{name}.jsonl")
    (tmp_path / "set" / "notes.md").write_text("not a graph")
    seen: list[tuple[int, int]] = []
    graphs = read_graphs(tmp_path / "set", progress=lambda done, total: seen.append((done, total)))
    assert graphs.ids.tolist() == ["a", "b"]
    assert graphs.num_nodes.tolist() == [2, 3]
    assert graphs.name == "set"
    assert seen == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize("name", [*NAMES.split(), "g.gspan", "g.smi", "g.csv", "g.sdf", "folder"])
def test_progress_reaches_every_reader(tmp_path: Path, name: str):
    graphs = GraphSet.from_smiles(["CCO", "CC", "C"]) if name in ("g.smi", "g.csv", "g.sdf") else GRAPHS
    write_graphs(graphs, tmp_path / name, format="gxl" if name == "folder" else None)
    seen: list[tuple[int, int]] = []
    read_graphs(tmp_path / name, progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert seen[-1][0] == seen[-1][1] > 0
    assert all(0 <= done <= total for done, total in seen)


def test_folders_of_tu_and_gxl_files_are_known(tmp_path: Path):
    write_graphs(GRAPHS, tmp_path / "tu")
    write_graphs(GRAPHS, tmp_path / "gxl", format="gxl")
    for name in ("tu", "gxl"):
        assert read_graphs(tmp_path / name).num_edges.tolist() == GRAPHS.num_edges.tolist()
    (tmp_path / "empty").mkdir()
    with pytest.raises(GraphFormatError, match="no files of graphs"):
        read_graphs(tmp_path / "empty")


@pytest.mark.parametrize("name", ["T.zip", "T"])
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, name: str):
    write_graphs(GRAPHS, tmp_path / name)
    before = sorted(tmp_path.iterdir())
    broken = GraphSet.from_edges([2], [], node_labels=["a", 1])
    with pytest.raises(GraphFormatError, match=f"^{re.escape(str(tmp_path / name))}: node labels"):
        write_graphs(broken, tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before
    assert read_graphs(tmp_path / name) == GRAPHS


@pytest.mark.parametrize("name", ["T.zip", "T"])
def test_writing_again_replaces(tmp_path: Path, name: str):
    write_graphs(GRAPHS[:1], tmp_path / name)
    write_graphs(GRAPHS, tmp_path / name)
    assert read_graphs(tmp_path / name) == GRAPHS
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_folder_with_other_things_in_it_is_not_replaced(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(StorageError, match=r"did not write \(thesis\.tex\)"):
        write_graphs(GRAPHS, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()
    (tmp_path / "T").mkdir()
    (tmp_path / "T" / "T_A.txt").write_text("a data set of another program")
    with pytest.raises(StorageError, match=r"did not write \(T_A\.txt\)"):
        write_graphs(GRAPHS, tmp_path / "T")
    assert (tmp_path / "T" / "T_A.txt").read_text() == "a data set of another program"


@pytest.mark.parametrize("name", ["set.cxl", "set.cxl.gz", 'a "b" &.cxl'])
def test_a_list_of_files_keeps_them_in_a_folder_of_its_own(tmp_path: Path, name: str):
    mine = ["0.gxl", "1.gxl", "set-mine", ".ugraphemb.json"]
    for entry in mine:
        (tmp_path / entry).write_text("mine")
    (tmp_path / f"set-{'0' * 16}").mkdir()
    (tmp_path / f"set-{'0' * 16}" / "precious").write_text("mine")
    for graphs in (GRAPHS[:1], GRAPHS):
        write_graphs(graphs, tmp_path / name)
        back = read_graphs(tmp_path / name)
        assert back.node_labels.tolist() == graphs.node_labels.tolist()
        assert [entry for entry in mine if (tmp_path / entry).read_text() != "mine"] == []
    assert len(list(tmp_path.iterdir())) == len(mine) + 3  # the list, its folder, and a folder of another program


def test_what_is_left_of_a_killed_writer_is_removed_by_the_next(tmp_path: Path):
    script = """
import os, signal, sys
from pathlib import Path
from ugraphemb.files import drafts, system
import ugraphemb as ug
calls, rename = 0, system.rename
def dying(source, target):
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    rename(source, target)
system.rename = dying
ug.write_graphs(ug.GraphSet.from_edges([2, 3], [(0, 1)]), sys.argv[1])
"""
    for name, steps in (("set.cxl", 2), ("T", 1), ("g.jsonl", 1)):
        for step in range(1, steps + 1):
            done = subprocess.run([sys.executable, "-c", script, tmp_path / name, str(step)], check=False)
            assert done.returncode == -signal.SIGKILL
        assert not (tmp_path / name).exists()
        assert any(tmp_path.iterdir())
        write_graphs(GRAPHS, tmp_path / name)
        left = [entry.name for entry in tmp_path.iterdir()]
        assert len(left) == (2 if name == "set.cxl" else 1)
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()


@pytest.mark.parametrize("name", ["T.zip", "T", "g.jsonl", "g.cxl", "g.g6"])
def test_a_full_disk_is_an_error_of_ours_and_leaves_what_was_there(tmp_path: Path, name: str, monkeypatch):
    plain = GraphSet.from_edges([2, 3], [(0, 1)])
    write_graphs(plain, tmp_path / name)
    before = sorted(tmp_path.rglob("*"))

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(system, "write", full)
    with pytest.raises(StorageError, match=r"No space left on device.*safe"):
        write_graphs(plain[:1], tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before
    assert len(read_graphs(tmp_path / name)) == 2


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"T\.zip: cannot write \(Not a directory\)"):
        write_graphs(GRAPHS, tmp_path / "file" / "T.zip")


def test_reading_a_zip_loads_neither_torch_nor_rdkit(tmp_path: Path):
    write_graphs(GRAPHS, tmp_path / "T.zip")
    code = f"""
import json, sys, ugraphemb
light = sorted(sys.modules)
assert len(ugraphemb.read_graphs({str(tmp_path / "T.zip")!r})) == 3
print(json.dumps([name for name in ("torch", "rdkit", "networkx", "sklearn", "igraph") if name in sys.modules]))
print(json.dumps([name for name in ("torch", "numpy", "pyarrow") if name in light]))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert [json.loads(line) for line in found.splitlines()] == [[], []]


def test_public_names_all_exist_and_others_say_what_there_is():
    assert all(getattr(ugraphemb, name) is not None for name in ugraphemb.__all__)
    assert {"read_graphs", "write_graphs", "load_dataset", "GraphSet"} <= set(dir(ugraphemb))
    with pytest.raises(AttributeError, match="read_graphs"):
        ugraphemb.read_graph  # noqa: B018


def test_node_counts_survive_when_all_graphs_are_empty(tmp_path: Path):
    empty = GraphSet.from_edges([0, 0, 3, 0], [], targets=np.array([1, 2, 3, 4]))
    for graphs in (empty, GraphSet.from_edges([0, 0, 3, 0], []), GraphSet.from_edges([], [])):
        write_graphs(graphs, tmp_path / "T.zip")
        assert read_graphs(tmp_path / "T.zip") == graphs


def test_a_warning_about_what_is_lost_names_the_file_asked_for(tmp_path):
    graphs = GraphSet.from_edges([2], [[0, 1]], node_labels=["C", "N"])
    with pytest.warns(GraphWarning, match=re.escape(f"{tmp_path / 'pair.g6'}: ")):
        write_graphs(graphs, tmp_path / "pair.g6")
