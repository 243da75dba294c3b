"""Proofs on worker processes: the ten nearest in NCI109 for hard queries, in this process, on one worker and on two.

Wall time shows the gain from workers on an idle machine; CPU time and the number of exact distances show the cost of
dividing the work, on any machine.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from report import Report, data_root, parser
from search_common import ATOMS, SEED, K, model_of

import ugraphemb as ug
from ugraphemb.search.distributed import find_on_workers
from ugraphemb.search.parts import Database
from ugraphemb.search.verification import Found, find
from ugraphemb.workers import crew_of

HARD = (6, 16, 17, 18)  # of the queries of search_nci109: 3 to 7 seconds of CPU each


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cache", type=Path, default=Path("~/.cache/ugraphemb-benchmarks").expanduser())
    options.add_argument("--train", type=int, default=500)
    options.add_argument("--steps", type=int, default=400)
    options.add_argument("--queries", type=int, nargs="*", default=HARD)
    given = options.parse_args()
    graphs = ug.load_dataset("NCI109", data_root(given.data))
    order = np.random.default_rng(SEED).permutation(len(graphs))
    rest = graphs[np.sort(order[60:])]
    training = rest[np.random.default_rng(SEED).permutation(len(rest))[: given.train]]
    model = model_of("NCI109-nearest", training, given)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        ug.GraphIndex(model, costs=ATOMS, threads=1).add(rest, ids=[str(i) for i in range(len(rest))]).save(folder)
        index = ug.GraphIndex.load(folder, threads=1)
        rows = [row for number in given.queries for row in measured(index, graphs[[order[number]]], number)]
    report = Report("workers", "Proofs on processes", seed=SEED, note=(
        "`python benchmarks/bench_workers.py`. Ten nearest by nGED among NCI109, without a time limit; workers have "
        f"loaded their slices. CPU is that of all processes. Load of the machine before: {load:.1f}; where it is more "
        "than 1, wall times are longer than on an idle machine, and two processes gain less."
    ))  # fmt: skip
    report.table("Queries", rows)
    total = {name: sum(row["wall s"] for row in rows if row["on"] == name) for name in ("1 process", "2 processes")}
    spent = {name: sum(row["CPU s"] for row in rows if row["on"] == name) for name in ("itself", "2 processes")}
    ratio, overhead = total["1 process"] / total["2 processes"], spent["2 processes"] / spent["itself"]
    report.check("two processes against one, wall time", ratio >= 1.5, f"{ratio:.2f} times as fast")
    report.check("CPU of two processes against the search without workers", overhead <= 1.25, f"{overhead:.2f} times")
    report.finish(write=not given.no_write)


def measured(index: ug.GraphIndex, query: ug.GraphSet, number: int) -> list[dict[str, Any]]:
    database = Database(index._parts)
    everything = [None] * len(database.parts)
    near = database.nearest(index._embedded(query), 100, everything)[0][0]
    options: dict[str, Any] = {"costs": ATOMS, "k": K, "near": near, "chosen": everything, "threads": 1}
    rows, distances = [], []
    for name, workers in (("itself", 0), ("1 process", 1), ("2 processes", 2)):
        if not workers:
            parts = [part.searchable for part in database.parts]
            wall, cpu, found = clocked(lambda parts=parts: find(query, parts, count=len(index), **options))
        else:
            with crew_of(workers) as crew:
                find_on_workers(query, database, crew, **options | {"budget": 0.0})  # loads what is kept
                wall, cpu, found = clocked(lambda crew=crew: find_on_workers(query, database, crew, **options))
        rows.append(
            {"query": number, "on": name, "wall s": wall, "CPU s": cpu, "exact distances": found.asked["exact"]}
        )
        distances.append(found.upper.tolist())
        assert not len(found.undecided)
    assert distances[0] == distances[1] == distances[2]
    return rows


def clocked(call: Any) -> tuple[float, float, Found]:
    def cpu() -> float:
        own = psutil.Process()
        return sum(sum(one.cpu_times()[:2]) for one in (own, *own.children(recursive=True)))

    before, begin = cpu(), time.perf_counter()
    found = call()
    return time.perf_counter() - begin, cpu() - before, found


if __name__ == "__main__":
    main()
