"""Kernels: inner products of counts of substructures."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ugraphemb import _core
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.metrics import Columns, Kind, Metric, Positions, Run
from ugraphemb.proximity.substructures import Graphlets, ShortestPaths, Substructures, WLColors


@dataclass(frozen=True)
class _Features:
    """Rows of two collections in the same columns; `left` carries the weights of columns, if there are any."""

    left: csr_array
    right: csr_array
    left_self: npt.NDArray[np.float64]  # each graph with itself
    right_self: npt.NDArray[np.float64]
    left_late: npt.NDArray[np.bool_]  # graphs for which time was up
    right_late: npt.NDArray[np.bool_]


class _Kernel(Metric):
    """Common part of the three kernels: counts, then inner products of the requested pairs."""

    kind: ClassVar[Kind] = "similarity"  # type: ignore[misc]
    value: ClassVar[Literal["lower", "upper"]] = "lower"  # type: ignore[misc]
    sized: ClassVar[bool] = False  # type: ignore[misc]
    normalized: bool

    def counter(self) -> Substructures | Graphlets:
        """What counts."""
        raise NotImplementedError

    def weights(self, counter: Substructures | Graphlets) -> npt.NDArray[np.float64] | None:
        """The weight of each column; None means 1."""
        return None

    def compute(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns
    ) -> None:
        features = _remembered(self, left, right, run.seconds / 2)  # a pair is two graphs
        try:
            _core.dot_pairs(
                *_arrays(features.left),
                *_arrays(features.right),
                width=features.left.shape[1],
                left_self=features.left_self if self.normalized else None,
                right_self=features.right_self if self.normalized else None,
                left_of=left_of,
                right_of=right_of,
                threads=run.num_threads,
                products=out.lower,
                done=out.done,
                tick=run.tick,
            )
        finally:  # also when stopped: finished pairs are complete
            alone = np.empty(0, np.int64)
            if left.fingerprint == right.fingerprint:
                alone = np.flatnonzero(left_of == right_of)
                out.lower[alone] = 1 if self.normalized else features.left_self[left_of[alone]]
            out.upper[:] = out.lower
            out.proven[:] = out.done
            late = features.left_late[left_of] | features.right_late[right_of]
            late[alone] &= not self.normalized
            out.lower[late], out.upper[late], out.proven[late] = 0, 1 if self.normalized else np.inf, False


@dataclass(frozen=True)
class WLKernel(_Kernel):
    """Weisfeiler–Lehman subtree kernel: inner product of counts of colors over `h` rounds.

    Args:
        h: Rounds of refinement; 0 compares labels only.
        normalized: Divide by sqrt(k(a, a) k(b, b)).
    """

    h: int = 5
    normalized: bool = True
    name: ClassVar[str] = "wl"  # type: ignore[misc]

    def __post_init__(self) -> None:
        self.counter()

    def settings(self) -> dict[str, Any]:
        return {"h": self.h, "normalized": self.normalized}

    def counter(self) -> WLColors:
        return WLColors(self.h)


@dataclass(frozen=True)
class PathKernel(_Kernel):
    """Shortest path kernel (Borgwardt and Kriegel 2005): ordered pairs of nodes of either graph that are as far apart
    and carry the same labels.

    Args:
        labeled: Labels of the two nodes count.
        normalized: Divide by sqrt(k(a, a) k(b, b)).
    """

    labeled: bool = True
    normalized: bool = True
    name: ClassVar[str] = "sp"  # type: ignore[misc]

    def settings(self) -> dict[str, Any]:
        return {"labeled": self.labeled, "normalized": self.normalized}

    def counter(self) -> ShortestPaths:
        return ShortestPaths(self.labeled)

    def weights(self, counter: Substructures | Graphlets) -> npt.NDArray[np.float64]:
        assert isinstance(counter, ShortestPaths)
        return counter.weights()


@dataclass(frozen=True)
class GraphletKernel(_Kernel):
    """Graphlet kernel (Shervashidze et al. 2009): inner product of counts of small induced subgraphs, without labels.

    Args:
        size: Nodes of a graphlet: 3, 4 or 5.
        connected: Connected graphlets only.
        samples: Random sets of nodes of each graph; None counts all.
        seed: Seed of the samples.
        normalized: Divide by sqrt(k(a, a) k(b, b)).
    """

    size: int = 4
    connected: bool = False
    samples: int | None = None
    seed: int = 0
    normalized: bool = True
    name: ClassVar[str] = "graphlet"  # type: ignore[misc]

    def __post_init__(self) -> None:
        self.counter()

    def settings(self) -> dict[str, Any]:
        drawn = {} if self.samples is None else {"samples": self.samples, "seed": self.seed}
        return {"size": self.size, "connected": self.connected, **drawn, "normalized": self.normalized}

    def counter(self) -> Graphlets:
        return Graphlets(self.size, self.samples, self.seed)

    def weights(self, counter: Substructures | Graphlets) -> npt.NDArray[np.float64] | None:
        assert isinstance(counter, Graphlets)
        return counter.connected().astype(np.float64) if self.connected else None


# Features of the last collections: the pairs of a table are requested in many pieces.
_last: OrderedDict[tuple[_Kernel, str, str, float], _Features] = OrderedDict()
_lock = threading.Lock()
_KEPT = 2


def _remembered(kernel: _Kernel, left: GraphSet, right: GraphSet, seconds: float) -> _Features:
    """Features with a time limit per graph in seconds; features computed within a limit are reused for other limits."""
    sets = (kernel, left.fingerprint, right.fingerprint)
    with _lock:
        key = (*sets, float("inf"))
        if key not in _last:
            key = (*sets, seconds)
        if key not in _last:
            found = _features(kernel, left, right, seconds)
            if not (found.left_late.any() or found.right_late.any()):
                key = (*sets, float("inf"))
            _last[key] = found
            while len(_last) > _KEPT:
                _last.popitem(last=False)
        _last.move_to_end(key)
        return _last[key]


def _features(kernel: _Kernel, left: GraphSet, right: GraphSet, seconds: float) -> _Features:
    counter = kernel.counter()
    a, late = _counted(counter, left, seconds)
    same = left.fingerprint == right.fingerprint
    b, right_late = (a, late) if same else _counted(counter, right, seconds)
    weights = kernel.weights(counter)
    if weights is None:
        weights = np.ones(len(counter))
    a_self = _row_sums(a, weights[a.indices] * a.data**2)
    b_self = a_self if same else _row_sums(b, weights[b.indices] * b.data**2)
    # A column of only one graph contributes only to the product of that graph with itself, which is known. Common
    # columns come first: the core expects it, and they stay in the cache.
    often = np.bincount(a.indices, minlength=len(counter))
    often = often if same else often + np.bincount(b.indices, minlength=len(counter))
    order = np.argsort(-often, kind="stable")[: np.count_nonzero(often > 1)]
    place = np.full(len(counter), -1, np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return _Features(_moved(a, place, weights), _moved(b, place, None), a_self, b_self, late, right_late)


def _counted(
    counter: Substructures | Graphlets, graphs: GraphSet, seconds: float
) -> tuple[csr_array, npt.NDArray[np.bool_]]:
    counts, unfinished = counter.counts_within(graphs, seconds, learn=True)
    late = np.zeros(len(graphs), np.bool_)
    late[unfinished] = True
    return counts.astype(np.float64), late


def _moved(rows: csr_array, place: npt.NDArray[np.int32], weights: npt.NDArray[np.float64] | None) -> csr_array:
    """Moves column c to place[c]; drops it where that is -1."""
    kept = place[rows.indices] >= 0
    columns = rows.indices[kept]
    indptr = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    data = rows.data[kept] if weights is None else rows.data[kept] * weights[columns]
    moved = csr_array((data, place[columns], indptr), (rows.shape[0], int(place.max(initial=-1)) + 1))
    moved.sort_indices()
    return moved


def _row_sums(rows: csr_array, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.bincount(row_of, values, minlength=rows.shape[0]).astype(np.float64)


def _arrays(rows: csr_array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data
