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
        cut = [int(value * 10) / 10 if isinstance(value, float) else value for value in map(found.get, keys)]
        near = [a == b or (isinstance(b, float) and a is not None and abs(a - b) < 0.051)
                for a, b in zip(cut, theirs, strict=True)]  # fmt: skip
        odd = ", ".join(key for key, same in zip(keys, near, strict=True) if not same)
        rows.append([title(data), "paper", *theirs, ""])
        rows.append(["", "ours", *(ours or ["not run", *[""] * 6]), f"differs: {odd}" if odd else "**equal**"])
        if not found:
            rows[-1][-1] = "not run"
    return [table(["set", "", "node labels", "graphs", "classes", "min", "max", "mean", "std", "verdict"], rows)]
