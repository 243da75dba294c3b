"""Fresh graphs: similar to the training graphs, reproducible, and never one of those to avoid."""

import networkx as nx
import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.training.fresh import FreshGraphs, graph_marks


@pytest.fixture(scope="module")
def molecules():
    generator = np.random.default_rng(0)
    graphs = []
    for size in generator.integers(3, 12, 30):
        graph = nx.random_labeled_tree(int(size), seed=int(size))
        nx.set_node_attributes(graph, {n: str(generator.choice(["C", "N", "O"])) for n in graph}, "label")
        nx.set_edge_attributes(graph, {e: int(generator.integers(1, 3)) for e in graph.edges}, "label")
        graphs.append(graph)
    return ug.GraphSet.from_networkx(graphs, node_label="label", edge_label="label")


def made(graphs, count=200, seed=1, avoid=None):
    return FreshGraphs(graphs, avoid).made(np.arange(len(graphs)), count, np.random.default_rng(seed))


def test_fresh_graphs_have_labels_and_sizes_of_the_collection(molecules):
    fresh = made(molecules)
    assert len(fresh) == 200
    assert fresh.node_vocabulary == molecules.node_vocabulary
    assert fresh.edge_vocabulary == molecules.edge_vocabulary
    assert fresh.num_nodes.min() >= 1
    assert fresh.num_nodes.max() <= molecules.num_nodes.max()
    for graph in fresh.to_networkx():
        for _, _, label in graph.edges(data="label"):
            assert label in (1, 2)


def test_most_fresh_graphs_are_new_and_connected(molecules):
    fresh = made(molecules)
    new = ~np.isin(graph_marks(fresh), graph_marks(molecules))
    assert new.mean() > 0.7
    connected = [nx.is_connected(graph) for graph in fresh.to_networkx()]
    assert np.mean(connected) > 0.6


def test_the_same_seed_makes_the_same_graphs(molecules):
    assert made(molecules) == made(molecules)
    assert made(molecules) != made(molecules, seed=2)


def test_none_of_the_graphs_to_avoid_is_made(molecules):
    likely = made(molecules, 400)
    fresh = made(molecules, 400, avoid=likely[:200])
    assert len(fresh)
    assert not np.isin(graph_marks(fresh), graph_marks(likely[:200])).any()


def test_isomorphic_graphs_share_their_mark_whatever_the_collection(molecules):
    graphs = molecules.to_networkx()
    renamed = []
    for graph in graphs:
        order = np.random.default_rng(1).permutation(len(graph)).tolist()
        other = nx.relabel_nodes(graph, dict(zip(graph, order, strict=True)))
        shuffled = nx.Graph()
        shuffled.add_nodes_from(sorted(other.nodes(data=True)))
        shuffled.add_edges_from(other.edges(data=True))
        renamed.append(shuffled)
    again = ug.GraphSet.from_networkx(renamed[::-1], node_label="label", edge_label="label")
    marks = graph_marks(molecules)
    np.testing.assert_array_equal(graph_marks(again)[::-1], marks)
    same = [[nx.is_isomorphic(a, b, lambda x, y: x == y, lambda x, y: x == y) for a in graphs] for b in graphs]
    np.testing.assert_array_equal(np.array(same), marks[:, None] == marks[None, :])  # trees: colors tell all


def test_fresh_graphs_of_graphs_without_labels_edges_or_nodes():
    bare = ug.GraphSet.from_edges([0, 1, 1, 4], [])
    fresh = made(bare, 50)
    assert len(fresh) == 50
    assert fresh.num_nodes.max() <= 4
    assert fresh.node_vocabulary == ()


def test_a_graph_without_edge_labels_is_avoided_beside_graphs_with_edge_labels(molecules):
    bare = ug.GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels=["C", "N", "O"])
    assert graph_marks(bare)[0] == graph_marks(bare + molecules)[0]
