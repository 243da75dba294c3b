"""Kernels that compare counts of substructures: graphlets, shortest paths, Weisfeiler–Lehman subtrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ugraphemb.baselines.corpora import Corpus, graphlet_corpus, path_corpus, wl_corpus
from ugraphemb.baselines.protocol import Floats, fitted, some
from ugraphemb.graphs import GraphSet, GraphsLike, graphs_of
from ugraphemb.proximity.substructures import Graphlets, ShortestPaths, WLColors

_COMMON = 0.05  # columns that more than this share of the graphs have are multiplied as dense ones


@dataclass
class CountKernel:
    """k(a, b) = φ(a)ᵀ φ(b), φ(g) the counts of the substructures of g that some fitted graph has.

    Where normalized it is divided by √(k(a, a) k(b, b)), and 0 for a graph with no known substructure.
    """

    normalized: bool = True
    _counter: Any = field(default=None, init=False, repr=False)

    def _new_counter(self) -> Any:
        raise NotImplementedError

    def fit(self, graphs: GraphsLike) -> Any:
        """Learns which substructures there are."""
        self.fit_transform(graphs)
        return self

    def fit_transform(self, graphs: GraphsLike) -> csr_array:
        """`transform` of the graphs fitted on, counted once only."""
        counter = self._new_counter()
        counts = counter.counts(some(graphs), learn=True)
        self._counter = counter
        return counts

    def transform(self, graphs: GraphsLike) -> csr_array:
        """φ: how often each substructure occurs in each graph, sparse, int64."""
        return fitted(self._counter, self).counts(graphs_of(graphs))

    def kernel(self, left: GraphsLike, right: GraphsLike | None = None) -> Floats:
        """(left, right); None means `left`."""
        first = self.transform(left)
        second = None if right is None else self.transform(right)
        return gram(first, second, normalized=self.normalized, weights=self._weights())

    def _weights(self) -> Floats | None:
        """Of each column; None means 1."""
        return None

    def corpus(self, graphs: GraphSet, words: int, random: np.random.Generator) -> Corpus:
        """Sentences of the substructures that occur together in `graphs`, those just fitted; about `words` in all."""
        raise NotImplementedError


@dataclass
class GraphletKernel(CountKernel):
    """GK: sets of `size` nodes by the graph that they induce, connected or not; labels do not matter.

    Shervashidze et al., Efficient graphlet kernels for large graph comparison (AISTATS 2009): φ(g)ᵢ is the number of
    induced subgraphs of g isomorphic to the i-th graph of `size` nodes.

    Attributes:
        size: 3, 4 or 5.
        samples: So many random sets of each graph instead of all. Large graphs of high degree need it at size 5.
        seed: Seed of the samples.
    """

    size: int = 4
    samples: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        self._new_counter()  # raises for invalid sizes

    def _new_counter(self) -> Graphlets:
        return Graphlets(self.size, self.samples, self.seed)

    def corpus(self, graphs: GraphSet, words: int, random: np.random.Generator) -> Corpus:
        enough = 100 * (self.size + 1) * len(graphs)  # a hundred sets per graph: there are few words to learn
        return graphlet_corpus(graphs, self.size, min(words, enough), random)


@dataclass
class ShortestPathKernel(CountKernel):
    """SP: pairs of nodes by their labels and the length of the shortest path between them.

    Borgwardt and Kriegel, Shortest-path kernels on graphs (ICDM 2005): φ(g) counts ordered pairs (u, v), u ≠ v, by
    (label(u), label(v), d(u, v)); pairs that no path joins do not count. The same kernel as `metric="sp"`. `transform`
    gives one column for both orders; `weights` of the counter makes up for it.

    Attributes:
        labeled: Whether labels count, or lengths only.
    """

    labeled: bool = True

    def _new_counter(self) -> ShortestPaths:
        return ShortestPaths(self.labeled)

    def _weights(self) -> Floats:
        weights: Floats = fitted(self._counter, self).weights()
        return weights

    def corpus(self, graphs: GraphSet, words: int, random: np.random.Generator) -> Corpus:
        return path_corpus(graphs, fitted(self._counter, self).triples(), self.labeled, words, random)


@dataclass
class WLKernel(CountKernel):
    """WL: nodes by their colors after 0 to `iterations` rounds of refinement.

    Shervashidze et al., Weisfeiler–Lehman graph kernels (JMLR 2011): cᵢ₊₁(v) numbers (cᵢ(v), sorted cᵢ of the
    neighbors), c₀ is the label, and φ(g) counts the colors of all rounds.

    Attributes:
        iterations: Rounds after the labels themselves.
    """

    iterations: int = 5

    def __post_init__(self) -> None:
        self._new_counter()

    def _new_counter(self) -> WLColors:
        return WLColors(self.iterations)

    def corpus(self, graphs: GraphSet, words: int, random: np.random.Generator) -> Corpus:
        return wl_corpus(graphs, fitted(self._counter, self).colors(graphs), words, random)


def gram(
    left: csr_array, right: csr_array | None = None, *, normalized: bool = False, weights: Floats | None = None
) -> Floats:
    """Inner products of the rows of two count matrices, (left, right); None means `left`.

    Products in a column are multiplied by its weight; None means 1.

    Columns that many rows share make a dense product, the others a sparse one: each is fast where the other is slow.
    """
    plain = left.astype(np.float64)
    second = plain if right is None else right.astype(np.float64)
    first = plain if weights is None else _weighted(plain, weights)
    seen = [np.bincount(part.indices, minlength=part.shape[1]) for part in (first, second)]
    common = (
        np.minimum(seen[0] * second.shape[0], seen[1] * first.shape[0]) > _COMMON * first.shape[0] * second.shape[0]
    )
    rare = ~common & (seen[0] > 0) & (seen[1] > 0)
    answer: Floats = _columns(first, common).toarray() @ _columns(second, common).toarray().T
    answer += (_columns(first, rare) @ _columns(second, rare).T).toarray()
    return unit_scaled(answer, _squares(plain, weights), _squares(second, weights)) if normalized else answer


def unit_scaled(kernel: Floats, left: Floats, right: Floats) -> Floats:
    """The kernel divided by √(left right), where these are k(a, a) and k(b, b); 0 where one of them is."""
    scales = [np.sqrt(np.maximum(square, 0)) for square in (left, right)]
    inverse = [np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0) for scale in scales]
    answer: Floats = kernel * inverse[0][:, None] * inverse[1]
    return answer


def _columns(counts: csr_array, chosen: Any) -> csr_array:
    """The chosen columns, numbered again."""
    place = np.cumsum(chosen) - 1
    kept = chosen[counts.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
    shape = (counts.shape[0], int(np.count_nonzero(chosen)))
    return csr_array((counts.data[kept], place[counts.indices[kept]], ends), shape)


def _weighted(counts: csr_array, weights: Floats) -> csr_array:
    return csr_array((counts.data * weights[counts.indices], counts.indices, counts.indptr), counts.shape)


def _squares(counts: csr_array, weights: Floats | None) -> Floats:
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    data = counts.data**2 if weights is None else counts.data**2 * weights[counts.indices]
    return np.bincount(row, data, minlength=counts.shape[0]).astype(np.float64)
