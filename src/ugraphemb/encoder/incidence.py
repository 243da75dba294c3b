"""Sums over lists of rows, and the gradients of such sums as sums over the transposed lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor


@dataclass(frozen=True)
class Incidence:
    """Lists of rows: list i holds the rows chosen[offsets[i] : offsets[i + 1]], each count times.

    Attributes:
        chosen, count: One entry each; None counts each once.
        offsets: (lists + 1).
        order: The entries sorted by row; `ends` tells where each row's entries begin. Gradients need them; or empty.
    """

    chosen: Tensor
    count: Tensor | None
    offsets: Tensor
    order: Tensor
    ends: Tensor

    @classmethod
    def of(cls, matrix: csr_array, *, counted: bool, gradients: bool) -> Incidence:
        """List i has row j as often as matrix[i, j] says; if not `counted`, once for each entry."""
        order, ends = np.empty(0, np.int64), np.empty(0, np.int64)
        if gradients:
            turned = csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape).tocsc()
            order, ends = turned.data, turned.indptr
        parts = (matrix.indices, matrix.indptr, order, ends)
        chosen, *rest = (torch.from_numpy(np.asarray(part, np.int64)) for part in parts)
        return cls(chosen, torch.from_numpy(matrix.data) if counted else None, *rest)

    def to(self, device: torch.device) -> Incidence:
        count = None if self.count is None else self.count.to(device)
        rest = (self.offsets, self.order, self.ends)
        return Incidence(self.chosen.to(device), count, *(part.to(device) for part in rest))

    @cached_property
    def list_of(self) -> Tensor:
        """The list that each entry is in."""
        lists = torch.arange(len(self.offsets) - 1, device=self.offsets.device)
        return lists.repeat_interleave(self.offsets.diff(), output_size=len(self.chosen))

    def sums(self, rows: Tensor, weight: Tensor | None = None) -> Tensor:
        """Σ count · weight · rows[chosen] over each list: (lists, width)."""
        if self.count is not None:
            weight = self.count if weight is None else self.count * weight
        weight = None if weight is None else weight.to(rows.dtype)
        result: Tensor = _Sums.apply(rows, weight, self)  # type: ignore[no-untyped-call]
        return result

    def likeness(self, rows: Tensor, lists: Tensor) -> Tensor:
        """rows[chosen] · lists[list_of] for each entry."""
        result: Tensor = _Likeness.apply(rows, lists, self)  # type: ignore[no-untyped-call]
        return result

    def forth(self, rows: Tensor, weight: Tensor | None) -> Tensor:
        return _bags(self.chosen, rows, self.offsets, weight)

    def back(self, lists: Tensor, weight: Tensor | None) -> Tensor:
        return _bags(self.list_of[self.order], lists, self.ends, None if weight is None else weight[self.order])

    def products(self, rows: Tensor, lists: Tensor) -> Tensor:
        at_once = 4_096  # entries; their vectors stay in the cache
        parts = zip(torch.split(self.chosen, at_once), torch.split(self.list_of, at_once), strict=True)
        found = [(rows.index_select(0, row) * lists.index_select(0, its)).sum(1) for row, its in parts]
        return torch.cat(found) if found else rows.new_zeros(0)


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor | None, incidence: Incidence) -> Tensor:
        ctx.save_for_backward(rows, weight)
        ctx.incidence = incidence
        return incidence.forth(rows, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (rows, weight), gradient = ctx.saved_tensors, gradients[0].contiguous()
        for_rows, for_weight = ctx.needs_input_grad[:2]
        return (
            ctx.incidence.back(gradient, weight) if for_rows else None,
            ctx.incidence.products(rows, gradient) if for_weight else None,
            None,
        )


class _Likeness(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, lists: Tensor, incidence: Incidence) -> Tensor:
        ctx.save_for_backward(rows, lists)
        ctx.incidence = incidence
        return incidence.products(rows, lists)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (rows, lists), gradient = ctx.saved_tensors, gradients[0].contiguous()
        return ctx.incidence.back(lists, gradient), ctx.incidence.forth(rows, gradient), None


def _bags(chosen: Tensor, rows: Tensor, offsets: Tensor, weight: Tensor | None) -> Tensor:
    if not len(rows):
        return rows.new_zeros((len(offsets) - 1, rows.shape[1]))
    return torch.nn.functional.embedding_bag(
        chosen, rows, offsets, mode="sum", include_last_offset=True, per_sample_weights=weight
    )
