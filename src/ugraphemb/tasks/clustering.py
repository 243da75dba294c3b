"""Groups of graphs that are near each other by their vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.names import Head
from ugraphemb.tasks.checks import finite_matrix
from ugraphemb.tasks.ranking import predicted_proximity

Ints = npt.NDArray[np.int64]

_MOST = 20_000  # graphs: all their distances take 3 GB


def clusters(vectors: npt.ArrayLike, count: int | None = None, *, head: Head = "l2", min_size: int = 5) -> Ints:
    """The group of each graph: 0 is the largest, and -1 is none. Needs all pairs of distances: at most 20,000 graphs.

    Args:
        vectors: Shape (graphs, width).
        count: How many groups, found by average linkage; None lets HDBSCAN (Campello et al. 2013) find how many there
            are, and which graphs belong to none.
        head: How vectors are compared.
        min_size: Minimum size of a group, for HDBSCAN.
    """
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering

    points = finite_matrix(vectors, "vectors")
    if len(points) > _MOST:
        raise ValueError(f"{len(points)} graphs; all pairs of at most {_MOST} are compared. Take a sample of them")
    if count is not None and not 1 <= count <= len(points):
        raise ValueError(f"{count} clusters of {len(points)} graphs; the number goes from 1 to {len(points)}")
    if len(points) < 2 or (count is None and len(points) < min_size):
        return np.full(len(points), -1 if count is None else 0, np.int64)
    distances = predicted_proximity(points, points, head)
    if head == "inner":  # a similarity: the most similar pair is at distance 0
        distances = distances.max() - distances
    distances = np.maximum((distances + distances.T) / 2, 0)
    np.fill_diagonal(distances, 0)
    if count is None:
        found = HDBSCAN(min_cluster_size=min_size, metric="precomputed", copy=True).fit_predict(distances)
    else:
        found = AgglomerativeClustering(count, metric="precomputed", linkage="average").fit_predict(distances)
    return _by_size(found)


def _by_size(groups: Ints) -> Ints:
    """The same groups, numbered by their size."""
    sizes = np.bincount(groups[groups >= 0], minlength=1)
    place = np.empty(len(sizes), np.int64)
    place[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.where(groups >= 0, place[np.maximum(groups, 0)], -1)
