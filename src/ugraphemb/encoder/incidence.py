"""Sums over lists of rows; their gradients are sums over the transposed lists."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array
from torch import Tensor


@dataclass(frozen=True)
class Incidence:
    """A sparse incidence matrix: list i contains the rows chosen[offsets[i] : offsets[i + 1]], repeated by `count`.

    Attributes:
        chosen, count: Row and multiplicity of each entry; a count of None means 1 for all.
        offsets: (lists + 1).
        lists, ends: The transpose, for gradients, or empty: row j is in the lists lists[ends[j] : ends[j + 1]].
        order: The entries sorted by row, for gradients of weighted sums, or empty.
    """

    chosen: Tensor
    offsets: Tensor
    lists: Tensor
    ends: Tensor
    order: Tensor
    count: Tensor | None = None

    @classmethod
    def of(cls, matrix: csr_array, *, counted: bool, gradients: bool) -> Incidence:
        """List i contains row j matrix[i, j] times; if not `counted`, once for each stored entry."""
        lists = ends = order = np.empty(0, np.int64)
        if gradients:
            turned = csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape).tocsc()
            lists, ends, order = turned.indices, turned.indptr, turned.data
        return cls(
            chosen=_tensor(matrix.indices), offsets=_tensor(matrix.indptr), lists=_tensor(lists), ends=_tensor(ends),
            order=_tensor(order), count=torch.from_numpy(matrix.data) if counted else None,
        )  # fmt: skip

    @classmethod
    def of_neighbors(cls, indptr: Tensor, indices: Tensor) -> Incidence:
        """From a symmetric adjacency matrix, which is its own transpose. Only for sums without weights."""
        return cls(indices, indptr, indices, indptr, torch.empty(0, dtype=torch.int64))

    @classmethod
    def of_runs(cls, offsets: Tensor, list_of: Tensor) -> Incidence:
        """Consecutive rows: list i contains the rows from offsets[i] to offsets[i + 1] - 1."""
        rows = torch.arange(len(list_of) + 1, device=offsets.device)
        return cls(rows[:-1], offsets, list_of, rows, rows[:-1])

    @classmethod
    def of_single_rows(cls, rows: Tensor, total: int) -> Incidence:
        """List i contains only rows[i]; `rows` is ascending, `total` is the number of all rows."""
        lists = torch.arange(len(rows) + 1)
        return cls(rows, lists, lists[:-1], torch.searchsorted(rows, torch.arange(total + 1)), lists[:-1])

    def to(self, device: torch.device) -> Incidence:
        moved = {name: getattr(self, name) for name in ("chosen", "offsets", "lists", "ends", "order", "count")}
        return dataclasses.replace(self, **{name: part.to(device) for name, part in moved.items() if part is not None})

    @cached_property
    def list_of(self) -> Tensor:
        """The list of each entry."""
        lists = torch.arange(len(self.offsets) - 1, device=self.offsets.device)
        return lists.repeat_interleave(self.offsets.diff(), output_size=len(self.chosen))

    @cached_property
    def sizes(self) -> Tensor:
        """Number of rows of each list, with multiplicity: (lists, 1)."""
        if self.count is None:
            return self.offsets.diff().unsqueeze(1).float()
        return self.sums(self.count.new_ones(int(self.chosen.max()) + 1 if len(self.chosen) else 0, 1))

    @cached_property
    def edge_index(self) -> Tensor:
        """(2, entries): edges from row to list, in the format of PyTorch Geometric."""
        return torch.stack([self.chosen, self.list_of])

    def sums(self, rows: Tensor, weight: Tensor | None = None) -> Tensor:
        """Σ count · weight · rows[chosen] over each list: (lists, width)."""
        if self.count is not None:
            weight = self.count if weight is None else self.count * weight
        weight = None if weight is None else weight.to(rows.dtype)
        result: Tensor = _Sums.apply(rows, weight, self)  # type: ignore[no-untyped-call]
        return result

    def sums_of_entries(self, entries: Tensor) -> Tensor:
        """Σ entries over each list: (lists, width), for one row per entry."""
        return self._entries.sums(entries)

    @cached_property
    def _entries(self) -> Incidence:
        return Incidence.of_runs(self.offsets, self.list_of)

    def likeness(self, rows: Tensor, lists: Tensor) -> Tensor:
        """rows[chosen] · lists[list_of] for each entry."""
        result: Tensor = _Likeness.apply(rows, lists, self)  # type: ignore[no-untyped-call]
        return result

    def forth(self, rows: Tensor, weight: Tensor | None) -> Tensor:
        return _bags(self.chosen, rows, self.offsets, weight)

    def back(self, lists: Tensor, weight: Tensor | None) -> Tensor:
        return _bags(self.lists, lists, self.ends, None if weight is None else weight[self.order])

    def products(self, rows: Tensor, lists: Tensor) -> Tensor:
        at_once = 4_096  # entries, so that their vectors stay in the cache
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


def _tensor(integers: npt.NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.asarray(integers, np.int64))
