"""Ground truth: how long the distances of the training pairs take, and how tight they are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ugraphemb as ug
from experiments.cells import Cell
from experiments.lab import PAPER_COSTS, Lab
from experiments.page import PAPER, Book, table, title
from experiments.settings import Settings
from ugraphemb.proximity.plans import planned_pairs

TITLE = "Ground truth: pairs, time and tightness"


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["ground_truth"]
    for data in own["sets"]:
        for method in own["methods"]:
            yield Cell("ground_truth", data, method, 0, {"timed": own["timed"][method][data]}, tier=0)


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    """A sample of the pairs of training graphs, the same for all methods, computed again and timed."""
    graphs = lab.graphs(cell.data)
    training = graphs[lab.split(cell.data, cell.split).train]
    possible = len(training) * (len(training) - 1) // 2
    pairs = planned_pairs(len(training), "random", budget=cell.settings["timed"], seed=0)
    how = {"method": cell.method, "costs": PAPER_COSTS, "threads": lab.threads}
    ug.pairwise(training, pairs[:10], progress=False, **how)  # warm up
    wall, work = time.perf_counter(), time.process_time()
    table = ug.pairwise(training, pairs, progress=False, **how)
    wall, work = time.perf_counter() - wall, time.process_time() - work
    return {
        "graphs": len(training), "pairs": possible, "timed": len(pairs), "wall": wall, "cpu": work,
        "all_cpu": work * possible / len(pairs), "upper": float(np.mean(table.upper)),
        "lower": float(np.mean(table.lower)), "proven": float(np.mean(table.proven)),
    }  # fmt: skip


def section(book: Book, docs: Path) -> list[str]:
    rows = []
    for data, (pairs, hours) in PAPER["ground_truth"].items():
        found = {method: book.find("ground_truth", data, method) for method in ("paper", "tight")}
        for method, entry in found.items():
            value, lower = entry.value, entry.value.get("lower")
            if not value:
                rows.append([title(data), method, f"{pairs:,} in {hours}", *["not run"] * 6])
                continue
            rows.append([
                title(data), method, f"{pairs:,} in {hours}", f"{value['pairs']:,}", _duration(value["all_cpu"]),
                f"{value['timed']:,}", f"{value['upper']:.2f}", "–" if lower is None else f"{lower:.2f}",
                f"{100 * value['proven']:.1f} %",
            ])  # fmt: skip
    head = ["set", "truth", "paper: pairs and time on 20 cores", "pairs, ours", "ours, CPU time", "timed pairs",
            "mean GED found", "mean lower bound", "proven"]  # fmt: skip
    return [table(head, rows)]


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
