"""Edit distance: time, bounds and proofs of every method, beside NetworkX and SciPy in the same run.

    python benchmarks/bench_ged.py                     every section but sets, a few minutes
    python benchmarks/bench_ged.py methods exact       these sections
    python benchmarks/bench_ged.py sets                the paper's pair sets, many minutes; continues a stopped run
    python benchmarks/bench_ged.py sets --limit 10000  the same on that many pairs of each

Each section writes results/ged_SECTION.{json,md}. Times are CPU time of one thread, except where they say wall.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from report import RESULTS, Report, commit, data_root, parser

import ugraphemb as ug
from ugraphemb.graphs import Graph, GraphSet
from ugraphemb.proximity.ged import METHODS

SEED = 0
COSTS = ug.EditCosts(edge_relabel=0)  # as published, and as in other libraries: edges have no labels
Pairs = npt.NDArray[np.int64]
# Upper limits, in microseconds per pair: shared/TARGETS.md, table "ours".
TARGETS = {
    "hungarian": {"PTC": 2, "NCI109": 3, "IMDB-MULTI": 1},
    "vj": {"PTC": 2, "NCI109": 3, "IMDB-MULTI": 1},
    "branch": {"PTC": 2, "NCI109": 3, "IMDB-MULTI": 1},
    "refine": {"PTC": 20, "NCI109": 30, "IMDB-MULTI": 10},
    "beam": {"PTC": 100, "NCI109": 140, "IMDB-MULTI": 40},
    "tight": {"PTC": 200, "NCI109": 300, "IMDB-MULTI": 60},
}
HEURISTICS = [method for method in METHODS if method != "exact"]
# Training graphs of the paper's 6:2:2 split, and the time it took on 20 cores.
PAPER_SETS = {"PTC": (206, "9.23 min"), "IMDB-MULTI": (900, "4.72 h"), "WEB": (1404, "8.23 h"),
              "NCI109": (2476, "10.05 h for two thirds")}  # fmt: skip


def random_pairs(graphs: GraphSet, count: int, seed: int = SEED) -> Pairs:
    """Pairs of different graphs, drawn uniformly."""
    random = np.random.default_rng(seed)
    left = random.integers(0, len(graphs), count)
    right = random.integers(0, len(graphs) - 1, count)
    return np.column_stack([left, right + (right >= left)])


def cpu_seconds(graphs: GraphSet, pairs: Pairs, at_least: float = 0.3, **options: Any) -> tuple[float, ug.PairTable]:
    """Seconds per pair on one thread, the best of eight runs (other work of the machine only slows the other runs).

    Quick methods go over the pairs many times in a run; one that takes seconds runs once.
    """
    begin = time.process_time()
    table = ug.pairwise(graphs, pairs, threads=1, **{"costs": COSTS, **options})
    taken = time.process_time() - begin
    if taken > 2:
        return taken / len(pairs), table
    rounds = max(1, int(at_least / max(taken, 1e-4)))
    many = np.tile(pairs, (rounds, 1))
    best = taken / len(pairs)
    for _ in range(7):
        begin = time.process_time()
        ug.pairwise(graphs, many, threads=1, **{"costs": COSTS, **options})
        best = min(best, (time.process_time() - begin) / len(many))
    return best, table


def mean(values: npt.NDArray[Any]) -> float | None:
    """None where a method gives no such bound."""
    return None if np.isnan(values).any() else float(values.mean())


def methods(data: Path, report: Report) -> None:
    """Every heuristic on random pairs: microseconds, mean bounds, fraction proven."""
    for name, count in [("PTC", 1000), ("NCI109", 1000), ("IMDB-MULTI", 1000), ("REDDIT-BINARY", 100)]:
        graphs = ug.load_dataset(name, data)
        pairs = random_pairs(graphs, count)
        tables = {}
        rows = []
        for method in HEURISTICS:
            seconds, tables[method] = cpu_seconds(graphs, pairs, method=method)
            table, target = tables[method], TARGETS.get(method, {}).get(name)
            rows.append({"method": method, "µs a pair": seconds * 1e6, "target": target, "upper": mean(table.upper),
                         "lower": mean(table.lower), "proven": float(table.proven.mean())})  # fmt: skip
            if target:
                report.check(f"{name} {method} within {target} µs", seconds * 1e6 <= target, f"{seconds * 1e6:.3g} µs")
        report.table(f"{name}, {count} random pairs", rows)
        check_bounds(name, tables, report)


def check_bounds(name: str, tables: dict[str, ug.PairTable], report: Report) -> None:
    lowest = np.nanmin([table.upper for table in tables.values()], axis=0)
    highest = np.nanmax([table.lower for table in tables.values()], axis=0)
    report.check(f"{name}: no lower bound is above any upper bound", bool((highest <= lowest).all()))
    chain = (tables["hed"].lower <= tables["branch"].lower + 1e-9).all()
    report.check(f"{name}: hed is never above branch", bool(chain))
    proven = all((table.value == lowest)[table.proven].all() for table in tables.values())
    report.check(f"{name}: what is proven is the best known", bool(proven))


def peers(data: Path, report: Report) -> None:
    """NetworkX's exact search on small pairs, and Riesen and Bunke's matrix in SciPy."""
    import networkx as nx

    graphs = ug.load_dataset("PTC", data)
    small = graphs[graphs.num_nodes <= 9]
    pairs = random_pairs(small, 10)
    seconds, table = cpu_seconds(small, pairs, method="exact")
    both = small.to_networkx()
    begin = time.process_time()
    found = [
        nx.graph_edit_distance(both[i], both[j], node_match=lambda u, v: u["label"] == v["label"], timeout=20)
        for i, j in pairs
    ]
    slow = (time.process_time() - begin) / len(pairs)
    rows = [{"solver": "NetworkX", "µs a pair": slow * 1e6, "mean": float(np.mean(found))},
            {"solver": "exact", "µs a pair": seconds * 1e6, "mean": float(table.value.mean())}]  # fmt: skip
    report.table("PTC, 10 random pairs of graphs of up to 9 nodes", rows)
    report.check(
        "exact is never above NetworkX", bool((table.value <= found).all()), f"{slow / seconds:.3g} times faster"
    )

    rows = []
    for name in ("PTC", "NCI109", "IMDB-MULTI"):
        graphs = ug.load_dataset(name, data)
        pairs = random_pairs(graphs, 1000)
        seconds, table = cpu_seconds(graphs, pairs, method="hungarian")
        begin = time.process_time()
        costs = [scipy_hungarian(graphs[i], graphs[j]) for i, j in pairs]
        slow = (time.process_time() - begin) / len(pairs)
        rows.append({"data": name, "SciPy µs": slow * 1e6, "hungarian µs": seconds * 1e6, "ratio": slow / seconds,
                     "SciPy upper": float(np.mean(costs)), "hungarian upper": float(table.upper.mean())})  # fmt: skip
        close = abs(np.mean(costs) / table.upper.mean() - 1) < 0.15  # several optima: the two solvers may differ
        report.check(f"{name}: SciPy's assignments cost about the same", bool(close))
    report.table("Hungarian with scipy.optimize.linear_sum_assignment, 1000 random pairs", rows)


def scipy_hungarian(a: Graph, b: Graph) -> float:
    """Cost of the map that the (n + m)² assignment of Riesen and Bunke gives, for uniform costs."""
    from scipy.optimize import linear_sum_assignment

    n, m = a.num_nodes, b.num_nodes
    adjacency = [np.zeros((size + 1, size + 1), bool) for size in (n, m)]
    for matrix, graph in zip(adjacency, (a, b), strict=True):
        u, v = graph.edges.T
        matrix[u, v] = matrix[v, u] = True
    labels = [g.graphs.node_labels[g.graphs.node_offsets[g.position] :][: g.num_nodes] for g in (a, b)]
    degrees = [matrix.sum(1)[:-1] for matrix in adjacency]
    costs = np.zeros((n + m, n + m))
    differ = labels[0][:, None] != labels[1]
    costs[:n, :m] = differ + np.abs(degrees[0][:, None] - degrees[1])
    costs[:n, m:] = costs[n:, :m] = 1e9
    np.fill_diagonal(costs[:n, m:], 1 + degrees[0])
    np.fill_diagonal(costs[n:, :m], 1 + degrees[1])
    image = linear_sum_assignment(costs)[1][:n]
    kept = image < m
    image = np.where(kept, image, m)
    common = (adjacency[0][:n, :n] & adjacency[1][np.ix_(image, image)]).sum() // 2
    nodes = n + m - 2 * kept.sum() + differ[np.flatnonzero(kept), image[kept]].sum()
    return float(nodes + a.num_edges + b.num_edges - 2 * common)


def exact(data: Path, report: Report) -> None:
    """Exact search: time on small graphs, the fraction of all pairs within 0.1 s, and how far heuristics are off."""
    rows = []
    for name, size, target in [("PTC", 16, None), ("PTC", 24, 2.0), ("NCI109", 16, 1.0)]:
        graphs = ug.load_dataset(name, data)
        small = graphs[graphs.num_nodes <= size]
        seconds, table = cpu_seconds(small, random_pairs(small, 300), method="exact", timeout=30)
        rows.append({"data": name, "nodes": f"≤ {size}", "ms a pair": seconds * 1e3, "target": target,
                     "proven": float(table.proven.mean())})  # fmt: skip
        if target:
            report.check(
                f"{name} up to {size} nodes within {target} ms", seconds * 1e3 <= target, f"{seconds * 1e3:.3g} ms"
            )
    report.table("Exact, 300 random pairs of small graphs", rows)
    rows, loose = [], []
    for name, target in [("PTC", 0.8), ("NCI109", None), ("IMDB-MULTI", 0.9)]:
        graphs = ug.load_dataset(name, data)
        pairs = random_pairs(graphs, 200)
        seconds, truth = cpu_seconds(graphs, pairs, method="exact", timeout=0.1)
        share = float(truth.proven.mean())
        rows.append({"data": name, "solved in 0.1 s": share, "target": target, "mean ms": seconds * 1e3,
                     "upper": float(truth.upper.mean()), "lower": float(truth.lower.mean())})  # fmt: skip
        if target:
            report.check(f"{name}: {target:.0%} of all pairs in 0.1 s", share >= target, f"{share:.1%}")
        for method in ("hungarian", "vj", "beam", "paper", "branch", "refine", "tight"):
            table = ug.pairwise(graphs, pairs[truth.proven], method=method, costs=COSTS, threads=1)
            best = truth.value[truth.proven]
            loose.append({"data": name, "method": method, "exact": mean(best), "mean": mean(table.value),
                          "too high by": float(table.value.sum() / best.sum() - 1),
                          "optimal": float((table.value == best).mean())})  # fmt: skip
            report.check(f"{name}: {method} never goes below exact", bool((table.value >= best).all()))
    report.table("Exact, 200 random pairs, 0.1 s each", rows)
    report.table("How far above the truth, on the pairs that exact solved", loose)


def labels(data: Path, report: Report) -> None:
    """Edge labels that count beside edge labels that do not, on molecules; and what a limit saves."""
    graphs = ug.load_dataset("AIDS42K", data)
    graphs = graphs[np.random.default_rng(SEED).permutation(len(graphs))[:1000]]
    pairs = random_pairs(graphs, 1000)
    counted = ug.EditCosts(edge_relabel=1)
    rows = []
    for method in ("branch", "refine", "beam", "tight", "hungarian", "vj", "hed"):
        plain, _ = cpu_seconds(graphs, pairs, method=method, costs=COSTS)
        seconds, table = cpu_seconds(graphs, pairs, method=method, costs=counted)
        rows.append({"method": method, "µs a pair": plain * 1e6, "with edge labels": seconds * 1e6,
                     "ratio": seconds / plain, "upper": mean(table.upper), "lower": mean(table.lower)})  # fmt: skip
        if method in ("branch", "refine", "beam", "tight"):
            report.check(f"{method}: edge labels take at most 1.5 times as long", seconds <= 1.5 * plain)
    report.table("AIDS42K, 1000 random pairs", rows)
    small = graphs[graphs.num_nodes <= 20]
    pairs = random_pairs(small, 300)
    rows = []
    for limit in (None, 5, 10):
        row: dict[str, Any] = {"limit": "none" if limit is None else limit}
        for name, costs in (("plain", COSTS), ("with edge labels", counted)):
            seconds, table = cpu_seconds(small, pairs, method="exact", costs=costs, timeout=10, limit=limit)
            decided = table.proven if limit is None else table.proven | (table.lower > limit)
            row |= {f"{name}, µs a pair": seconds * 1e6, f"{name}, decided": float(decided.mean())}
        rows.append(row | {"ratio": row["with edge labels, µs a pair"] / row["plain, µs a pair"]})
    report.check("exact: edge labels take at most 1.5 times as long", rows[0]["ratio"] <= 1.5)
    report.table("AIDS42K up to 20 nodes, exact, 300 random pairs", rows)


def threads(data: Path, report: Report) -> None:
    """Wall time on one and on two threads."""
    graphs = ug.load_dataset("PTC", data)
    rows = []
    for method, count in [("branch", 2_000_000), ("tight", 20_000)]:
        pairs = random_pairs(graphs, count)
        walls, tables = [], []
        for number in (1, 2):
            best = np.inf
            for _ in range(2):
                begin = time.perf_counter()
                table = ug.pairwise(graphs, pairs, method=method, costs=COSTS, threads=number)
                best = min(best, time.perf_counter() - begin)
            walls.append(best)
            tables.append(table)
        rows.append({"method": method, "pairs": count, "1 thread, wall s": walls[0], "2 threads, wall s": walls[1],
                     "scaling": walls[0] / walls[1]})  # fmt: skip
        report.check(
            f"{method}: two threads are 1.8 times as fast", walls[0] / walls[1] >= 1.8, f"{walls[0] / walls[1]:.2f}"
        )
        report.check(f"{method}: one and two threads agree", bool((tables[0].value == tables[1].value).all()))
    report.table("PTC, random pairs", rows)


MEMORY = """
import resource, sys
import numpy as np, ugraphemb as ug
graphs = ug.load_dataset("PTC", sys.argv[1])
pairs = np.random.default_rng(0).integers(0, len(graphs), (1_000_000, 2), dtype=np.int32)
ug.pairwise(graphs, pairs[:1000], method="branch")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
table = ug.pairwise(graphs, pairs, method="branch")
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before, sum(c.nbytes for c in (table.left, table.right, table.lower, table.upper, table.proven)) // 1024)
"""


def memory(data: Path, report: Report) -> None:
    """Memory that one million pairs need besides their results; time to read ten million pairs."""
    output = subprocess.run(
        [sys.executable, "-c", MEMORY, str(data)], capture_output=True, text=True, check=True
    ).stdout
    grown, results = (int(word) / 1024 for word in output.split())
    report.table("One million pairs of PTC", [{"peak memory grew by, MB": grown, "of which results, MB": results}])
    report.check("little more memory than the results", grown <= 1.5 * results, f"{grown:.1f} of {results:.1f} MB")
    size = 4500
    graphs = GraphSet.from_edges([1] * size, [])
    pairs = np.column_stack(np.triu_indices(size, 1)).astype(np.int32)
    value = np.random.default_rng(SEED).integers(0, 200, len(pairs)).astype(np.float64)
    table = ug.PairTable.from_values(graphs, pairs, value, kind="distance")
    path = RESULTS / "ten_million.parquet"
    try:
        begin = time.process_time()
        table.write(path)
        wrote = time.process_time() - begin
        begin = time.process_time()
        again = ug.PairTable.read(path, graphs)
        read = time.process_time() - begin
        report.table("A table of ten million pairs", [{"pairs": len(table), "MB": path.stat().st_size / 1e6,
                     "write, s": wrote, "read, s": read}])  # fmt: skip
        report.check("read as written", bool((again.value == value).all()), f"{read:.2f} s")
    finally:
        path.unlink(missing_ok=True)


def sets(data: Path, report: Report, limit: int | None, write: bool) -> None:
    """All pairs of a 60 % split, as the paper computed them; rows of the same commit are kept from an earlier run."""
    title = "All pairs of the training graphs, 2 threads" if limit is None else f"{limit} of the pairs, 2 threads"
    known = RESULTS / "ged_sets.json"
    rows: list[dict[str, Any]] = []
    if known.exists():
        earlier = json.loads(known.read_text())
        rows = earlier["tables"].get(title, []) if earlier["commit"] == commit() else []
    for method in ("tight", "paper"):
        for name, (count, paper) in PAPER_SETS.items():
            if any(row["data"] == name and row["method"] == method for row in rows):
                continue
            graphs = ug.load_dataset(name, data)
            chosen = np.sort(np.random.default_rng(SEED).permutation(len(graphs))[:count])
            part = graphs[chosen]
            pairs = None if limit is None else random_pairs(part, limit)
            wall, cpu = time.perf_counter(), time.process_time()
            table = ug.pairwise(part, pairs, method=method, costs=COSTS, threads=2)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            assert not (table.lower > table.upper).any()
            rows.append({"data": name, "graphs": count, "pairs": len(table), "method": method, "wall s": wall,
                         "CPU s": cpu, "paper, 20 cores": paper,
                         "upper": float(table.upper.mean()), "lower": mean(table.lower),
                         "proven": float(table.proven.mean())})  # fmt: skip
            report.tables[title] = rows
            report.finish(write=write)  # so that a later run continues from here
    report.table(title, rows)


SECTIONS: dict[str, Callable[[Path, Report], None]] = {
    "methods": methods, "peers": peers, "exact": exact, "labels": labels, "threads": threads, "memory": memory,
}  # fmt: skip


def main() -> None:
    options = parser(__doc__)
    options.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}, sets")
    options.add_argument("--limit", type=int, help="for sets: number of random pairs of each set; writes nothing")
    given = options.parse_args()
    unknown = [name for name in given.sections if name not in (*SECTIONS, "sets")]
    if unknown:
        options.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}, sets")
    data = data_root(given.data)
    failures = []
    for name in given.sections or SECTIONS:
        write = not given.no_write and not (name == "sets" and given.limit)
        report = Report(f"ged_{name}", f"Edit distance: {name}", seed=SEED)
        if name == "sets":
            sets(data, report, given.limit, write)
        else:
            SECTIONS[name](data, report)
        try:
            report.finish(write=write)
        except SystemExit as failed:
            failures.append(f"{name}: {failed}")
    sys.exit("\n".join(failures) or None)


if __name__ == "__main__":
    main()
