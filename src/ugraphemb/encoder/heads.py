"""Proximity of two vectors: one formula for training, `model.proximity`, search, ranking and figures.

The formulas accept NumPy arrays and torch tensors. torch is not imported, because a search does not need it.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.names import Head

Floats = npt.NDArray[np.float64]

PSEUDO: tuple[Head, ...] = ("pseudo_l2", "raised_l2")
"""Pseudo-Euclidean heads: some coordinates reduce the distance."""

FLOOR = 0.01
"""Minimum ratio of a pseudo-Euclidean to the Euclidean distance, so that only equal vectors have distance 0."""

STEP = 0.05
"""Distance at which the heights of "raised_l2" have half of their weight."""

NODES = 1024
"""The unit of the first coordinate of "sized_l1": numbers of nodes are so small in it that plain L2 distances, by which
vector databases propose candidates, are those of the other coordinates."""

TINY = 1e-6
"""Minimum by which an "anchored" vector is divided."""

_AT_ONCE = 1 << 16  # coordinates of differences per step, so that they fit in the cache


def between(left: npt.ArrayLike, right: npt.ArrayLike, head: Head) -> Floats:
    """Proximity of every row of `left` to every row of `right`: (left, right), in double precision.

    "l2" is ‖a − b‖, "squared_l2" is ‖a − b‖² (eq. 6), "l1" is Σ|a − b|, "inner" is aᵀb (eq. 8). "pseudo_l2" is the
    square root of ‖a − b‖² over the first three quarters of the coordinates minus ‖a − b‖² over the last quarter.
    Normalized edit distances violate the triangle inequality, so no Euclidean space represents them exactly; a
    pseudo-Euclidean space can. The distance is at least 1% of the Euclidean distance, so that it is 0 only for equal
    vectors.

    "raised_l2" is that distance r over all coordinates but the first, plus (|a₁| + |b₁|) · r / (r + 0.05). The first
    coordinate is the height of a graph: it represents what no other graph has, such as words that occur only in it. A
    few coordinates cannot separate each of many graphs from all others. The factor keeps equal vectors at distance 0.

    "sized_l1" is Σ|a − b| over all coordinates but the first, divided by 512 (a₁ + b₁), the mean number of nodes. The
    edit distance is a metric and, like L1, a sum of differences; only its normalization violates the triangle
    inequality, and the division is that normalization.

    All distances are computed from differences. So equal vectors have distance 0, and the distance of a pair does not
    depend on the other vectors.
    """
    if head not in get_args(Head):
        raise ValueError(f"head {head!r}; it is one of {', '.join(get_args(Head))}")
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    found = np.empty((len(first), len(second)))
    step = max(1, _AT_ONCE // max(1, second.shape[1]))
    for begin in range(0, len(second), step):
        some = second[begin : begin + step]
        for row, vector in zip(found, first, strict=True):
            row[begin : begin + step] = _to_each(vector, some, head)
    return found


def _to_each(vector: Floats, others: Floats, head: Head) -> Floats:
    if head == "inner":
        return np.asarray(np.einsum("ij,j->i", others, vector))
    difference = others - vector
    if head == "l1":
        return np.asarray(np.abs(difference).sum(axis=1))
    if head == "sized_l1":
        return np.asarray(np.abs(difference[:, 1:]).sum(axis=1) / mean_size(vector[None], others))
    plus, minus = (np.einsum("ij,ij->i", part, part) for part in (difference[:, p] for p in parts(len(vector), head)))
    return np.asarray(combined(plus, minus, heights(vector[None], others, head), head))


def combined(plus: Any, minus: Any, raised: Any, head: Head) -> Any:
    """A distance from the squared distances over the two `parts` of coordinates and, for "raised_l2", the `heights`."""
    if head in PSEUDO:
        root = _signed_root(plus - minus).clip(min=FLOOR * _sqrt(plus + minus))
        return _raised(root, raised) if head == "raised_l2" else root
    return plus if head == "squared_l2" else _sqrt(plus)


def parts(width: int, head: Head) -> tuple[slice, slice]:
    """The coordinates that increase and that reduce a distance; "raised_l2" has the height in front of them."""
    split = width - width // 4 if head in PSEUDO else width
    return slice(int(head == "raised_l2"), split), slice(split, None)


def heights(left: Any, right: Any, head: Head) -> Any:
    """|a₁| + |b₁| for each row of `left` and of `right`, with broadcasting; None for other heads than "raised_l2"."""
    return abs(left[:, 0]) + abs(right[:, 0]) if head == "raised_l2" else None


def mean_size(left: Any, right: Any) -> Any:
    """The divisor of "sized_l1" for each row of `left` and of `right`, with broadcasting."""
    return (left[:, 0] + right[:, 0]) * (NODES / 2)


def along(left: Any, right: Any, head: Head) -> Any:
    """Proximity of each row of `left` to the same row of `right`, tensors of shape (rows, width), for training.

    Like `between`, but differentiable everywhere: pseudo-Euclidean heads have no lower limit and can be negative, and
    "l2" is √(‖a − b‖² + 10⁻⁸).
    """
    if head == "inner":
        return (left * right).sum(1)
    if head == "l1":
        return (left - right).abs().sum(1)
    if head == "sized_l1":
        return (left - right)[:, 1:].abs().sum(1) / mean_size(left, right)
    if head in PSEUDO:
        root = _signed_root((left - right).square() @ _signature(left, head))
        return _raised(root, heights(left, right, head)) if head == "raised_l2" else root
    return _smooth((left - right).square().sum(1), head)


def among(vectors: Any, left: Any, right: Any, head: Head) -> Any:
    """`along` of vectors[left] and vectors[right]; for many pairs, by one matrix product of all vectors with all."""
    if len(left) < 2 * len(vectors):
        return along(vectors[left], vectors[right], head)
    if head == "l1":
        return _all_l1(vectors)[left, right]
    if head == "sized_l1":
        return _all_l1(vectors[:, 1:])[left, right] / mean_size(vectors[left, :1], vectors[right, :1])
    if head == "inner":
        return (vectors @ vectors.T)[left, right]
    if head in PSEUDO:
        sign = _signature(vectors, head)
        own = vectors.square() @ sign
        root = _signed_root((own[:, None] + own[None, :] - 2 * (vectors * sign) @ vectors.T)[left, right])
        height = vectors[:, :1]
        return _raised(root, heights(height[left], height[right], head)) if head == "raised_l2" else root
    rows, columns = vectors.square().sum(1)[:, None], vectors.square().sum(1)[None, :]
    return _smooth((rows + columns - 2 * vectors @ vectors.T).clip(min=0), head)[left, right]


def _all_l1(vectors: Any) -> Any:
    """Σ|a − b| of all pairs of rows. Imported only in training, because a search does not need torch."""
    from ugraphemb.encoder.l1 import l1_between_rows

    return l1_between_rows(vectors)


def _signature(vectors: Any, head: Head) -> Any:
    """Sign of each coordinate in the squared distance: 1, −1, or 0 for the height."""
    sign = vectors.new_zeros(vectors.shape[1])
    plus, minus = parts(vectors.shape[1], head)
    sign[plus], sign[minus] = 1, -1
    return sign


def _smooth(squared: Any, head: Head) -> Any:
    """√x with a finite gradient at 0, the value of two copies of one graph; x itself for "squared_l2"."""
    return squared if head == "squared_l2" else _sqrt(squared + 1e-8)


def _raised(root: Any, height: Any) -> Any:
    positive = root.clip(min=0)
    return root + height * positive / (positive + STEP)


def _signed_root(squared: Any) -> Any:
    """sign(x)·(√(|x| + ε) − √ε) with ε = 10⁻⁴: strictly increasing, 0 at 0, with a finite gradient there."""
    return squared / (_sqrt(abs(squared) + 1e-4) + 1e-2)


def _sqrt(values: Any) -> Any:
    return np.sqrt(values) if isinstance(values, np.ndarray) else values.sqrt()
