"""Limits of each data set: how well simple formulas rank, and how well the best vectors of a given width could rank.

    python benchmarks/bench_limits.py                   PTC, IMDB-MULTI and WEB: ten minutes, most of it distances
    python benchmarks/bench_limits.py --sets PTC        ten seconds
    python benchmarks/bench_limits.py --store DIR       keeps the distances for the next time

Every graph is a query against all others of its set; `tight` distances are the true distances. Formulas use sizes,
sorted degrees, and the number of labels that two graphs share, divided by the mean size like the true distances.
"Spectral" vectors are the leading eigenvectors of the true squared distances of the ranked graphs themselves: no
network sees these distances.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from report import Report, data_root, parser
from scipy.sparse import csr_array

import ugraphemb as ug
from ugraphemb.tasks import ranking

NUMBERS = (16, 64, 256)


def formulas(graphs: ug.GraphSet) -> dict[str, np.ndarray]:
    """Estimates of the normalized distance of all pairs."""
    nodes, edges = graphs.num_nodes.astype(float), np.diff(graphs.indptr[graphs.node_offsets]) / 2
    larger, mean = np.maximum.outer(nodes, nodes), np.add.outer(nodes, nodes) / 2
    degrees = np.zeros((len(graphs), int(nodes.max())))
    for i, (begin, end) in enumerate(zip(graphs.node_offsets, graphs.node_offsets[1:], strict=False)):
        degrees[i, : end - begin] = -np.sort(-np.diff(graphs.indptr[begin : end + 1]))
    apart = np.stack([np.abs(degrees - row).sum(1) for row in degrees]) / 2
    shared = shared_labels(graphs)
    return {
        "sizes": (larger + np.abs(np.subtract.outer(edges, edges))) / mean,
        "sizes, shared labels": (larger - shared + np.abs(np.subtract.outer(edges, edges))) / mean,
        "sizes, degrees": (larger + apart) / mean,
        "sizes, degrees, shared labels": (larger - shared + apart) / mean,
    }


def shared_labels(graphs: ug.GraphSet) -> np.ndarray:
    """How many labels two graphs have in common, as often as both have them."""
    ones = np.ones(len(graphs.node_labels))
    counts = csr_array((ones, graphs.node_labels, graphs.node_offsets), copy=True)
    counts.sum_duplicates()
    shared = np.zeros((len(graphs), len(graphs)))
    for times in range(1, int(counts.data.max()) + 1):  # Σ over t of [a ≥ t]·[b ≥ t] is min(a, b)
        has = csr_array(((counts.data >= times).astype(float), counts.indices, counts.indptr), counts.shape)
        has.eliminate_zeros()
        shared += (has @ has.T).toarray()
    return shared


def spectral(numbers: int, values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Pseudo-Euclidean distances of the leading eigenvectors."""
    leading = np.argsort(-np.abs(values))[:numbers]
    product = (vectors[:, leading] * values[leading]) @ vectors[:, leading].T
    return np.add.outer(np.diag(product), np.diag(product)) - 2 * product


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sets", default="PTC,IMDB-MULTI,WEB", help="(default: %(default)s)")
    options.add_argument("--store", type=Path, help="folder where distances are kept, and read if present")
    arguments = options.parse_args()
    report = Report("limits", "What limits a set", seed=0, note=" ".join((__doc__ or "").split()))
    for name in arguments.sets.split(","):
        graphs = ug.load_dataset(name, root=data_root(arguments.data))
        store = None if arguments.store is None else arguments.store / f"store-{name}-tight"
        table = ug.pairwise(graphs, method="tight", costs=ug.EditCosts(edge_relabel=0), store=store)
        truth = np.asarray(table.normalized().matrix())
        np.fill_diagonal(truth, 0)
        center = np.eye(len(truth)) - 1 / len(truth)
        values, vectors = np.linalg.eigh(-0.5 * center @ truth**2 @ center)
        guesses = formulas(graphs)
        guesses |= {f"spectral, {count} numbers": spectral(count, values, vectors) for count in NUMBERS}
        rows = []
        for method, guess in guesses.items():
            found = ranking(guess, truth, exclude_self=True).summary()
            rows.append({"by": method, "τ": round(found["tau"][0], 3), "p@10": round(found["p@10"][0], 3)})
        near = np.sort(truth + np.diag(np.full(len(truth), np.inf)), axis=1)[:, :10].mean()
        report.table(
            f"{len(graphs)} graphs of {name}, mean distance {truth.mean():.2f}, to the ten nearest {near:.2f}", rows
        )
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
