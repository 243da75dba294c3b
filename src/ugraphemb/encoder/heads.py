"""How two vectors are compared."""

from __future__ import annotations

import torch
from torch import Tensor

from ugraphemb.encoder.names import FLOOR, Head, negative_part


def between(left: Tensor, right: Tensor, head: Head) -> Tensor:
    """Proximity of every row of `left` to every row of `right`: (left, right).

    "l2" is ‖a − b‖, "squared_l2" is ‖a − b‖² (eq. 6), "l1" is Σ|a − b|, "inner" is aᵀb (eq. 8). "pseudo_l2" is the
    root of ‖a − b‖² over the first three quarters of the coordinates less ‖a − b‖² over the last: normalised edit
    distances break the triangle inequality, so no Euclidean space holds them, while this one holds any distances.
    It is never less than a hundredth of the Euclidean distance, and so 0 for equal vectors alone.
    """
    if head == "inner":
        return left @ right.T
    if head == "l1":
        return torch.cdist(left, right, p=1.0)
    if head == "pseudo_l2":
        split = left.shape[1] - negative_part(left.shape[1])
        plus, minus = _squares(left[:, :split], right[:, :split]), _squares(left[:, split:], right[:, split:])
        return torch.maximum(_signed_root(plus - minus), FLOOR * (plus + minus).sqrt())
    squared = _squares(left, right)
    return squared if head == "squared_l2" else _root(squared)


def along(left: Tensor, right: Tensor, head: Head) -> Tensor:
    """Proximity of each row of `left` to the same row of `right`: (rows,).

    For training: "pseudo_l2" is without its floor here and goes below zero, where it still has a gradient.
    """
    if head == "inner":
        return (left * right).sum(1)
    if head == "l1":
        return (left - right).abs().sum(1)
    if head == "pseudo_l2":
        return _signed_root((left - right).square() @ _signature(left.shape[1]).to(left))
    squared = (left - right).square().sum(1)
    return squared if head == "squared_l2" else _root(squared)


def among(vectors: Tensor, left: Tensor, right: Tensor, head: Head) -> Tensor:
    """`along` of vectors[left] and vectors[right]; where pairs are many, by one product of all vectors with all."""
    if head == "l1" or len(left) < 2 * len(vectors):
        return along(vectors[left], vectors[right], head)
    if head == "pseudo_l2":
        sign = _signature(vectors.shape[1]).to(vectors)
        own = vectors.square() @ sign
        return _signed_root((own[:, None] + own[None, :] - 2 * (vectors * sign) @ vectors.T)[left, right])
    return between(vectors, vectors, head)[left, right]


def _signature(dimension: int) -> Tensor:
    """How each coordinate counts in "pseudo_l2": 1, and −1 for the negative part."""
    sign = torch.ones(dimension)
    sign[dimension - negative_part(dimension) :] = -1
    return sign


def _squares(left: Tensor, right: Tensor) -> Tensor:
    """‖a − b‖² of every row of `left` and every row of `right`."""
    return (left.square().sum(1)[:, None] + right.square().sum(1)[None, :] - 2 * left @ right.T).clamp(min=0)


def _signed_root(squared: Tensor) -> Tensor:
    """sign(x)·(√(|x| + ε) − √ε): 0 at 0, with a gradient there, and ever growing, below zero too."""
    return squared / ((squared.abs() + 1e-4).sqrt() + 1e-2)


def _root(squared: Tensor) -> Tensor:
    """√x with a gradient at 0, which two copies of one graph reach."""
    return (squared + 1e-8).sqrt()
