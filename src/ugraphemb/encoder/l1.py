"""L1 distances of all pairs of vectors of a block, with gradients, for training."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ugraphemb import _core


class _BetweenRows(torch.autograd.Function):
    """Σ|a − b| of all pairs of rows, each pair computed once: several times faster than `torch.cdist`."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        rows = rows.contiguous()
        found = rows.new_empty(len(rows), len(rows))
        _core.l1_between_rows(rows.numpy(), found.numpy())
        ctx.save_for_backward(rows)
        return found

    @staticmethod
    def backward(ctx: Any, weight: Tensor) -> Tensor:
        (rows,) = ctx.saved_tensors
        gradient = torch.zeros_like(rows)
        _core.l1_between_rows_backward(rows.numpy(), weight.contiguous().numpy(), gradient.numpy())
        return gradient


def l1_between_rows(vectors: Tensor) -> Tensor:
    """Σ|a − b| of all pairs of rows, (rows, rows); 0 on the diagonal. The gradient at a = b is 0."""
    if vectors.device.type != "cpu" or vectors.dtype != torch.float32:
        return torch.cdist(vectors, vectors, p=1)
    found: Tensor = _BetweenRows.apply(vectors)  # type: ignore[no-untyped-call]
    return found
