"""What is run in each mode: config.toml, read and checked."""

from __future__ import annotations

import copy
import dataclasses
import tomllib
from pathlib import Path
from typing import Any

from ugraphemb.training.presets import settings_of

HERE = Path(__file__).resolve().parent
# Keys of cells contain the differences from the paper's preset with these settings. All cells had these settings before
# they could be chosen, so old cells keep their keys and their meaning. Training starts from the same settings.
REFERENCE = {"clip": 1.0}
MODES = ("full", "quick")
_NAMED = {
    "default": "0.1"
}  # the default that the cells of this folder were computed with; encoder.py is about the current default


class Settings:
    """config.toml in one mode: entries under [quick] replace the entries above.

    Args:
        mode: "full" or "quick".
        source: Another file, or its content.
    """

    def __init__(self, mode: str = "full", source: Path | dict[str, Any] = HERE / "config.toml") -> None:
        content = copy.deepcopy(source) if isinstance(source, dict) else tomllib.loads(source.read_text())
        changes = content.pop("quick", {})
        self.mode = mode
        self.content = _merged(content, changes) if mode == "quick" else content

    def __getitem__(self, experiment: str) -> dict[str, Any]:
        """The part of one experiment; without sets if there is no such part."""
        return {"sets": [], "methods": [], **self.content.get(experiment, {})}

    @property
    def sets(self) -> dict[str, dict[str, Any]]:
        """Data sets in order of importance."""
        return self.content["sets"]

    def splits(self, name: str, experiment: str, method: str = "") -> range:
        """Number of splits: that of the experiment, or of the set; for slow methods at most the set's `slow_splits`."""
        count = self[experiment].get("splits", self.sets[name]["splits"])
        if method in self[experiment].get("slow", []):
            count = min(count, self.sets[name].get("slow_splits", count))
        return range(count)

    def cap(self, name: str, source: str) -> dict[str, int]:
        """Limits for true distances or a method that are slow on this set; empty if all pairs are computed."""
        return self.sets[name].get("caps", {}).get(source, {})

    def model(
        self, name: str, preset: str, truth: str, changes: dict[str, Any] | None = None, *, steps: int | None = None,
        share: float = 1.0,
    ) -> dict[str, Any]:  # fmt: skip
        """All that a trained model depends on: its changes from `REFERENCE`, the true distances and the pairs.

        The number of steps is that of the config for this preset (all sets, or this one), unless given.
        """
        limits = self.content.get("steps", {})
        steps = steps or self.sets[name].get("steps", {}).get(preset, limits.get(preset))
        kind = "similarity" if truth in ("mcs", "graphlet") else "distance"
        own = self.content.get("paper", {}) if preset == "paper" else {}
        wanted = settings_of(
            _NAMED.get(preset, preset), kind, {**own, **(changes or {}), **({"steps": steps} if steps else {})}
        )
        # Only what differs from the paper's preset: a new setting changes no key until it is used.
        different = {
            field.name: getattr(part, field.name)
            for part, plain in zip(wanted, settings_of("paper", kind, REFERENCE), strict=True)
            for field in dataclasses.fields(part)
            if getattr(part, field.name) != getattr(plain, field.name)
        }
        return {"changes": different, "truth": truth, "share": share, "cap": self.cap(name, truth)}


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
