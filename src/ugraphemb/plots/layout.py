"""Where to draw the nodes of a graph: lengths on paper as distances along edges (Kamada and Kawai 1989)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph

Floats = npt.NDArray[np.float64]

_FULL = 300  # nodes up to which every pair counts; beyond, neighbors and a few pivots


def layout(graph: Graph) -> Floats:
    """Coordinates, shape (nodes, 2), an edge about 1 long. The same graph always gets the same picture.

    Minimal stress, sum of w (|x_i - x_j| - d_ij)² with w = 1 / d², by majorization (Gansner, Koren and North 2004);
    for more than 300 nodes over edges and 60 pivots only (Ortmann, Klimenta and Brandes 2017); a complete graph is a
    circle. Components are laid side by side, the largest first, each with its long side horizontal.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, edges = graph.num_nodes, graph.edges
    ends = np.concatenate([edges, edges[:, ::-1]])
    adjacency = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    if n == 0:
        return np.empty((0, 2))
    count, component = connected_components(adjacency, directed=False)
    if count == 1:
        return _connected(adjacency)
    parts = [np.flatnonzero(component == c) for c in range(count)]
    parts.sort(key=lambda part: -len(part))
    return _packed(n, parts, [_connected(adjacency[part][:, part]) for part in parts])


def _connected(adjacency: Any) -> Floats:
    """Layout of a connected graph, its center at the origin."""
    n = adjacency.shape[0]
    if n == 1:
        return np.zeros((1, 2))
    if n == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    if adjacency.nnz == n * (n - 1):
        angle = np.pi / 2 + 2 * np.pi * np.arange(n) / n
        return np.asarray(np.stack([np.cos(angle), np.sin(angle)], axis=1) / (2 * np.sin(np.pi / n)))
    positions = _untangled(adjacency) if n <= _FULL else _pivots(adjacency)
    positions = positions - positions.mean(axis=0)
    axes = np.linalg.svd(positions, full_matrices=False)[2]
    positions = positions @ axes.T
    skew = np.sign((positions**3).sum(axis=0))  # chooses one of the two mirror images
    return np.asarray(positions * np.where(skew == 0, 1, skew))


def _hops(adjacency: Any, sources: npt.NDArray[Any] | None = None) -> Floats:
    from scipy.sparse.csgraph import dijkstra

    return np.asarray(dijkstra(adjacency, directed=False, indices=sources, unweighted=True))


def _scaled(hops: Floats, nudge: float = 0.1) -> Floats:
    """Classical scaling: coordinates whose distances approximate `hops` (nodes, pivots), with a small offset for twins.

    Twins, such as the leaves of a star, get the same coordinates, and stress alone would never separate them.
    """
    squared = hops**2
    centered = -0.5 * (squared - squared.mean(0) - squared.mean(1)[:, None] + squared.mean())
    left, values, _ = np.linalg.svd(centered, full_matrices=False)
    positions = left[:, :2] * np.sqrt(values[:2])
    return np.asarray(positions + np.random.default_rng(0).normal(scale=nudge, size=positions.shape))


def _untangled(adjacency: Any) -> Floats:
    """Of up to four starts the layout with fewest crossings; one start for graphs so dense that crossings are many."""
    ends = np.stack(adjacency.nonzero(), axis=1)
    edges = ends[ends[:, 0] < ends[:, 1]]
    starts = (0.1, 0.4, 0.8, 1.6) if len(edges) <= 1.4 * adjacency.shape[0] else (0.1,)
    best, fewest = np.empty((0, 2)), np.inf
    for nudge in starts:
        positions = _all_pairs(adjacency, nudge)
        found = _crossings(positions, edges) if len(starts) > 1 else 0
        if found < fewest:
            best, fewest = positions, found
        if found == 0:
            break
    return best


def _crossings(positions: Floats, edges: npt.NDArray[Any]) -> int:
    """Pairs of edges that cross, those that share a node aside."""
    start, stop = positions[edges[:, 0]], positions[edges[:, 1]]

    def side(of: Floats) -> Floats:  # of the line through each edge (row): which side each point (column) lies on
        along, across = (stop - start)[:, None], of[None] - start[:, None]
        return np.asarray(np.sign(along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0]))

    apart = side(start) * side(stop) < 0
    shared = (edges[:, None, :, None] == edges[None, :, None, :]).any(axis=(2, 3))
    return int((apart & apart.T & ~shared).sum()) // 2


def _all_pairs(adjacency: Any, nudge: float) -> Floats:
    hops = _hops(adjacency)
    n = len(hops)
    np.fill_diagonal(hops, 1.0)
    weights = hops**-2.0
    np.fill_diagonal(weights, 0.0)
    np.fill_diagonal(hops, 0.0)
    laplacian = np.diag(weights.sum(1)) - weights
    solve = np.linalg.inv(laplacian + 1.0 / n)
    pull = weights * hops
    positions = _scaled(hops, nudge)
    before = np.inf
    for _ in range(300):
        gaps = positions[:, None] - positions[None]
        lengths = np.sqrt((gaps**2).sum(2))
        np.fill_diagonal(lengths, 1.0)
        stress = float((weights * (lengths - hops) ** 2).sum())
        if before - stress < 1e-4 * stress:
            break
        before = stress
        share = pull / np.maximum(lengths, 1e-9)
        positions = solve @ (share.sum(1)[:, None] * positions - share @ positions)
    return np.asarray(positions)


def _pivots(adjacency: Any, count: int = 60) -> Floats:
    n = adjacency.shape[0]
    count = min(count, n)
    nearest = np.full(n, np.inf)
    pivots = [int(np.diff(adjacency.indptr).argmax())]
    rows = []
    while True:  # each pivot is the node farthest from those before
        rows.append(_hops(adjacency, np.array(pivots[-1:]))[0])
        nearest = np.minimum(nearest, rows[-1])
        if len(pivots) == count or nearest.max() == 0:
            break
        pivots.append(int(nearest.argmax()))
    hops = np.stack(rows, axis=1)  # (nodes, pivots)
    # A pivot stands for the nodes nearest to it, so its term weighs as many.
    weights = np.bincount(hops.argmin(axis=1), minlength=len(pivots)) / np.maximum(hops, 1.0) ** 2
    weights[np.array(pivots), np.arange(len(pivots))] = 0.0
    positions = _scaled(hops)
    source, target, length = _near_terms(adjacency)
    total = weights.sum(1) + np.bincount(source, minlength=n)
    for _ in range(100):
        away = positions[:, None] - positions[None, pivots]
        unit = away / np.maximum(np.sqrt((away**2).sum(2, keepdims=True)), 1e-9)
        wish = (weights[:, :, None] * (positions[None, pivots] + hops[:, :, None] * unit)).sum(1)
        along = positions[source] - positions[target]
        along *= (length / np.maximum(np.linalg.norm(along, axis=1), 1e-9))[:, None]
        along += positions[target]
        for axis in (0, 1):
            wish[:, axis] += np.bincount(source, weights=along[:, axis], minlength=n)
        positions = 0.5 * positions + 0.5 * wish / total[:, None]
    return np.asarray(positions)


def _near_terms(adjacency: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
    """Pairs of near nodes and how far apart they should be, each in both directions.

    Neighbors by 1; and the neighbors of a node as the corners of a regular polygon around it, each with the next and
    the opposite one, without which leaves of one node, which have equal distances to the pivots, would coincide.
    """
    degrees = np.diff(adjacency.indptr)
    hub, corner = np.repeat(np.arange(len(degrees)), degrees), adjacency.indices
    start, size = adjacency.indptr[hub], degrees[hub]
    sources, targets, lengths = [hub], [corner], [np.ones(len(hub))]
    for step in (np.ones_like(size), size // 2):
        other = corner[start + (np.arange(len(corner)) - start + step) % size]
        apart = other != corner
        chord = 2 * np.sin(np.pi * step / size)
        sources += [corner[apart], other[apart]]
        targets += [other[apart], corner[apart]]
        lengths += [chord[apart], chord[apart]]
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(lengths)


def _packed(n: int, parts: list[npt.NDArray[Any]], layouts: list[Floats]) -> Floats:
    """Components in rows from left to right, the whole about as wide as high."""
    sizes = np.array([np.ptp(positions, axis=0) + 1.2 for positions in layouts])
    width = max(float(sizes[:, 0].max()), float(np.sqrt(1.3 * sizes.prod(axis=1).sum())))
    answer = np.empty((n, 2))
    x, y, height = 0.0, 0.0, 0.0
    for part, positions, size in zip(parts, layouts, sizes, strict=True):
        if x > 0 and x + size[0] > width + 1e-9:
            x, y, height = 0.0, y - height, 0.0
        corner = np.array([positions[:, 0].min(), positions[:, 1].max()])
        answer[part] = positions - corner + np.array([x, y])
        x, height = x + size[0], max(height, float(size[1]))
    return np.asarray(answer - answer.mean(axis=0))
