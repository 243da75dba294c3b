"""Eight threads search, alone and while another thread adds graphs."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from report import Report
from search_common import ATOMS, SEED, K, model_of

import ugraphemb as ug

READERS = 8
SECONDS = 20.0


def measured(index: ug.GraphIndex, queries: Any, seconds: float, adder: Any, **options: Any) -> list[float]:
    """Seconds of each search of eight threads, while `adder`, if any, runs on a separate thread."""
    stop, latencies = threading.Event(), []

    def search(seed: int) -> None:
        random = np.random.default_rng(seed)
        while not stop.is_set():
            begin = time.perf_counter()
            index.search(queries[int(random.integers(len(queries)))], K, **options)
            latencies.append(time.perf_counter() - begin)

    def add() -> None:
        while not stop.is_set():
            adder()

    threads = [threading.Thread(target=search, args=(seed,)) for seed in range(READERS)]
    if adder is not None:
        threads.append(threading.Thread(target=add))
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return latencies


def threads(data: Path, given: Any, report: Report) -> None:
    graphs = ug.load_dataset("NCI109", data)
    order = np.random.default_rng(SEED).permutation(len(graphs))
    queries, rest = graphs[order[:100]], graphs[order[100:]]
    model = model_of("NCI109-threads", rest[: given.train], given)
    rows, late = [], {}
    for label, options in (("vectors", {}), ("within 2", {"within": 2.0})):
        for beside in (False, True):
            index = ug.GraphIndex(model, costs=ATOMS, threads=1).add(rest[:3000], ids=[str(i) for i in range(3000)])
            index.search(queries[0], K, **options)
            added = 0

            def add(index: ug.GraphIndex = index) -> None:
                nonlocal added
                some = rest[3000 + added % 900 : 3000 + added % 900 + 50]
                index.add(some, ids=[f"new {added + i}" for i in range(len(some))])
                added += len(some)

            found = measured(index, queries, given.seconds or SECONDS, add if beside else None, **options)
            late[label, beside] = float(np.percentile(found, 99))
            rows.append({"search": label, "beside an adder": "yes" if beside else "no", "searches": len(found),
                         "graphs added": added, "p50 ms": 1e3 * float(np.percentile(found, 50)),
                         "p99 ms": 1e3 * late[label, beside]})  # fmt: skip
    report.table(f"{READERS} threads searching, one adding 50 graphs at a time; NCI109", rows)
    for label in ("vectors", "within 2"):
        ratio = late[label, True] / late[label, False]
        report.check(f"{label}: p99 beside an adder within 3 times that without", ratio <= 3, f"{ratio:.2f} times")
