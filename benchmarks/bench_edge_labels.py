"""Benefit and cost of edge labels as features, where they count in the distance; about three minutes.

python benchmarks/bench_edge_labels.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import numpy as np
from report import Report, parser

import ugraphemb as ug
from ugraphemb.tasks import ranking

TRAINING, TEST, STEPS, SEEDS = 240, 60, 400, (0, 1)
VARIANTS = {"edge labels are features (the default)": True, "they are not": False}


def main() -> None:
    given = parser(__doc__).parse_args()
    report = Report("edge_labels", "Edge labels as features", seed=0)
    molecules = ug.load_dataset("molecules")
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in VARIANTS}
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(molecules))
        training, test = molecules[order[:TRAINING]], molecules[order[TRAINING : TRAINING + TEST]]
        table = ug.pairwise(training, progress=False, threads=1)
        truth = ug.pairwise(test, training, progress=False, threads=1).normalized().matrix()
        for name, counted in VARIANTS.items():
            settings = {"edge_counts": counted}
            model = ug.UGraphEmb(seed=seed, steps=STEPS, settings=settings, threads=1, progress=False)
            begin = time.process_time()
            model.fit(training, table)
            seconds = time.process_time() - begin
            vectors = [model._embedded(graphs) for graphs in (test, training)]
            scores = ranking(model.proximity(*vectors), truth)
            found[name].append((float(np.nanmean(scores.tau)), float(np.mean(scores.precision[10])), seconds))
    rows = []
    for name, runs in found.items():
        tau, precision, seconds = np.mean(runs, axis=0)
        rows.append({"training": name, "τ": tau, "p@10": precision, "CPU, s": seconds})
    report.table(
        f"{TRAINING} molecules for training, {TEST} queries, edge labels count in the true distances (tight), "
        f"{STEPS} steps; mean of {len(SEEDS)} splits", rows,
    )  # fmt: skip
    times = rows[0]["CPU, s"] / rows[1]["CPU, s"]
    report.check("edge labels cost at most 1.5 times", times <= 1.5, f"{times:.2f} times")
    report.check("edge labels help", rows[0]["τ"] > rows[1]["τ"], f"{rows[1]['τ']:.3f} to {rows[0]['τ']:.3f}")
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
