"""What a trained encoder does: vectors, predicted proximities, classes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.colors import sketch
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.heads import between
from ugraphemb.encoder.names import Head
from ugraphemb.encoder.storage import Saved
from ugraphemb.errors import warned
from ugraphemb.graphs import GraphSet, GraphsLike, graphs_of
from ugraphemb.progress import progress_of
from ugraphemb.sklearn_face import Transformer
from ugraphemb.training.embedding import embedded_on_workers
from ugraphemb.workers import Workers

if TYPE_CHECKING:
    from ugraphemb.encoder.model import Network

Vectors = npt.NDArray[np.float32]

_FEW_NODES = 2_000
_NODES_BY_NUMPY = 100_000  # faster than the import of torch


class FittedEncoder(Transformer):
    """The part of `UGraphEmb` that needs no training: torch is imported when there is much to compute."""

    threads: int
    device: str | None
    progress: bool | None
    vocabulary_: Vocabulary
    about_: dict[str, Any]
    _network: Network | None = None
    _saved: Saved | None = None  # of a loaded model, until its network is needed

    def transform(self, graphs: GraphsLike, *, executor: Workers | None = None) -> Vectors:
        """One vector per graph, shape (graphs, dimension), float32; also for graphs not seen in training.

        Args:
            executor: Workers that embed: a number of processes, a Dask client, the address of a Dask scheduler, or any
                concurrent.futures.Executor. `threads` are then those of each, 1 by default.
        """
        self._fitted()
        collection = graphs_of(graphs)
        self._report_unseen(collection)
        if executor is None:
            vectors = self._embedded(collection, self.progress)
        else:
            vectors = embedded_on_workers(self, collection, executor, self.progress)
        output: Vectors = self._as_output(vectors)
        return output

    def features(self, graphs: GraphsLike, *, colors: int = 1024) -> Vectors:
        """Vectors for a classifier: those of `transform`, and what distances ignore, (graphs, dimension + colors).

        Edit distance hardly depends on rare labels and rare neighborhoods, but classes may. The additional columns are
        a sketch of the graph's Weisfeiler-Lehman colors (see `encoder.colors.sketch`). It has no trained weights and is
        the same for every model and collection. Distances use the vectors of `transform` alone.

        Args:
            colors: Number of the additional columns.
        """
        config, collection = self._fitted(), graphs_of(graphs)
        if colors < 1:
            raise ValueError(f"colors is {colors}; expected at least 1")
        self._report_unseen(collection)
        vectors = self._embedded(collection, self.progress)
        edge_labels = config.edge_counts or config.edge_labels
        return np.concatenate([vectors, sketch(collection, colors, edge_labels=edge_labels)], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`, for `set_output(transform="pandas")` and pipelines."""
        return np.array([f"ugraphemb{i}" for i in range(self.dimension_)], dtype=object)

    def _report_unseen(self, graphs: GraphSet) -> None:
        """One GraphWarning about node labels that training has not seen, and one about such edge labels."""
        config = self._fitted()
        unseen = [] if config.hashed_labels else [self.vocabulary_.unseen(graphs)]  # hashes are for unseen labels
        if config.edge_counts or config.edge_labels:
            unseen.append(self.vocabulary_.unseen_edges(graphs))
        for message in unseen:
            if message is not None:
                warned(message)

    def _embedded(self, collection: GraphSet, progress: bool | None = False) -> Vectors:
        config, nodes = self._fitted(), len(collection.node_labels)
        if len(collection) == 0:
            return np.empty((0, config.dimension), np.float32)
        if self._saved is not None and "torch" not in sys.modules and nodes <= _NODES_BY_NUMPY:
            inference = self._saved.inference()
            if inference is not None:
                return inference.vectors(collection)
        from ugraphemb.encoder.batches import Collator
        from ugraphemb.training.passes import embedded
        from ugraphemb.training.threads import torch_threads

        network = self.network_
        device = next(network.parameters()).device
        few = nodes < _FEW_NODES  # several threads would be slower
        with torch_threads(1 if few else self.threads):
            collator = Collator(collection, self.vocabulary_, network.config)
            with progress_of(len(collection), "graphs embedded", progress) as tick:
                return embedded(network, collator, np.arange(len(collection)), device, tick).numpy()

    def proximity(self, left: npt.ArrayLike, right: npt.ArrayLike) -> Vectors:
        """The predicted normalized proximity of each left vector to each right vector; both are from `transform`."""
        return between(left, right, self.head_).astype(np.float32)

    @property
    def head_(self) -> Head:
        """The head of the fitted model: how it compares vectors."""
        return self._fitted().head

    @property
    def dimension_(self) -> int:
        """Length of the fitted model's vectors."""
        return self._fitted().dimension

    @property
    def network_(self) -> Network:
        self._fitted()
        if self._network is None:
            from ugraphemb.training.devices import device_of

            assert self._saved is not None
            self._network = self._saved.network(device_of(self.device))
            self._saved = None  # the network may be changed from now on
        return self._network

    @network_.setter
    def network_(self, network: Network) -> None:
        self._network, self._saved = network, None

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes of a fine-tuned model, in the order of the columns of `predict_proba`."""
        self._fitted()
        known = self.network_.classes is not None if self._saved is None else self._saved.class_count > 0
        if not known:
            raise AttributeError("this model has no classes: call finetune(graphs, targets) first")
        return np.asarray(self.about_["finetuned"]["classes"])

    def predict_proba(self, graphs: GraphsLike) -> Vectors:
        """Probability of each class for each graph, by a fine-tuned model: (graphs, classes), float32."""
        count = len(self.classes_)
        collection = graphs_of(graphs)
        if len(collection) == 0:
            return np.empty((0, count), np.float32)
        layers = self.network_.classes
        assert layers is not None
        self._report_unseen(collection)
        vectors = self._embedded(collection, self.progress)
        return layers.probabilities(vectors, layers.bags(collection)).astype(np.float32)

    def predict(self, graphs: GraphsLike) -> npt.NDArray[Any]:
        """The most probable class of each graph, by a fine-tuned model."""
        names: npt.NDArray[Any] = self.classes_[self.predict_proba(graphs).argmax(axis=1)]
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return self._network is not None or self._saved is not None

    def _fitted(self) -> EncoderConfig:
        """The settings of the trained network."""
        trained = self._network or self._saved
        if trained is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this UGraphEmb has not been fitted: call fit(graphs), or UGraphEmb.load(path)")
        return trained.config
