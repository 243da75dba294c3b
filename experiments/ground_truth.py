"""Ground truth: how long the distances of the training pairs take, and how tight they are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import ugraphemb as ug
from experiments.cells import Cell
from experiments.lab import Lab
from experiments.settings import Settings
from ugraphemb.proximity.plans import planned_pairs


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["ground_truth"]
    for data in own["sets"]:
        for method in own["methods"]:
            yield Cell("ground_truth", data, method, 0, {"timed": own["timed"][method][data]}, tier=0)


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    """A sample of the pairs of training graphs, the same for all methods, computed anew and timed."""
    graphs = lab.graphs(cell.data)
    training = graphs[lab.split(cell.data, cell.split).train]
    possible = len(training) * (len(training) - 1) // 2
    pairs = planned_pairs(len(training), "random", budget=cell.settings["timed"], seed=0)
    ug.pairwise(training, pairs[:10], method=cell.method, threads=lab.threads, progress=False)  # warm up
    wall, work = time.perf_counter(), time.process_time()
    table = ug.pairwise(training, pairs, method=cell.method, threads=lab.threads, progress=False)
    wall, work = time.perf_counter() - wall, time.process_time() - work
    return {
        "graphs": len(training), "pairs": possible, "timed": len(pairs), "wall": wall, "cpu": work,
        "all_cpu": work * possible / len(pairs), "upper": float(np.mean(table.upper)),
        "lower": float(np.mean(table.lower)), "proven": float(np.mean(table.proven)),
    }  # fmt: skip
