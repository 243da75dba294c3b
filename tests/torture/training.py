"""Training that is killed again and again, and resumed: the result is that of an uninterrupted training."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from torture import writers
from torture.processes import Child, FailureError

import ugraphemb as ug
from ugraphemb import UGraphEmb


def killed_in_training(kills: int, seed: int) -> dict[str, int]:
    """Kills processes that train with a checkpoint after every step; each next one resumes.

    Returns:
        The number of kills, of trainings that were finished, and of resumptions that found a checkpoint.
    """
    chance = random.Random(seed)
    tally: Counter[str] = Counter()
    began = time.monotonic()
    expected = Child(lambda send: send(_trained(None))).receive()
    seconds = time.monotonic() - began
    while tally["kills"] < kills:
        with tempfile.TemporaryDirectory(prefix="torture-") as name:
            checkpoint = Path(name) / "run.ckpt"
            while True:
                tally["resumed"] += checkpoint.exists()
                child = Child(lambda send: send(_trained(checkpoint)))  # noqa: B023
                result = child.receive(chance.uniform(0, 1.5 * seconds))
                result = result or next(iter(child.kill()), None)
                if result is not None:
                    break
                tally["kills"] += 1
            tally["trainings"] += 1
            if result != expected:
                raise FailureError("a training that was killed and resumed gives another model than one left alone")
            left = sorted(path.name for path in checkpoint.parent.iterdir())
            if left != [checkpoint.name]:
                raise FailureError(f"a training that was killed and resumed leaves {left}")
    return {name: tally[name] for name in ("kills", "resumed", "trainings")}


def _trained(checkpoint: Path | None) -> tuple[bytes, list[Any], int]:
    settings = {"layers": (8,), "scales": (0, 1), "hidden": 8, "checkpoint_seconds": 0.0, "validate_every": 7}
    model = UGraphEmb(dimension=8, steps=60, batch=8, settings=settings, threads=1, progress=False, seed=3)
    table = ug.pairwise(writers.graphs(), method="branch", threads=1, progress=False)
    model.fit(writers.graphs(), table, checkpoint=checkpoint, resume=checkpoint is not None)
    return model.transform(writers.graphs()).tobytes(), list(model.history_), model.about_["best_step"]
