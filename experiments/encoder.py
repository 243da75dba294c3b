"""Trials of encoders: the effect of each change on validation graphs, and the default on test graphs.

    python -m experiments.encoder --sets AIDS10 PTC --rows default "no fresh graphs" --splits 3
    python -m experiments.encoder --larger --splits 1
    python -m experiments.encoder --ceiling --sets AIDS10 Alkane
    python -m experiments.encoder --page            only write experiments/results/encoder.md, from the finished rows

A model is trained on the training graphs of a split (6:2:2) and on fresh graphs made from them; fresh graphs that equal
a validation or test graph are dropped. Validation and test graphs are queries against the training graphs. Finished
rows are in results/encoder/SET.jsonl, and a row that is there is not computed again. --larger trains on the small
graphs of IMDB-MULTI and uses its larger ones as queries. --ceiling computes the τ of the true distances themselves with
ties broken at random: many edit distances of small graphs are equal, and distances of different vectors hardly ever
are, so that vectors which order everything else correctly have about this τ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

for _threads in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

import numpy as np  # noqa: E402

import ugraphemb as ug  # noqa: E402
from ugraphemb.tasks import Split, random_splits, ranking  # noqa: E402

HERE = Path(__file__).resolve().parent
RESULTS, PAGE = HERE / "results" / "encoder", HERE / "results" / "encoder.md"
COSTS = ug.EditCosts(edge_relabel=0)  # as in the paper, edges have no labels
CEILINGS = RESULTS / "ceilings.json"
SEED = 0
# Name of the set, maximum nodes per graph, method of the true distances, maximum queries and ranked training graphs.
SETS: dict[str, tuple[str, int | None, str, int, int]] = {
    "AIDS10": ("AIDS", 10, "exact", 1_000, 1_000),
    "PTC": ("PTC", None, "tight", 1_000, 1_000),
    "IMDB-MULTI": ("IMDB-MULTI", None, "tight", 1_000, 1_000),
    "Alkane": ("Alkane", None, "exact", 1_000, 1_000),
    "NCI109": ("NCI109", None, "tight", 100, 2_500),
    "WEB": ("WEB", None, "tight", 100, 1_500),
    "REDDIT-MULTI-12K-SUBSET": ("REDDIT-MULTI-12K-SUBSET", None, "tight", 100, 500),
}
FEWER_STEPS = {"REDDIT-MULTI-12K-SUBSET": 600}  # where those of the preset would take hours: graphs of 581 nodes
SCREENED = (
    "In the order in which they were run. Settings are in results/encoder/screening.jsonl; those that no longer exist "
    "did not help and were removed. During the trials of heads and all later trials the machine was busy, so their CPU "
    "seconds are higher. WEB: 110 training and 40 validation graphs, blocks of 64. CPU seconds include distances only "
    "where they had not been computed before."
)
TABLE: dict[str, Any] = {"truth": "table"}
# Settings that differ from the default; "truth", "augment" and "preset" are arguments of UGraphEmb.
ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "not anchored": {"anchored": False},
    "not anchored, 10,000 steps": {"anchored": False, "steps": 10_000},
    "not anchored, msna instead of sums": {"anchored": False, "readout": "msna"},
    "not anchored, msna beside sums": {"anchored": False, "readout": "msna_sum"},
    "not anchored, mined blocks": {"anchored": False, "mined": 0.5},
    "head l2": {"head": "l2"},
    "release 0.1": {"preset": "0.1"},
    "release 0.1, 4,000 steps": {"preset": "0.1", "steps": 4_000},
    "2,500 steps": {"steps": 2_500},
    "10,000 steps": {"steps": 10_000},
    "10,000 steps, a fifth fresh": {"steps": 10_000, "augment": 0.2},
    "raised_l2, a quarter fresh": {"head": "raised_l2", "hidden": 256, "augment": 0.25},
    "raised_l2, a quarter fresh, 2,500 steps": {"head": "raised_l2", "hidden": 256, "augment": 0.25, "steps": 2_500},
    "no fresh graphs": {"augment": 0.0},
    "a table, no fresh graphs": TABLE,
    "no listwise loss": {"listwise": 0.0},
    "Adam for all": {"muon": 0.0},
    "Muon for dense layers too": {"muon_dense": True},
    "mined blocks": {"mined": 0.5},
    "GELU, a quarter fresh": {"activation": "gelu", "augment": 0.25},
    "no walks": {"walks": 0},
    "readout: msna": {"readout": "msna"},
    "readout: msna beside sums": {"readout": "msna_sum"},
}
LARGER_NAME = "IMDB-MULTI-larger"
# Settings of models that are trained on small graphs and tested on larger ones.
LARGER: dict[str, dict[str, Any]] = {
    "default": {"steps": 1_000},
    "scaled": {"steps": 1_000, "scaled": True},
    "scaled, logarithms of sums over neighbors": {"steps": 1_000, "scaled": True, "aggregation": "log"},
    "sized_l1, scaled": {"steps": 1_000, "scaled": True, "head": "sized_l1"},
    "sized_l1, anchored": {"steps": 1_000, "anchored": True, "head": "sized_l1"},
    "sized_l1, anchored, logarithms of sums over neighbors": {
        "steps": 1_000,
        "anchored": True,
        "head": "sized_l1",
        "aggregation": "log",
    },
}


def split_of(name: str, split: int, data: Path) -> tuple[ug.GraphSet, Split]:
    """The graphs of a set, and which of them are for training, validation and test."""
    source, most, *_ = SETS[name]
    graphs = ug.load_dataset(source, root=data)
    if most is not None:
        graphs = graphs[graphs.num_nodes <= most]
    return graphs, random_splits(len(graphs), SEED, split + 1, graphs.targets)[split]


def truth_of(graphs: ug.GraphSet, queries: Any, database: Any, method: str, store: Path) -> np.ndarray[Any, Any]:
    """Normalized distances, (queries, database)."""
    pairs = np.stack(np.meshgrid(queries, database, indexing="ij"), axis=-1).reshape(-1, 2)
    table = ug.pairwise(graphs, pairs, method=method, costs=COSTS, store=store, threads=1, progress=False)
    return table.normalized().value.reshape(len(queries), len(database))


def measured(name: str, row: str, split: int, data: Path, cache: Path) -> dict[str, Any]:
    """Trains one model; τ, p@10 and MSE on validation, test and some training graphs as queries."""
    _, _, method, queries, database = SETS[name]
    graphs, chosen = split_of(name, split, data)
    fit, changes = chosen.fit, dict(ROWS[row])
    given = {key: changes.pop(key) for key in ("truth", "augment", "preset") if key in changes}
    model = ug.UGraphEmb(
        costs=COSTS, method="exact" if method == "exact" else None, seed=split, threads=1, progress=False,
        settings=changes, steps=FEWER_STEPS.get(name), **given,
    )  # fmt: skip
    started, clock = time.process_time(), time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(graphs[fit], held_out=np.flatnonzero(np.isin(fit, chosen.validation)), avoid=graphs[chosen.test])
        seconds, wall = time.process_time() - started, time.monotonic() - clock
        vectors = model.transform(graphs)
    random = np.random.default_rng([SEED, split])
    known = np.sort(random.permutation(chosen.train)[:database])
    values: dict[str, Any] = {}
    for part, asked in (("validation", chosen.validation), ("test", chosen.test), ("training", chosen.train)):
        some = np.sort(random.permutation(asked)[: queries if part == "test" else min(queries, 100)])
        truth = truth_of(graphs, some, known, method, cache / f"{name}-{method}")
        found = ranking(model.proximity(vectors[some], vectors[known]), truth, k=10).summary()
        values[part] = {key: float(f"{found[key][0]:.5g}") for key in ("tau", "p@10", "strict p@10", "mse")}
        values[part]["queries"] = len(some)
    about = {key: model.about_[key] for key in ("pairs", "steps")}
    return {**values, **about, "cpu seconds": round(seconds, 1), "wall seconds": round(wall, 1)}


def ceiling(name: str, data: Path, cache: Path) -> float:
    """τ of the true distances with ties broken at random: test graphs against training graphs, split 0."""
    graphs, chosen = split_of(name, 0, data)
    _, _, method, queries, database = SETS[name]
    random = np.random.default_rng(SEED)
    known, some = chosen.train[:database], chosen.test[:queries]
    truth = truth_of(graphs, some, known, method, cache / f"{name}-{method}")
    return float(ranking(truth + 1e-9 * random.normal(size=truth.shape), truth, k=10).summary()["tau"][0])


def measured_on_larger(row: str, split: int, data: Path, cache: Path) -> dict[str, Any]:
    """Trains on graphs of up to 11 nodes; graphs of 12 nodes and more are queries against others of these."""
    graphs = ug.load_dataset("IMDB-MULTI", root=data)
    random = np.random.default_rng([split, 1])
    small, large = (
        random.permutation(np.flatnonzero(some)) for some in (graphs.num_nodes <= 11, graphs.num_nodes > 11)
    )
    queries, database = np.sort(large[:60]), np.sort(large[60:260])
    model = ug.UGraphEmb(costs=COSTS, seed=split, threads=1, progress=False, settings=LARGER[row])
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(graphs[small], held_out=np.arange(len(small) // 4))
        seconds = time.process_time() - started
        vectors = model.transform(graphs)
    truth = truth_of(graphs, queries, database, "tight", cache / "IMDB-MULTI-tight")
    found = ranking(model.proximity(vectors[queries], vectors[database]), truth, k=10).summary()
    scores = {key: float(f"{found[key][0]:.5g}") for key in ("tau", "p@10", "mse")}
    return {"test": scores, "steps": model.about_["steps"], "cpu seconds": round(seconds, 1)}


def commit() -> str:
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False).stdout.strip()


def finished(name: str) -> list[dict[str, Any]]:
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write_page() -> None:
    """Means over splits with their standard deviation, row by row; the rows of the last commits count."""
    lines = ["# Trials of encoders", "", *(__doc__ or "").splitlines(), ""]
    for name in (*SETS, LARGER_NAME):
        rows: dict[str, dict[int, dict[str, Any]]] = {}
        for entry in finished(name):
            rows.setdefault(entry["row"], {})[entry["split"]] = entry
        if not rows:
            continue
        head = [
            "",
            "splits",
            "validation τ",
            "p@10",
            "test τ",
            "p@10",
            "MSE",
            "training τ",
            "p@10",
            "pairs",
            "steps",
            "CPU s",
        ]
        lines += [f"## {name}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        for row, splits in rows.items():
            found = list(splits.values())

            def mean(*path: str, found: list[dict[str, Any]] = found, digits: int = 3) -> str:
                numbers = []
                for entry in found:
                    value: Any = entry
                    for key in path:
                        value = value.get(key, {}) if isinstance(value, dict) else {}
                    if isinstance(value, int | float):
                        numbers.append(value)
                spread = f" ± {stdev(numbers):.{digits}f}" if len(numbers) > 1 and digits else ""
                return f"{fmean(numbers):,.{digits}f}{spread}" if numbers else "–"

            cells = [row, str(len(found)), mean("validation", "tau"), mean("validation", "p@10"), mean("test", "tau")]
            cells += [mean("test", "p@10"), mean("test", "mse", digits=4), mean("training", "tau")]
            cells += [mean("training", "p@10"), *(mean(key, digits=0) for key in ("pairs", "steps", "cpu seconds"))]
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
        highest = ceilings().get(name)
        if highest is not None:
            lines += [f"τ of the true distances with ties broken at random: {highest:.3f}.", ""]
    PAGE.write_text("\n".join([*lines, *screening()]))


def ceilings() -> dict[str, float]:
    found: dict[str, float] = json.loads(CEILINGS.read_text()) if CEILINGS.exists() else {}
    return found


def screening() -> list[str]:
    """Single trainings during the search for the default, each with other settings; one split is not conclusive."""
    path = RESULTS / "screening.jsonl"
    if not path.exists():
        return []
    lines = ["## Screening: one training each", "", SCREENED, ""]
    head = ["set, split", "trial", "steps", "validation τ", "p@10", "test τ", "p@10", "training τ", "p@10", "CPU s"]
    lines += [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for trial in map(json.loads, path.read_text().splitlines()):
        parts = [trial.get(part, {}) for part in ("validation", "test", "training")]
        scores = [f"{part[key]:.3f}" if part else "–" for part in parts for key in ("tau", "p@10")]
        place = f"{trial['set']}, {trial['split']}"
        lines.append(
            f"| {place} | {trial['trial']} | {trial['steps']} | {' | '.join(scores)} | {trial['cpu seconds']} |"
        )
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--rows", nargs="+", default=["default"], choices=list(ROWS))
    parser.add_argument("--splits", type=int, nargs="+", default=[5], help="their number, or the first and the end")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data", help="folder of data sets")
    parser.add_argument("--cache", type=Path, default=HERE.parent / "build" / "encoder", help="folder of distances")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start nothing after this many minutes")
    parser.add_argument("--larger", action="store_true", help="train on small graphs, test on larger ones")
    parser.add_argument("--ceiling", action="store_true", help="compute the τ of the true distances with ties broken")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    started = time.monotonic()
    RESULTS.mkdir(parents=True, exist_ok=True)
    if given.ceiling:
        known = ceilings() | {name: round(ceiling(name, given.data, given.cache), 4) for name in given.sets}
        CEILINGS.write_text(json.dumps(known) + "\n")
    names = [LARGER_NAME] if given.larger else given.sets
    for split in range(
        given.splits[0] if len(given.splits) > 1 else 0, 0 if given.page or given.ceiling else given.splits[-1]
    ):
        for name in names:
            for row in LARGER if given.larger else given.rows:
                done = any((entry["row"], entry["split"]) == (row, split) for entry in finished(name))
                if done or time.monotonic() - started > 60 * given.minutes:
                    continue
                about = {"commit": commit(), "date": datetime.now(UTC).isoformat(timespec="seconds")}
                if given.larger:
                    values = measured_on_larger(row, split, given.data, given.cache)
                else:
                    values = measured(name, row, split, given.data, given.cache)
                changes = LARGER[row] if given.larger else ROWS[row]
                entry = {"row": row, "split": split, "changes": changes, **values, **about}
                entry["machine"] = platform.machine()
                with (RESULTS / f"{name}.jsonl").open("a") as file:
                    file.write(json.dumps(entry) + "\n")
                print(name, row, split, values.get("validation"), values["test"], values["cpu seconds"], flush=True)
    write_page()


if __name__ == "__main__":
    main()
