"""Time of `UGraphEmb().fit(graphs)` with the default settings, distances included, on all cores.

    python benchmarks/bench_fit.py                    PTC and NCI109, about ten minutes on 2 cores
    python benchmarks/bench_fit.py --sets MUTAG       another set of --data

Nothing is kept between runs, so that every distance is computed. Edges have no labels, as in the paper.
"""

from __future__ import annotations

import os
import time
import warnings

from report import Report, data_root, parser

import ugraphemb as ug

LIMITS = {"PTC": 120, "NCI109": 480}  # seconds on two cores


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sets", nargs="+", default=list(LIMITS))
    given = options.parse_args()
    report = Report("fit", "Time of fit", seed=0, note=(
        "`python benchmarks/bench_fit.py`. Seconds of `UGraphEmb(costs=EditCosts(edge_relabel=0), seed=0).fit(graphs)` "
        "with all graphs of the set, distances included."
    ))  # fmt: skip
    rows = []
    for name in given.sets:
        graphs = ug.load_dataset(name, data_root(given.data))
        wall, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ug.UGraphEmb(costs=ug.EditCosts(edge_relabel=0), seed=0).fit(graphs)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        about = {key: model.about_[key] for key in ("steps", "pairs")}
        rows.append({"set": name, "graphs": len(graphs), **about, "wall s": round(wall, 1), "CPU s": round(cpu, 1),
                     "load after": round(os.getloadavg()[0], 1)})  # fmt: skip
        print(rows[-1], flush=True)
        if name in LIMITS:
            report.check(f"{name}: at most {LIMITS[name]} s", wall <= LIMITS[name], f"{wall:.0f} s")
    report.table(f"Default settings, {os.cpu_count()} cores", rows)
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
