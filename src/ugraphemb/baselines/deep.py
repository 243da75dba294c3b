"""Deep graph kernels: substructures that occur together count as alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from ugraphemb.baselines.kernels import CountKernel, WLKernel, gram, unit_scaled
from ugraphemb.baselines.protocol import Floats, at_least, fitted
from ugraphemb.errors import needs_extra
from ugraphemb.graphs import GraphsLike, graphs_of

Matrix = Literal["inner", "norms"]


@dataclass
class DeepKernel:
    """DGK, DSP, DWL: k(a, b) = φ(a)ᵀ M φ(b), M = E Eᵀ, row eᵢ of E the word2vec vector of substructure i.

    Yanardag and Vishwanathan, Deep graph kernels (KDD 2015). φ are the counts of `kernel_of`; word2vec learns E from
    sentences of substructures that occur together in the fitted graphs: graphlets one exchange of nodes apart, shortest
    paths from one source, colors of one round in one graph. Substructures without a sentence have the vector 0.

    Attributes:
        kernel_of: Which substructures, with their settings; its `normalized` is ignored.
        width: Entries of a substructure's vector.
        window: Words to either side that are seen together.
        epochs: Passes over the sentences.
        negatives: Negative samples per word.
        skip_gram: Predict each neighbor from the word; else (CBOW) the word from its neighbors, which is faster.
        words: About how many words of sentences are drawn.
        matrix: "inner" is M = E Eᵀ; "norms" is the authors' other choice, diagonal with ‖eᵢ‖.
        normalized: Divide by √(k(a, a) k(b, b)); 0 for a graph with no known substructure. Off as published: vectors of
            words that all occur together share a direction, and what is left of the kernel then is nearly constant.
        seed: Seed of sentences and vectors. The same seed gives the same kernel.
    """

    kernel_of: CountKernel = field(default_factory=lambda: WLKernel(iterations=2))
    width: int = 25
    window: int = 5
    epochs: int = 10
    negatives: int = 5
    skip_gram: bool = True
    words: int = 1_000_000
    matrix: Matrix = "inner"
    normalized: bool = False
    seed: int = 0
    _vectors: Floats | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        at_least(1, width=self.width, window=self.window, epochs=self.epochs, negatives=self.negatives)
        at_least(1, words=self.words)
        if self.matrix not in get_args(Matrix):
            raise ValueError(f"matrix={self.matrix!r}; it is 'inner' or 'norms'")

    def fit(self, graphs: GraphsLike) -> DeepKernel:
        """Learns which substructures there are, and E."""
        with needs_extra("baselines"):
            from gensim.models import Word2Vec
        graphs = graphs_of(graphs)
        width = self.kernel_of.fit_transform(graphs).shape[1]
        corpus = self.kernel_of.corpus(graphs, self.words, np.random.default_rng(self.seed))
        vectors = np.zeros((width, self.width))
        if len(corpus.words):
            # One worker and seeded starting vectors: nothing depends on threads or on Python's hashes.
            model = Word2Vec(
                corpus.sentences(), vector_size=self.width, window=self.window, epochs=self.epochs,
                negative=self.negatives, sg=int(self.skip_gram), min_count=1, sample=0, workers=1, seed=self.seed,
            )  # fmt: skip
            vectors[np.array(model.wv.index_to_key, np.int64)] = model.wv.vectors
        self._vectors = vectors
        return self

    @property
    def vectors(self) -> Floats:
        """E, (substructures, width)."""
        return fitted(self._vectors, self)

    def transform(self, graphs: GraphsLike) -> Any:
        """Vectors whose inner product is the kernel before it is normalized.

        φE, (graphs, width); where M is diagonal φ√M, sparse, (graphs, substructures).
        """
        vectors, counts = self.vectors, self.kernel_of.transform(graphs)
        if self.matrix == "inner":
            return counts @ vectors
        weight = np.linalg.norm(vectors, axis=1) ** 0.5
        return csr_array((counts.data * weight[counts.indices], counts.indices, counts.indptr), counts.shape)

    def kernel(self, left: GraphsLike, right: GraphsLike | None = None) -> Floats:
        """(left, right); None means `left`."""
        first = self.transform(left)
        second = first if right is None else self.transform(right)
        if self.matrix == "norms":
            return gram(first, None if right is None else second, normalized=self.normalized)
        answer: Floats = first @ second.T
        if not self.normalized:
            return answer
        return unit_scaled(answer, (first**2).sum(1), (second**2).sum(1))
