"""Sums over neighbors and over graphs as sparse products, with the gradients that their symmetry allows."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

with warnings.catch_warnings():  # torch says once a process that CSR is in beta: let it say so here, to nobody
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1), (1, 1))


def adjacency(indptr: Tensor, indices: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """CSR matrix of ones. Precondition: the pattern is symmetric."""
    ones = torch.ones(len(indices), dtype=dtype, device=indices.device)
    size = len(indptr) - 1
    return torch.sparse_csr_tensor(indptr, indices, ones, (size, size), check_invariants=False)


class _NeighborSum(torch.autograd.Function):
    """A·x. The gradient is A·g too, because A is symmetric: no transpose is ever built."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, nodes: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix @ nodes

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix @ gradients[0].contiguous()


class _GraphSum(torch.autograd.Function):
    """Sum of the rows of each graph; the gradient hands each graph's row back to its nodes."""

    @staticmethod
    def forward(ctx: Any, nodes: Tensor, offsets: Tensor, graph_of: Tensor) -> Tensor:
        ctx.graph_of = graph_of
        return sum_of_rows(nodes, torch.arange(len(nodes), device=nodes.device), offsets)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return gradients[0][ctx.graph_of], None, None


def sum_of_rows(rows: Tensor, chosen: Tensor, offsets: Tensor, weight: Tensor | None = None) -> Tensor:
    """Sum of rows[chosen[offsets[i] : offsets[i + 1]]], each times its weight, for each i. Nothing is copied first."""
    if not len(rows):
        return rows.new_zeros((len(offsets) - 1, rows.shape[1]))
    return torch.nn.functional.embedding_bag(
        chosen, rows, offsets, mode="sum", include_last_offset=True, per_sample_weights=weight
    )


def neighbor_sum(matrix: Tensor, nodes: Tensor) -> Tensor:
    """Σ over neighbors j of nodes[j], for each node."""
    result: Tensor = _NeighborSum.apply(matrix, nodes)  # type: ignore[no-untyped-call]
    return result


def sum_by(nodes: Tensor, offsets: Tensor, graph_of: Tensor) -> Tensor:
    """Sum of the node vectors of each graph: (graphs, width)."""
    result: Tensor = _GraphSum.apply(nodes, offsets, graph_of)  # type: ignore[no-untyped-call]
    return result


def mean_by(nodes: Tensor, offsets: Tensor, graph_of: Tensor) -> Tensor:
    """Mean of the node vectors of each graph; zero for a graph without nodes."""
    return sum_by(nodes, offsets, graph_of) / offsets.diff().clamp(min=1).unsqueeze(1)
