"""Maps: vectors in two dimensions, and where new graphs fall on an existing map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.names import Head
from ugraphemb.errors import needs_extra
from ugraphemb.tasks.checks import finite_matrix

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MapMethod = Literal["tsne", "pca", "umap"]


@dataclass(frozen=True, eq=False)
class GraphMap:
    """A fitted map.

    Attributes:
        coordinates: Shape (graphs, 2), of the vectors it was fitted on.
        method: "tsne", "pca" or "umap".

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.tasks import fit_map
        >>> vectors = np.random.default_rng(0).normal(size=(30, 8))
        >>> found = fit_map(vectors, "pca")
        >>> found.method, found.transform(vectors[:3]).shape
        ('pca', (3, 2))
    """

    coordinates: Floats
    method: MapMethod
    _place: Callable[[Floats], Any]
    _width: int

    def transform(self, vectors: npt.ArrayLike) -> Floats:
        """Coordinates of new vectors, shape (new graphs, 2); the map itself stays as it is."""
        new = finite_matrix(vectors, "vectors")
        if new.shape[1] != self._width:
            raise ValueError(f"vectors are {new.shape[1]} wide, those of the map {self._width}")
        return np.array(self._place(new), dtype=np.float64) if len(new) else np.empty((0, 2))


def fit_map(
    vectors: npt.ArrayLike,
    method: MapMethod = "tsne",
    *,
    head: Head = "l2",
    seed: int = 0,
    perplexity: float = 30.0,
) -> GraphMap:
    """A map of vectors, the same for the same seed.

    Equal vectors (of isomorphic graphs, for instance) count once, so that copies do not distort the map; the copies are
    placed around the first of them, too close to be mistaken for other graphs.

    Args:
        vectors: Shape (graphs, width); at least 5 graphs ("pca": 2), not all of them equal.
        method: "tsne" (openTSNE) keeps neighborhoods, "pca" keeps large distances, "umap" needs the package
            umap-learn.
        head: How t-SNE compares vectors: `model.head_` for vectors of a model. The other methods ignore it.
        perplexity: About the number of neighbors that t-SNE considers; values above a third of the graphs are lowered.
            UMAP takes it as its number of neighbors.

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.tasks import fit_map
        >>> vectors = np.random.default_rng(0).normal(size=(30, 8))
        >>> fit_map(vectors).coordinates.shape
        (30, 2)
    """
    if method not in get_args(MapMethod):
        raise ValueError(f"method {method!r}; it is one of {', '.join(get_args(MapMethod))}")
    points = finite_matrix(vectors, "vectors")
    least = 2 if method == "pca" else 5
    if len(points) < least:
        raise ValueError(f"{len(points)} graphs; a map by {method!r} needs at least {least}")
    if (points == points[0]).all():
        raise ValueError("every vector is the same: there is nothing to map")
    fit = {"tsne": _tsne, "pca": _pca, "umap": _umap}[method]
    first, copy_of, turn = _copies(points)
    if method == "pca" or len(first) < least:
        first, copy_of, turn = np.arange(len(points)), np.arange(len(points)), np.zeros(len(points), np.int64)
    most = min(float(perplexity), (len(first) - 1) / 3)
    if method == "tsne" and head != "l2":
        coordinates, place = _tsne_by(head, points[first], seed, most)
    else:
        coordinates, place = fit(points[first], seed, most)
    places = np.array(coordinates, dtype=np.float64)
    return GraphMap(places[copy_of] + _beside(places, turn), method, place, points.shape[1])


def _copies(points: Floats) -> tuple[Ints, Ints, Ints]:
    """Of each distinct vector its first row; of each row the distinct vector, and its place among its copies.

    The first row has place 0. The others are shuffled, because collections are often sorted by class, and the copies of
    one class would lie around those of another. Vectors are taken as equal if they agree to about six digits of the
    largest entry, that is up to rounding.
    """
    rounded = np.round(points / np.abs(points).max() * 2.0**20).astype(np.int64)
    _, found, inverse = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(found)  # distinct vectors in the order of the rows
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    copy_of = rank[inverse.reshape(-1)]
    others = np.setdiff1d(np.arange(len(points)), found)
    shuffled = np.concatenate([found, np.random.default_rng(0).permutation(others)])
    sorted_rows = shuffled[np.argsort(copy_of[shuffled], kind="stable")]
    starts = np.searchsorted(copy_of[sorted_rows], np.arange(len(order)))
    turn = np.empty(len(points), np.int64)
    turn[sorted_rows] = np.arange(len(points)) - starts[copy_of[sorted_rows]]
    return found[order], copy_of, turn


def _beside(places: Floats, turn: Ints) -> Floats:
    """Offsets of copies: a sunflower spiral with dots 0.4 % of the map apart; 0 for graphs that are not copies."""
    radius = 0.004 * float(np.ptp(places, axis=0).max()) * np.sqrt(turn)
    angle = turn * (np.pi * (3 - np.sqrt(5)))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _pca(points: Floats, seed: int, perplexity: float) -> tuple[Any, Callable[[Floats], Any]]:
    """The two axes of largest variance, each signed so that its largest weight is positive."""
    center = points.mean(axis=0)
    axes = np.zeros((2, points.shape[1]))
    found = np.linalg.svd(points - center, full_matrices=False)[2][:2]
    largest = found[np.arange(len(found)), np.abs(found).argmax(axis=1)]
    axes[: len(found)] = found * np.sign(largest)[:, None]
    return (points - center) @ axes.T, lambda new: (new - center) @ axes.T


def _tsne(points: Floats, seed: int, perplexity: float) -> tuple[Any, Callable[[Floats], Any]]:
    with needs_extra("plot"):
        from openTSNE import TSNE

    # One thread: with several, forces are summed in another order each time. Exact neighbors where that is fast.
    neighbors = "exact" if len(points) <= 5000 else "annoy"
    start = _pca(points, seed, perplexity)[0]
    model = TSNE(
        perplexity=perplexity, random_state=seed, n_jobs=1, neighbors=neighbors,
        initialization=start / start[:, 0].std() * 1e-4, negative_gradient_method="bh" if len(points) < 8000 else "fft",
    )  # fmt: skip
    fitted = model.fit(points)
    return fitted, lambda new: fitted.transform(new, perplexity=min(5.0, perplexity))


def _tsne_by(head: Head, points: Floats, seed: int, perplexity: float) -> tuple[Any, Callable[[Floats], Any]]:
    """t-SNE by the distances of a head, for example of "sized_l1", which is not a plain distance."""
    with needs_extra("plot"):
        import openTSNE  # noqa: F401

    from ugraphemb.tasks.large_maps import fit_large_map

    fitted = fit_large_map(points, head, sample=len(points), seed=seed, perplexity=perplexity)
    return fitted.coordinates, fitted.place


def _umap(points: Floats, seed: int, perplexity: float) -> tuple[Any, Callable[[Floats], Any]]:
    try:
        from umap import UMAP  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise ImportError("maps by 'umap' need the package umap-learn: run  pip install umap-learn") from error
    model = UMAP(n_neighbors=max(2, round(perplexity)), random_state=seed, n_jobs=1)
    return model.fit_transform(points), model.transform
