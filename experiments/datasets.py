"""The data sets in numbers (the paper's table of data sets)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.cells import Cell
from experiments.lab import Lab
from experiments.settings import Settings
from ugraphemb.graphs.summary import statistics


def cells(settings: Settings) -> Iterator[Cell]:
    for data in settings["datasets"]["sets"]:
        yield Cell("datasets", data, "statistics", 0, tier=0)


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    found = statistics(lab.graphs(cell.data))
    return {
        "labels": found["node_labels"] or 1, "graphs": found["graphs"], "classes": len(found["targets"]["classes"]),
        **found["nodes"], "edges": found["edges"]["mean"], "disconnected": found["disconnected"],
    }  # fmt: skip
