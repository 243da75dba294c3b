"""Deep graph kernels: substructures that occur together count as alike."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ugraphemb.baselines.kernels import CountKernel, WLKernel, unit_scaled
from ugraphemb.baselines.protocol import Floats, at_least, fitted
from ugraphemb.errors import needs_extra
from ugraphemb.graphs import GraphSet


@dataclass
class DeepKernel:
    """DGK, DSP, DWL: k(a, b) = φ(a)ᵀ M φ(b), M = E Eᵀ, row i of E the word2vec vector of substructure i.

    Yanardag and Vishwanathan, Deep graph kernels (KDD 2015). φ are the counts of `kernel_of`; word2vec learns E from
    sentences of substructures that occur together in the fitted graphs: graphlets one exchange of nodes apart, shortest
    paths from one source, colors of one round in one graph. Substructures without a sentence have the vector 0.

    Attributes:
        kernel_of: Which substructures, with their settings; its own `normalized` plays no part.
        width: Entries of a substructure's vector.
        window: Words to either side that are seen together.
        epochs: Passes over the sentences.
        negatives: Negative samples a word.
        skip_gram: Predict each neighbor from the word; else (CBOW) the word from its neighbors, which is faster.
        words: About how many words of sentences are drawn.
        normalized: Divide by √(k(a, a) k(b, b)); 0 for a graph with no known substructure.
        seed: Of sentences and vectors. The same seed gives the same kernel.
    """

    kernel_of: CountKernel = field(default_factory=WLKernel)
    width: int = 25
    window: int = 5
    epochs: int = 5
    negatives: int = 5
    skip_gram: bool = True
    words: int = 1_000_000
    normalized: bool = True
    seed: int = 0
    _vectors: Floats | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        at_least(1, width=self.width, window=self.window, epochs=self.epochs, negatives=self.negatives)
        at_least(1, words=self.words)

    def fit(self, graphs: GraphSet) -> DeepKernel:
        """Learns which substructures there are, and E."""
        with needs_extra("baselines"):
            from gensim.models import Word2Vec
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

    def transform(self, graphs: GraphSet) -> Floats:
        """φE, (graphs, width): vectors whose inner product is the kernel before it is normalized."""
        vectors = self.vectors
        answer: Floats = self.kernel_of.transform(graphs) @ vectors
        return answer

    def kernel(self, left: GraphSet, right: GraphSet | None = None) -> Floats:
        """(left, right); None is `left` again."""
        first = self.transform(left)
        second = first if right is None else self.transform(right)
        answer = first @ second.T
        if not self.normalized:
            return answer
        return unit_scaled(answer, (first**2).sum(1), (second**2).sum(1))
