"""Edge lists."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.formats.edgelist import read_edgelist, write_edgelist


def read(tmp_path: Path, text: str, **options: bool) -> GraphSet:
    path = tmp_path / "set.edges"
    path.write_text(text)
    return read_edgelist(path, **options)


def test_nodes_are_numbered_as_they_appear_whatever_their_names(tmp_path: Path) -> None:
    text = "# a comment\nzoe anna\nanna 7\nalone\n"
    graphs = read(tmp_path, text)
    assert graphs[0].num_nodes == 4
    assert graphs[0].edges.tolist() == [[0, 1], [1, 2]]
    assert not graphs.node_vocabulary
    assert read(tmp_path, text, node_names=True)[0].node_labels == ["zoe", "anna", "7", "alone"]


@pytest.mark.parametrize("text", ["a b\nb c\n\n\na b\n", "# graph 0\na b\nb c\n# graph 1\n\na b\n"])
def test_graphs_are_separated_by_blank_lines_or_begin_at_marks(tmp_path: Path, text: str) -> None:
    graphs = read(tmp_path, text)
    assert graphs.num_edges.tolist() == [2, 1]
    assert graphs.ids.tolist() == ["0", "1"]


@pytest.mark.parametrize("separator", [" ", "\t", ",", " , ", "   "])
def test_spaces_tabs_and_commas_separate(tmp_path: Path, separator: str) -> None:
    graphs = read(tmp_path, separator.join(["1", "2", "x y"]) + "\n")
    assert graphs[0].edge_labels == ["x y"]


def test_labels_are_json_where_they_can_be(tmp_path: Path) -> None:
    graphs = read(tmp_path, 'a b 1\nb c 1.0\nc d "1"\nd e one\ne f [1, "x"]\nf g {}\ng h\n')
    assert graphs[0].edge_labels == [1, 1.0, "1", "one", (1, "x"), "{}", None]
    assert [type(label) for label in graphs[0].edge_labels or []][:2] == [int, float]


def test_an_empty_file_holds_no_graphs(tmp_path: Path) -> None:
    assert len(read(tmp_path, "")) == 0


def test_networkx_reads_what_is_written_of_one_graph(tmp_path: Path) -> None:
    wanted = nx.petersen_graph()
    path = tmp_path / "set.edges"
    write_edgelist(GraphSet.from_networkx([wanted]), path)
    found = nx.read_edgelist(path, nodetype=int)
    assert nx.utils.graphs_equal(nx.Graph(sorted(found.edges)), nx.Graph(sorted(wanted.edges)))


def test_loops_and_repeats_are_told_or_refused(tmp_path: Path) -> None:
    with pytest.warns(GraphWarning, match="1 self loop and 1 repeated edge"):
        assert read(tmp_path, "a a\na b\na b\n").num_edges.tolist() == [1]
    with pytest.raises(GraphFormatError, match="self loop"):
        read(tmp_path, "a a\n", strict=True)


def test_an_edge_before_the_first_mark_and_an_id_used_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match=r"set.edges:1: an edge before the first line '# graph ID'"):
        read(tmp_path, "a b\n# graph x\nb c\n")
    with pytest.raises(GraphFormatError, match="id 'x'"):
        read(tmp_path, "# graph x\n# graph x\n")
