"""Pair tables of ten million pairs: writing, loading, and a store of many pieces.

Values look like edit distances of molecules. CPU time and wall time are given; files are in the
system's memory when they are read. A load is the first one of a fresh process, as for a program that uses a table; it
runs five times, the median counts, and all runs are listed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, parser

import ugraphemb as ug
from ugraphemb.proximity import metric_of
from ugraphemb.proximity.metrics import Columns
from ugraphemb.proximity.plans import planned_pairs
from ugraphemb.proximity.store import Store

GRAPHS, PAIRS, PIECE, SEED, RUNS = 5000, 10_000_000, 100_000, 0, 5


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    wall, cpu = time.monotonic(), time.process_time()
    answer = work()
    return time.process_time() - cpu, time.monotonic() - wall, answer


def table_of(count: int) -> ug.PairTable:
    random = np.random.default_rng(SEED)
    graphs = ug.GraphSet.from_edges(random.integers(10, 60, GRAPHS), [])
    pairs = planned_pairs(GRAPHS, "random", budget=count, seed=SEED)
    out = Columns.empty(count)
    out.upper[:] = random.poisson(40, count)
    out.lower[:] = np.maximum(out.upper - random.integers(0, 6, count), 0)
    out.proven[:] = out.lower == out.upper
    out.done[:] = True
    left, right = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    return ug.PairTable.of(metric_of("ged"), graphs, None, left, right, out)


def stored(table: ug.PairTable, folder: Path) -> None:
    with Store(folder, table, {"timeout": None, "targets": None}) as store:
        for begin in range(0, len(table), PIECE):
            part = table.where(slice(begin, begin + PIECE))
            done = np.ones(len(part), np.bool_)
            store.add(part.left, part.right, Columns(part.lower, part.upper, part.proven, done))


def first_load(path: Path) -> tuple[float, float]:
    """In a separate process, as for a program that loads a table: CPU and wall seconds of the call alone."""
    command = [sys.executable, __file__, "--load", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    cpu, wall = map(float, done.stdout.split())
    return cpu, wall


def main() -> None:
    arguments = parser(__doc__).parse_args()
    report = Report("table", "Pair tables", seed=SEED, note=" ".join((__doc__ or "").split()))
    table = table_of(PAIRS)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file, store = Path(folder) / "table.parquet", Path(folder) / "store"
        for what, path, write in (
            ("a file", file, lambda: table.write(file)),
            (f"a store of {PAIRS // PIECE} pieces", store, lambda: stored(table, store)),
        ):
            cpu, wall, _ = timed(write)
            rows.append(
                {"what": f"write {what}", "CPU s": round(cpu, 2), "wall s": round(wall, 2), "CPU s of each": ""}
            )
            runs = [first_load(path) for _ in range(RUNS)]
            cpu, wall = np.median(runs, axis=0).tolist()
            listed = ", ".join(f"{run:.2f}" for run, _ in runs)
            rows.append(
                {"what": f"load {what}", "CPU s": round(cpu, 2), "wall s": round(wall, 2), "CPU s of each": listed}
            )
            found = ug.PairTable.read(path)
            columns = ("left", "right", "lower", "upper", "proven")
            same = all(np.array_equal(getattr(found, name), getattr(table, name)) for name in columns)
            report.check(f"load {what}: what was written", same, f"{len(found)} pairs")
            report.check(f"load {what}: a second or so", cpu <= 1.5, f"median {cpu:.2f} s of CPU time, of {listed}")
        sizes = {"file": file.stat().st_size, "store": sum(path.stat().st_size for path in store.iterdir())}
    report.table("Ten million pairs", rows)
    each = [{"what": what, "MB": round(size / 1e6, 1), "bytes a pair": size / PAIRS} for what, size in sizes.items()]
    report.table("On the disk", each)
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--load"]:
        import pyarrow.parquet  # noqa: F401  # importing it is not part of loading

        print(*timed(lambda: ug.PairTable.read(sys.argv[2]))[:2])
    else:
        main()
