"""Layouts: no two nodes on one spot, edges of one length, the same picture each time."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy.spatial.distance import pdist

from ugraphemb.graphs import Graph, GraphSet
from ugraphemb.plots.layout import layout


def graph_of(graph: nx.Graph) -> Graph:  # type: ignore[type-arg]
    numbered = nx.convert_node_labels_to_integers(graph)
    edges = np.array(numbered.edges(), dtype=int).reshape(-1, 2)
    return GraphSet.from_edges([numbered.number_of_nodes()], edges)[0]


SHAPES = {
    "cycle": nx.cycle_graph(6),
    "path": nx.path_graph(9),
    "star": nx.star_graph(8),
    "grid": nx.grid_2d_graph(4, 5),
    "tree": nx.balanced_tree(2, 4),
    "clique": nx.complete_graph(9),
    "two parts": nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(3)),
    "large tree": nx.random_labeled_tree(500, seed=0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_nodes_are_apart_and_the_picture_is_always_the_same(name: str) -> None:
    graph = graph_of(SHAPES[name])
    positions = layout(graph)
    assert positions.shape == (graph.num_nodes, 2)
    assert np.isfinite(positions).all()
    assert pdist(positions).min() > (1e-4 if name == "large tree" else 0.2)
    np.testing.assert_array_equal(positions, layout(graph))


@pytest.mark.parametrize("name", ["cycle", "path", "grid"])
def test_edges_come_out_about_one_long_where_the_plane_has_room(name: str) -> None:
    graph = graph_of(SHAPES[name])
    positions = layout(graph)
    lengths = np.linalg.norm(np.diff(positions[graph.edges], axis=1), axis=2)
    assert 0.7 < lengths.min() <= lengths.max() < 1.3


def test_a_regular_cycle_is_drawn_as_a_regular_polygon() -> None:
    positions = layout(graph_of(SHAPES["cycle"]))
    radii = np.linalg.norm(positions - positions.mean(axis=0), axis=1)
    assert np.ptp(radii) < 0.02 * radii.mean()


def test_rings_are_not_twisted() -> None:
    chain = nx.Graph()  # hexagons in a row, joined by single edges, as in molecules
    for ring in range(5):
        nx.add_cycle(chain, range(6 * ring, 6 * ring + 6))
        if ring:
            chain.add_edge(6 * ring - 3, 6 * ring)
    graph = graph_of(chain)
    positions = layout(graph)

    def turn(a: int, b: int, c: int) -> float:
        return float(np.linalg.det([positions[b] - positions[a], positions[c] - positions[a]]))

    crossed = [
        (a, b)
        for a, b in combinations(graph.edges.tolist(), 2)
        if not set(a) & set(b) and turn(*a, b[0]) * turn(*a, b[1]) < 0 and turn(*b, a[0]) * turn(*b, a[1]) < 0
    ]
    assert crossed == []


def test_components_do_not_overlap() -> None:
    positions = layout(graph_of(SHAPES["two parts"]))
    assert positions[:5, 0].max() < positions[5:, 0].min() or positions[:5, 1].min() > positions[5:, 1].max()


def test_graphs_of_no_one_and_two_nodes_have_a_layout() -> None:
    for n in (0, 1, 2, 3):
        assert layout(graph_of(nx.empty_graph(n))).shape == (n, 2)
    assert np.linalg.norm(np.diff(layout(graph_of(nx.path_graph(2))), axis=0)) == pytest.approx(1.0)
