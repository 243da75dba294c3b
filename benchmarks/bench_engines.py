"""Engines side by side: molecules of MOSES in the embedded index, LanceDB, PostgreSQL with pgvector and Milvus.

Servers are started here, in temporary folders (extra `test-engines`). Each engine is a piece of its own, whose result
is kept in --cache:

    python benchmarks/bench_engines.py --engine postgres        # one piece
    python benchmarks/bench_engines.py --engine none            # the report of the pieces that are there

Milvus 2.3 listens on all interfaces, unless this runs in a network of its own: tests/engines/alone.py python ...
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from report import REPOSITORY, Report, parser
from search_common import BONDS, K, asked, kept, model_of, percentiles

import ugraphemb as ug
from ugraphemb.encoder.heads import between
from ugraphemb.search.engines import header, remote

sys.path.insert(0, str(REPOSITORY / "tests"))
ENGINES = ("embedded", "lance", "postgres", "milvus")
HEADS = ("sized_l1", "raised_l2", "l2")
HEAD = HEADS[0]  # the default for molecules: that of the engines


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--engine", action="append", choices=[*ENGINES, "heads", "none"], help="all by default")
    options.add_argument("--count", type=int, default=100_000, help="molecules")
    options.add_argument("--queries", type=int, default=200)
    options.add_argument("--cache", type=Path, default=Path("~/.cache/ugraphemb-benchmarks").expanduser())
    options.add_argument("--train", type=int, default=500)
    options.add_argument("--steps", type=int, default=400)
    options.add_argument("--head", action="append", choices=HEADS, help="of the piece `heads`; all by default")
    options.add_argument("--record", default="engines", help="name of the report in results/")
    given = options.parse_args()
    for name in given.engine or [*ENGINES, "heads"]:
        if name != "none":
            file = piece(name, given)
            found: Any = heads(given) if name == "heads" else measured(name, given)
            if name == "heads" and file.exists():  # those of other runs stay
                heads_now = {row["head"] for row in found}
                found = [row for row in json.loads(file.read_text()) if row["head"] not in heads_now] + found
            file.write_text(json.dumps(found))
            print(json.dumps(found, indent=1), flush=True)
    if given.engine in (None, ["none"]):
        reported(given)


def piece(name: str, given: Any) -> Path:
    return given.cache / f"engines-{name}-{given.count}.json"


def data(given: Any, head: str = HEAD) -> tuple[ug.UGraphEmb, Any, np.ndarray, Any, np.ndarray]:
    """A model, molecules with their vectors, and queries that are not among them with theirs."""
    pool = 1_000_000 if given.count > 500_000 else 2 * given.count  # fewer are read faster
    everything = kept(given.cache / f"moses-{pool}.arrow", lambda: ug.load_dataset("moses", limit=pool))
    graphs, queries = everything[: given.count], everything[given.count : given.count + given.queries]
    if given.count == 1_000_000:
        queries = kept(given.cache / "moses-all-1000100.arrow", lambda: everything)[-given.queries :]
    training = everything[np.random.default_rng(0).permutation(pool)[: given.train]]
    model = model_of(f"moses-{pool}-{head}", training, given, 2, head=head)
    file = given.cache / f"engines-vectors-{header.fingerprint_of(header.model_files(model))}-{given.count}.npy"
    if not file.exists():
        np.save(file, model.transform(graphs))
    names = np.array([f"m{i}" for i in range(len(graphs))])
    from dataclasses import replace

    return model, replace(graphs, ids=names), np.load(file), queries, model.transform(queries)


def truth(vectors: np.ndarray, asked_for: np.ndarray, head: str) -> list[set[int]]:
    """The ten nearest by the head, exactly."""
    return [set(np.argsort(row, kind="stable")[:K].tolist()) for row in between(asked_for, vectors, head)]


def measured(name: str, given: Any) -> dict[str, Any]:
    model, graphs, vectors, queries, asked_for = data(given)
    file = given.cache / f"engines-nearest-{header.fingerprint_of(header.model_files(model))}-{given.count}.json"
    if not file.exists():  # minutes for a million molecules
        file.write_text(json.dumps([sorted(best) for best in truth(vectors, asked_for, model.head_)]))
    nearest = [set(best) for best in json.loads(file.read_text())]
    folder = Path(tempfile.mkdtemp(prefix="ugraphemb-bench-"))
    server, url = None, "embedded"
    if name in ("postgres", "milvus"):
        from engines.servers import SERVERS

        server = SERVERS[name][0]()
        url = server.url("molecules")
    elif name == "lance":
        url = f"lance://{folder}"
    pids = [os.getpid(), *(server.pids[:1] if server is not None else [])]
    load = [os.getloadavg()[0]]
    try:
        kind = "ivf" if name == "embedded" else "hnsw"
        index = ug.GraphIndex(model, kind=kind, costs=BONDS, threads=2, engine=url)
        if name == "embedded":  # graphs, ids and vectors are packed first; the index of the vectors is built from these
            flat = ug.GraphIndex(model, kind="flat", costs=BONDS, threads=2)
            packed = clocked(lambda: flat.add(graphs, vectors=vectors, progress=False), pids)
            both = clocked(lambda: index.add(graphs, vectors=vectors, progress=False), pids)
            saved = clocked(lambda: index.save(folder / "index"), pids)
            inserted = {clock: packed[clock] + saved[clock] for clock in packed}
            built = {clock: both[clock] - packed[clock] for clock in packed}
        else:
            store = index.engine.store  # type: ignore[attr-defined]
            finish = store.sealed if name == "milvus" else lambda built=store.built: built("hnsw")
            store.built = lambda kind: None
            inserted = clocked(lambda: index.add(graphs, vectors=vectors, progress=False), pids)
            built = clocked(finish, pids)
        found: dict[str, Any] = {"engine": name, "count": given.count, "inserted": inserted, "built": built}
        asked(index, queries, k=K)  # warms caches
        before = cpu(pids)
        walls, _, matches = asked(index, queries, k=K)
        hits = [len({int(m.id[1:]) for m in row} & best) for row, best in zip(matches, nearest, strict=True)]
        found |= {"recall": float(np.mean(hits)) / K, **percentiles(walls)}
        found["CPU ms"] = 1e3 * (cpu(pids) - before) / len(queries)
        before = cpu(pids)
        walls, _, matches = asked(index, queries[:100], k=K, verify=True, budget=1.0)
        found["verified"] = percentiles(walls) | {"CPU ms": 1e3 * (cpu(pids) - before) / len(walls)}
        found["proven"] = float(np.mean([m.certificate.proven for m in matches]))
        status = Path("/proc/self/status").read_text().splitlines()
        found["client MB"] = next(int(line.split()[1]) for line in status if line.startswith("RssAnon:")) / 1024
        found["server MB"] = memory(server.pids) if server is not None else 0.0
        found["disk MB"] = size(server.folder if server is not None else folder)
        found["load"] = [*load, os.getloadavg()[0]]
        return found
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def clocked(call: Callable[[], Any], pids: list[int]) -> dict[str, float]:
    """Seconds of wall time, and of CPU of all processes."""
    before, begin = cpu(pids), time.perf_counter()
    call()
    return {"wall": time.perf_counter() - begin, "CPU": cpu(pids) - before}


def cpu(pids: list[int]) -> float:
    """Seconds of CPU of these processes and of those that they started."""
    roots = [psutil.Process(pid) for pid in pids]
    all_of_them = {one.pid: one for root in roots for one in (root, *root.children(recursive=True))}
    ended = sum(sum(root.cpu_times()[2:4]) for root in roots)  # children that are gone
    return ended + sum(sum(one.cpu_times()[:2]) for one in all_of_them.values())


def memory(pids: list[int]) -> float:
    """MB of all processes together, shared pages once."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def size(folder: Path) -> float:
    """MB on disk, without programs that a package unpacks there."""
    files = [file for file in folder.rglob("*") if file.is_file() and "bin" not in file.parts]
    return sum(file.stat().st_blocks * 512 for file in files) / 2**20


def heads(given: Any) -> list[dict[str, Any]]:
    """How many of the ten nearest by the head are among the nearest by L2, and what more candidates cost."""
    rows = []
    for head in given.head or HEADS:
        model, graphs, vectors, queries, asked_for = data(given, head)
        nearest = truth(vectors, asked_for, head)
        plain = [np.argsort(row, kind="stable") for row in between(asked_for, vectors, "l2")]
        with tempfile.TemporaryDirectory() as folder:
            index = ug.GraphIndex(model, kind="flat", costs=BONDS, threads=2, engine=f"lance://{folder}")
            index.add(graphs[:20_000], vectors=vectors[:20_000], progress=False)
            asked(index, queries[:10], k=K)  # warms caches
            for count in (10, 20, 42, 50, 100, 210, 500):
                recall = np.mean(
                    [len(best & set(row[:count].tolist())) / K for best, row in zip(nearest, plain, strict=True)]
                )
                remote.proposals = lambda wanted, head, count=count: count
                walls, spent, _ = asked(index, queries[:50], k=K)
                rows.append({"head": head, "candidates by L2": count, "recall@10": float(recall),
                             "p50 ms among 20,000 (LanceDB, exact)": percentiles(walls)["p50 ms"],
                             "CPU ms": 1e3 * float(np.mean(spent))})  # fmt: skip
    return rows


def reported(given: Any) -> None:
    report = Report(given.record, "Engines side by side", seed=0, note=(
        "`python benchmarks/bench_engines.py`. Servers, clients and this program share two cores. A query "
        "is a molecule: it is embedded, candidates are requested by L2, ranked by the head, and ten are unpacked. "
        "CPU is that of server and client together; load is that of the machine before and after the piece, and "
        "times of a loaded machine (more than 1) are longer than they need be. "
        "Memory of the client includes the molecules that it added. For the head l2 candidates by L2 are the answer: "
        "recall is that of the engine's index."
    ))  # fmt: skip
    for count in sorted({int(file.stem.split("-")[-1]) for file in given.cache.glob("engines-*-*.json")}):
        rows, costs = [], []
        for name in ENGINES:
            file = given.cache / f"engines-{name}-{count}.json"
            if not file.exists():
                continue
            found = json.loads(file.read_text())
            rows.append({
                "engine": name, "inserted per second": round(count / found["inserted"]["wall"]),
                "index build s": found["built"]["wall"], "recall@10": found["recall"], "p50 ms": found["p50 ms"],
                "p95 ms": found["p95 ms"], "verified p50 ms": found["verified"]["p50 ms"],
                "verified p95 ms": found["verified"]["p95 ms"], "server MB": round(found["server MB"]),
                "client MB": round(found["client MB"]), "disk MB": round(found["disk MB"]),
            })  # fmt: skip
            costs.append({
                "engine": name, "insertion, CPU s": found["inserted"]["CPU"],
                "index build, CPU s": found["built"]["CPU"],
                "ten nearest, CPU ms": found["CPU ms"], "verified, CPU ms": found["verified"]["CPU ms"],
                "shortlists proven": found["proven"], "load": "{:.1f} to {:.1f}".format(*found["load"]),
            })  # fmt: skip
            report.check(f"{name}, {count:,}: recall at least .95", found["recall"] >= 0.95, f"{found['recall']:.3f}")
        if rows:
            report.table(f"{count:,} molecules, vectors of 256 numbers, {HEAD}", rows)
            report.table(f"{count:,} molecules: CPU", costs)
        file = given.cache / f"engines-heads-{count}.json"
        if file.exists():
            report.table(
                f"Candidates by L2 for the ten nearest by the head, {count:,} molecules", json.loads(file.read_text())
            )
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
