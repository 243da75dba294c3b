"""An index of a million real molecules (MOSES), bonds counting."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from report import Report
from search_common import BONDS, SEED, YARDSTICK, K, asked, kept, model_of, percentiles, share_proven, timed, yardstick

import ugraphemb as ug
from ugraphemb.graphs import GraphSet

THREADS = 2
BUDGET = 10.0


def molecules(given: Any) -> tuple[GraphSet, GraphSet]:
    """The database, and queries drawn at random that are not in it."""
    count = given.count + given.queries
    everything = kept(given.cache / f"moses-all-{count}.arrow", lambda: ug.load_dataset("moses", limit=count))
    queries = np.sort(np.random.default_rng(SEED).permutation(count)[: given.queries])
    rest = np.setdiff1d(np.arange(count), queries)
    return kept(given.cache / f"moses-{given.count}.arrow", lambda: everything[rest]), everything[queries]


def million(data: Path, given: Any, report: Report) -> None:
    graphs, queries = molecules(given)
    unit = yardstick()
    training = graphs[np.random.default_rng(SEED).permutation(len(graphs))[: given.train]]
    model_of("moses", training, given, THREADS)
    folder = given.cache / f"index-{len(graphs)}-{given.steps}"
    if not folder.exists():  # in a process of its own, so that its memory is that of building alone
        command = [sys.executable, __file__, str(given.cache / f"moses-{given.count}.arrow"),
                   str(given.cache / f"model-moses-{given.train}-{given.steps}"), str(folder)]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        (folder / "building.json").write_text(done.stdout.splitlines()[-1])
    built = json.loads((folder / "building.json").read_text())
    steps = [{"step": name, "seconds": value} for name, value in built.items() if name != "GiB"]
    disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**30
    steps.append({"step": "size on disk, GiB", "seconds": disk})
    report.table("Building, two threads, in a process of its own", steps)
    report.check("peak memory while building at most 4 GiB", built["GiB"] <= 4, f"{built['GiB']:.2f} GiB")

    load, _, index = timed(lambda: ug.GraphIndex.load(folder, costs=BONDS, threads=THREADS))
    report.check("load at most 0.3 s", load <= 0.3, f"{load:.3f} s")
    first, _, _ = timed(lambda: index.search(queries[0], within=1))
    report.check("first verified query, which checks all arrays", True, f"{first:.2f} s")
    rows: list[dict[str, Any]] = []
    answers = {}
    for label, options in {
        "vectors alone": {"k": K},
        "verified, shortlist 100": {"k": K, "verify": True, "budget": 1.0},
        **{f"within {limit}": {"within": limit, "budget": BUDGET} for limit in (2, 3, 4, 5)},
        "complete, ten nearest": {"k": K, "complete": True, "budget": BUDGET},
    }.items():
        wall, cpu, found = asked(index, queries, **options)
        answers[label] = found
        share = share_proven(found) if found[0].certificate is not None else None
        rows.append({"search": label, **percentiles(wall), "CPU, mean ms": 1e3 * float(np.mean(cpu)),
                     "p50 in assignments of 30": 1e6 * float(np.percentile(wall, 50)) / unit,
                     "matches": float(np.mean([len(m) for m in found])), "proven": share})  # fmt: skip
    worst = [found[-1].normalized for found in answers["complete, ten nearest"]]
    for row, label in zip(rows[:2], ("vectors alone", "verified, shortlist 100"), strict=True):
        hits = [
            sum(match.explained().normalized <= limit + 1e-9 for match in matches) / K
            for matches, limit in zip(answers[label], worst, strict=True)
        ]
        row["recall@10"] = float(np.mean(hits))
    title = f"{len(graphs):,} molecules of {graphs.num_nodes.mean():.1f} atoms, bonds count, {len(queries)} queries"
    report.table(f"{title}, {THREADS} threads", [{**row, "recall@10": row.get("recall@10")} for row in rows])
    by = {row["search"]: row for row in rows}
    for label, column, most in (
        ("vectors alone", "p95 ms", 10),
        ("within 4", "p95 ms", 300),
        ("complete, ten nearest", "p50 ms", 300),
        ("complete, ten nearest", "p95 ms", 3000),
    ):
        value, goal = by[label][column], most * unit / YARDSTICK
        what = f"{label}: {column[:3]} at most {most} ms, scaled by the yardstick"
        report.check(what, value <= goal, f"{value:.1f} ms, {goal:.1f} ms on this machine")
    report.check("yardstick: SciPy's assignment of 30 by 30", True, f"{unit:.2f} µs, {YARDSTICK} on the reference")
    report.check("within 4: all proven", by["within 4"]["proven"] == 1, f"{by['within 4']['proven']:.2f}")
    share = by["complete, ten nearest"]["proven"]
    report.check("complete: 98 % proven within 10 s", share >= 0.98, f"{100 * share:.0f} %")


def build(graphs: str, model: str, folder: str) -> None:
    """Embeds, builds and saves; prints seconds and the peak of memory."""
    database = kept(Path(graphs), lambda: sys.exit("no graphs"))
    encoder = ug.UGraphEmb.load(model).set_params(threads=THREADS)
    index = ug.GraphIndex(encoder, costs=BONDS, threads=THREADS)
    ids = [str(i) for i in range(len(database))]
    added, _, _ = timed(lambda: index.add(database, ids=ids, progress=False))
    saved, _, _ = timed(lambda: index.save(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"embed and index": added, "save": saved, "GiB": peak}))


if __name__ == "__main__":
    build(*sys.argv[1:])
