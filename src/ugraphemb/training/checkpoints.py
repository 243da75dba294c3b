"""A run, on disk: written to a temporary file and renamed, so that a crash leaves the one before."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from ugraphemb.errors import ModelFormatError
from ugraphemb.training.validation import Score

if TYPE_CHECKING:
    from ugraphemb.training.loop import _Run


def write_checkpoint(path: Path, run: _Run) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "settings": _settings(run),
        "network": run.network.state_dict(),
        "average": run.average.state_dict(),
        "best": run.best_weights,
        "optimizer": run.optimizer.state_dict(),
        "state": json.dumps(dataclasses.asdict(run.state)),
        "generator": json.dumps(run.generator.bit_generator.state),
    }
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_checkpoint(path: Path, run: _Run) -> None:
    """Puts `run` where the checkpoint left off. Refuses one of another network, training or set of distances."""
    try:
        content = torch.load(path, map_location=run.device, weights_only=True)
    except Exception as error:
        raise ModelFormatError(f"{path}: not a checkpoint, or torn ({error}); delete it to start anew") from error
    if content.get("settings") != _settings(run):
        raise ModelFormatError(f"{path}: a checkpoint of other settings or data; delete it to start anew")
    run.network.load_state_dict(content["network"])
    run.average.load_state_dict(content["average"])
    run.best_weights = content["best"]
    run.optimizer.load_state_dict(content["optimizer"])
    state = json.loads(content["state"])
    state["best"] = Score(**state["best"])
    state["history"] = [tuple(row) for row in state["history"]]
    run.state = dataclasses.replace(run.state, **state)
    run.generator.bit_generator.state = json.loads(content["generator"])


def _settings(run: _Run) -> str:
    encoder, training = dataclasses.asdict(run.network.config), dataclasses.asdict(run.config)
    pairs = [len(run.truth.pairs), float(run.truth.value.sum())]
    return json.dumps([encoder, training, run.truth.size, pairs], sort_keys=True)
