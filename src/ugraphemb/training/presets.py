"""Whole sets of settings, by name."""

from __future__ import annotations

import dataclasses
from typing import Any

from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.training.config import TrainingConfig

PRESETS: dict[str, tuple[EncoderConfig, TrainingConfig]] = {
    # Bai et al. 2019, "Parameter Settings": GIN 256-128-64, ε = 0, ReLU, MSNA, two dense layers to 256 dimensions,
    # squared L2, 256 pairs a batch, Adam at 0.001, 20,000 iterations, the lowest validation loss.
    "paper": (EncoderConfig(), TrainingConfig()),
    # What was best on validation; see docs/training.md for what each difference is worth.
    "default": (
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
            selection="tau",
            validate_every=200,
        ),
    ),
}


def settings_of(preset: str, kind: str, changes: dict[str, Any]) -> tuple[EncoderConfig, TrainingConfig]:
    """A preset's settings with some of them changed. A similarity is compared by inner products."""
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
    if (for_encoder.get("head", encoder.head) == "inner") != (kind == "similarity"):
        raise ValueError(f"head={for_encoder['head']!r} does not fit a {kind}")
    return dataclasses.replace(encoder, **for_encoder), dataclasses.replace(training, **for_training)
