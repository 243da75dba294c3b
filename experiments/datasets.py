"""The data sets in numbers (the paper's table of data sets)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from experiments.lab import Lab
from experiments.page import PAPER, Book, table, title
from experiments.settings import Settings
from ugraphemb.graphs.summary import statistics

TITLE = "Data sets"


def cells(settings: Settings) -> Iterator[Cell]:
    for data in settings["datasets"]["sets"]:
        yield Cell("datasets", data, "statistics", 0, tier=0)


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    found = statistics(lab.graphs(cell.data))
    return {
        "labels": found["node_labels"] or 1, "graphs": found["graphs"], "classes": len(found["targets"]["classes"]),
        **found["nodes"], "edges": found["edges"]["mean"], "disconnected": found["disconnected"],
    }  # fmt: skip


def section(book: Book, docs: Path) -> list[str]:
    keys = ("labels", "graphs", "classes", "min", "max", "mean", "std")
    rows = []
    for data, theirs in PAPER["datasets"].items():
        found = book.find("datasets", data, "statistics").value
        ours = [f"{found[key]:.4g}" if isinstance(found[key], float) else found[key] for key in keys] if found else []
        near = [_printed_as(found.get(key), value) for key, value in zip(keys, theirs, strict=True)]
        odd = ", ".join(key for key, same in zip(keys, near, strict=True) if not same)
        rows.append([title(data), "paper", *theirs, ""])
        rows.append(["", "ours", *(ours or ["not run", *[""] * 6]), f"differs: {odd}" if odd else "**equal**"])
        if not found:
            rows[-1][-1] = "not run"
    return [table(["set", "", "node labels", "graphs", "classes", "min", "max", "mean", "std", "verdict"], rows)]


def _printed_as(ours: Any, theirs: Any) -> bool:
    """Whether the paper's number is ours, cut or rounded to one digit: it does both."""
    if ours is None or not isinstance(theirs, float):
        return bool(ours == theirs)
    return theirs in (int(ours * 10) / 10, round(ours, 1))
