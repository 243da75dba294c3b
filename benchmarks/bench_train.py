"""How fast the default preset trains, where the time goes, and how soon the best model is there.

    python benchmarks/bench_train.py                          PTC, IMDB-MULTI, NCI109: some ten minutes, after distances
    python benchmarks/bench_train.py --sets PTC --steps 200   a first impression
    python benchmarks/bench_train.py --cache pairs            distances are kept in that folder, and found again

Distances of training and validation graphs (6:2 of a 6:2:2 split) are `tight` and not part of the times. Training runs
on one core. The best model is the one with the highest Kendall τ on validation graphs; "nearly best" is the first
validation within 0.002 of it. Shares are of the wall time of the whole run.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from report import Report, data_root, parser

import ugraphemb as ug
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.network import Network
from ugraphemb.tasks import random_splits
from ugraphemb.training import loop
from ugraphemb.training.sampling import Blocks

WITHIN = {"PTC": 120, "IMDB-MULTI": 600, "NCI109": 600}  # seconds to the best validation
FLOOR = 0.8  # Kendall τ that any of these sets must pass, or the speed is that of something broken


@contextmanager
def clocks(spent: Counter[str]) -> Iterator[None]:
    """Adds up the seconds of the parts of a training step."""

    def timed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            began, inside = time.perf_counter(), sum(spent.values())
            result = method(*arguments, **options)
            spent[name] += time.perf_counter() - began - (sum(spent.values()) - inside)  # parts within parts count once
            return result

        return run

    parts = [
        (Blocks, "draw", "choosing pairs"), (Collator, "batch", "batching"), (Network, "forward", "forward"),
        (loop._Run, "_loss", "loss"), (loop._Run, "validate", "validation"),
        (loop._Run, "one_step", "backward and optimizer"),
    ]  # fmt: skip
    patches = [patch.object(owner, name, timed(title, getattr(owner, name))) for owner, name, title in parts]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def measured(name: str, graphs: Any, steps: int | None, cache: Path, report: Report) -> dict[str, Any]:
    split = random_splits(len(graphs), 0, 1, graphs.targets)[0]
    pool = graphs[np.concatenate([split.train, split.validation])]
    table = ug.pairwise(pool, method="tight", store=cache / name)
    spent: Counter[str] = Counter()
    model = ug.UGraphEmb(seed=0, steps=steps, threads=1)
    with tempfile.TemporaryDirectory() as folder, clocks(spent):
        began = time.perf_counter()
        model.fit(pool, table, held_out=np.arange(len(split.train), len(pool)), log=f"{folder}/log.csv")
        seconds = time.perf_counter() - began
        with open(f"{folder}/log.csv", newline="", encoding="utf-8") as file:
            history = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    best = max(history, key=lambda row: row["validation_tau"])
    nearly = next(row for row in history if row["validation_tau"] >= best["validation_tau"] - 0.002)
    batch = min(model.about_["training"]["batch"], len(split.train))
    taken = model.about_["steps"]
    report.check(
        f"{name}: τ on validation graphs above {FLOOR}", best["validation_tau"] > FLOOR, f"{best['validation_tau']:.3f}"
    )
    report.check(
        f"{name}: best within {WITHIN.get(name, 600)} s",
        best["seconds"] <= WITHIN.get(name, 600),
        f"{best['seconds']:.0f} s",
    )
    return {
        "set": name, "steps/s": round(taken / seconds, 1), "pairs/s": round(taken * batch * (batch - 1) / 2 / seconds),
        "best τ": round(best["validation_tau"], 4), "best after, s": round(best["seconds"]),
        "nearly best after, s": round(nearly["seconds"]),
        **{f"{part}, %": round(100 * spent[part] / seconds) for part in spent},
    }  # fmt: skip


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sets", nargs="+", default=list(WITHIN), help="data sets (default: %(default)s)")
    options.add_argument("--steps", type=int, help="the preset's by default")
    options.add_argument("--cache", type=Path, help="a folder to keep distances in")
    arguments = options.parse_args()
    report = Report("train", "Training", seed=0, note=" ".join((__doc__ or "").split()))
    with tempfile.TemporaryDirectory() as scratch:
        cache = arguments.cache or Path(scratch)
        rows = [
            measured(name, ug.load_dataset(name, root=data_root(arguments.data)), arguments.steps, cache, report)
            for name in arguments.sets
        ]
    report.table("the default preset on one core", rows)
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
