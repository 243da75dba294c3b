"""Settings of the encoder, saved as JSON beside the weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from ugraphemb.encoder.names import Activation, Aggregation, Compression, Convolution, Head, Readout
from ugraphemb.errors import ModelFormatError

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class EncoderConfig:
    """Settings of the network.

    Attributes:
        convolution: "gin", "gcn", "sage" or "gat"; "gin" becomes GINE where `edge_labels` is set.
        layers: Width of each convolution.
        aggregation: How a GIN combines neighbors: their "sum", or "log": the sum times log(1 + d) / d for d neighbors,
            so that graphs that are denser than the training graphs stay in the range of values seen in training.
        residual: Add the output of a GIN to the node's vector instead of replacing it.
        activation: "relu" or "gelu", for the GIN convolutions and the dense layers.
        learn_epsilon: Learn GIN's ε instead of fixing it to 0.
        edge_labels: Use edge labels in every convolution (GINE; slower, because nodes are not folded).
        edge_counts: Give nodes the number of their edges of each label as features. For a GIN this is similar to
            adding a vector of the label to each message, at no cost. `UGraphEmb.fit` sets it if edge labels count.
        readout: "msna", "attention", "supersource", "sum", "average", or "msna_sum": msna and sum, concatenated.
        scales: The layers that the readout uses, counting from 1 (0 is the input); None means every layer for
            msna, sum and msna_sum, and the last one for the other readouts.
        compression: "log" applies sign(z)·log(1 + |z|) to the readouts before the dense layers, so that graphs of 10
            and of 1,000 nodes have the same scale; "log_mean" also appends the mean over nodes; "none" as in the paper.
        batch_norm: Standardize the input of the dense layers, by the batch in training and by running means otherwise.
        running_norm: Standardize by running means in training, too, so that training and inference agree if batches
            consist of different kinds of graphs.
        norm_floor: Added to the variances when standardizing, so that nearly constant features are not amplified.
        hidden: Width of the first dense layer; None means `dimension`.
        dimension: Length of a graph's vector.
        scaled: Multiply the vector by (nodes + edges) / nodes: distances of dense graphs are that much larger.
        anchored: Scale each vector of "sized_l1" so that its predicted distance to the empty graph is the number of
            nodes plus the number of edges, as it is for unit costs. Every predicted edit distance is then between the
            difference and the sum of these numbers of its two graphs.
        head: How two vectors are compared: "sized_l1", "raised_l2", "pseudo_l2", "l2", "l1" or "squared_l2" for
            distances, "inner" for similarities.
        degree: Give nodes their degree as a feature.
        walks: Give nodes the probabilities that a random walk is back after 2, 3, ... steps, this many of them.
        clustering: Give nodes their degree, number of triangles and clustering coefficient as features.
        attributes: Give nodes their attributes as features, standardized.
        label_scale: Initial scale of the label vectors. With a small one, structure is learned before labels are.
        label_trust: A label that occurs in a share p of the training graphs is weighted by p / (p + label_trust),
            because rare labels are mostly noise. 0 weights all labels equally.
        hashed_labels: Width of a fixed random code of each label, seen in training or not; 0 is off.
        label_counts: Give nodes as features how many nodes of their graph have their label, as a logarithm and as a
            share. They also describe labels that were not seen in training.
    """

    convolution: Convolution = "gin"
    layers: tuple[int, ...] = (256, 128, 64)
    aggregation: Aggregation = "sum"
    residual: bool = False
    activation: Activation = "relu"
    learn_epsilon: bool = False
    edge_labels: bool = False
    readout: Readout = "msna"
    scales: tuple[int, ...] | None = None
    compression: Compression = "none"
    batch_norm: bool = False
    running_norm: bool = False
    norm_floor: float = 1e-5
    hidden: int | None = None
    dimension: int = 256
    scaled: bool = False
    anchored: bool = False
    head: Head = "squared_l2"
    degree: bool = False
    walks: int = 0
    clustering: bool = False
    edge_counts: bool = False
    attributes: bool = False
    label_scale: float = 1.0
    label_trust: float = 0.0
    hashed_labels: int = 0
    label_counts: bool = False

    def __post_init__(self) -> None:
        _one_of("convolution", self.convolution, Convolution)
        _one_of("readout", self.readout, Readout)
        _one_of("aggregation", self.aggregation, Aggregation)
        _one_of("activation", self.activation, Activation)
        _one_of("compression", self.compression, Compression)
        _one_of("head", self.head, Head)
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.layers or min(self.layers) < 1 or self.dimension < 1 or self.hashed_labels < 0:
            raise ValueError("layers, dimension and hashed_labels must be positive")
        if self.norm_floor <= 0:
            raise ValueError(f"norm_floor={self.norm_floor}; it must be above 0")
        if self.scales is not None:
            object.__setattr__(self, "scales", tuple(self.scales))
            if not self.scales or not set(self.scales) <= set(range(len(self.layers) + 1)):
                raise ValueError(f"scales={self.scales}, but there are {len(self.layers)} layers (0 is the input)")
        if self.residual and (self.convolution != "gin" or len(set(self.layers)) > 1):
            raise ValueError("residual=True needs convolution='gin' and layers of one width")
        if self.aggregation == "log" and (self.convolution != "gin" or self.edge_labels):
            raise ValueError("aggregation='log' needs convolution='gin' without edge labels")
        if self.scaled and self.readout == "supersource":
            raise ValueError("scaled=True does not fit readout='supersource'")
        if self.anchored and (self.head != "sized_l1" or self.readout == "supersource"):
            raise ValueError("anchored=True needs head='sized_l1' and another readout than 'supersource'")
        if self.walks < 0:
            raise ValueError(f"walks={self.walks}; it must not be below 0")
        if self.edge_labels and self.convolution != "gin":
            raise ValueError(f"edge labels need convolution='gin', not {self.convolution!r}")


def scales_of(config: EncoderConfig) -> tuple[int, ...]:
    """The layers that the readout uses; by default only the last one, unless the readout is multi-scale."""
    last = len(config.layers)
    if config.readout in ("attention", "supersource", "average"):
        return config.scales or (last,)
    return config.scales or tuple(range(1, last + 1))


def changed(config: EncoderConfig) -> dict[str, Any]:
    """The settings that differ from their defaults, for fingerprints: settings of later releases do not change them."""
    return {f.name: getattr(config, f.name) for f in dataclasses.fields(config) if getattr(config, f.name) != f.default}


def _one_of(name: str, value: object, names: Any) -> None:
    if value not in get_args(names):
        raise ValueError(f"{name}={value!r}; it is one of {', '.join(map(repr, get_args(names)))}")


def from_json(kind: type[Settings], values: dict[str, Any], source: str) -> Settings:
    """Settings of a saved model. Raises ModelFormatError for unknown keys and invalid values."""
    if not isinstance(values, dict):
        raise ModelFormatError(f"{source}: expected an object")
    known = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - known)
    if unknown:
        raise ModelFormatError(f"{source}: unknown setting {unknown[0]!r}; known are {', '.join(sorted(known))}")
    try:
        return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{source}: {error}") from error
