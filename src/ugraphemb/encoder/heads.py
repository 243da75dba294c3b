"""How two vectors are compared."""

from __future__ import annotations

import torch
from torch import Tensor

from ugraphemb.encoder.names import Head


def between(left: Tensor, right: Tensor, head: Head) -> Tensor:
    """Proximity of every row of `left` to every row of `right`: (left, right).

    "l2" is ‖a − b‖, "squared_l2" is ‖a − b‖² (eq. 6), "l1" is Σ|a − b|, "inner" is aᵀb (eq. 8).
    """
    if head == "inner":
        return left @ right.T
    if head == "l1":
        return torch.cdist(left, right, p=1.0)
    squared = (left.square().sum(1)[:, None] + right.square().sum(1)[None, :] - 2 * left @ right.T).clamp(min=0)
    return squared if head == "squared_l2" else _root(squared)


def along(left: Tensor, right: Tensor, head: Head) -> Tensor:
    """Proximity of each row of `left` to the same row of `right`: (rows,)."""
    if head == "inner":
        return (left * right).sum(1)
    if head == "l1":
        return (left - right).abs().sum(1)
    squared = (left - right).square().sum(1)
    return squared if head == "squared_l2" else _root(squared)


def _root(squared: Tensor) -> Tensor:
    """√x with a gradient at 0, which two copies of one graph reach."""
    return (squared + 1e-8).sqrt()
