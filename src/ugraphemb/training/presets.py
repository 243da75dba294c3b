"""Named presets of settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.graphs import GraphSet
from ugraphemb.training.config import TrainingConfig

PRESETS: dict[str, tuple[EncoderConfig, TrainingConfig]] = {
    # Bai et al. 2019, "Parameter Settings": GIN 256-128-64, ε = 0, ReLU, MSNA, two dense layers to 256 dimensions,
    # squared L2, 256 pairs per batch, Adam with rate 0.001, 20,000 iterations, lowest validation loss.
    "paper": (EncoderConfig(), TrainingConfig()),
    # The best settings on validation graphs; the effect of each difference is in experiments/results/encoder.md.
    "default": (
        EncoderConfig(
            layers=(64, 64, 64),
            residual=True,
            activation="gelu",
            readout="sum",
            scales=(0, 1, 2, 3),
            compression="log_mean",
            batch_norm=True,
            norm_floor=1.0,
            hidden=256,
            head="raised_l2",
            degree=True,
            walks=3,
            label_scale=0.1,
            label_trust=0.03,
        ),
        TrainingConfig(
            sampling="blocks",
            batch=128,
            steps=4_000,
            steps_a_graph=2,
            learning_rate=0.002,
            muon=0.02,
            schedule="cosine",
            relative=0.2,
            listwise=0.02,
            clip=1.0,
            selection="last",
            validate_every=500,
            augment=0.25,
            steps_a_block=40,
        ),
    ),
    # The default of release 0.1: plain GIN and sums, Adam, only pairs of training graphs.
    "0.1": (
        EncoderConfig(
            layers=(64, 64, 64),
            readout="sum",
            scales=(0, 1, 2, 3),
            compression="log_mean",
            batch_norm=True,
            norm_floor=1.0,
            hidden=256,
            head="raised_l2",
            degree=True,
            clustering=True,
            label_scale=0.1,
            label_trust=0.03,
        ),
        TrainingConfig(
            sampling="blocks",
            batch=128,
            steps=2_000,
            steps_a_graph=2,
            learning_rate=0.002,
            schedule="cosine",
            relative=0.2,
            clip=1.0,
            selection="tau",
            validate_every=200,
        ),
    ),
}

MANY_LABELS = 500
"""With more than this number of distinct node labels, labels are treated as words rather than as kinds of atoms."""

SPARSE = 4.0
"""Mean degree of the training graphs up to which edit distances are compared by "sized_l1"."""

_FOR_WORDS: dict[str, Any] = {"activation": "relu", "augment": 0.0}
_FOR_SPARSE: dict[str, Any] = {"head": "sized_l1", "hidden": 512, "augment": 0.4}


def changes_for(
    preset: str, graphs: GraphSet, costs: Mapping[str, Any] | None, asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Changes of the default preset for these training graphs; docs/decisions.md has the measurements.

    If labels are words: ReLU, and no fresh graphs, because their words would be random. For edit distances of sparse
    graphs, such as molecules and trees: L1 divided by the sizes, a wider dense layer and more fresh graphs; and
    vectors that are anchored (`EncoderConfig.anchored`), if costs and other settings permit it.

    Args:
        costs: Costs of edits as they are described in tables; None for other proximities.
        asked: Settings that are given by name.
    """
    if preset != "default" or not len(graphs.node_labels):
        return {}
    if len(np.unique(graphs.node_labels)) > MANY_LABELS:
        return dict(_FOR_WORDS)
    if costs is None or len(graphs.indices) > SPARSE * len(graphs.node_labels):
        return {}
    fits = asked.get("head", "sized_l1") == "sized_l1" and asked.get("readout") != "supersource"
    return {**_FOR_SPARSE, **({"anchored": True} if fits and are_unit(costs) else {})}


def are_unit(costs: Mapping[str, Any]) -> bool:
    """Whether each insertion and deletion costs 1, so that the distance to the empty graph is nodes plus edges."""
    names = ("node_insert", "node_delete", "edge_insert", "edge_delete")
    return all(costs.get(name) == 1 for name in names)


def settings_of(preset: str, kind: str, changes: dict[str, Any]) -> tuple[EncoderConfig, TrainingConfig]:
    """The settings of a preset with changes. For similarities the head is the inner product."""
    if preset not in PRESETS:
        raise ValueError(f"preset={preset!r}; it is one of {', '.join(map(repr, PRESETS))}")
    encoder, training = PRESETS[preset]
    if kind == "similarity":
        encoder = dataclasses.replace(encoder, head="inner")
    changes = dict(changes)
    if "steps" in changes:
        changes.setdefault("steps_a_graph", 0)
    for_encoder = {f.name: changes.pop(f.name) for f in dataclasses.fields(EncoderConfig) if f.name in changes}
    for_training = {f.name: changes.pop(f.name) for f in dataclasses.fields(TrainingConfig) if f.name in changes}
    if changes:
        known = sorted(f.name for part in (EncoderConfig, TrainingConfig) for f in dataclasses.fields(part))
        raise ValueError(f"unknown setting {next(iter(changes))!r}; known are {', '.join(known)}")
    widths = set(for_encoder.get("layers", encoder.layers))
    if len(widths) > 1 or for_encoder.get("convolution", "gin") != "gin":
        encoder = dataclasses.replace(encoder, residual=False)  # if requested explicitly, it is an error
    if (for_encoder.get("head", encoder.head) == "inner") != (kind == "similarity"):
        raise ValueError(f"head={for_encoder['head']!r} does not fit a {kind}")
    return dataclasses.replace(encoder, **for_encoder), dataclasses.replace(training, **for_training)
