"""How two vectors are compared."""

from __future__ import annotations

import torch
from torch import Tensor

from ugraphemb.encoder.names import FLOOR, PSEUDO, STEP, Head, parts


def between(left: Tensor, right: Tensor, head: Head) -> Tensor:
    """Proximity of every row of `left` to every row of `right`: (left, right).

    "l2" is ‖a − b‖, "squared_l2" is ‖a − b‖² (eq. 6), "l1" is Σ|a − b|, "inner" is aᵀb (eq. 8). "pseudo_l2" is the
    root of ‖a − b‖² over the first three quarters of the coordinates less ‖a − b‖² over the last: normalized edit
    distances break the triangle inequality, so no Euclidean space holds them, while this one holds any distances.
    It is never less than a hundredth of the Euclidean distance, and so 0 for equal vectors alone.

    "raised_l2" is that distance r of all coordinates but the first, and |a₁| + |b₁| on top of it: what a graph has that
    no other graph has, like words of its own, is a height above the others, for no few coordinates keep each of many
    graphs away from all others. Heights count by r / (r + 0.05), so that equal vectors stay at 0.
    """
    if head == "inner":
        return left @ right.T
    if head == "l1":
        return torch.cdist(left, right, p=1.0)
    if head in PSEUDO:
        plus, minus = (_squares(left[:, part], right[:, part]) for part in parts(left.shape[1], head))
        root = torch.maximum(_signed_root(plus - minus), FLOOR * (plus + minus).sqrt())
        return _raised(root, left[:, :1], right[:, 0]) if head == "raised_l2" else root
    squared = _squares(left, right)
    return squared if head == "squared_l2" else _root(squared)


def along(left: Tensor, right: Tensor, head: Head) -> Tensor:
    """Proximity of each row of `left` to the same row of `right`: (rows,).

    For training: pseudo-Euclidean heads are without their floor here and go below zero, where they have a gradient.
    """
    if head == "inner":
        return (left * right).sum(1)
    if head == "l1":
        return (left - right).abs().sum(1)
    if head in PSEUDO:
        root = _signed_root((left - right).square() @ _signature(left, head))
        return _raised(root, left[:, 0], right[:, 0]) if head == "raised_l2" else root
    squared = (left - right).square().sum(1)
    return squared if head == "squared_l2" else _root(squared)


def among(vectors: Tensor, left: Tensor, right: Tensor, head: Head) -> Tensor:
    """`along` of vectors[left] and vectors[right]; where pairs are many, by one product of all vectors with all."""
    if head == "l1" or len(left) < 2 * len(vectors):
        return along(vectors[left], vectors[right], head)
    if head in PSEUDO:
        sign = _signature(vectors, head)
        own = vectors.square() @ sign
        root = _signed_root((own[:, None] + own[None, :] - 2 * (vectors * sign) @ vectors.T)[left, right])
        height = vectors[:, 0]
        return _raised(root, height[left], height[right]) if head == "raised_l2" else root
    return between(vectors, vectors, head)[left, right]


def _signature(vectors: Tensor, head: Head) -> Tensor:
    """How each coordinate counts: 1, −1, or 0 for a height."""
    sign = torch.zeros(vectors.shape[1]).to(vectors)
    plus, minus = parts(vectors.shape[1], head)
    sign[plus], sign[minus] = 1, -1
    return sign


def _raised(root: Tensor, left: Tensor, right: Tensor) -> Tensor:
    positive = root.clamp(min=0)
    return root + (left.abs() + right.abs()) * positive / (positive + STEP)


def _squares(left: Tensor, right: Tensor) -> Tensor:
    """‖a − b‖² of every row of `left` and every row of `right`."""
    return (left.square().sum(1)[:, None] + right.square().sum(1)[None, :] - 2 * left @ right.T).clamp(min=0)


def _signed_root(squared: Tensor) -> Tensor:
    """sign(x)·(√(|x| + ε) − √ε): 0 at 0, with a gradient there, and ever growing, below zero too."""
    return squared / ((squared.abs() + 1e-4).sqrt() + 1e-2)


def _root(squared: Tensor) -> Tensor:
    """√x with a gradient at 0, which two copies of one graph reach."""
    return (squared + 1e-8).sqrt()
