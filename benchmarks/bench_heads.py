"""Which formulas of two vectors can represent normalized edit distances: free vectors are fitted to them, no network.

    python benchmarks/bench_heads.py                five minutes
    python benchmarks/bench_heads.py --graphs 100   a first impression

Each of some graphs gets 256 or 16 free numbers, which Adam fits to the `tight` normalized distances of all pairs.
Kendall's τ and p@10 are of the fitted pairs themselves: no network with that head can reach more. With
256 numbers for 300 graphs each graph can have a direction of its own; with 16, as with 256 for many graphs, it cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from report import Report, data_root, parser

import ugraphemb as ug
from ugraphemb.encoder.heads import among, between
from ugraphemb.encoder.names import Head
from ugraphemb.tasks import ranking

HEADS: tuple[Head, ...] = ("squared_l2", "l2", "l1", "pseudo_l2", "raised_l2")
DIMENSIONS, RATE = (256, 16), 0.05


def fitted(truth: torch.Tensor, head: Head, dimension: int, steps: int) -> np.ndarray[Any, Any]:
    """Predicted distances of fitted vectors."""
    torch.manual_seed(0)
    mean = float(truth.mean())
    shrink = 8 if head == "l1" else 1  # every coordinate adds to an L1 distance
    vectors = torch.nn.Parameter(torch.randn(len(truth), dimension) * mean / dimension**0.5 / 1.4 / shrink)
    optimizer = torch.optim.Adam([vectors], RATE / shrink)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, RATE / shrink / 100)
    left, right = torch.triu_indices(len(truth), len(truth), 1)
    for _ in range(steps):
        all_pairs = torch.cdist(vectors, vectors, p=1.0) if head == "l1" else None  # faster than one by one
        predicted = among(vectors, left, right, head) if all_pairs is None else all_pairs[left, right]
        loss = (predicted - truth[left, right]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    points = vectors.detach().numpy()
    return between(points, points, head)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--graphs", type=int, default=300, help="number from each set (default: %(default)s)")
    options.add_argument("--steps", type=int, default=500, help="number of steps of Adam (default: %(default)s)")
    arguments = options.parse_args()
    report = Report("heads", "What free vectors can represent", seed=0, note=" ".join((__doc__ or "").split()))
    for name in ("PTC", "IMDB-MULTI", "WEB"):
        graphs = ug.load_dataset(name, root=data_root(arguments.data))
        graphs = graphs[np.random.default_rng(0).permutation(len(graphs))[: arguments.graphs]]
        truth = np.asarray(
            ug.pairwise(graphs, method="tight", costs=ug.EditCosts(edge_relabel=0)).normalized().matrix()
        )
        np.fill_diagonal(truth, 0)
        for dimension in DIMENSIONS:
            rows = []
            for head in HEADS:
                predicted = fitted(torch.from_numpy(truth).float(), head, dimension, arguments.steps)
                found = ranking(predicted, truth, exclude_self=True).summary()
                rows.append({"compared by": head, "τ": round(found["tau"][0], 3), "p@10": round(found["p@10"][0], 3),
                             "MSE": round(found["mse"][0], 4)})  # fmt: skip
            about = f"{len(graphs)} graphs of {name}, mean distance {truth.mean():.2f}, {dimension} numbers each"
            report.table(about, rows)
            score = {row["compared by"]: row["τ"] for row in rows}
            report.check(f"{name}, {dimension}: raised_l2 holds more than l2", score["raised_l2"] > score["l2"],
                         f"τ {score['raised_l2']} and {score['l2']}")  # fmt: skip
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
