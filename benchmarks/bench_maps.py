"""Maps of many graphs: CPU seconds of `fit_large_map`, and milliseconds to place a new graph; some minutes.

python benchmarks/bench_maps.py --graphs 100000
"""

from __future__ import annotations

import time

import numpy as np
from report import Report, parser

from ugraphemb.tasks.large_maps import SAMPLE, fit_large_map

WIDTH, CROWDS = 256, 200


def vectors(count: int) -> np.ndarray:
    """Random vectors around many centers, of the width of a model's vectors."""
    random = np.random.default_rng(0)
    centers = random.normal(size=(CROWDS, WIDTH)).astype(np.float32)
    return centers[random.integers(0, CROWDS, count)] + 0.4 * random.normal(size=(count, WIDTH)).astype(np.float32)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--graphs", type=int, default=100_000)
    given = options.parse_args()
    points = vectors(given.graphs)
    report = Report("maps", f"A map of {given.graphs:,} graphs, t-SNE of {SAMPLE:,} of them", seed=0)
    shares: dict[float, float] = {}
    begin = time.process_time()
    found = fit_large_map(points, "raised_l2", tick=lambda done: shares.setdefault(done, time.process_time() - begin))
    total = time.process_time() - begin
    laid_out = max(seconds for done, seconds in shares.items() if done <= 0.62)
    random = np.random.default_rng(1)
    times = []
    for i in random.integers(0, len(points), 30):
        start = time.perf_counter()
        found.place(points[[i]] + 0.05 * random.normal(size=(1, WIDTH)).astype(np.float32))
        times.append(1e3 * (time.perf_counter() - start))
    others = max(1, given.graphs - SAMPLE)
    each = 1e3 * (total - laid_out) / others
    row = {"graphs": given.graphs, "t-SNE": laid_out, "placing others": total - laid_out, "ms per placed graph": each}
    report.table("CPU seconds", [row])
    report.table("Milliseconds to place one new graph", [{"median": float(np.median(times)), "largest": max(times)}])
    report.check("every graph has a place", bool(np.isfinite(found.coordinates).all()), f"{len(found.coordinates):,}")
    report.check("a new graph in less than 100 ms", float(np.median(times)) < 100, f"{np.median(times):.1f} ms")
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
