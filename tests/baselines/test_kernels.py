from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from baselines.collections_of_graphs import odd_graphs, random_graphs, shuffled_nodes
from scipy.sparse import csr_array, random_array
from sklearn.exceptions import NotFittedError

from ugraphemb.baselines.kernels import CountKernel, GraphletKernel, ShortestPathKernel, WLKernel, gram
from ugraphemb.graphs import GraphSet

Make = Callable[[], CountKernel]
KERNELS = [
    partial(GraphletKernel, size=3), GraphletKernel, ShortestPathKernel, partial(ShortestPathKernel, labeled=False),
    WLKernel,
]  # fmt: skip


def in_grakel(graphs: GraphSet) -> list[Any]:
    return [
        ({u: list(graph[u]) for u in graph}, {u: graph.nodes[u]["label"] for u in graph})
        for graph in graphs.to_networkx()
    ]


def grakel_kernel(kernel: Any, fit: GraphSet, unseen: GraphSet) -> tuple[np.ndarray, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kernel.fit_transform(in_grakel(fit)), kernel.transform(in_grakel(unseen))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("iterations", [0, 1, 4])
def test_wl_is_grakels(iterations: int, normalized: bool) -> None:
    grakel = pytest.importorskip("grakel.kernels")

    fit, unseen = random_graphs(12), random_graphs(6, seed=1)
    kernel = WLKernel(iterations=iterations, normalized=normalized).fit(fit)
    oracle = grakel.WeisfeilerLehman(n_iter=iterations, normalize=normalized, base_graph_kernel=grakel.VertexHistogram)
    if iterations == 0:
        oracle = grakel.VertexHistogram(normalize=normalized)
    among, across = grakel_kernel(oracle, fit, unseen)
    np.testing.assert_allclose(kernel.kernel(fit), among, rtol=1e-10)
    if not normalized:  # grakel counts colors of its own in the unseen graphs' norms
        np.testing.assert_allclose(kernel.kernel(unseen, fit), across, rtol=1e-10)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("labeled", [False, True])
def test_shortest_paths_are_grakels(labeled: bool, normalized: bool) -> None:
    grakel = pytest.importorskip("grakel.kernels")

    fit, unseen = random_graphs(12), random_graphs(6, seed=1)
    kernel = ShortestPathKernel(labeled=labeled, normalized=normalized).fit(fit)
    oracle = grakel.ShortestPath(with_labels=labeled, normalize=normalized, algorithm_type="floyd_warshall")
    among, across = grakel_kernel(oracle, fit, unseen)
    np.testing.assert_allclose(kernel.kernel(fit), among, rtol=1e-10)
    if not normalized:  # grakel counts paths of its own in the unseen graphs' norms
        np.testing.assert_allclose(kernel.kernel(unseen, fit), across, rtol=1e-10)


def test_graphlets_are_what_grakel_samples() -> None:
    """Its samples only: its list of connected graphlets misses some of them, and its counts start at 2."""
    grakel = pytest.importorskip("grakel.kernels")

    graphs = random_graphs(6, high=9)
    oracle = grakel.GraphletSampling(k=3, sampling={"n_samples": 3000}, normalize=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        among = oracle.fit_transform(in_grakel(graphs))
    np.testing.assert_allclose(GraphletKernel(size=3).fit(graphs).kernel(graphs), among, atol=0.04)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_graphlets_are_the_induced_subgraphs(size: int) -> None:
    graphs = random_graphs(3, high=8)
    kernel = GraphletKernel(size=size).fit(graphs)
    for row, graph in zip(kernel.transform(graphs).toarray(), graphs.to_networkx(), strict=True):
        found = [graph.subgraph(chosen) for chosen in combinations(graph, size)]
        for column, count in enumerate(row.tolist()):
            shape = nx.empty_graph(size)
            shape.add_edges_from(kernel._counter.edges(column))
            assert sum(nx.faster_could_be_isomorphic(shape, g) and nx.is_isomorphic(shape, g) for g in found) == count


@pytest.mark.parametrize("make", KERNELS, ids=str)
def test_a_normalized_kernel_is_symmetric_positive_and_one_on_the_diagonal(make: Make) -> None:
    graphs = random_graphs(15)
    matrix = make().fit(graphs).kernel(graphs)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(matrix), 1)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9


@pytest.mark.parametrize("make", KERNELS, ids=str)
def test_the_order_of_nodes_does_not_matter(make: Make) -> None:
    graphs = random_graphs(8)
    kernel = make().fit(graphs)
    assert (kernel.transform(shuffled_nodes(graphs)).toarray() == kernel.transform(graphs).toarray()).all()
    assert (kernel.fit_transform(graphs).toarray() == kernel.transform(graphs).toarray()).all()


@pytest.mark.parametrize("make", KERNELS, ids=str)
def test_odd_graphs_have_finite_similarities_and_0_where_nothing_is_known(make: Make) -> None:
    fit, kernel = random_graphs(5), make()
    odd = odd_graphs()
    matrix = kernel.fit(fit).kernel(odd, fit)
    assert matrix.shape == (5, 5)
    assert np.isfinite(matrix).all()
    assert (matrix[0] == 0).all()
    assert np.isfinite(kernel.fit(odd).kernel(odd)).all()
    assert kernel.fit(odd[[4]]).kernel(odd[[]]).shape == (0, 0)
    assert kernel.fit(odd[[0]]).kernel(fit).shape == (5, 5)


@pytest.mark.parametrize("make", [ShortestPathKernel, WLKernel])
def test_unseen_labels_do_not_count(make: Make) -> None:
    kernel = make().fit(random_graphs(5, labels="AB"))
    assert kernel.transform(random_graphs(3, labels="XYZ")).nnz == 0


def test_using_a_kernel_before_fitting_and_fitting_on_nothing_are_refused() -> None:
    with pytest.raises(NotFittedError, match="WLKernel"):
        WLKernel().kernel(odd_graphs())
    with pytest.raises(ValueError, match="no graphs to fit on"):
        WLKernel().fit(odd_graphs()[[]])
    with pytest.raises(ValueError, match="graphlets of 7 nodes"):
        GraphletKernel(size=7)
    with pytest.raises(ValueError, match="iterations"):
        WLKernel(iterations=-1)


def test_sampled_graphlets_depend_on_the_seed_alone() -> None:
    graphs = random_graphs(5, low=9)
    first, again, other = (
        GraphletKernel(samples=50, seed=seed).fit(graphs).transform(graphs).toarray() for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()
    assert (first.sum(1) == 50).all()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_gram_is_the_plain_product_however_columns_are_split(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugraphemb.baselines.kernels._COMMON", share)
    random = np.random.default_rng(0)
    left, right = (csr_array(random_array((n, 40), density=0.2, rng=random) * 9).astype(np.int64) for n in (7, 5))
    dense_left, dense_right = left.toarray(), right.toarray()
    np.testing.assert_allclose(gram(left, right), dense_left @ dense_right.T)
    np.testing.assert_allclose(gram(left), dense_left @ dense_left.T)
