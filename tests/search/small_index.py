"""A model that is trained in a second, and graphs to search among, for tests of search."""

from __future__ import annotations

from functools import cache

import numpy as np

import ugraphemb as ug
from ugraphemb import GraphIndex, GraphSet, UGraphEmb


@cache
def graphs() -> GraphSet:
    """Sixty labeled graphs of three to seven nodes."""
    random = np.random.default_rng(5)
    atlas = ug.load_dataset("atlas")
    chosen = atlas[np.sort(random.choice(np.flatnonzero(atlas.num_nodes >= 3), 60, replace=False))]
    return GraphSet.from_edges(
        chosen.num_nodes.tolist(),
        np.concatenate([graph.edges + chosen.node_offsets[i] for i, graph in enumerate(chosen)]),
        node_labels=random.choice(["C", "N", "O"], len(chosen.node_labels)).tolist(),
        targets=random.integers(0, 3, 60),
        ids=[f"g{i}" for i in range(60)],
    )


@cache
def model(metric: str = "ged", head: str | None = None) -> UGraphEmb:
    settings = {"layers": (8,), "scales": (0, 1), "hidden": 8}
    return UGraphEmb(
        metric=metric, head=head, dimension=8, steps=30, batch=16, settings=settings, threads=1, progress=False
    ).fit(graphs()[:40])


def index(count: int = 60, **options: object) -> GraphIndex:
    return GraphIndex(model(), threads=1, **options).add(graphs()[:count])  # type: ignore[arg-type]


def queries() -> GraphSet:
    """Graphs that are not in the index of fifty."""
    return graphs()[50:]
