"""Readouts, and the table of scales and layers: in the paper's training and in ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from experiments.page import PAPER, Book, number, table, title, verdict
from experiments.settings import Settings
from experiments.variants import quality

TITLE = "Readouts, scales and layers"
LAYERS = {"paper": (256, 128, 64, 64, 64), "default": (64, 64, 64, 64, 64)}
TRAINING = {"paper": "the paper's training, clipped, under its truth", "default": "our training, under the tight truth"}
run = quality


def changes(preset: str, row: str) -> dict[str, Any]:
    """Settings of a row of the paper's two tables; rows that are the same model in the paper are the same here."""
    if not row.startswith("scales"):
        scales = {"attention": (3,), "msna": (1, 2, 3)}.get(row)
        return {"readout": "msna" if scales else row, "scales": scales, "layers": LAYERS[preset][:3]}
    scales, layers = row.removeprefix("scales ").split(" of ")
    return {
        "readout": "msna", "scales": tuple(map(int, scales.split(","))), "layers": LAYERS[preset][: int(layers)]
    }  # fmt: skip


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["readouts"]
    for data in own["sets"]:
        for preset, truth in (("default", "tight"), ("paper", "paper")):
            for row in PAPER["readouts"]:
                steps = own.get("steps", {}).get(preset)
                spec = settings.model(data, preset, truth, changes(preset, row), steps=steps)
                for split in settings.splits(data, "readouts"):
                    yield Cell("readouts", data, f"{preset} {row}", split, {"model": spec}, 4 + (preset == "paper"))


def section(book: Book, docs: Path) -> list[str]:
    parts = []
    for data in book.settings["readouts"]["sets"]:
        for preset, words in TRAINING.items():
            rows = []
            for row, theirs in PAPER["readouts"].items():
                found = book.find("readouts", data, f"{preset} {row}")
                rows.append([
                    row, *(number(value, digits) for value, digits in zip(theirs, (2, 3, 3), strict=True)),
                    found.text("accuracy", digits=1), found.text("tau"), found.text("p@10"), found.count,
                    verdict(found.mean("tau"), theirs[1]),
                ])  # fmt: skip
            head = ["readout", "paper: accuracy", "τ", "p@10", "ours: accuracy", "τ", "p@10", "splits", "verdict (τ)"]
            parts += [f"### {title(data)}, {words}", table(head, rows)]
    return parts
