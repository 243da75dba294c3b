"""Recall and latency by vectors, verified and complete, beside linear scans."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from report import Report
from search_common import ATOMS, SEED, K, asked, model_of, percentiles, timed

import ugraphemb as ug
from ugraphemb.graphs import GraphSet
from ugraphemb.search import Matches

SHORTLISTS = (20, 50, 100, 200)
BUDGET = 1.0  # seconds of proofs for a verified query
COMPLETE_BUDGET = 10.0
RECALL_NOTE = (
    "True distances: `tight` between every query and every graph of the database, improved by whatever the searches "
    "proved; nGED. A match is a hit if it is no farther than the tenth best. Queries are held out of training and "
    "database. Wall time of one query on one thread, embedding included."
)
VECTORS_NOTE = (
    "True distances: `tight` between every query and every graph of the database, nGED. A match is a hit if it is no "
    "farther than the tenth best. Queries are held out of training and database, and no fresh graph of the training "
    "equals one."
)


def recall(data: Path, given: Any, report: Report) -> None:
    """NCI109 and the molecules."""
    count = min(given.queries, 20)
    for name in ("NCI109", "molecules"):
        graphs = ug.load_dataset(name, data)
        order = np.random.default_rng(SEED).permutation(len(graphs))
        queries, database = graphs[order[:count]], graphs[np.sort(order[count:])]
        training = graphs[order[count : count + given.train]]
        index = ug.GraphIndex(model_of(name, training, given), costs=ATOMS, threads=1).add(database)
        place = {id: i for i, id in enumerate(database.ids.tolist())}
        size = (queries.num_nodes[:, None] + database.num_nodes[None, :]) / 2
        truth, scans = linear_scans(queries, database, size)

        answers: dict[str, list[Matches]] = {}
        latency: dict[str, list[float]] = {}
        for label, options in settings().items():
            latency[label], _, answers[label] = asked(index, queries, k=K, **options)
        wrong = 0
        for found in answers.values():
            for q, matches in enumerate(found):
                for match in matches:
                    if match.mapping is not None:
                        known = truth[q, place[match.id]]
                        wrong += match.lower / size[q, place[match.id]] > known + 1e-9
                        truth[q, place[match.id]] = min(known, match.normalized)
        tenth = np.sort(truth, axis=1)[:, K - 1]
        rows = []
        for label, found in answers.items():
            hits = [
                sum(truth[q, place[match.id]] <= tenth[q] + 1e-9 for match in matches) / K
                for q, matches in enumerate(found)
            ]
            certified = [m.certificate.proven for m in found if m.certificate is not None]
            rows.append({"search": label, "recall@10": float(np.mean(hits)), **percentiles(latency[label]),
                         "proven": float(np.mean(certified)) if certified else None})  # fmt: skip
        for label, (values, seconds) in scans.items():
            best = np.argsort(values, axis=1, kind="stable")[:, :K]
            hits = (np.take_along_axis(truth, best, 1) <= tenth[:, None] + 1e-9).mean(axis=1)
            rows.append({"search": label, "recall@10": float(hits.mean()), **percentiles(seconds), "proven": None})
        report.table(f"{name}: {len(queries)} queries, {len(database)} graphs, trained on {len(training)}", rows)
        report.check(f"{name}: no lower bound above a known distance", wrong == 0)
        certain = [q for q, m in enumerate(answers["complete"]) if m.certificate is not None and m.certificate.proven]
        exact = all(np.isclose(max(match.normalized for match in answers["complete"][q]), tenth[q]) for q in certain)
        report.check(f"{name}: what is proven complete is the best known", exact, f"{len(certain)} queries")
        score = {row["search"]: row["recall@10"] for row in rows}
        ordered = all(
            score[f"verified, shortlist {b}"] >= score[f"verified, shortlist {a}"] - 0.01
            for a, b in itertools.pairwise(SHORTLISTS)
        )
        report.check(f"{name}: a longer shortlist finds no less", ordered)


def vectors(data: Path, given: Any, report: Report) -> None:
    """NCI109 and the molecules by vectors alone, with the fully trained default model."""
    count = min(given.queries, 50)
    rows = []
    for name in ("NCI109", "molecules"):
        graphs = ug.load_dataset(name, data)
        order = np.random.default_rng(SEED).permutation(len(graphs))
        queries, database = graphs[order[:count]], graphs[np.sort(order[count:])]
        training = graphs[order[count : count + given.train]]
        model = ug.UGraphEmb(costs=ATOMS, seed=SEED, threads=1, progress=False)
        wall, cpu, _ = timed(lambda: model.fit(training, avoid=queries))  # noqa: B023
        size = (queries.num_nodes[:, None] + database.num_nodes[None, :]) / 2
        table = ug.pairwise(queries, database, method="tight", costs=ATOMS, threads=1)
        truth = table.upper.reshape(size.shape) / size
        best = np.argsort(model.proximity(model.transform(queries), model.transform(database)), axis=1, kind="stable")
        hits = np.take_along_axis(truth, best[:, :K], 1) <= np.sort(truth, axis=1)[:, K - 1 : K] + 1e-9
        rows.append({
            "set": name, "queries": count, "database": len(database), "trained on": len(training),
            "steps": model.about_["steps"], "recall@10": float(hits.mean()), "fit, CPU s": cpu, "fit, wall s": wall,
        })  # fmt: skip
    report.table("Vectors alone", rows)


def settings() -> dict[str, dict[str, Any]]:
    ranked = {f"tight, shortlist {size}": {"verify": True, "shortlist": size, "budget": 0} for size in SHORTLISTS}
    verified = {
        f"verified, shortlist {size}": {"verify": True, "shortlist": size, "budget": BUDGET} for size in SHORTLISTS
    }
    complete = {"complete": {"complete": True, "budget": COMPLETE_BUDGET}}
    return {"vectors alone": {}, **ranked, **verified, **complete}


def linear_scans(
    queries: GraphSet, database: GraphSet, size: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.float64], dict[str, tuple[npt.NDArray[np.float64], list[float]]]]:
    """Every query against every graph: nGED by `tight`, and each scan's values and seconds per query."""
    scans = {}
    for method in ("hungarian", "tight"):
        runs = [
            timed(lambda q=q, m=method: ug.pairwise(queries[[q]], database, method=m, costs=ATOMS, threads=1).upper)
            for q in range(len(queries))
        ]
        values = np.stack([upper for _, _, upper in runs]) / size
        scans[f"linear scan, {method}"] = (values, [seconds for seconds, _, _ in runs])
    return scans["linear scan, tight"][0].copy(), scans
