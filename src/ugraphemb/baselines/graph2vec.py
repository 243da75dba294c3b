"""graph2vec: a graph is a document, its rooted subgraphs are the words."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.baselines.protocol import at_least, fitted, some
from ugraphemb.errors import needs_extra
from ugraphemb.graphs import GraphSet, GraphsLike, graphs_of
from ugraphemb.proximity.substructures import WLColors

Vectors = npt.NDArray[np.float32]

_LONGEST = 10_000  # words of a document that gensim reads; from longer ones as many are taken evenly


@dataclass(frozen=True)
class Fitted:
    colors: WLColors
    model: Any  # gensim's Doc2Vec; None where no word is frequent enough
    vectors: Vectors


@dataclass
class Graph2Vec:
    """Vectors of graphs from which the colors of their nodes can be predicted.

    Narayanan et al., graph2vec: Learning distributed representations of graphs (MLG 2017): for the words w of graph g,
    colors of its nodes after 0 to `iterations` rounds of Weisfeiler–Lehman refinement, doc2vec's PV-DBOW maximizes

        Σ_{w ∈ g} log σ(z_gᵀ u_w) + Σ_{k negatives n} log σ(−z_gᵀ u_n)

    `fit_transform` gives the vectors that were learned, the published way; `transform` infers vectors, for seen and
    unseen graphs alike, with the words' vectors as they are. Words that were not learned are left out. A graph without
    known words has the vector 0. Neither the order of nodes nor, in `transform`, other graphs change a vector.

    Attributes:
        width: Entries of a vector.
        iterations: Rounds of refinement.
        epochs: Passes over the documents, in training and in inference.
        rate: First learning rate; it falls to `last_rate`.
        negatives: Negative samples per word.
        min_count: Rarer words are left out.
        subsampling: Threshold above which frequent words are sometimes skipped; 0 skips none.
        seed: The same seed gives the same vectors, in any process.
    """

    width: int = 256
    iterations: int = 2
    epochs: int = 100
    rate: float = 0.025
    last_rate: float = 0.0001
    negatives: int = 5
    min_count: int = 2
    subsampling: float = 1e-4
    seed: int = 0
    _fitted: Fitted | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        at_least(1, width=self.width, epochs=self.epochs, negatives=self.negatives, min_count=self.min_count)
        at_least(0, iterations=self.iterations)
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"seed is {self.seed}; it must be between 0 and 2^32 - 1")

    def fit(self, graphs: GraphsLike) -> Graph2Vec:
        """Learns vectors of words and of these graphs."""
        with needs_extra("baselines"):
            from gensim.models.doc2vec import Doc2Vec
        colors = WLColors(self.iterations)
        graphs = some(graphs)
        documents = list(_documents(colors.colors(graphs, learn=True), graphs))
        spoken = [position for position, words in enumerate(documents) if len(words)]
        vectors = np.zeros((len(graphs), self.width), np.float32)
        counts = np.bincount(np.concatenate([np.empty(0, np.int64), *documents]), minlength=1)
        model = None
        if counts.max() >= self.min_count:
            names = np.array([str(i) for i in range(len(colors))], object)
            with tempfile.TemporaryDirectory() as folder:
                # gensim reads a file without the interpreter, nearly twice as fast as documents in memory.
                file = Path(folder) / "documents.txt"
                file.write_text("".join(" ".join(names[documents[position]]) + "\n" for position in spoken))
                # One worker: with several threads the result would differ from run to run.
                model = Doc2Vec(
                    corpus_file=str(file), dm=0, vector_size=self.width, epochs=self.epochs, alpha=self.rate,
                    min_alpha=self.last_rate, negative=self.negatives, min_count=self.min_count,
                    sample=self.subsampling, workers=1, seed=self.seed,
                )  # fmt: skip
            vectors[spoken] = model.dv.vectors
        self._fitted = Fitted(colors, model, vectors)
        return self

    def fit_transform(self, graphs: GraphsLike) -> Vectors:
        """Learned vectors of the graphs fitted on, (graphs, width)."""
        self.fit(graphs)
        return fitted(self._fitted, self).vectors.copy()

    def transform(self, graphs: GraphsLike) -> Vectors:
        """Inferred vectors, (graphs, width)."""
        graphs, state = graphs_of(graphs), fitted(self._fitted, self)
        vectors = np.zeros((len(graphs), self.width), np.float32)
        if state.model is None:
            return vectors
        names = np.array([str(i) for i in range(len(state.colors))], object)
        known = np.zeros(len(names), np.bool_)
        known[np.array(state.model.wv.index_to_key, np.int64)] = True
        rates = np.linspace(self.rate, self.last_rate, self.epochs).tolist()
        for row, document in enumerate(_documents(state.colors.colors(graphs), graphs)):
            words = document[known[document]]
            if len(words):
                vectors[row] = self._inferred(
                    state.model, names[words].tolist(), [zlib.crc32(words.tobytes()), self.seed], rates
                )
        return vectors

    def _inferred(self, model: Any, words: list[str], seed: list[int], rates: list[float]) -> Vectors:
        """As gensim's infer_vector, whose starting vector depends on Python's hashes and so on the process."""
        from gensim.models.doc2vec import train_document_dbow

        model.random.seed(seed)  # the generator that gensim uses
        vector = ((model.random.random_sample((1, self.width)) - 0.5) / self.width).astype(np.float32)
        free, work = np.ones(1, np.float32), np.zeros(self.width, np.float32)
        for rate in rates:
            train_document_dbow(
                model, words, [0], rate, work, learn_words=False, learn_hidden=False,
                doctag_vectors=vector, doctags_lockf=free,
            )  # fmt: skip
        answer: Vectors = vector[0]
        return answer


def _documents(colors: npt.NDArray[np.int32], graphs: GraphSet) -> Iterator[npt.NDArray[np.int64]]:
    """Words of each graph, ascending; colors that were never seen left out."""
    words = colors.T.astype(np.int64)  # (nodes, rounds)
    for start, stop in zip(graphs.node_offsets[:-1].tolist(), graphs.node_offsets[1:].tolist(), strict=True):
        document = np.sort(words[start:stop], axis=None)
        document = document[np.searchsorted(document, 0) :]
        if len(document) > _LONGEST:
            document = document[np.linspace(0, len(document) - 1, _LONGEST).astype(np.int64)]
        yield document
