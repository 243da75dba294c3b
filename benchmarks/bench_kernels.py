"""Kernel matrices of NCI109: ugraphemb beside grakel, in one run.

Weisfeiler–Lehman with 5 rounds, shortest paths with labels, and graphlets from 150 samples per graph, each normalized.
The clock is CPU time of one thread, graphs already in the form that each library wants. Both are timed alike: the first
run of a fresh process, from graphs to all pairs. Ours is the median of five such processes, all listed; grakel has one,
because it takes long. The first two matrices must be the same. Graphlets are measured on every tenth graph, because
grakel is slow there; it draws graphlets of 3 to k nodes, so that for equality those of 3 nodes are compared, where both
differ only by chance.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, data_root, parser
from threadpoolctl import threadpool_limits

FASTER, RUNS = 10.0, 5
# name: (title, every how many graphs, our options)
KERNELS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "wl": ("WL, h = 5", 1, {"metric": "wl"}),
    "sp": ("shortest path", 1, {"metric": "sp"}),
    "graphlet3": ("graphlets of 3 nodes, 150 samples", 10, {"metric": "graphlet", "size": 3, "samples": 150}),
    "graphlet5": ("graphlets of 5 nodes, 150 samples", 10, {"metric": "graphlet", "size": 5, "samples": 150}),
}


def grakel_graphs(graphs: Any) -> list[Any]:
    """Matrices, because its shortest paths fail on nodes without edges in dictionaries."""
    result = []
    for graph in graphs:
        matrix = np.zeros((graph.num_nodes, graph.num_nodes), int)
        u, v = graph.edges.T
        matrix[u, v] = matrix[v, u] = 1
        result.append((matrix, dict(enumerate(graph.node_labels))))
    return result


def grakel_kernel(name: str) -> Any:
    from grakel.kernels import GraphletSampling, ShortestPath, VertexHistogram, WeisfeilerLehman

    if name == "wl":
        return WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram, normalize=True)
    if name == "sp":
        return ShortestPath(normalize=True)
    return GraphletSampling(k=int(name[-1]), sampling={"n_samples": 150}, random_state=0, normalize=True)


def measure(library: str, name: str, root: str, answer: str) -> float:
    """Runs in a process of its own; the values of all pairs go to a file."""
    from ugraphemb import load_dataset, pairwise

    threadpool_limits(1)
    _, step, options = KERNELS[name]
    graphs = load_dataset("NCI109", root=root)[::step]
    if library == "ugraphemb":
        import ugraphemb.proximity.kernels  # noqa: F401  # importing is not part of the work

        start = time.process_time()
        values = pairwise(graphs, threads=1, progress=False, **options).value
        taken = time.process_time() - start
    else:
        theirs, kernel = grakel_graphs(graphs), grakel_kernel(name)
        start = time.process_time()
        with np.errstate(invalid="ignore"):  # it divides 0 by 0 where a graph has no path
            matrix = kernel.fit_transform(theirs)
        taken = time.process_time() - start
        values = matrix[np.triu_indices(len(graphs), 1)]
    np.save(answer, values)
    return taken


def measured(library: str, name: str, root: Path, answer: Path) -> float:
    command = [sys.executable, __file__, "--measure", library, name, str(root), str(answer)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    arguments = parser(__doc__).parse_args()
    root = data_root(arguments.data)
    report = Report("kernels", "Kernels", seed=0, note=" ".join((__doc__ or "").split()))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        mine, other = Path(folder) / "mine.npy", Path(folder) / "other.npy"
        for name, (title, step, _) in KERNELS.items():
            runs = [measured("ugraphemb", name, root, mine) for _ in range(RUNS)]
            ours, theirs = float(np.median(runs)), measured("grakel", name, root, other)
            gap = np.abs(np.load(mine) - np.load(other))
            gap = gap[~np.isnan(gap)]
            if name in ("wl", "sp"):
                report.check(f"{title}: the same numbers", gap.max() < 1e-12, f"largest difference {gap.max():.1e}")
            elif name == "graphlet3":
                report.check(f"{title}: equal but for sampling", gap.mean() < 0.02, f"mean difference {gap.mean():.4f}")
            report.check(f"{title}: {FASTER:g} times faster", theirs / ours >= FASTER, f"{theirs / ours:.1f} times")
            rows.append(
                {"kernel": title, "graphs": -(-4127 // step), "ugraphemb CPU s": round(ours, 3),
                 "grakel CPU s": round(theirs, 2), "times faster": round(theirs / ours, 1),
                 "ours, each": ", ".join(f"{run:.3f}" for run in runs)}
            )  # fmt: skip
    report.table("All pairs of NCI109, or of every tenth graph", rows)
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:])))
    else:
        main()
