"""Substructures that occur together, as sentences for word2vec. Words are columns of the count matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph, GraphSet
from ugraphemb.proximity.substructures import Graphlets

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Corpus:
    """Sentence i is words[offsets[i] : offsets[i + 1]]."""

    words: Ints
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def sentences(self) -> list[list[str]]:
        """In the format of gensim: columns as decimal text."""
        names = np.array([str(i) for i in range(int(self.words.max(initial=-1)) + 1)], object)
        tokens = names[self.words].tolist()
        ends = self.offsets.tolist()
        return [tokens[start:stop] for start, stop in pairwise(ends) if stop > start]


def wl_corpus(graphs: GraphSet, colors: npt.NDArray[np.int32], words: int, random: np.random.Generator) -> Corpus:
    """A sentence for each graph and round: the colors of its nodes, in random order: colors have no order.

    Args:
        colors: (rounds, nodes).
        words: If there would be more, only a sample of the graphs is used.
    """
    rounds = len(colors)
    spoken = graphs.num_nodes * rounds
    graph_order = random.permutation(len(graphs))
    speaks = np.zeros(len(graphs), np.bool_)
    speaks[graph_order[_within(spoken[graph_order], words)]] = True
    node_speaks = np.repeat(speaks, graphs.num_nodes)
    graph_of = np.repeat(np.cumsum(speaks) - 1, graphs.num_nodes)[node_speaks]
    count = int(speaks.sum())
    sentence = (np.arange(rounds)[:, None] * count + graph_of).ravel()
    order = np.lexsort((random.random(len(sentence)), sentence))
    lengths = np.bincount(sentence, minlength=rounds * count)
    return Corpus(colors[:, node_speaks].ravel()[order].astype(np.int64), _offsets(lengths))


def path_corpus(
    graphs: GraphSet, triples: npt.NDArray[np.int32], labeled: bool, words: int, random: np.random.Generator
) -> Corpus:
    """A sentence for each source node: the shortest paths from it, in random order.

    Args:
        triples: (columns, 3): label, label, length of each column. The graphs are those it was learned from, so labels
            are positions in their vocabulary.
        words: Where there would be more, a random share of the nodes of each graph are sources.
    """
    labels = graphs.node_labels.astype(np.int64) if labeled else np.zeros(len(graphs.node_labels), np.int64)
    base, far = int(labels.max(initial=0)) + 1, int(triples[:, 2].max(initial=0)) + 1
    keys = (triples[:, 0].astype(np.int64) * base + triples[:, 1]) * far + triples[:, 2]
    by_key = np.argsort(keys)
    share = min(1.0, words / max(int((graphs.num_nodes**2).sum()), 1))
    parts: list[Ints] = []
    lengths: list[Ints] = []
    for graph, start in zip(graphs, graphs.node_offsets.tolist(), strict=False):
        size = graph.num_nodes
        count = min(size, int(np.floor(share * size + random.random())))  # unbiased, for any size
        sources = np.sort(random.permutation(size)[:count])
        if count == 0 or graph.num_edges == 0:
            continue
        distances = _distances_from(graph, sources)
        reached = np.isfinite(distances) & (distances > 0)
        which, node = np.nonzero(reached)
        ends = labels[start : start + size]
        one, other = ends[sources[which]], ends[node]
        key = (np.minimum(one, other) * base + np.maximum(one, other)) * far + distances[reached].astype(np.int64)
        column = by_key[np.searchsorted(keys, key, sorter=by_key)]
        order = np.lexsort((random.random(len(column)), which))
        parts.append(column[order])
        lengths.append(np.bincount(which, minlength=count))
    return Corpus(_joined(parts), _offsets(_joined(lengths)))


def graphlet_corpus(graphs: GraphSet, size: int, words: int, random: np.random.Generator) -> Corpus:
    """A sentence for each of many random sets of `size` nodes: the graphlet there, then for each of its nodes the
    graphlet where that node is exchanged for a random other one: a graphlet and its immediate neighbors.

    Graphs with fewer than `size` nodes give no word, those with exactly `size` nodes one. Each graph has as many sets.
    """
    large = np.flatnonzero(graphs.num_nodes >= size)
    classes = graphlet_classes(size)
    samples = max(1, words // max(len(large) * (size + 1), 1))
    i, j = np.triu_indices(size, 1)
    bits = j * (j - 1) // 2 + i
    parts: list[Ints] = []
    lengths: list[Ints] = []
    for position in large.tolist():
        graph = graphs[position]
        matrix = _dense(graph)
        drawn = min(size + 1, graph.num_nodes)
        nodes = np.argpartition(random.random((samples, graph.num_nodes)), drawn - 1, axis=1)[:, :drawn]
        nodes = random.permuted(nodes, axis=1)  # argpartition is biased by position
        sets = [nodes[:, :size]]
        if drawn > size:
            for k in range(size):
                exchanged = nodes[:, :size].copy()
                exchanged[:, k] = nodes[:, size]
                sets.append(exchanged)
        placed = np.stack(sets, axis=1)  # (samples, words of a sentence, size)
        codes = (matrix[placed[..., i], placed[..., j]].astype(np.int64) << bits).sum(axis=-1)
        parts.append(classes[codes].ravel())
        lengths.append(np.full(samples, placed.shape[1], np.int64))
    return Corpus(_joined(parts), _offsets(_joined(lengths)))


@cache
def graphlet_classes(size: int) -> Ints:
    """Column of each code of a graph of `size` nodes; in a code the pair i < j is bit j (j - 1) / 2 + i."""
    pairs = [(i, j) for j in range(size) for i in range(j)]
    codes = np.arange(1 << len(pairs))
    smallest = codes.copy()
    for order in permutations(range(size)):
        moved = np.zeros_like(codes)
        for bit, (i, j) in enumerate(pairs):
            low, high = sorted((order[i], order[j]))
            moved |= (codes >> bit & 1) << (high * (high - 1) // 2 + low)
        smallest = np.minimum(smallest, moved)
    columns = np.empty(len(codes), np.int64)
    graphlets = Graphlets(size)
    for column in range(len(graphlets)):
        columns[sum(1 << pairs.index(pair) for pair in graphlets.edges(column))] = column
    return columns[smallest]


def _distances_from(graph: Graph, sources: Ints) -> npt.NDArray[np.float64]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    packed = graph.graphs
    start, stop = packed.node_offsets[graph.position : graph.position + 2]
    pointers = packed.indptr[start : stop + 1]
    ends = packed.indices[pointers[0] : pointers[-1]]
    matrix = csr_array((np.ones(len(ends)), ends, pointers - pointers[0]), (graph.num_nodes, graph.num_nodes))
    return np.asarray(dijkstra(matrix, unweighted=True, indices=sources))


def _dense(graph: Graph) -> npt.NDArray[np.bool_]:
    matrix = np.zeros((graph.num_nodes, graph.num_nodes), np.bool_)
    i, j = graph.edges.T
    matrix[i, j] = matrix[j, i] = True
    return matrix


def _within(counts: Ints, budget: int) -> Ints:
    """Positions up to where the counts exceed the budget, at least one of them."""
    return np.arange(max(1, int(np.searchsorted(np.cumsum(counts), budget, side="right"))))[: len(counts)]


def _offsets(lengths: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate([np.empty(0, np.int64), *parts])
