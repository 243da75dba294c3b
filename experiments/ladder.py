"""From the paper's preset to our default, one change after the other, and the gain of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from experiments.page import Book, Found, table, title
from experiments.settings import Settings
from experiments.variants import HEAD, columns, gains, quality

TITLE = "From the paper's preset to ours, one change at a time"
# Settings that change together. Those of the default that are not named here come last.
RUNGS = {
    "pairs by blocks of graphs": ("sampling", "batch", "validate_every"),
    "loss: how vectors are compared, which pairs count": ("head", "loss", "relative", "selection"),
    "features of nodes": (
        "degree",
        "clustering",
        "attributes",
        "hashed_labels",
        "edge_labels",
        "label_scale",
        "label_trust",
    ),
    "network": ("layers", "convolution", "learn_epsilon", "hidden", "dimension"),
    "pooling": ("readout", "scales", "compression", "batch_norm", "norm_floor"),
    "learning rate and the rest: our default": (),
}
START = ("the paper's preset and truth", "tight truth")
run = quality


def rungs(settings: Settings, data: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and model of each row; every model is trained for as many steps as the last. Empty changes are left out."""
    goal = settings.model(data, "default", "tight")
    steps = goal["changes"].get("steps", 20_000)
    yield START[0], settings.model(data, "paper", "paper", steps=steps)
    so_far: dict[str, Any] = {}
    yield START[1], settings.model(data, "paper", "tight", steps=steps)
    for name, fields in RUNGS.items():
        before = dict(so_far)
        so_far |= {key: value for key, value in goal["changes"].items() if key in fields or not fields}
        if so_far != before:
            yield name, settings.model(data, "paper", "tight", so_far, steps=steps)


def cells(settings: Settings) -> Iterator[Cell]:
    for data in settings["ladder"]["sets"]:
        for place, (name, spec) in enumerate(rungs(settings, data)):
            for split in settings.splits(data, "ladder"):
                how = {"model": spec, "judge": settings["ladder"]["judge"]}
                yield Cell("ladder", data, name, split, how, tier=5 if place < 2 else 4)


def section(book: Book, docs: Path) -> list[str]:
    parts = []
    for data in book.settings["ladder"]["sets"]:
        rows, before = [], Found()
        for name, _ in rungs(book.settings, data):
            found = book.find("ladder", data, name)
            rows.append([name if not rows else f"+ {name}", *columns(found), *gains(found, before)])
            before = found
        parts += [f"### {title(data)}", table(["", *HEAD, "change of τ", "of p@10"], rows)]
    return parts
