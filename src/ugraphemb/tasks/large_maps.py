"""Maps of up to millions of graphs: t-SNE of a sample by the model's own distances, and all others placed onto it.

How it is done. Graphs with the same vector (isomorphic graphs above all) count once, so that a crowd of copies does not
push others away. Of what is left, at most `SAMPLE` graphs are chosen at random. Their nearest neighbors by Euclidean
distance are ranked again by the model's head, and t-SNE (openTSNE, interpolation by FFT) lays out the sample by these
distances. Every other graph is placed like a new one: its nearest neighbors in the sample, again by the head, give it
affinities; it starts at their median, and openTSNE's gradient moves it while the sample stays fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.heads import between
from ugraphemb.encoder.names import Head
from ugraphemb.errors import needs_extra
from ugraphemb.tasks.checks import finite_matrix
from ugraphemb.tasks.maps import fit_map

Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

SAMPLE = 20_000
"""Graphs that t-SNE lays out; all others are placed."""

_PERPLEXITY, _PLACED_PERPLEXITY, _PLACED_NEIGHBORS = 30.0, 5.0, 15
_MORE = 2  # times as many candidates by Euclidean distance as the head ranks
_ROUNDS = (250, 500)  # of t-SNE: with exaggeration, and without
_PLACED_ROUNDS = 50
_EXAGGERATION, _RATE, _MOMENTUM, _STEEPEST = 1.5, 0.1, 0.8, 0.25  # of placing, as openTSNE's transform has them
_AT_ONCE = 8_192
_PRODUCTS = 1 << 22  # inner products that are in memory together
_FEW = 5
_TREE_UP_TO = 3_000  # graphs for which the Barnes-Hut tree is faster than interpolation


def row_keys(vectors: npt.ArrayLike, tolerance: float = 0.0) -> Keys:
    """One number for each row: equal for equal rows, different for others, except for hash collisions (64 bits).

    Args:
        tolerance: Rows are rounded to multiples of it first; 0 compares the bits of float32.
    """
    values = np.ascontiguousarray(vectors, np.float32)
    odd = np.random.default_rng(7).integers(0, 2**63, values.shape[1], np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.empty(len(values), np.uint64)
    for begin in range(0, len(values), _AT_ONCE):
        some = values[begin : begin + _AT_ONCE]
        whole = some.view(np.uint32).astype(np.uint64) if not tolerance else _rounded(some, tolerance)
        whole ^= whole >> np.uint64(29)
        keys[begin : begin + _AT_ONCE] = (whole * odd).sum(axis=1, dtype=np.uint64)
    return keys


def _rounded(values: Floats32, tolerance: float) -> Keys:
    return np.asarray(np.round(values / np.float32(tolerance)).astype(np.int64).view(np.uint64))


@dataclass(frozen=True, eq=False)
class LargeMap:
    """A map of many graphs.

    Attributes:
        coordinates: float32 (graphs, 2).
        reference: Positions of the graphs that t-SNE laid out, ascending; no two have the same vector.
        vectors: float32, of the reference.
        head: How vectors are compared.
        method: "tsne"; "pca" where there are too few different graphs.
    """

    coordinates: Floats32
    reference: Ints
    vectors: Floats32
    head: Head
    method: str = "tsne"

    def place(self, vectors: npt.ArrayLike) -> Floats32:
        """Where new graphs fall: float32 (new graphs, 2). The map stays as it is, and so does what is on it already."""
        new = np.ascontiguousarray(finite_matrix(vectors, "vectors"), np.float32)
        if not len(new):
            return np.empty((0, 2), np.float32)
        neighbors, distances = self.neighbors.nearest(new, min(_PLACED_NEIGHBORS, len(self.reference)))
        home = self.coordinates[self.reference]
        if self.method != "tsne":
            return home[neighbors[:, 0]]
        placed = np.concatenate(
            [
                self._moved(neighbors[begin : begin + _AT_ONCE], distances[begin : begin + _AT_ONCE])
                for begin in range(0, len(new), _AT_ONCE)
            ]
        )
        same = distances[:, 0] <= 1e-3 * self.neighbors.scale  # a copy of a reference graph has the same place
        placed[same] = home[neighbors[same, 0]]
        return placed

    @cached_property
    def neighbors(self) -> Neighbors:
        """Of the reference."""
        return Neighbors(self.vectors, self.head)

    @cached_property
    def _fixed(self) -> Any:
        """The reference as openTSNE knows it, with the grid of its forces, how it has shifted it, and its corners."""
        from openTSNE import TSNEEmbedding
        from scipy.sparse import csr_matrix

        home = self.coordinates[self.reference].astype(np.float64)
        none = SimpleNamespace(P=csr_matrix((len(home), len(home))))  # what is fixed needs no affinities of its own
        fixed = TSNEEmbedding(home.copy(), none, negative_gradient_method="fft", n_jobs=1)
        fixed.prepare_interpolation_grid()
        kept = np.asarray(fixed)
        return fixed, home[0] - kept[0], kept.min(axis=0), kept.max(axis=0)

    def _moved(self, neighbors: Ints, distances: Floats) -> Floats32:
        """openTSNE's transform, point by point: the place of a graph does not depend on the other new graphs.

        (Its own optimizer clips and normalizes the gradient of all new points together.)
        """
        with needs_extra("web"):
            from openTSNE import _tsne

        fixed, shift, low, high = self._fixed
        home = np.asarray(fixed)
        perplexity = min(_PLACED_PERPLEXITY, neighbors.shape[1] / 3)
        wanted = np.array([perplexity])
        pull = np.array(_tsne.compute_gaussian_perplexity(distances.astype(np.float64), wanted, num_threads=1))
        pull /= np.maximum(pull.sum(axis=1, keepdims=True), 1e-12)
        places = np.median(home[neighbors], axis=1)
        around = np.ascontiguousarray(home.T)[:, neighbors]  # (2, graphs, neighbors)
        speed, slope = np.zeros_like(places), np.empty_like(places)
        grid = (fixed.interp_coeffs, fixed.box_x_lower_bounds, fixed.box_y_lower_bounds)
        points = fixed.gradient_descent_params["n_interpolation_points"]
        for _ in range(_PLACED_ROUNDS):  # few calls: a server places a few graphs at a time, and each call takes longer
            gaps = places.T[:, :, None] - around
            squares = gaps * gaps
            weights = pull / (1 + squares[0] + squares[1])
            slope[:] = 0  # repulsion, for each point divided by its own Σ 1/(1 + d²)
            _tsne.estimate_negative_gradient_fft_2d_with_grid(places, slope, *grid, points, dof=1)
            slope += _EXAGGERATION * np.einsum("nk,dnk->nd", weights, gaps)
            steepness = 4 * np.sqrt(np.einsum("nd,nd->n", slope, slope))
            speed *= _MOMENTUM
            speed -= slope * (4 * _RATE * np.minimum(1.0, _STEEPEST / np.maximum(steepness, 1e-12)))[:, None]
            places = np.minimum(np.maximum(places + speed, low), high)
        return np.asarray(places + shift, np.float32)


class Neighbors:
    """The nearest of some vectors: candidates by Euclidean distance (or inner product), ranked by the head."""

    def __init__(self, vectors: Floats32, head: Head) -> None:
        self.vectors, self.head = np.ascontiguousarray(vectors), head
        self._squares = np.square(self.vectors).sum(axis=1)
        sample = self.vectors[np.random.default_rng(0).permutation(len(vectors))[:200]]
        values = between(sample, sample, head)
        self._top = float(values.max(initial=0.0)) if head == "inner" else 0.0
        self.scale = float(np.median(np.abs(self._top - values) if head == "inner" else values)) or 1.0

    def nearest(self, queries: Floats32, count: int, without: Ints | None = None) -> tuple[Ints, Floats]:
        """Positions and distances of the nearest to each query, (queries, count), nearest first.

        Args:
            without: One position for each query that does not count: its own.
        """
        wanted = min(len(self.vectors), _MORE * (count if without is None else count + 1))
        positions, distances = np.empty((len(queries), count), np.int64), np.empty((len(queries), count))
        step = max(1, _PRODUCTS // max(1, len(self.vectors)))
        for begin in range(0, len(queries), step):
            own = None if without is None else without[begin : begin + step]
            rows = slice(begin, begin + step)
            positions[rows], distances[rows] = self._ranked(queries[rows], count, wanted, own)
        return positions, distances

    def _ranked(self, queries: Floats32, count: int, wanted: int, without: Ints | None) -> tuple[Ints, Floats]:
        products = queries @ self.vectors.T
        far = -products if self.head == "inner" else self._squares - 2 * products
        last = min(wanted, len(self.vectors)) - 1
        candidates = np.argpartition(far, last, axis=1)[:, : last + 1]
        positions, distances = np.empty((len(queries), count), np.int64), np.empty((len(queries), count))
        for row, query in enumerate(queries):
            found = candidates[row]
            found = found if without is None else found[found != without[row]]
            values = between(query[None], self.vectors[found], self.head)[0]
            values = np.maximum(self._top - values, 0) if self.head == "inner" else values
            order = np.argsort(values, kind="stable")[:count]
            positions[row], distances[row] = found[order], values[order]
        return positions, distances


def fit_large_map(
    vectors: npt.ArrayLike,
    head: Head = "l2",
    *,
    sample: int = SAMPLE,
    seed: int = 0,
    perplexity: float = _PERPLEXITY,
    tick: Callable[[float], None] = lambda done: None,
) -> LargeMap:
    """A map of any number of graphs, the same for the same seed.

    Args:
        vectors: Shape (graphs, width), float32.
        head: How the model compares vectors.
        sample: How many graphs t-SNE lays out at most.
        perplexity: About the number of neighbors that t-SNE considers.
        tick: Called with the share of the work that is done; may raise to stop it.
    """
    points = np.ascontiguousarray(vectors, np.float32)
    finite_matrix(points[:1] if len(points) else points.reshape(0, points.shape[-1]), "vectors")
    if not len(points):
        return LargeMap(np.empty((0, 2), np.float32), np.empty(0, np.int64), points, head, "pca")
    spread = float(np.abs(points[:: max(1, len(points) // 1000)]).max()) or 1.0
    keys = row_keys(points, 1e-4 * spread)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    chosen = np.sort(np.random.default_rng(seed).permutation(first)[:sample])
    tick(0.02)
    if len(chosen) < _FEW:
        return _tiny(points, chosen, group, head)
    share = 0.97 if len(chosen) == len(first) else 0.6
    reference = _laid_out(points[chosen], head, seed, perplexity, lambda done: tick(0.02 + share * done))
    coordinates = np.full((len(points), 2), np.nan, np.float32)
    by_group = np.full((len(first), 2), np.nan, np.float32)
    by_group[group[chosen]] = reference
    coordinates[chosen] = reference
    fitted = LargeMap(coordinates, chosen, points[chosen], head)
    others = np.setdiff1d(first, chosen)
    for begin in range(0, len(others), _AT_ONCE):
        some = others[begin : begin + _AT_ONCE]
        by_group[group[some]] = fitted.place(points[some])
        tick(0.62 + 0.37 * begin / len(others))
    coordinates[:] = by_group[group]
    tick(1.0)
    return fitted


def _laid_out(points: Floats32, head: Head, seed: int, perplexity: float, tick: Callable[[float], None]) -> Floats32:
    """t-SNE by the head's distances."""
    with needs_extra("web"):
        from openTSNE import TSNEEmbedding
        from openTSNE.affinity import PerplexityBasedNN
        from openTSNE.nearest_neighbors import PrecomputedNeighbors

    perplexity = min(perplexity, (len(points) - 1) / 3)
    count = min(len(points) - 1, int(3 * perplexity))
    near = Neighbors(points, head)
    found = []
    for begin in range(0, len(points), 1_024):
        own = np.arange(begin, min(begin + 1_024, len(points)))
        found.append(near.nearest(points[own], count, own))
        tick(0.2 * own[-1] / len(points))
    neighbors, distances = (np.concatenate(part) for part in zip(*found, strict=True))
    affinities = PerplexityBasedNN(
        perplexity=perplexity, knn_index=PrecomputedNeighbors(neighbors, distances), random_state=seed, n_jobs=1
    )
    start = fit_map(points, "pca").coordinates
    start = start / (start[:, 0].std() or 1.0) * 1e-4
    method = "bh" if len(points) < _TREE_UP_TO else "fft"
    embedding = TSNEEmbedding(start, affinities, negative_gradient_method=method, n_jobs=1, random_state=seed)
    total, done = sum(_ROUNDS), 0

    def heard(round: int, error: float, gradient: Any) -> None:
        tick(0.2 + 0.8 * (done + round) / total)

    for rounds, settings in zip(_ROUNDS, ({"exaggeration": 12, "momentum": 0.5}, {"momentum": 0.8}), strict=True):
        embedding.optimize(rounds, inplace=True, callbacks=[heard], callbacks_every_iters=10, **settings)
        done += rounds
    return np.asarray(embedding, np.float32)


def _tiny(points: Floats32, chosen: Ints, group: Ints, head: Head) -> LargeMap:
    """Too few different graphs for t-SNE: their two axes of largest variance, or one point."""
    different = points[chosen]
    places = fit_map(different, "pca").coordinates if len(different) > 1 else np.zeros((len(different), 2))
    order = np.empty(len(chosen), np.int64)
    order[group[chosen]] = np.arange(len(chosen))
    return LargeMap(places[order[group]].astype(np.float32), chosen, different, head, "pca")
