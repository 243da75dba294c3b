"""Search: recall and latency by vectors, verified and complete, beside linear scans; and an index of a million graphs.

    python benchmarks/bench_search.py                      everything, about 45 minutes on one core
    python benchmarks/bench_search.py recall --queries 20  these sections, with that many queries
    python benchmarks/bench_search.py million --count 50000
    python benchmarks/bench_search.py --quick              a few minutes, to try it out; writes nothing

Each section writes results/search_SECTION.{json,md}. Everything runs on one thread; times are wall time of one query.
With --models FOLDER, models are kept there and found again.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch and faiss are loaded

import numpy as np
import numpy.typing as npt
from report import Report, commit, data_root, parser

import ugraphemb as ug
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.packing import Coded
from ugraphemb.search import Matches

SEED = 0
K = 10
SHORTLISTS = (20, 50, 100, 200)
BUDGET = 1.0  # seconds of proofs for a verified query
COMPLETE_BUDGET = 10.0
RECALL_NOTE = (
    "Truth: `tight` between every query and every graph of the database, improved by whatever the searches proved; "
    "nGED. A match is a hit if it is no farther than the tenth best. Queries are held out of training and database. "
    "Wall time of one query on one thread, embedding included."
)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def percentiles(seconds: list[float]) -> dict[str, float]:
    return {"p50 ms": 1e3 * float(np.percentile(seconds, 50)), "p95 ms": 1e3 * float(np.percentile(seconds, 95))}


def asked(index: ug.GraphIndex, queries: GraphSet, options: dict[str, Any]) -> tuple[list[float], list[Matches]]:
    """Seconds and matches of each query, one after the other."""
    runs = [timed(lambda q=q: index.search(queries[q], K, **options)) for q in range(len(queries))]
    return [seconds for seconds, _ in runs], [matches for _, matches in runs]


def model_of(name: str, graphs: GraphSet, given: Any) -> ug.UGraphEmb:
    """The default preset, trained on these graphs; kept in --models."""
    folder = None if given.models is None else given.models / f"{name}-{len(graphs)}-{given.steps or 'default'}"
    if folder is not None and folder.exists():
        return ug.UGraphEmb.load(folder).set_params(threads=1)
    model = ug.UGraphEmb(seed=SEED, steps=given.steps, threads=1).fit(graphs)
    if folder is not None:
        model.save(folder)
    return model


def recall(data: Path, given: Any, report: Report) -> None:
    """NCI109 and the molecules."""
    for name in given.sets:
        graphs = ug.load_dataset(name, data)
        order = np.random.default_rng(SEED).permutation(len(graphs))
        queries, database = graphs[order[: given.queries]], graphs[np.sort(order[given.queries :])]
        training = graphs[order[given.queries : given.queries + given.train]]
        index = ug.GraphIndex(model_of(name, training, given), threads=1).add(database)
        place = {id: i for i, id in enumerate(database.ids.tolist())}
        size = (queries.num_nodes[:, None] + database.num_nodes[None, :]) / 2
        truth, scans = linear_scans(queries, database, size)

        answers: dict[str, list[Matches]] = {}
        latency: dict[str, list[float]] = {}
        for label, options in settings().items():
            latency[label], answers[label] = asked(index, queries, options)
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
    """Every query against every graph: nGED by `tight`, and each scan's values and seconds a query."""
    scans = {}
    for method in ("hungarian", "tight"):
        runs = [
            timed(lambda q=q, m=method: ug.pairwise(queries[[q]], database, method=m, threads=1).upper)
            for q in range(len(queries))
        ]
        values = np.stack([upper for _, upper in runs]) / size
        scans[f"linear scan, {method}"] = (values, [seconds for seconds, _ in runs])
    return scans["linear scan, tight"][0].copy(), scans


def synthetic(molecules: GraphSet, count: int, random: np.random.Generator) -> GraphSet:
    """Molecules with one atom in twelve relabeled and one bond in thirty cut, at random."""
    graphs = molecules[random.integers(0, len(molecules), count)]
    codes = graphs.node_labels.copy()
    hit = random.random(len(codes)) < 1 / 12
    codes[hit] = random.choice(molecules.node_labels, int(hit.sum()))
    degrees = np.diff(graphs.indptr)
    left = np.repeat(np.arange(len(codes)), degrees)
    right = graphs.indices + np.repeat(np.repeat(graphs.node_offsets[:-1], graphs.num_nodes), degrees)
    kept = (left < right) & (random.random(len(left)) >= 1 / 30)
    edges = np.stack([left[kept], right[kept]], axis=1)
    return GraphSet.from_edges(graphs.num_nodes, edges, node_labels=Coded(codes, molecules.node_vocabulary))


def million(data: Path, given: Any, report: Report) -> None:
    """Build, memory, latency and recall of an approximate index."""
    molecules = ug.load_dataset("molecules", data)
    order = np.random.default_rng(SEED).permutation(len(molecules))
    model = model_of("molecules", molecules[order[given.queries : given.queries + given.train]], given)
    random = np.random.default_rng(SEED + 1)
    graphs, queries = synthetic(molecules, given.count, random), synthetic(molecules, given.queries, random)
    seconds, vectors = timed(
        lambda: np.concatenate([model.transform(graphs[i : i + 4096]) for i in range(0, len(graphs), 4096)])
    )
    steps = [{"step": "embed", "seconds": seconds, "graphs/s": len(graphs) / seconds}]
    rows, served = [], []
    exact = ug.GraphIndex(model, kind="flat", threads=1).add(graphs, vectors=vectors)
    slow, reference = asked(exact, queries, {})
    rows.append({"index": "flat", "search": "vectors alone", "recall@10": 1.0,
                 **percentiles(slow), "proven": None})  # fmt: skip
    for kind in given.kinds:
        seconds, index = timed(
            lambda kind=kind: ug.GraphIndex(model, kind=kind, threads=1).add(graphs, vectors=vectors, progress=False)
        )
        steps.append({"step": f"build {kind}", "seconds": seconds, "graphs/s": len(graphs) / seconds})
        with tempfile.TemporaryDirectory() as folder:
            seconds, _ = timed(lambda index=index, folder=folder: index.save(folder))
            steps.append({"step": f"save {kind}", "seconds": seconds, "graphs/s": len(graphs) / seconds})
            served.append({"index": kind, **serving(folder, queries)})
        for label, options, few in (
            ("vectors alone", {}, len(queries)),
            ("verified, shortlist 100", {"verify": True, "budget": BUDGET}, len(queries)),
            ("complete", {"complete": True, "budget": COMPLETE_BUDGET}, min(20, len(queries))),
        ):
            if label == "complete" and kind != given.kinds[0]:
                continue
            quick, found = asked(index, queries[:few], options)
            hits = [
                sum(m.predicted <= reference[q][-1].predicted + 1e-6 for m in matches) / K
                for q, matches in enumerate(found)
            ]
            proven = [m.certificate.proven for m in found if m.certificate is not None]
            rows.append({"index": kind, "search": label, "recall@10": None if options else float(np.mean(hits)),
                         **percentiles(quick),
                         "proven": float(np.mean(proven)) if proven else None})  # fmt: skip
            if not options:
                report.check(f"{kind} finds 95 % of what flat finds", np.mean(hits) >= 0.95, f"{np.mean(hits):.4f}")
    report.table(f"{len(graphs):,} graphs of {graphs.num_nodes.mean():.1f} nodes, vectors of {vectors.shape[1]}", rows)
    report.table("Building, one thread", steps)
    report.table("Serving from a saved index, in a fresh process", served)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report.check("memory of this process while building", True, f"{peak:.1f} GiB at most, graphs and vectors included")


_SERVE = """
import json, sys, time
import faiss
import ugraphemb as ug, ugraphemb.search
def resident(kind):
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith(kind)).split()[1]) / 2**10
queries = ug.read_graphs(sys.argv[2])
libraries = resident("VmRSS")
begin = time.perf_counter()
index = ug.GraphIndex.load(sys.argv[1], threads=1)
loaded = time.perf_counter() - begin
after = resident("VmRSS")
index.search(queries[:1], 10)
first = time.perf_counter() - begin - loaded
for q in range(len(queries)):
    index.search(queries[q], 10)
print(json.dumps({"load s": loaded, "first query s": first, "MiB: libraries": libraries, "and the index": after,
                  "and all queries": resident("VmRSS")}))
"""


def serving(folder: str, queries: GraphSet) -> dict[str, Any]:
    """What a process that only searches takes: seconds to load, resident memory; and the size on disk."""
    with tempfile.TemporaryDirectory() as beside:
        path = Path(beside) / "queries.jsonl"
        ug.write_graphs(queries, path)
        done = subprocess.run(
            [sys.executable, "-c", _SERVE, folder, str(path)], capture_output=True, text=True, check=True
        )
    disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 2**20
    return {**json.loads(done.stdout.splitlines()[-1]), "MiB on disk": disk}


SECTIONS = {"recall": recall, "million": million}
TITLES = {"recall": "Search: recall and latency", "million": "Search among a million graphs"}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("sections", nargs="*", default=list(SECTIONS), help=f"of {', '.join(SECTIONS)}")
    options.add_argument("--sets", nargs="+", default=["NCI109", "molecules"], help="data sets of the section recall")
    options.add_argument("--queries", type=int, default=100)
    options.add_argument("--train", type=int, default=1_000, help="graphs to train on")
    options.add_argument("--steps", type=int, help="of training; the preset's by default")
    options.add_argument("--count", type=int, default=1_000_000, help="graphs of the section million")
    options.add_argument("--kinds", nargs="+", default=["ivf", "hnsw"], help="indexes of the section million")
    options.add_argument("--models", type=Path, help="a folder to keep models in")
    options.add_argument("--quick", action="store_true", help="few queries, little training, 30,000 graphs")
    given = options.parse_args()
    if given.quick:
        given.queries, given.train, given.steps, given.count = min(given.queries, 15), 200, 150, 30_000
        given.no_write = True
    unknown = sorted(set(given.sections) - set(SECTIONS))
    if unknown:
        options.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    print(f"commit {commit()}")
    for name in given.sections:
        report = Report(f"search_{name}", TITLES[name], seed=SEED, note=RECALL_NOTE if name == "recall" else "")
        SECTIONS[name](data_root(given.data), given, report)
        report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
