from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from baselines.collections_of_graphs import odd_graphs, random_graphs, shuffled_nodes

from ugraphemb.baselines.averaging import averaged, node_weights
from ugraphemb.baselines.netmf import NetMF
from ugraphemb.graphs import GraphSet


def published_formula(graph: nx.Graph, width: int, window: int, negatives: float) -> np.ndarray:
    """Algorithm 3 of the paper, word by word, dense."""
    adjacency = nx.to_numpy_array(graph)
    inverse = np.diag(1 / adjacency.sum(1))
    walk = inverse @ adjacency
    powers = sum(np.linalg.matrix_power(walk, r) for r in range(1, window + 1))
    matrix = adjacency.sum() / (negatives * window) * powers @ inverse
    left, values, _ = np.linalg.svd(np.log(np.maximum(matrix, 1)))
    return left[:, :width] * np.sqrt(values[:width])


@pytest.mark.parametrize(("window", "negatives"), [(1, 1.0), (3, 1.0), (10, 5.0)])
def test_node_vectors_are_the_published_formula(window: int, negatives: float) -> None:
    graph = nx.barabasi_albert_graph(40, 3, seed=1)
    ours = NetMF(width=8, window=window, negatives=negatives).node_vectors(GraphSet.from_networkx([graph])[0])
    theirs = published_formula(graph, 8, window, negatives)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-8)
    np.testing.assert_allclose(np.abs(ours.sum(0)), np.abs(theirs.sum(0)), atol=1e-8)  # signs agree within a column


def test_hubs_whose_leaves_are_taken_together_have_the_published_products() -> None:
    """Singular values coincide here, and bases with them; U Σ Uᵀ is the same whatever the basis."""
    graph = nx.disjoint_union(nx.star_graph(9), nx.barbell_graph(4, 1))
    graph.add_edges_from([(0, 12), (3, 14)])
    ours = NetMF(width=19, window=4).node_vectors(GraphSet.from_networkx([graph])[0])
    theirs = published_formula(graph, 19, 4, 1.0)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8)


def test_sparse_and_iterative_ways_give_the_same_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = GraphSet.from_networkx([nx.barabasi_albert_graph(60, 2, seed=2)])
    dense = NetMF(width=5).transform(graphs)
    monkeypatch.setattr("ugraphemb.baselines.netmf._SPARSE", 10)
    monkeypatch.setattr("ugraphemb.baselines.netmf._ITERATIVE", 10)
    np.testing.assert_allclose(NetMF(width=5).transform(graphs), dense, atol=1e-7)


def test_small_graphs_are_padded_and_graphs_without_edges_are_zero() -> None:
    graphs = odd_graphs()
    vectors = NetMF(width=6).transform(graphs)
    assert vectors.shape == (5, 6)
    assert (vectors[:3] == 0).all()  # no edge
    assert (vectors[4, 3:] == 0).all()  # a triangle has three nodes
    assert np.isfinite(vectors).all()
    assert vectors[4, 0] > 0


def test_isolated_nodes_have_zero_vectors_and_leave_the_others_as_they_are() -> None:
    graph = nx.barabasi_albert_graph(10, 2, seed=3)
    alone = graph.copy()
    alone.add_node(10)
    model = NetMF(width=4)
    with_it = model.node_vectors(GraphSet.from_networkx([alone])[0])
    without = model.node_vectors(GraphSet.from_networkx([graph])[0])
    assert (with_it[10] == 0).all()
    np.testing.assert_allclose(with_it[:10], without, atol=1e-12)


def test_the_order_of_nodes_does_not_matter() -> None:
    graphs = GraphSet.from_networkx([nx.barabasi_albert_graph(30, 2, seed=seed) for seed in range(4)])
    model = NetMF(width=3)
    np.testing.assert_allclose(model.transform(shuffled_nodes(graphs)), model.transform(graphs), atol=1e-7)


def test_no_graphs_give_no_vectors() -> None:
    assert NetMF(width=7).transform(odd_graphs()[[]]).shape == (0, 7)


@pytest.mark.parametrize("averaging", ["mean", "degree", "inverse_degree", "sum"])
def test_averages_follow_their_definition(averaging: str) -> None:
    graphs = random_graphs(5) + odd_graphs()
    nodes = np.random.default_rng(0).standard_normal((len(graphs.node_labels), 3))
    found = averaged(nodes, graphs, averaging)  # type: ignore[arg-type]
    for i, graph in enumerate(graphs.to_networkx()):
        degree = np.array([graph.degree(node) for node in graph], float)
        weight = {
            "mean": np.ones_like(degree), "sum": np.ones_like(degree),
            "degree": degree if degree.any() else np.ones_like(degree), "inverse_degree": 1 / np.maximum(degree, 1),
        }[averaging]  # fmt: skip
        if averaging != "sum" and len(degree):
            weight = weight / weight.sum()
        rows = nodes[graphs.node_offsets[i] : graphs.node_offsets[i + 1]]
        np.testing.assert_allclose(found[i], weight @ rows if len(degree) else np.zeros(3), atol=1e-12)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match=r"width is 0; it must be at least 1"):
        NetMF(width=0)
    with pytest.raises(ValueError, match="negatives"):
        NetMF(negatives=0)
    with pytest.raises(ValueError, match=r"averaging='median'; it is one of 'mean', 'degree'"):
        NetMF(averaging="median")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="averaging"):
        node_weights(odd_graphs(), "mode")  # type: ignore[arg-type]
