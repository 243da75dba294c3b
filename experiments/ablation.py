"""Ablation: our default without one of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from experiments.page import Book, table, title
from experiments.settings import Settings
from experiments.variants import HEAD, columns, gains, quality

TITLE = "Our default without one of its parts"
WHOLE = "our default"
CHANGES: dict[str, dict[str, Any]] = {
    WHOLE: {},
    "no heights (`pseudo_l2`)": {"head": "pseudo_l2"},
    "`l2`": {"head": "l2"},
    "`squared_l2`": {"head": "squared_l2"},
    "errors as they are, not relative": {"relative": 0.0},
    "readouts not standardized": {"batch_norm": False},
    "readouts standardized to the full": {"norm_floor": 1e-5},
    "logarithms without means": {"compression": "log"},
    "all labels alike": {"label_trust": 0.0},
    "labels alone, no degree, no triangles": {"degree": False, "clustering": False},
    "256 pairs a step instead of blocks": {"sampling": "pairs", "batch": 256},
}
run = quality


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["ablation"]
    for data in own["sets"]:
        for name, changes in CHANGES.items():
            spec = settings.model(data, "default", "tight", changes, steps=own["steps"])
            for split in settings.splits(data, "ablation"):
                yield Cell("ablation", data, name, split, {"model": spec}, tier=4)


def section(book: Book, docs: Path) -> list[str]:
    parts = []
    for data in book.settings["ablation"]["sets"]:
        rows = []
        whole = book.find("ablation", data, WHOLE)
        for name in CHANGES:
            found = book.find("ablation", data, name)
            rows.append([name, *columns(found), *(gains(found, whole) if name != WHOLE else "––")])
        parts += [f"### {title(data)}", table(["", *HEAD, "change of τ", "of p@10"], rows)]
    return parts
