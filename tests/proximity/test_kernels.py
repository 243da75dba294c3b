"""Kernels and the counts below them, against grakel and against counting by hand."""

from __future__ import annotations

import pickle
import time
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from laws.strategies import graph_sets, letters
from networkx.generators.atlas import graph_atlas_g
from proximity.oracle import random_graph

import ugraphemb as ug
from ugraphemb.baselines.kernels import ShortestPathKernel
from ugraphemb.graphs import concatenated
from ugraphemb.proximity import metric_of
from ugraphemb.proximity.substructures import (
    Graphlets,
    ShortestPaths,
    WLColors,
    graphlet_counts,
    shortest_path_counts,
    wl_counts,
)

KERNELS = ["wl", "sp", "graphlet"]
RANDOM = np.random.default_rng(0)
GRAPHS = concatenated([random_graph(RANDOM, int(n), 0.3, 3).graphs for n in RANDOM.integers(1, 14, 30)])


def grakel_graphs(graphs: ug.GraphSet) -> list[tuple[np.ndarray, dict]]:
    matrices = [np.zeros((graph.num_nodes, graph.num_nodes), int) for graph in graphs]
    for matrix, graph in zip(matrices, graphs, strict=True):
        u, v = graph.edges.T
        matrix[u, v] = matrix[v, u] = 1
    return [(matrix, dict(enumerate(graph.node_labels))) for matrix, graph in zip(matrices, graphs, strict=True)]


def kernel_matrix(graphs: ug.GraphSet, metric: str, **options) -> np.ndarray:
    """With its diagonal."""
    every = np.array([(i, j) for i in range(len(graphs)) for j in range(len(graphs))])
    return ug.pairwise(graphs, every, metric=metric, **options).value.reshape(len(graphs), len(graphs))


ATLAS = ug.GraphSet.from_networkx([nx.Graph(graph) for graph in graph_atlas_g()[3:209:4]])
COLLECTIONS = ["generated", "atlas", "MUTAG"]


@pytest.fixture(params=COLLECTIONS)
def graphs(request: pytest.FixtureRequest) -> ug.GraphSet:
    """Only the data set needs files, and is skipped where there are none."""
    if request.param == "MUTAG":
        return ug.load_dataset("MUTAG", root=request.getfixturevalue("data_root"))
    return GRAPHS if request.param == "generated" else ATLAS


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("h", [0, 1, 4])
def test_wl_is_that_of_grakel(graphs, h, normalized):
    grakel = pytest.importorskip("grakel.kernels")
    theirs = grakel.VertexHistogram(normalize=normalized)
    if h:
        theirs = grakel.WeisfeilerLehman(n_iter=h, base_graph_kernel=grakel.VertexHistogram, normalize=normalized)
    expected = theirs.fit_transform(grakel_graphs(graphs))
    np.testing.assert_allclose(kernel_matrix(graphs, "wl", h=h, normalized=normalized), expected, rtol=1e-12)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("labeled", [False, True])
def test_shortest_paths_are_those_of_grakel_as_a_metric_and_as_a_baseline(graphs, labeled, normalized):
    graphs = graphs[graphs.num_edges > 0]  # grakel divides by 0 where there is no path
    grakel = pytest.importorskip("grakel.kernels")
    expected = grakel.ShortestPath(with_labels=labeled, normalize=normalized).fit_transform(grakel_graphs(graphs))
    ours = kernel_matrix(graphs, "sp", labeled=labeled, normalized=normalized)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
    baseline = ShortestPathKernel(labeled=labeled, normalized=normalized).fit(graphs).kernel(graphs)
    np.testing.assert_allclose(baseline, expected, rtol=1e-12)


def test_sampled_graphlets_are_near_those_of_grakel(graphs):
    # of 3 nodes, because of the larger ones grakel draws some of every size; its full count misses sets
    graphs = graphs[graphs.num_nodes >= 5][:6]
    grakel = pytest.importorskip("grakel.kernels")
    theirs = grakel.GraphletSampling(k=3, sampling={"n_samples": 3000}, random_state=0, normalize=True)
    expected = theirs.fit_transform(grakel_graphs(graphs))
    ours = kernel_matrix(graphs, "graphlet", size=3, samples=8000)
    np.testing.assert_allclose(ours, expected, atol=0.05)
    np.testing.assert_allclose(ours, kernel_matrix(graphs, "graphlet", size=3), atol=0.03)


def test_connected_graphlets_leave_out_the_others():
    counts, counter = graphlet_counts(GRAPHS, 4)
    shapes = [nx.Graph(counter.edges(column)) for column in range(len(counter))]
    whole = [graph.number_of_nodes() == 4 and nx.is_connected(graph) for graph in shapes]
    expected = counts.toarray() * whole
    ours = kernel_matrix(GRAPHS, "graphlet", size=4, connected=True, normalized=False)
    np.testing.assert_array_equal(ours, expected @ expected.T)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_graphlets_are_counted_as_by_trying_every_set_of_nodes(size):
    counts, counter = graphlet_counts(GRAPHS[:12], size)
    classes = [nx.Graph() for _ in range(len(counter))]
    for column, graph in enumerate(classes):
        graph.add_nodes_from(range(size))
        graph.add_edges_from(counter.edges(column))
    for row, graph in zip(counts.toarray(), GRAPHS[:12].to_networkx(), strict=True):
        expected = np.zeros(len(counter), int)
        for nodes in combinations(graph, size):
            found = graph.subgraph(nodes)
            alike = [c for c, g in enumerate(classes) if g.size() == found.size() and nx.is_isomorphic(g, found)]
            expected[alike] += 1
        np.testing.assert_array_equal(row, expected)


def test_samples_are_near_the_shares_of_all_sets_and_the_same_wherever_a_graph_stands():
    large = concatenated([random_graph(np.random.default_rng(5), 30, 0.3, 1).graphs, GRAPHS[GRAPHS.num_nodes >= 8]])
    drawn, _ = graphlet_counts(large, 4, samples=20_000, seed=3)
    every, _ = graphlet_counts(large, 4)
    shares = every.toarray() / every.sum(axis=1)[:, None]
    np.testing.assert_allclose(drawn.toarray() / 20_000, shares, atol=0.03)
    alone, _ = graphlet_counts(large[[2]], 4, samples=20_000, seed=3)
    np.testing.assert_array_equal(alone.toarray()[0], drawn.toarray()[2])


@given(graph_sets(min_graphs=1, node_labels=letters, edge_labels=None, attributes=False, targets=None))
def test_paths_are_counted_as_by_breadth_first_search(graphs):
    counts, counter = shortest_path_counts(graphs)
    for row, graph in zip(counts.toarray(), graphs.to_networkx(), strict=True):
        expected: dict[tuple, int] = {}
        labels = nx.get_node_attributes(graph, "label")
        for u, reached in nx.all_pairs_shortest_path_length(graph):
            for v, length in reached.items():
                if u < v:
                    low, high = sorted(counter.vocabulary.index(labels[w]) if labels else 0 for w in (u, v))
                    expected[low, high, length] = expected.get((low, high, length), 0) + 1
        assert {counter.key(c): n for c, n in enumerate(row.tolist()) if n} == expected


@pytest.mark.parametrize("kind", [WLColors, ShortestPaths, Graphlets])
def test_other_graphs_are_counted_in_the_same_columns(kind):
    counter = kind()
    counter.counts(GRAPHS[:20], learn=True)
    width = len(counter)
    copy = pickle.loads(pickle.dumps(counter))
    alone, together = copy.counts(GRAPHS[20:]), counter.counts(GRAPHS)[20:]
    np.testing.assert_array_equal(alone.toarray(), together.toarray())
    assert alone.shape[1] == width
    grown = counter.counts(GRAPHS, learn=True)
    np.testing.assert_array_equal(grown.toarray()[20:, :width], alone.toarray())


def test_labels_that_were_never_seen_count_for_nothing():
    _, colors = wl_counts(ug.GraphSet.from_edges([2], [(0, 1)], node_labels=[1, 1]), 1)
    other = ug.GraphSet.from_edges([3], [(0, 1)], node_labels=[True, 1, 1])
    assert colors.counts(other).sum() == 2  # two nodes labeled 1; their neighborhoods are new, and True is not 1


def test_nodes_of_one_color_after_refinement_have_the_same_color_before():
    colors = WLColors(4).colors(GRAPHS, learn=True)
    for before, after in pairwise(colors):
        assert len(np.unique(after)) == len(np.unique(np.stack([before, after]), axis=1).T)


@pytest.mark.parametrize("metric", KERNELS)
def test_pairs_in_any_order_on_any_number_of_threads_give_the_same_numbers(metric):
    whole = kernel_matrix(GRAPHS, metric, threads=1)
    pairs = np.random.default_rng(1).integers(0, len(GRAPHS), (500, 2))
    for threads in (1, 2, 5):
        table = ug.pairwise(GRAPHS, pairs, metric=metric, threads=threads)
        np.testing.assert_array_equal(table.value, whole[pairs[:, 0], pairs[:, 1]])
        assert table.kind == "similarity"
        assert table.proven.all()
    across = ug.pairwise(GRAPHS[:10], GRAPHS[5:], metric=metric).value.reshape(10, -1)
    np.testing.assert_allclose(across, whole[:10, 5:], rtol=1e-14)


@pytest.mark.parametrize("metric", KERNELS)
def test_a_normalized_kernel_is_the_raw_one_divided_by_both_roots(metric):
    raw = kernel_matrix(GRAPHS, metric, normalized=False)
    root = np.sqrt(np.diag(raw))
    some = root > 0
    ours = kernel_matrix(GRAPHS, metric)
    np.testing.assert_allclose(ours[some][:, some], raw[some][:, some] / np.outer(root, root)[some][:, some])
    assert (np.diag(ours) == 1).all()
    assert ((ours >= 0) & (ours <= 1)).all()


@pytest.mark.parametrize("metric", KERNELS)
def test_graphs_with_nothing_to_count_are_like_each_other_and_like_nothing_else(metric):
    graphs = ug.GraphSet.from_edges([0, 0, 5], [(5 - 5 + i, i + 1) for i in range(4)])
    assert kernel_matrix(graphs, metric).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("metric", KERNELS)
def test_a_graph_that_takes_too_long_is_bounded_and_the_others_are_exact(metric):
    size = 2200  # fast machines compare 1,500 nodes within the deadline
    dense = np.argwhere(np.triu(np.random.default_rng(3).random((size, size)) < 0.5, 1))
    graphs = concatenated(
        [ug.GraphSet.from_edges([size], dense, node_labels=[i % 3 for i in range(size)]), GRAPHS[5:8]]
    )
    begin = time.process_time()
    table = ug.pairwise(graphs, metric=metric, timeout=0.1, threads=1)
    assert time.process_time() - begin < 5  # generous; without a deadline inside it is half a minute
    late = (table.left == 0) | (table.right == 0)
    assert not table.proven[late].any()
    assert (table.lower[late] == 0).all()
    assert (table.upper[late] == 1).all()
    exact = ug.pairwise(graphs[1:], metric=metric)
    assert table.proven[~late].all()
    np.testing.assert_allclose(table.value[~late], exact.value)
    np.testing.assert_allclose(ug.pairwise(graphs[1:], metric=metric, timeout=60).value, exact.value)


def test_settings_that_make_no_sense_are_refused():
    for metric, options in (("wl", {"h": -1}), ("graphlet", {"size": 6}), ("graphlet", {"samples": 0})):
        with pytest.raises(ValueError, match=r"there|they|must"):
            metric_of(metric, **options)
    with pytest.raises(TypeError, match="no option 'size'"):
        metric_of("wl", size=3)
