"""UGraphEmb: fit on graphs, transform any graphs into vectors."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ugraphemb.cores import available_cores
from ugraphemb.encoder.cards import card_of
from ugraphemb.encoder.carrying import carried, with_labels_of
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import UNSEEN, Vocabulary, slots_of
from ugraphemb.encoder.storage import Saved, fingerprint_of, read_model, weights_of, write_model
from ugraphemb.errors import warned
from ugraphemb.fitted import FittedEncoder
from ugraphemb.graphs import Graph, GraphSet, GraphsLike, graphs_of
from ugraphemb.pretrained import folder_of, model_folder
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.given import depends_on_edge_labels, edge_labels_count, given_table
from ugraphemb.proximity.metrics import Metric, metric_of
from ugraphemb.proximity.pairwise import pairwise
from ugraphemb.proximity.plans import planned_pairs
from ugraphemb.proximity.table import PairTable
from ugraphemb.training.config import TrainingConfig
from ugraphemb.training.kendall import mean_tau
from ugraphemb.training.known_pairs import known_pairs
from ugraphemb.training.presets import are_unit, changes_for, settings_of
from ugraphemb.training.targets import classes_to_learn

Vectors = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int64]


_ONLINE_SHARE = 0.7  # of the steps, where a table is given too
_ADAPTED_STEPS = 0.1  # of the steps, where training starts from a trained model
_ADAPTED_RATE = 0.3  # of the learning rates
_ADAPTED_RATE_OF_LABELS = 2.0  # of the learning rates, where no label of the graphs is known and all begin alike


class UGraphEmb(FittedEncoder):
    """Vectors for whole graphs, whose distances are graph distances (Bai et al., IJCAI 2019).

    `fit` computes the proximity of pairs of graphs and trains a graph network so that the distance (or inner product)
    of two vectors equals it; no class labels are needed. `transform` gives a vector for any graph, also for graphs that
    were not seen in training.

    Args:
        metric: "ged", "mcs", a kernel, "labels", a metric object, or a function of two graphs together with `kind`:
            the proximity that the vectors represent.
        method: Solver of edit distance; "tight" by default.
        costs: Edit costs; by default each edit costs 1, but relabeling an edge is free with preset="paper". They are
            saved with the model, and an index verifies with them.
        kind: If `metric` is a function: "distance" or "similarity".
        preset: "default", "paper" (the published model and training), or "0.1" (the default of release 0.1).
        dimension: Length of a vector; None takes the value of the preset, here and below.
        layers: Width of each convolution.
        convolution: "gin", "gcn", "sage" or "gat".
        readout: How node vectors become one vector per graph: "msna", "attention", "supersource", "sum", "average".
        head: How two vectors are compared: "sized_l1", "raised_l2", "pseudo_l2", "l2", "l1", "squared_l2" or "inner".
        steps: Optimizer steps.
        batch: Graphs (or pairs, see `sampling` of TrainingConfig) per step.
        learning_rate: Maximum learning rate of Adam.
        settings: Any other field of EncoderConfig or TrainingConfig.
        validation: Share of the graphs that is held out to select the best model.
        truth: "online" computes proximities during training, for blocks of graphs, so that the number of pairs is
            unlimited; "table" computes all of them before. By default edit distances are computed online, and
            everything else is a table.
        augment: Share of fresh graphs in each block: random edits, connected crops and mixtures of training graphs.
            None takes the value of the preset, and 0 if proximities are given; 0 means no fresh graphs.
        max_pairs: Maximum size of a table; if there are more pairs, only pairs within random blocks of graphs are used.
        threads: Threads for distances and for torch; 0 uses all cores.
        timeout: Seconds per distance.
        device: "cpu", "cuda", ...; None uses a GPU if there is one.
        seed: The same seed gives the same vectors on the same machine.
        progress: True or False; None shows progress on a terminal.

    Attributes:
        network_: The trained network. torch is imported only to train, to embed many graphs, or to read this attribute.
        vocabulary_: The labels seen in training; all others share one embedding.
        about_: Information that is saved with the model: metric, data, scores, settings.

    Examples:
        >>> import ugraphemb as ug
        >>> graphs = ug.load_dataset("atlas")[100:140]
        >>> model = ug.UGraphEmb(seed=0, steps=10).fit(graphs)
        >>> model.transform(graphs[:3]).shape
        (3, 256)
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
        truth: Literal["online", "table"] | None = None,
        augment: float | None = None,
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
        self.truth = truth
        self.augment = augment
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
        avoid: GraphsLike | None = None,
        start: str | Path | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        log: str | Path | None = None,
    ) -> UGraphEmb:
        """Learns from graphs; several GraphSets are taken together.

        Args:
            table: Proximities of pairs of `graphs`, if they are known. Classes that scikit-learn passes as y are
                ignored: labels are not used.
            distances: The same, or a square matrix of distances, which are learned without normalization; nan marks
                unknown entries. For similarities see `PairTable.from_matrix`.
            held_out: Positions of the validation graphs; by default a random share, see `validation`.
            avoid: Graphs that no fresh graph may equal, for example test graphs. Held-out graphs are always among them.
            start: A pre-trained model ("molecules", "graphs") or the folder of a model, which is adapted to the graphs
                in a tenth of the steps, unless `steps` is given. The network is that of the model; labels that it
                does not know are added.
            checkpoint: A file that is written regularly.
            resume: Continue from `checkpoint`; the result is the same as without the interruption.
            log: A .csv file, or a folder for TensorBoard.
        """
        import torch

        from ugraphemb.encoder.batches import Collator
        from ugraphemb.encoder.model import Network
        from ugraphemb.training.devices import device_of
        from ugraphemb.training.display import Display
        from ugraphemb.training.loop import train
        from ugraphemb.training.online import OnlineBlocks, Truth, is_computed_online
        from ugraphemb.training.passes import prepared
        from ugraphemb.training.threads import torch_threads

        saved = None if start is None else _model_at(start)
        collection = graphs_of(graphs)
        if len(collection) < 4:
            few = "1 graph is" if len(collection) == 1 else f"{len(collection)} graphs are"
            raise ValueError(f"{few} too few to learn from; at least 4 are needed")
        training, validation = self._split(len(collection), held_out)
        given = given_table(collection, table, distances)
        preset = settings_of(self.preset, "distance", {})[1]
        name, described = _described(self._metric() if given is None else given)
        costs = described.get("costs", {}) if name == "ged" else None
        for_graphs = changes_for(self.preset, collection[training], costs, self._changes())
        changes = {**for_graphs, **self._changes()}
        augment = for_graphs.get("augment", preset.augment)
        is_online = is_computed_online(self.truth, self.augment, augment, self._metric(), given)
        if not is_online:
            changes["augment"] = 0.0
            if preset.selection == "last":
                changes.setdefault("selection", "tau")  # few graphs are overfitted, fresh ones are not
        if given is not None:
            table = given
        else:
            table = self._distances(collection, (training, validation) if is_online else None)
        known = known_pairs(table)
        edges = edge_labels_count(collection, table)
        if self.preset != "paper" and edges:
            changes.setdefault("edge_counts", not changes.get("edge_labels", False))
        if table.settings.get("costs", {}).get("node_attributes"):
            changes.setdefault("attributes", True)
        encoder, loop = settings_of(self.preset, known.kind, changes)
        loop = loop.of(len(training))
        device = device_of(self.device)
        vocabulary = Vocabulary.of(collection[training], encoder)
        if saved is not None:
            no_names = bool(np.all(slots_of(vocabulary.node_labels, saved.vocabulary.node_labels) == UNSEEN))
            alike = no_names and len(saved.vocabulary.node_labels) <= 1 < len(vocabulary.node_labels)
            encoder, loop = self._continued(saved, loop, table.kind, costs, labels_alike=alike)
            relabeled = depends_on_edge_labels(table)
            vocabulary = with_labels_of(saved.vocabulary, collection[training], encoder, edges=relabeled)
        cores = self.threads or available_cores()
        beside = cores // 2 if is_online else 0  # threads that compute truth, the others train
        with torch_threads(max(1, cores - beside) if is_online else self.threads), torch.random.fork_rng():
            torch.manual_seed(self.seed)
            network = Network(encoder, vocabulary)
            if encoder.label_trust:
                network.inputs.weigh_labels(vocabulary.label_shares(collection[training]), encoder.label_trust)
            if saved is not None:
                begin = carried(encoder, saved.vocabulary, saved.weights, vocabulary, by_frequency=no_names)
                network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in begin.items()})
            network.to(device)
            collator = Collator(collection, vocabulary, encoder)
            online = None
            if is_online:
                truth = Truth(self._metric(), self.method is None, max(1, beside), self.timeout)
                online = OnlineBlocks(
                    collection[training], loop, truth, partial(prepared, network, vocabulary),
                    self.seed, 1.0 if given is None else _ONLINE_SHARE,
                    collection[validation] if avoid is None else collection[validation] + graphs_of(avoid),
                )  # fmt: skip
            with Display(loop.steps, self.progress, log) as display:
                outcome = train(
                    network, collator, known, training, validation, loop, seed=self.seed, device=device,
                    online=online, start=None if saved is None else _fingerprint(saved),
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
            "pairs": len(known) + (0 if online is None else online.pairs),
            "training": dataclasses.asdict(loop),
            "seed": self.seed,
            "steps": outcome.steps,
            "best_step": outcome.best_step,
            "validation": {"loss": outcome.best.loss, "tau": outcome.best.tau},
            **({} if start is None else {"start": str(start)}),
        }
        self.history_ = outcome.history
        return self

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

    def finetune(self, graphs: GraphsLike, targets: npt.ArrayLike, *, steps: int | None = None) -> UGraphEmb:
        """Adjusts the vectors to classes (the paper's UGraphEmb-F) and learns to predict them.

        The class layers are kept with the model: see `predict`. Fine-tuning again replaces them. Their input is the
        vector and the Weisfeiler-Lehman colors of a graph. Distances between vectors stay close to what they were.

        Args:
            targets: The class of each graph: strings, integers, floats or booleans.
            steps: Training steps; by default chosen by the number of graphs. 0 trains the class layers only.

        Raises:
            ValueError: A graph without a class, classes of different types, a single class, or fewer than 3 graphs.
        """
        from ugraphemb.encoder.batches import Collator
        from ugraphemb.training.display import Display
        from ugraphemb.training.finetuning import Finetuning, finetune
        from ugraphemb.training.threads import torch_threads

        if steps is not None and steps < 0:
            raise ValueError(f"steps={steps}; expected 0 (the class layers only) or more")
        network = self.network_
        collection = graphs_of(graphs)
        names, classes = classes_to_learn(targets, len(collection))
        training, validation = self._split(len(collection), None)
        settings = Finetuning()
        count = settings.steps(len(training)) if steps is None else steps
        device = next(network.parameters()).device
        with torch_threads(self.threads), Display(count, self.progress, None) as display:
            accuracies = finetune(
                network, Collator(collection, self.vocabulary_, network.config), collection, classes,
                training, validation, settings=settings, steps=count, seed=self.seed, device=device,
                report=display.report_accuracy,
            )  # fmt: skip
        network.eval()
        self.about_.pop("pretrained", None)
        self.about_["finetuned"] = {"classes": names.tolist(), "validation_accuracy": accuracies["classes"]}
        return self

    def save(self, path: str | Path) -> None:
        """Writes a folder with the settings, the weights and a model card, atomically.

        A crash leaves the previous model or the new one, and processes that load it meanwhile get one of the two. Other
        files in the folder are not touched.

        Raises:
            ModelFormatError: The folder contains something else.
            StorageError: It could not be written, for example because the disk is full.
        """
        config = self._fitted()
        weights = weights_of(self.network_) if self._saved is None else self._saved.weights
        parameters = {name: value for name, value in self.get_params().items() if _is_json(value)}
        about = {**self.about_, "parameters": parameters}
        write_model(Path(path), config, self.vocabulary_, weights, about, card_of(self.about_, config))

    @classmethod
    def load(cls, path: str | Path, *, device: str | None = None) -> UGraphEmb:
        """A model from its folder. Nothing in it is executed."""
        model = cls(device=device)
        saved = read_model(Path(path))
        model._saved, model.vocabulary_, model.about_ = saved, saved.vocabulary, saved.about
        if device not in (None, "cpu") or "torch" in sys.modules or saved.inference() is None:
            _ = model.network_
        parameters = model.about_.pop("parameters", {})
        known = {name: value for name, value in parameters.items() if name in model.get_params() and name != "device"}
        described = model.about_.get("distance_settings", {}).get("costs")
        if described is not None:
            known["costs"] = EditCosts.from_description(described)
        return model.set_params(**known)

    @classmethod
    def pretrained(cls, name: str, *, costs: EditCosts | None = None, device: str | None = None) -> UGraphEmb:
        """A model that comes with the package, trained on many graphs: no training is needed.

        "molecules" is for molecules, nodes labeled by element and edges by bond order ("single", "double", "triple",
        "aromatic"); "graphs" is for all other graphs, with labels or without. `ugraphemb models` lists them with what
        they are good for.

        Args:
            costs: The default costs, or `EditCosts(edge_relabel=0)`: edges then have no labels.

        Raises:
            ValueError: An unknown name, or costs that the model was not trained with.

        Examples:
            >>> import ugraphemb as ug
            >>> model = ug.UGraphEmb.pretrained("molecules")
            >>> vectors = model.transform(ug.GraphSet.from_smiles(["CCO", "CCN", "c1ccccc1"]))
            >>> near, far = model.proximity(vectors[:1], vectors[1:])[0]
            >>> bool(near < far)
            True
        """
        model = cls.load(folder_of(name), device=device)
        model.about_["pretrained"] = name
        if costs is None or costs == model.costs:
            return model
        if costs != dataclasses.replace(model.costs or EditCosts(), edge_relabel=0.0):
            raise ValueError(
                f"{name!r} is for the default costs, or for EditCosts(edge_relabel=0); fit a model for others"
            )
        saved = model._saved or _model_at(name)
        vocabulary = dataclasses.replace(saved.vocabulary, edge_labels=())
        weights = carried(saved.config, saved.vocabulary, saved.weights, vocabulary)
        model._network = None
        model._saved = dataclasses.replace(saved, vocabulary=vocabulary, weights=weights)
        model.vocabulary_ = vocabulary
        settings = model.about_["distance_settings"]
        model.about_["distance_settings"] = {**settings, "costs": costs.description()}
        return model.set_params(costs=costs)

    def _continued(
        self, saved: Saved, loop: TrainingConfig, kind: str, costs: Mapping[str, Any] | None, *, labels_alike: bool
    ) -> tuple[EncoderConfig, TrainingConfig]:
        """The network of a trained model, and how it is adapted.

        Args:
            labels_alike: The model has no vectors of labels that those of the graphs could begin with.
        """
        fixed = [field.name for field in dataclasses.fields(EncoderConfig) if field.name in self._changes()]
        if fixed:
            raise ValueError(f"{fixed[0]} is that of the model at the start; leave it out, or train from the beginning")
        if (saved.config.head == "inner") != (kind == "similarity"):
            raise ValueError(f"the model at the start is not for a {kind}")
        if saved.vocabulary.attribute_mean:
            raise ValueError("a model with node attributes cannot be adapted to other graphs")
        if costs is not None and costs.get("node_attributes"):
            raise ValueError("node attributes count in these costs, but the model at the start does not use them")
        if "steps" not in self._changes():
            loop = dataclasses.replace(loop, steps=max(1, round(_ADAPTED_STEPS * loop.steps)))
        if "learning_rate" not in self._changes():
            factor = _ADAPTED_RATE_OF_LABELS if labels_alike else _ADAPTED_RATE
            loop = dataclasses.replace(loop, learning_rate=factor * loop.learning_rate, muon=factor * loop.muon)
        anchored = saved.config.anchored and costs is not None and are_unit(costs)
        return dataclasses.replace(saved.config, anchored=anchored), loop

    def _changes(self) -> dict[str, Any]:
        names = ("dimension", "layers", "convolution", "readout", "head", "steps", "batch", "learning_rate", "augment")
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

    def _metric(self) -> Metric:
        costs = self.costs
        if costs is None and self.preset == "paper" and self.metric == "ged":
            costs = EditCosts(edge_relabel=0)  # edges have no labels there
        return metric_of(self.metric, method=self.method, costs=costs, kind=self.kind)

    def _distances(self, graphs: GraphSet, asked: tuple[Positions, Positions] | None = None) -> PairTable:
        """Of all pairs, or of as many as `max_pairs`; of (training, validation) graphs only those of validation."""
        if asked is not None:
            from ugraphemb.training.validation import validation_graphs

            queries, database = validation_graphs(*asked, self.seed)
            pairs: Any = np.stack(np.meshgrid(queries, database, indexing="ij"), axis=-1).reshape(-1, 2)
        else:
            possible = len(graphs) * (len(graphs) - 1) // 2
            plan = "all" if possible <= self.max_pairs else "blocks"
            pairs = planned_pairs(len(graphs), plan, budget=self.max_pairs, seed=self.seed)
        return pairwise(
            graphs, pairs, metric=self._metric(), threads=self.threads, timeout=self.timeout, progress=self.progress
        )


def model_of(model: str | Path, *, device: str | None = None) -> UGraphEmb:
    """The model of a folder, or a pre-trained one by its name.

    Raises:
        ValueError: Neither a path nor the name of a pre-trained model.
        ModelFormatError: A path that is not the folder of a model.
    """
    folder = model_folder(model)
    if folder == Path(model).expanduser():
        return UGraphEmb.load(folder, device=device)
    return UGraphEmb.pretrained(str(model), device=device)


def _model_at(start: str | Path) -> Saved:
    """A saved model by the name of a pre-trained one, or by its folder."""
    saved = read_model(model_folder(start))
    encoder = {name: array for name, array in saved.weights.items() if not name.startswith("classes.")}
    return dataclasses.replace(saved, weights=encoder)


def _fingerprint(saved: Saved) -> str:
    return fingerprint_of(saved.config, saved.vocabulary, saved.weights)


def _described(truth: Metric | PairTable) -> tuple[str, dict[str, Any]]:
    """Name and settings of the metric that is learned."""
    return (truth.metric, truth.settings) if isinstance(truth, PairTable) else (truth.name, truth.settings())


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_json, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    return value is None or isinstance(value, bool | int | float | str)
