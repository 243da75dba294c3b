"""UGraphEmb: fit on graphs, transform any graphs into vectors."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.heads import between
from ugraphemb.encoder.model import Network
from ugraphemb.encoder.names import Head
from ugraphemb.encoder.storage import read_model, write_model
from ugraphemb.errors import warned
from ugraphemb.graphs import Graph, GraphSet, GraphsLike, graphs_of
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.given import edge_labels_count, given_table
from ugraphemb.proximity.metrics import Metric, metric_of
from ugraphemb.proximity.pairwise import pairwise
from ugraphemb.proximity.plans import planned_pairs
from ugraphemb.proximity.progress import progress_of
from ugraphemb.proximity.table import PairTable
from ugraphemb.training.display import Display
from ugraphemb.training.finetuning import finetune
from ugraphemb.training.kendall import mean_tau
from ugraphemb.training.known_pairs import known_pairs
from ugraphemb.training.loop import train
from ugraphemb.training.passes import embedded
from ugraphemb.training.presets import settings_of

Vectors = npt.NDArray[np.float32]


_FEW_NODES = 2_000


class UGraphEmb(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Vectors for whole graphs, whose distances are graph distances (Bai et al., IJCAI 2019).

    `fit` computes the proximity of pairs of graphs and trains a graph network so that the distance (or inner product)
    of two vectors equals it; no labels are needed. `transform` then gives a vector for any graph, seen or not.

    Args:
        metric: "ged", "mcs", a kernel, "labels", a metric object, or a function of two graphs together with `kind`:
            what the vectors shall keep.
        method: How edit distance is computed; "tight" by default.
        costs: Of edits; by default each costs 1, but relabeling an edge costs nothing with preset="paper". The model
            keeps them, and an index verifies with them.
        kind: What a function of two graphs as `metric` gives: "distance" or "similarity".
        preset: "default", or "paper": the published model and training, exactly.
        dimension, layers, convolution, readout, head: Of the encoder; None is the preset's (see EncoderConfig).
        steps, batch, learning_rate: Of training; None is the preset's (see TrainingConfig).
        settings: Any other field of EncoderConfig or TrainingConfig.
        validation: Share of the graphs that is held out to choose the best model.
        max_pairs: Where there are more pairs, blocks of graphs are taken until there are that many.
        threads: For distances and for torch; 0 uses every core.
        timeout: Seconds for the distance of one pair.
        device: "cpu", "cuda", ...; None takes a GPU where there is one.
        seed: Same seed, same machine, same vectors.
        progress: True or False; None shows progress on a terminal.

    Attributes:
        network_: The trained network.
        vocabulary_: The labels it knows; others map to a reserved slot.
        about_: What is kept with a saved model: metric, data, scores, settings.
    """

    def __init__(
        self,
        *,
        metric: str | Metric | Callable[[Graph, Graph], float] = "ged",
        method: str | None = None,
        costs: EditCosts | None = None,
        kind: str | None = None,
        preset: str = "default",
        dimension: int | None = None,
        layers: tuple[int, ...] | None = None,
        convolution: str | None = None,
        readout: str | None = None,
        head: str | None = None,
        steps: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        settings: dict[str, Any] | None = None,
        validation: float = 0.25,
        max_pairs: int = 3_000_000,
        threads: int = 0,
        timeout: float | None = None,
        device: str | None = None,
        seed: int = 0,
        progress: bool | None = None,
    ) -> None:
        self.metric = metric
        self.method = method
        self.costs = costs
        self.kind = kind
        self.preset = preset
        self.dimension = dimension
        self.layers = layers
        self.convolution = convolution
        self.readout = readout
        self.head = head
        self.steps = steps
        self.batch = batch
        self.learning_rate = learning_rate
        self.settings = settings
        self.validation = validation
        self.max_pairs = max_pairs
        self.threads = threads
        self.timeout = timeout
        self.device = device
        self.seed = seed
        self.progress = progress

    def fit(
        self,
        graphs: GraphsLike,
        table: PairTable | Any = None,
        *,
        distances: PairTable | npt.ArrayLike | None = None,
        held_out: npt.ArrayLike | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        log: str | Path | None = None,
    ) -> UGraphEmb:
        """Learns from graphs; several GraphSets are taken together.

        Args:
            table: Proximities of pairs of `graphs`, if they are at hand. Classes that scikit-learn passes as y are
                ignored: labels are not used.
            distances: The same, or a square matrix of distances, which the vectors shall keep as they are; nan where
                one is not known. For similarities see `PairTable.from_matrix`.
            held_out: Positions of the validation graphs; by default a random share, see `validation`.
            checkpoint: A file that is written now and then.
            resume: Go on from `checkpoint`, to the same result as without the interruption.
            log: A .csv file, or a folder for TensorBoard.
        """
        collection = graphs_of(graphs)
        if len(collection) < 4:
            raise ValueError(f"{len(collection)} graphs are too few to learn from; at least 4 are needed")
        training, validation = self._split(len(collection), held_out)
        table = given_table(collection, table, distances) or self._distances(collection)
        known = known_pairs(table)
        changes = self._changes()
        if self.preset != "paper" and edge_labels_count(collection, table):
            changes.setdefault("edge_counts", not changes.get("edge_labels", False))
        encoder, loop = settings_of(self.preset, known.kind, changes)
        loop = loop.of(len(training))
        device = self._device()
        vocabulary = Vocabulary.of(collection[training], encoder)
        with _torch_threads(self.threads), torch.random.fork_rng():
            torch.manual_seed(self.seed)
            network = Network(encoder, vocabulary)
            if encoder.label_trust:
                network.inputs.weigh_labels(vocabulary.label_shares(collection[training]), encoder.label_trust)
            network.to(device)
            collator = Collator(collection, vocabulary, encoder)
            with Display(loop.steps, self.progress, log) as display:
                outcome = train(
                    network, collator, known, training, validation, loop, seed=self.seed, device=device,
                    checkpoint=None if checkpoint is None else Path(checkpoint), resume=resume,
                    report=display.report, tick=display.tick,
                )  # fmt: skip
        if outcome.interrupted:
            warned(f"stopped at step {outcome.steps}; the best model so far is kept", UserWarning)
        self.network_, self.vocabulary_ = network.eval(), vocabulary
        self.about_: dict[str, Any] = {
            "metric": table.metric,
            "kind": table.kind,
            "distance_settings": table.settings,
            "graphs": {"name": collection.name, "count": len(collection), "fingerprint": collection.fingerprint},
            "pairs": len(known),
            "training": dataclasses.asdict(loop),
            "seed": self.seed,
            "steps": outcome.steps,
            "best_step": outcome.best_step,
            "validation": {"loss": outcome.best.loss, "tau": outcome.best.tau},
        }
        self.history_ = outcome.history
        return self

    def transform(self, graphs: GraphsLike) -> Vectors:
        """A vector for each graph: (graphs, dimension), float32. Any graphs, seen in training or not."""
        self._fitted()
        collection = graphs_of(graphs)
        self._report_unseen(collection)
        return self._embedded(collection, self.progress)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`, for `set_output(transform="pandas")` and pipelines."""
        return np.array([f"ugraphemb{i}" for i in range(self._fitted().config.dimension)], dtype=object)

    def _report_unseen(self, graphs: GraphSet) -> None:
        """One GraphWarning about node labels that training has not seen."""
        self._fitted()
        unseen = self.vocabulary_.unseen(graphs)
        if unseen is not None:
            warned(unseen)

    def _embedded(self, collection: GraphSet, progress: bool | None = False) -> Vectors:
        network = self._fitted()
        if len(collection) == 0:
            return np.empty((0, network.config.dimension), np.float32)
        device = next(network.parameters()).device
        few = len(collection.node_labels) < _FEW_NODES  # threads would wait for each other longer than they work
        with _torch_threads(1 if few else self.threads):
            collator = Collator(collection, self.vocabulary_, network.config)
            with progress_of(len(collection), "graphs embedded", progress) as tick:
                return embedded(network, collator, np.arange(len(collection)), device, tick).numpy()

    def proximity(self, left: npt.ArrayLike, right: npt.ArrayLike) -> Vectors:
        """What the model predicts for vectors of `transform`: the normalized proximity of each left to each right."""
        return between(left, right, self.head_).astype(np.float32)

    @property
    def head_(self) -> Head:
        """How the fitted model compares vectors."""
        return self._fitted().config.head

    def score(self, graphs: GraphsLike, y: Any = None, *, distances: PairTable | npt.ArrayLike | None = None) -> float:
        """Kendall's τ of predicted against true proximities among these graphs: a number for model selection.

        Args:
            distances: As in `fit`; computed by the metric of the model if None.
        """
        collection = graphs_of(graphs)
        known = known_pairs(given_table(collection, y, distances) or self._distances(collection))
        vectors = self.transform(collection)
        everything = np.arange(len(collection))
        rows = known.rows(everything, everything)
        return mean_tau(self.proximity(vectors, vectors), known.value[rows], rows >= 0)

    def finetune(self, graphs: GraphsLike, targets: npt.ArrayLike, *, steps: int = 500) -> UGraphEmb:
        """Adjusts the vectors to classes (the paper's UGraphEmb-F), with the rate and batch of `fit`.

        Args:
            targets: The class of each graph.
            steps: How many; the weights that do best on a held-out share are kept.
        """
        network = self._fitted()
        collection = graphs_of(graphs)
        names, classes = np.unique(np.asarray(targets), return_inverse=True)
        if classes.shape != (len(collection),):
            raise ValueError(f"targets of shape {classes.shape} for {len(collection)} graphs")
        if len(names) < 2:
            raise ValueError("fine-tuning needs graphs of at least two classes")
        training, validation = self._split(len(collection), None)
        _, loop = settings_of(self.preset, self.about_["kind"], self._changes())
        device = next(network.parameters()).device
        with _torch_threads(self.threads), Display(steps, self.progress, None) as display:
            accuracy = finetune(
                network, Collator(collection, self.vocabulary_, network.config), classes.astype(np.int64), training,
                validation, learning_rate=loop.learning_rate, batch=loop.batch, steps=steps, seed=self.seed,
                device=device, report=display.report_accuracy,
            )  # fmt: skip
        network.eval()
        self.about_["finetuned"] = {"classes": names.tolist(), "validation_accuracy": accuracy}
        return self

    def save(self, path: str | Path) -> None:
        """Writes a folder with the network, its weights and a model card, in one step.

        A crash leaves the model that was there or the new one; processes that load meanwhile get one of the two. Files
        that others put into the folder stay.

        Raises:
            ModelFormatError: The folder holds something else.
            StorageError: It could not be written: a full disk, say.
        """
        network = self._fitted()
        parameters = {name: value for name, value in self.get_params().items() if _is_json(value)}
        write_model(Path(path), network, self.vocabulary_, {**self.about_, "parameters": parameters}, self._card())

    @classmethod
    def load(cls, path: str | Path, *, device: str | None = None) -> UGraphEmb:
        """A model from its folder. Nothing in it is executed."""
        model = cls(device=device)
        model.network_, model.vocabulary_, model.about_ = read_model(Path(path), model._device())
        parameters = model.about_.pop("parameters", {})
        known = {name: value for name, value in parameters.items() if name in model.get_params() and name != "device"}
        described = model.about_.get("distance_settings", {}).get("costs")
        if described is not None:
            known["costs"] = EditCosts.from_description(described)
        return model.set_params(**known)  # type: ignore[no-any-return]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def _fitted(self) -> Network:
        if not hasattr(self, "network_"):
            raise NotFittedError("this UGraphEmb has not been fitted: call fit(graphs), or UGraphEmb.load(path)")
        network: Network = self.network_
        return network

    def _changes(self) -> dict[str, Any]:
        names = ("dimension", "layers", "convolution", "readout", "head", "steps", "batch", "learning_rate")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {**given, **(self.settings or {})}

    def _split(self, size: int, held_out: npt.ArrayLike | None) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        if held_out is None:
            if not 0 < self.validation < 1:
                raise ValueError(f"validation={self.validation}; it is a share between 0 and 1")
            count = min(max(1, round(self.validation * size)), size - 2)
            held_out = np.random.default_rng(self.seed).permutation(size)[:count]
        validation = np.unique(np.asarray(held_out, np.int64))
        if len(validation) == 0 or validation[0] < 0 or validation[-1] >= size or len(validation) > size - 2:
            raise ValueError(f"held_out must name at least one and at most {size - 2} of the {size} graphs")
        return np.setdiff1d(np.arange(size), validation), validation

    def _distances(self, graphs: GraphSet) -> PairTable:
        costs = self.costs
        if costs is None and self.preset == "paper" and self.metric == "ged":
            costs = EditCosts(edge_relabel=0)  # edges have no labels there
        metric = metric_of(self.metric, method=self.method, costs=costs, kind=self.kind)
        possible = len(graphs) * (len(graphs) - 1) // 2
        plan = "all" if possible <= self.max_pairs else "blocks"
        pairs = planned_pairs(len(graphs), plan, budget=self.max_pairs, seed=self.seed)
        return pairwise(
            graphs, pairs, metric=metric, threads=self.threads, timeout=self.timeout, progress=self.progress
        )

    def _device(self) -> torch.device:
        name = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            device = torch.device(name)
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            there = ", ".join(["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))])
            raise ValueError(f"device={name!r} cannot be used here; there are {there}") from error
        return device

    def _card(self) -> str:
        about, config = self.about_, self._fitted().config
        graphs, score = about["graphs"], about["validation"]
        return (
            f"# A ugraphemb model\n\n"
            f"Vectors of {config.dimension} numbers, compared by {config.head}, that keep the normalized "
            f"{about['kind']} `{about['metric']}` of graphs.\n\n"
            f"- trained on: {graphs['name'] or 'graphs'}, {graphs['count']} graphs (fingerprint "
            f"{graphs['fingerprint']}), {about['pairs']} pairs, {about['steps']} steps, seed {about['seed']}\n"
            f"- on held-out graphs: Kendall tau {score['tau']:.3f}, mean squared error {score['loss']:.5f}\n"
            f"- network: {config.convolution} {'-'.join(map(str, config.layers))}, readout {config.readout}\n\n"
            f'```python\nimport ugraphemb as ug\nvectors = ug.UGraphEmb.load("this folder").transform(graphs)\n```\n'
        )


class _torch_threads:  # noqa: N801
    """`threads` for torch inside the block; 0 leaves torch as it is.

    The number is one for the whole process: of blocks that overlap, the first sets it and the last restores it.
    """

    _lock = threading.Lock()
    _inside = 0
    _before = 0

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __enter__(self) -> None:
        with _torch_threads._lock:
            if _torch_threads._inside == 0:
                _torch_threads._before = torch.get_num_threads()
            _torch_threads._inside += 1
            if self.threads > 0 and torch.get_num_threads() != self.threads:
                torch.set_num_threads(self.threads)

    def __exit__(self, *exception: object) -> None:
        with _torch_threads._lock:
            _torch_threads._inside -= 1
            if _torch_threads._inside == 0 and torch.get_num_threads() != _torch_threads._before:
                torch.set_num_threads(_torch_threads._before)


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_json, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    return value is None or isinstance(value, bool | int | float | str)
