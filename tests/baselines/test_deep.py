from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from baselines.collections_of_graphs import odd_graphs, random_graphs
from sklearn.exceptions import NotFittedError

from ugraphemb.baselines.corpora import Corpus, graphlet_classes, graphlet_corpus
from ugraphemb.baselines.deep import DeepKernel
from ugraphemb.baselines.kernels import CountKernel, GraphletKernel, ShortestPathKernel, WLKernel
from ugraphemb.errors import MissingExtraError
from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.substructures import Graphlets

Make = Callable[[], CountKernel]
KERNELS = [
    partial(GraphletKernel, size=3), ShortestPathKernel, partial(ShortestPathKernel, labeled=False),
    partial(WLKernel, iterations=2),
]  # fmt: skip
MANY = 10**9


def corpus_of(kernel: CountKernel, graphs: GraphSet, words: int = MANY) -> Corpus:
    return kernel.fit(graphs).corpus(graphs, words, np.random.default_rng(0))


@pytest.mark.parametrize("make", KERNELS, ids=str)
def test_the_kernel_is_the_published_formula(make: Make) -> None:
    graphs, unseen, kernel = random_graphs(8), random_graphs(4, seed=1), make()
    deep = DeepKernel(kernel, width=6, words=2000, normalized=False).fit(graphs)
    matrix = np.zeros((len(deep.vectors), len(deep.vectors)))
    for i, first in enumerate(deep.vectors):
        for j, second in enumerate(deep.vectors):
            matrix[i, j] = sum(x * y for x, y in zip(first, second, strict=True))
    left, right = kernel.transform(unseen).toarray(), kernel.transform(graphs).toarray()
    np.testing.assert_allclose(deep.kernel(unseen, graphs), left @ matrix @ right.T, rtol=1e-9)


@pytest.mark.parametrize("make", KERNELS, ids=str)
@pytest.mark.parametrize("normalized", [False, True])
def test_a_diagonal_matrix_holds_the_lengths_of_the_vectors(make: Make, normalized: bool) -> None:
    graphs, unseen, kernel = random_graphs(8), random_graphs(4, seed=1), make()
    deep = DeepKernel(kernel, width=6, words=2000, matrix="norms", normalized=normalized).fit(graphs)
    middle = np.diag(np.sqrt((deep.vectors**2).sum(1)))
    left, right = kernel.transform(unseen).toarray(), kernel.transform(graphs).toarray()
    expected = left @ middle @ right.T
    if normalized:
        expected /= np.sqrt(np.outer(np.diag(left @ middle @ left.T), np.diag(right @ middle @ right.T)))
    np.testing.assert_allclose(deep.kernel(unseen, graphs), expected, rtol=1e-9)


@pytest.mark.parametrize("make", KERNELS, ids=str)
def test_the_same_seed_gives_the_same_kernel_and_another_seed_another(make: Make) -> None:
    graphs = random_graphs(8)
    first, again, other = (
        DeepKernel(make(), width=4, words=2000, seed=s).fit(graphs).kernel(graphs) for s in (1, 1, 2)
    )
    assert (first == again).all()
    assert not np.allclose(first, other, rtol=1e-12)


def test_a_sentence_of_wl_is_the_colors_of_one_graph_in_one_round() -> None:
    graphs = random_graphs(5) + odd_graphs()
    kernel = WLKernel(iterations=2)
    corpus = corpus_of(kernel, graphs)
    colors = kernel._counter.colors(graphs)
    expected = [
        sorted(colors[r, graphs.node_offsets[g] : graphs.node_offsets[g + 1]].tolist())
        for r in range(3)
        for g in range(len(graphs))
    ]
    assert [sorted(map(int, sentence)) for sentence in corpus.sentences()] == [line for line in expected if line]


@pytest.mark.parametrize("labeled", [True, False])
def test_a_sentence_of_paths_is_all_paths_from_one_source(labeled: bool) -> None:
    graphs = random_graphs(5) + odd_graphs()
    kernel = ShortestPathKernel(labeled=labeled)
    corpus = corpus_of(kernel, graphs)
    column = {tuple(key): i for i, key in enumerate(kernel._counter.triples().tolist())}
    position = {label: i for i, label in enumerate(graphs.node_vocabulary)}
    expected = []
    for graph in graphs.to_networkx():
        code = {u: position[graph.nodes[u]["label"]] if labeled else 0 for u in graph}
        for u in graph:
            lengths = nx.single_source_shortest_path_length(graph, u)
            paths = [column[(*sorted((code[u], code[v])), d)] for v, d in lengths.items() if v != u]
            if paths:
                expected.append(sorted(paths))
    assert [sorted(map(int, sentence)) for sentence in corpus.sentences()] == expected
    totals = np.bincount(corpus.words, minlength=len(column))
    assert (totals == 2 * kernel.transform(graphs).sum(axis=0)).all()  # each pair from both its ends


def test_words_of_a_corpus_stay_near_their_budget() -> None:
    graphs = random_graphs(60)
    for kernel in (GraphletKernel(size=3), ShortestPathKernel(), WLKernel(iterations=2)):
        whole = 10**5 if isinstance(kernel, GraphletKernel) else len(corpus_of(kernel, graphs).words)
        found = len(corpus_of(kernel, graphs, whole // 4).words)
        assert 0.15 * whole < found < 0.35 * whole


@pytest.mark.parametrize("size", [3, 4, 5])
def test_graphlet_codes_fall_into_the_columns_that_are_isomorphic(size: int) -> None:
    classes, graphlets = graphlet_classes(size), Graphlets(size)
    pairs = [(i, j) for j in range(size) for i in range(j)]
    for code in np.random.default_rng(0).integers(0, len(classes), 40).tolist():
        graph = nx.empty_graph(size)
        graph.add_edges_from(pair for bit, pair in enumerate(pairs) if code >> bit & 1)
        column = nx.empty_graph(size)
        column.add_edges_from(graphlets.edges(int(classes[code])))
        assert nx.is_isomorphic(graph, column)
    assert len(set(classes.tolist())) == len(graphlets)


def test_graphlets_of_a_sentence_are_one_exchange_apart_and_drawn_evenly() -> None:
    graphs = random_graphs(2, low=7, high=7)
    corpus = graphlet_corpus(graphs, 3, 80_000, np.random.default_rng(0))
    lengths = np.diff(corpus.offsets)
    assert (lengths == 4).all()
    edges = np.array([len(Graphlets(3).edges(column)) for column in range(4)])[corpus.words.reshape(-1, 4)]
    assert (np.abs(edges[:, 1:] - edges[:, :1]) <= 2).all()  # one node takes two edges at most
    half = len(corpus.words) // 2
    for graph, words in zip(graphs, (corpus.words[:half], corpus.words[half:]), strict=True):
        exact = GraphletKernel(size=3).fit(graphs).transform(graphs[[graph.position]]).toarray()[0]
        found = np.bincount(words, minlength=4)
        np.testing.assert_allclose(found / found.sum(), exact / exact.sum(), atol=0.02)


def test_substructures_that_occur_together_become_alike() -> None:
    """A occurs only with B, and C only with D; by counts alone A and B have similarity 0."""
    pairs = [combination for combination in (("A", "B"), ("C", "D")) for _ in range(100)]
    graphs = GraphSet.from_edges([6] * 200, [], node_labels=[label for pair in pairs for label in pair * 3])
    deep = DeepKernel(WLKernel(iterations=0), width=8, epochs=30, normalized=True).fit(graphs)
    only = GraphSet.from_edges([1] * 4, [], node_labels=list("ABCD"))
    assert (WLKernel(iterations=0).fit(graphs).kernel(only) == np.eye(4)).all()
    matrix = deep.kernel(only)
    within = [matrix[0, 1], matrix[2, 3]]
    across = [matrix[i, j] for i, j in combinations(range(4), 2) if (i, j) not in ((0, 1), (2, 3))]
    assert min(within) > max(across) + 0.3


@pytest.mark.parametrize("make", KERNELS, ids=str)
def test_odd_collections_are_fitted_and_compared(make: Make) -> None:
    for positions in ([0], [1], [0, 1, 2], [4], [0, 1, 2, 3, 4]):
        deep = DeepKernel(make(), width=3, words=500).fit(odd_graphs()[positions])
        matrix = deep.kernel(odd_graphs("AX"), random_graphs(3))
        assert matrix.shape == (5, 3)
        assert np.isfinite(matrix).all()
        assert (matrix[0] == 0).all()


def test_misuse_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFittedError, match="DeepKernel"):
        DeepKernel().kernel(odd_graphs())
    with pytest.raises(ValueError, match="no graphs"):
        DeepKernel().fit(odd_graphs()[[]])
    with pytest.raises(ValueError, match="window is 0"):
        DeepKernel(window=0)
    with pytest.raises(ValueError, match="matrix='full'; it is 'inner' or 'norms'"):
        DeepKernel(matrix="full")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ugraphemb\[baselines\]'"):
        DeepKernel().fit(odd_graphs())
