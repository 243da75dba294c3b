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
        """All cells of the experiment."""
        ...

    def run(self, cell: Cell, lab: Lab) -> dict[str, Any]:
        """The numbers of one cell (JSON)."""
        ...


NAMES = (
    "datasets", "ground_truth", "finetuning", "pair_models", "classification", "ranking", "maps", "sensitivity",
    "teachers", "readouts", "ladder", "ablation", "generalization",
)  # fmt: skip


def experiment(name: str) -> Any:
    if name not in NAMES:
        raise SystemExit(f"unknown experiment {name!r}; there are {', '.join(NAMES)}")
    return import_module(f"experiments.{name}")


def all_cells(settings: Settings, names: Iterable[str] = NAMES) -> list[Cell]:
    """The most valuable first: cheap tiers, then important sets. Sets with `late` in the config follow later.

    Splits of one experiment are adjacent: consecutive cells train different models, so that parallel processes do not
    wait for the same model.
    """
    order = list(settings.sets)

    def place(found: tuple[int, Cell]) -> tuple[int, ...]:
        number, cell = found
        late = settings.sets[cell.data].get("late", 0) if cell.tier else 0
        return cell.tier + late, order.index(cell.data), number, cell.split

    found = [(number, cell) for number, name in enumerate(names) for cell in experiment(name).cells(settings)]
    return [cell for _, cell in sorted(found, key=place)]
