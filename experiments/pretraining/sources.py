"""Which data and which network each shipped encoder is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

NETWORKS: dict[str, dict[str, Any]] = {
    "molecules": {
        "layers": (176,) * 3, "hidden": 1024, "dimension": 256, "head": "sized_l1", "walks": 5, "edge_counts": True,
        "label_trust": 0.0, "running_norm": True, "anchored": True,
    },
    "graphs": {
        "layers": (128,) * 3, "hidden": 1024, "dimension": 256, "head": "sized_l1", "walks": 5, "clustering": True,
        "aggregation": "log", "label_trust": 0.0, "running_norm": True, "hashed_labels": 32,
        "label_counts": True, "anchored": True,
    },
}  # fmt: skip
TRAINING: dict[str, dict[str, Any]] = {
    "molecules": {
        "batch": 96,
        "steps_a_block": 30,
        "muon_decay": 0.3,
        "validate_every": 500,
        "checkpoint_seconds": 120.0,
    },
    "graphs": {"batch": 96, "steps_a_block": 20, "muon_decay": 0.3, "validate_every": 500, "checkpoint_seconds": 120.0},
}


def source_of(name: str, data: Path, limit: int | None = None, cache: Path | None = None) -> Any:
    """The graphs that the encoder of this name is trained on; `limit` is for trials."""
    if name == "molecules":
        from experiments.pretraining.molecules import Molecules

        return Molecules(data, cache=cache) if limit is None else Molecules(data, limit=limit)
    from experiments.pretraining.structures import Structures

    return Structures(data) if limit is None else Structures(data, functions=limit)
