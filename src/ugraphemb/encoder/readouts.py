"""From node vectors to graph vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ugraphemb.encoder.batches import Batch
from ugraphemb.encoder.folding import FoldedBatch
from ugraphemb.encoder.incidence import Incidence
from ugraphemb.encoder.segments import mean_by, sum_by


class NodeAttention(nn.Module):
    """Sum of node vectors, each weighted by its likeness to a learned view of the whole graph (eq. 3).

    ATT(U) = Σₙ σ(uₙᵀ ReLU(Θ · mean(U))) uₙ  (Bai et al., IJCAI 2019). The weights are not normalized, so that the
    length of the sum tells the size of the graph.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width, bias=False)

    def forward(self, nodes: Tensor, batch: Batch) -> Tensor:
        context = torch.relu(self.transform(mean_by(nodes, batch.offsets, batch.graph_of)))  # (graphs, width)
        weight = torch.sigmoid((nodes * context[batch.graph_of]).sum(1, keepdim=True))  # (nodes, 1)
        return sum_by(weight * nodes, batch.offsets, batch.graph_of)  # (graphs, width)

    def of_rows(self, rows: Tensor, held: Incidence, batch: Batch) -> Tensor:
        context = torch.relu(self.transform(_mean_of_rows(rows, held, batch)))
        return held.sums(rows, torch.sigmoid(held.likeness(rows, context)))


class Sum(nn.Module):
    """Σₙ uₙ."""

    def forward(self, nodes: Tensor, batch: Batch) -> Tensor:
        return sum_by(nodes, batch.offsets, batch.graph_of)

    def of_rows(self, rows: Tensor, held: Incidence, batch: Batch) -> Tensor:
        return held.sums(rows)


class Average(nn.Module):
    """Σₙ uₙ / N."""

    def forward(self, nodes: Tensor, batch: Batch) -> Tensor:
        return mean_by(nodes, batch.offsets, batch.graph_of)

    def of_rows(self, rows: Tensor, held: Incidence, batch: Batch) -> Tensor:
        return _mean_of_rows(rows, held, batch)


class Supersource(nn.Module):
    """The vector of the node that was joined to all others: each graph's last."""

    def forward(self, nodes: Tensor, batch: Batch) -> Tensor:
        return nodes[batch.offsets[1:] - 1]


class MultiScale(nn.Module):
    """One readout after each chosen layer, concatenated (eq. 2 with attention is the paper's MSNA)."""

    def __init__(self, readouts: list[nn.Module], scales: tuple[int, ...]) -> None:
        super().__init__()
        self.readouts = nn.ModuleList(readouts)
        self.scales = scales

    def forward(self, layers: list[Tensor], batch: Batch) -> Tensor:
        parts = [readout(layers[k], batch) for readout, k in zip(self.readouts, self.scales, strict=True)]
        return torch.cat(parts, dim=1)

    def of_rows(self, layers: list[Tensor], graphs: FoldedBatch) -> Tensor:
        """The same for folded nodes."""
        readouts: Any = self.readouts
        parts = [
            readout.of_rows(layers[k], graphs.held[k], graphs.batch)
            for readout, k in zip(readouts, self.scales, strict=True)
        ]
        return torch.cat(parts, dim=1)


def _mean_of_rows(rows: Tensor, held: Incidence, batch: Batch) -> Tensor:
    return held.sums(rows) / batch.offsets.diff().clamp(min=1).unsqueeze(1)
