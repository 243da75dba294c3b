"""The experiments by name, in the order of the page."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Protocol

from experiments.cells import Cell
from experiments.lab import Lab
from experiments.settings import Settings


class Experiment(Protocol):
    """A module of this package: its docstring says what it is about."""

    def cells(self, settings: Settings) -> Iterable[Cell]:
        """Everything there is to compute."""
        ...

    def run(self, cell: Cell, lab: Lab) -> dict[str, Any]:
        """The numbers of one cell (JSON)."""
        ...


NAMES = (
    "datasets", "ground_truth", "classification", "ranking", "maps", "sensitivity", "teachers", "readouts", "ladder",
    "generalization",
)  # fmt: skip


def experiment(name: str) -> Any:
    if name not in NAMES:
        raise SystemExit(f"unknown experiment {name!r}; there are {', '.join(NAMES)}")
    return import_module(f"experiments.{name}")


def all_cells(settings: Settings, names: Iterable[str] = NAMES) -> list[Cell]:
    """The most valuable first: cheap tiers, then important sets, then split by split."""
    found = [(place, cell) for place, name in enumerate(names) for cell in experiment(name).cells(settings)]
    order = list(settings.sets)
    return [cell for _, cell in sorted(found, key=lambda p: (p[1].tier, order.index(p[1].data), p[1].split, p[0]))]
