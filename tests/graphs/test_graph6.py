"""graph6 and sparse6, with NetworkX as the oracle."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from laws.strategies import graph_sets

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.formats.graph6 import read_graph6, write_graph6

plain = graph_sets(
    min_graphs=1, max_nodes=17, node_labels=None, edge_labels=None, attributes=False, targets=None, ids=False
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graph6")


def edges(graph: nx.Graph) -> list[list[int]]:
    return sorted(sorted(edge) for edge in graph.edges)


@given(graphs=plain)
def test_networkx_reads_what_is_written(folder: Path, graphs: GraphSet) -> None:
    for name, oracle in (("a.g6", nx.from_graph6_bytes), ("a.s6", nx.from_sparse6_bytes)):
        write_graph6(graphs, folder / name)
        for line, graph in zip((folder / name).read_bytes().split(), graphs, strict=True):
            found = oracle(line)
            assert found.number_of_nodes() == graph.num_nodes
            assert edges(found) == graph.edges.tolist()


@pytest.mark.parametrize("header", [True, False])
@given(graphs=plain)
def test_what_networkx_writes_is_read(folder: Path, header: bool, graphs: GraphSet) -> None:
    for oracle in (nx.to_graph6_bytes, nx.to_sparse6_bytes):
        lines = [oracle(graph, header=header and i == 0) for i, graph in enumerate(graphs.to_networkx())]
        (folder / "b.g6").write_bytes(b"".join(lines))
        assert read_graph6(folder / "b.g6") == graphs


@pytest.mark.parametrize("size", [0, 1, 2, 62, 63, 64, 300])
@pytest.mark.parametrize("suffix", [".g6", ".s6"])
def test_sizes_at_the_borders_of_the_encoding_survive(tmp_path: Path, size: int, suffix: str) -> None:
    graphs = GraphSet.from_networkx([nx.path_graph(size), nx.empty_graph(size), nx.gnp_random_graph(size, 0.1, seed=1)])
    write_graph6(graphs, tmp_path / f"a{suffix}")
    assert read_graph6(tmp_path / f"a{suffix}") == graphs


def test_a_long_path_needs_the_longest_size(tmp_path: Path) -> None:
    size = 258_048
    pairs = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
    graphs = GraphSet.from_edges([size], pairs)
    write_graph6(graphs, tmp_path / "a.s6")
    assert (tmp_path / "a.s6").read_bytes().startswith(b":~~")
    assert read_graph6(tmp_path / "a.s6") == graphs


def test_loops_and_repeats_of_sparse6_are_told_or_refused(tmp_path: Path) -> None:
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 1), (1, 2)])
    (tmp_path / "a.s6").write_bytes(nx.to_sparse6_bytes(graph))
    with pytest.warns(GraphWarning, match="1 self loop and 1 repeated edge"):
        assert read_graph6(tmp_path / "a.s6").num_edges.tolist() == [2]
    with pytest.raises(GraphFormatError):
        read_graph6(tmp_path / "a.s6", strict=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"D?", "a.g6:2: 1 characters of edges for 5 nodes, expected 2"),
        (b"~~~~~~~~", "nodes claimed"),
        (b"~~", "too few for the number of nodes"),
        (b":", "too few for the number of nodes"),
        (b":~~~~~~~~", "nodes claimed"),
        (b"D?\x01", "a.g6:2: byte 0x01"),
        (b"&AG", "digraph6"),
        (b";A", "incremental"),
    ],
)
def test_bad_lines_are_refused_with_their_number(tmp_path: Path, line: bytes, message: str) -> None:
    (tmp_path / "a.g6").write_bytes(b"A_\n" + line + b"\n")
    with pytest.raises(GraphFormatError, match=message):
        read_graph6(tmp_path / "a.g6")
