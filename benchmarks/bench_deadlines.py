"""How much longer than their timeout solvers take on large graphs; about half a minute.

python benchmarks/bench_deadlines.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from report import Report, parser

import ugraphemb as ug
from ugraphemb.graphs import GraphSet

TIMEOUT = 0.3
METHODS = ("exact", "beam", "hungarian", "vj", "hed", "branch", "refine", "paper", "tight")


def tree(random: np.random.Generator, n: int) -> GraphSet:
    """A random tree with five node labels and three edge labels."""
    edges = np.stack([random.integers(0, np.arange(1, n)), np.arange(1, n)], axis=1)
    labels = random.integers(0, 3, n - 1).tolist()
    return ug.GraphSet.from_edges([n], edges, node_labels=random.integers(0, 5, n).tolist(), edge_labels=labels)


def dense(random: np.random.Generator, n: int) -> GraphSet:
    """Half of all edges, five node labels."""
    edges = np.stack(np.triu_indices(n, 1), axis=1)
    chosen = edges[random.random(len(edges)) < 0.5]
    return ug.GraphSet.from_edges([n], chosen, node_labels=random.integers(0, 5, n).tolist())


def star(n: int) -> GraphSet:
    return ug.GraphSet.from_edges([n], np.stack([np.zeros(n - 1, np.int64), np.arange(1, n)], axis=1))


def path(n: int) -> GraphSet:
    return ug.GraphSet.from_edges([n], np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))


def milliseconds_over(left: GraphSet, right: GraphSet, **options: Any) -> float:
    """Wall time of one call minus its timeout, packing and checking of the input included; 0 if it was in time."""
    begin = time.perf_counter()
    ug.distance(left[0], right[0], timeout=TIMEOUT, **options)
    return max(0.0, 1e3 * (time.perf_counter() - begin - TIMEOUT))


def main() -> None:
    given = parser(__doc__).parse_args()
    random = np.random.default_rng(0)
    report = Report("deadlines", "Time past the timeout", seed=0)
    pairs = {
        "trees of 20,000 nodes": (tree(random, 20_000), tree(random, 20_000)),
        "a star and a path of 20,000 nodes": (star(20_000), path(20_000)),
        "trees of 100,000 nodes": (tree(random, 100_000), tree(random, 100_000)),
        "dense graphs of 3,000 nodes": (dense(random, 3_000), dense(random, 3_000)),
    }
    rows = []
    for name, (left, right) in pairs.items():
        row = {"graphs": name, **{method: milliseconds_over(left, right, method=method) for method in METHODS}}
        rows.append({**row, "mcs": milliseconds_over(left, right, metric="mcs")})
        worst = max(value for value in rows[-1].values() if isinstance(value, float))
        report.check(f"{name}: within 50 ms", worst <= 50, f"{worst:.0f} ms")
    report.table(f"Milliseconds past a timeout of {TIMEOUT} s", rows)
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
