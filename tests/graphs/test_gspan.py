"""gSpan text: what its lines mean, and that the fast way and the careful way agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import graph_sets, letters, numbers

from ugraphemb import GraphSet, read_graphs, write_graphs
from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs.formats import gspan

TWO = "t # a\nv 0 6\nv 1 8\ne 0 1 2\nt # b\nv 0 6\n"


def read(tmp_path: Path, text: str, **options: bool) -> GraphSet:
    (tmp_path / "set.gspan").write_text(text)
    return read_graphs(tmp_path / "set.gspan", **options)


def test_labels_are_those_of_the_file(tmp_path: Path):
    graphs = read(tmp_path, TWO)
    assert graphs.ids.tolist() == ["a", "b"]
    assert [graph.node_labels for graph in graphs] == [[6, 8], [6]]
    assert [graph.edge_labels for graph in graphs] == [[2], []]
    assert graphs.name == "set"


@pytest.mark.parametrize(
    "other",
    [
        TWO.replace(" ", "\t"),
        TWO.replace(" ", "  ").replace("\n", " \n"),
        TWO.replace("\n", "\r\n"),
        "\n# made by hand\n" + TWO,
        TWO + "t # -1\n",
        TWO.replace("t # a", "t # a * 17"),
        TWO.replace("v 0", "v 7").replace("e 0", "e 7"),
        "\ufeff" + TWO,
        TWO.rstrip(),
    ],
)
def test_other_ways_to_write_the_same(tmp_path: Path, other: str):
    assert read(tmp_path, other, strict=True) == read(tmp_path, TWO)


def test_labels_that_are_not_all_whole_numbers_are_text(tmp_path: Path):
    assert read(tmp_path, TWO.replace("v 1 8", "v 1 O"))[0].node_labels == ["6", "O"]
    assert read(tmp_path, TWO.replace("v 1 8", "v 1 08"))[0].node_labels == ["6", "08"]
    assert read(tmp_path, TWO.replace("v 1 8", "v 1 -8"))[0].node_labels == [6, -8]


def test_missing_labels_are_none(tmp_path: Path):
    assert read(tmp_path, TWO.replace("v 1 8", "v 1"))[0].node_labels == [6, None]
    bare = read(tmp_path, "t # 0\nv 0\nv 1\ne 0 1\n")
    assert (bare.node_vocabulary, bare.edge_labels) == ((), None)


def test_repeated_ids_are_told_apart_and_reported(tmp_path: Path):
    with pytest.warns(GraphWarning, match="1 repeats of an id"):
        assert read(tmp_path, TWO.replace("# b", "# a")).ids.tolist() == ["a", "a#2"]
    with pytest.raises(GraphFormatError, match="repeats of an id"):
        read(tmp_path, TWO.replace("# b", "# a"), strict=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v 0 1\n", "1: 'v 0 1' before the first line"),
        ("t # 0\nv 0 1\ne 0 1 1\n", "3: an edge of node '1'"),
        ("t # 0\nv 0 1\nv 0 1\n", "3: node '0' for a second time"),
        ("t # 0\nx 0 1\n", "2: 'x 0 1', expected"),
        ("t # 0\nv 0 1 2\n", "2: 'v 0 1 2', expected"),
        ("t 0\n", "1: 't 0', expected 't # ID'"),
        ("t # -1\nt # 0\n", "2: a line after"),
        ("t # 0\nv 99999999999999999999 1\ne 99999999999999999999 2 1\n", "3: an edge of node '2'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, message: str):
    with pytest.raises(GraphFormatError, match=rf"set.gspan:{message}"):
        read(tmp_path, text)


def test_loops_and_repeats_are_dropped_and_reported(tmp_path: Path):
    with pytest.warns(GraphWarning, match="1 self loop and 1 repeated edge"):
        assert read(tmp_path, TWO.replace("e 0 1 2", "e 0 1 2\ne 0 0 2\ne 0 1 2"))[0].num_edges == 1


@pytest.mark.parametrize("name", ["set.gspan", "set.gspan.gz", "set.lg"])
@pytest.mark.parametrize("labels", [numbers, letters])
@given(data=st.data())
def test_what_was_written_reads_back_both_ways(
    tmp_path_factory: pytest.TempPathFactory, name: str, labels: st.SearchStrategy[object], data: st.DataObject
):
    graphs = data.draw(graph_sets(node_labels=labels, edge_labels=labels, targets=None, attributes=False, ids=False))
    path = tmp_path_factory.mktemp("set") / name
    write_graphs(graphs, path)
    text = gspan.read_bytes(path)
    assert gspan._line_by_line(text, path, True).graphs == graphs
    if len(graphs):
        fast = gspan._at_once(text, path, True)
        assert fast is not None
        assert fast.graphs == graphs
    assert read_graphs(path, strict=True) == graphs


@pytest.mark.parametrize("labels", [["a b"], [""], ["1"], [1, "a"], [True], [None], [(1, 2)], [1.5]])
def test_labels_that_would_read_back_otherwise_are_refused(tmp_path: Path, labels: list[object]):
    graphs = GraphSet.from_edges([len(labels)], [], node_labels=labels)
    with pytest.raises(GraphFormatError, match="node labels: such as"):
        write_graphs(graphs, tmp_path / "set.gspan")
