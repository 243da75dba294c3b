"""Proximity metrics as teachers: edit distance, common subgraphs, graphlets (the paper's table of metrics)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments.cells import Cell
from experiments.page import PAPER, Book, number, table, title, verdict
from experiments.settings import Settings
from experiments.variants import quality

TITLE = "Proximity metrics as teachers"
TEACHERS = {"ged": "tight", "mcs": "mcs", "graphlet": "graphlet"}
NAMES = {"ged": "UGraphEmb-GED", "mcs": "UGraphEmb-MCS", "graphlet": "UGraphEmb-GK", "gk": "GK alone"}
run = quality


def cells(settings: Settings) -> Iterator[Cell]:
    for data in settings["teachers"]["sets"]:
        for teacher, truth in TEACHERS.items():
            spec = settings.model(data, "default", truth)
            for split in settings.splits(data, "teachers"):
                yield Cell("teachers", data, teacher, split, {"model": spec}, tier=4)


def section(book: Book, docs: Path) -> list[str]:
    rows = []
    for data in book.settings["teachers"]["sets"]:
        for teacher in (*TEACHERS, "gk"):
            found = book.find("teachers" if teacher in TEACHERS else "classification", data, teacher)
            theirs = PAPER["teachers"][data][teacher]
            rows.append([
                title(data), NAMES[teacher], number(theirs, 2), found.text("accuracy", digits=1),
                found.text("tau") if teacher in TEACHERS else "–", found.count,
                verdict(found.mean("accuracy"), theirs, 1),
            ])  # fmt: skip
    return [table(["set", "teacher", "paper, %", "ours, %", "τ under its own teacher", "splits", "verdict"], rows)]
