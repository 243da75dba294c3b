"""Shared by the sections of bench_search.py: timing, the yardstick, and models and packed graphs that are kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.optimize import linear_sum_assignment

import ugraphemb as ug
from ugraphemb.graphs import GraphSet
from ugraphemb.search import Matches
from ugraphemb.search.graph_table import from_table, to_table

SEED = 0
K = 10
YARDSTICK = 10.1  # microseconds of `yardstick` on the machine where Nass and the targets were measured
BONDS = ug.EditCosts(edge_relabel=1.0)
ATOMS = ug.EditCosts(edge_relabel=0.0)


def yardstick() -> float:
    """Microseconds of SciPy's assignment of 30 by 30, the best of many: compares machines.

    With a single matrix a process sometimes measured 15 instead of 9, so several places in memory are tried.
    """
    values = np.random.default_rng(0).random((30, 30))
    room = np.empty(values.size + 512)
    best = float("inf")
    for shift in range(0, 512, 16):
        matrix = room[shift : shift + values.size].reshape(values.shape)
        matrix[:] = values
        begin = time.process_time_ns()
        for _ in range(200):
            linear_sum_assignment(matrix)
        best = min(best, (time.process_time_ns() - begin) / 200 / 1e3)
    return best


def timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds of wall time, seconds of CPU, and the result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def percentiles(seconds: list[float]) -> dict[str, float]:
    return {"p50 ms": 1e3 * float(np.percentile(seconds, 50)), "p95 ms": 1e3 * float(np.percentile(seconds, 95))}


def asked(index: ug.GraphIndex, queries: GraphSet, **options: Any) -> tuple[list[float], list[float], list[Matches]]:
    """Wall time, CPU time and matches of each query, one after the other."""
    runs = [timed(lambda q=q: index.search(queries[q], **options)) for q in range(len(queries))]
    return [wall for wall, _, _ in runs], [cpu for _, cpu, _ in runs], [matches for _, _, matches in runs]


def share_proven(found: list[Matches]) -> float:
    return float(np.mean([m.certificate is not None and m.certificate.proven for m in found]))


def model_of(name: str, graphs: GraphSet, given: Any, threads: int = 1, **settings: Any) -> ug.UGraphEmb:
    """A model trained on these graphs for a short time, kept in --cache: vectors only order the graphs."""
    folder = given.cache / f"model-{name}-{len(graphs)}-{given.steps}"
    if folder.exists():
        return ug.UGraphEmb.load(folder).set_params(threads=threads)
    model = ug.UGraphEmb(seed=SEED, steps=given.steps, threads=threads, **settings).fit(graphs)
    folder.parent.mkdir(parents=True, exist_ok=True)
    model.save(folder)
    return model


def kept(path: Path, make: Callable[[], GraphSet]) -> GraphSet:
    """Graphs from a file of packed arrays, mapped; made and written if it is not there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        table = to_table(make())
        partial = path.with_suffix(".partial")
        with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        partial.replace(path)
    return from_table(pa.ipc.open_file(pa.memory_map(str(path), "r")).read_all())
