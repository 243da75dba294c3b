"""The network: features → convolutions → readouts → dense layers → vector, in one forward pass over rows (rows.py)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ugraphemb.encoder.batches import Batch
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import DEGREE_BINS, RESERVED, FloatArray, Vocabulary
from ugraphemb.encoder.incidence import Incidence
from ugraphemb.encoder.rows import Folding, Rows

TRIANGLE_FEATURES = 3


class Network(nn.Module):
    """UGraphEmb: h = MLP(‖ₖ ATT(U⁽ᵏ⁾)), U⁽ᵏ⁾ the node vectors after convolution k (eq. 2)."""

    def __init__(self, config: EncoderConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        widths = (config.layers[0], *config.layers)
        self.config = config
        self.inputs = Inputs(config, vocabulary)
        edge_labels = RESERVED + len(vocabulary.edge_labels) if config.edge_labels else 0
        self.convolutions = nn.ModuleList(
            _convolution(config, first, second, is_first=k == 0, edge_labels=edge_labels)
            for k, (first, second) in enumerate(zip(widths, config.layers, strict=False))
        )
        scales = _scales(config)
        self.readout = MultiScale([_readout(config, widths[k]) for k in scales], scales)
        width = sum(widths[k] for k in scales) * (2 if config.compression == "log_mean" else 1)
        norm = nn.BatchNorm1d(width, eps=config.norm_floor, momentum=0.02)
        self.norm = norm if config.batch_norm else nn.Identity()
        hidden = config.hidden or config.dimension
        self.dense = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, config.dimension))

    def forward(self, rows: Rows) -> Tensor:
        layers = [self.inputs(rows.batch)]  # (rows, layers[0])
        for convolution, own, neighbors in zip(self.convolutions, rows.own, rows.neighbors, strict=True):
            layers.append(convolution(layers[-1], own, neighbors, rows.batch))  # (rows, layers[k])
        sizes = rows.batch.offsets.diff().clamp(min=1).unsqueeze(1)  # (graphs, 1)
        read = self.readout(layers, rows.graphs, sizes)  # (graphs, sum of widths)
        if self.config.compression != "none":
            mean = read / sizes
            read = torch.sign(read) * torch.log1p(read.abs())
            if self.config.compression == "log_mean":
                read = torch.cat([read, mean], dim=1)
        vectors: Tensor = self.dense(self.norm(read))
        return vectors  # (graphs, dimension)

    def rows(self, graphs: Batch) -> Rows:
        """These graphs with one row per node. Of graphs with a supersource the readouts see it alone."""
        return Rows.of_nodes(graphs, len(self.convolutions), last=self.config.readout == "supersource")

    @property
    def folds(self) -> bool:
        """Whether nodes with the same features around them get the same vectors, so that they can be folded."""
        return self.config.convolution == "gin" and not self.config.edge_labels and self.config.readout != "supersource"

    def folding(self, graphs: Batch, *, counted: bool = True) -> Folding:
        """These graphs, on the CPU, folded as far as this network's convolutions allow. Counting pays if used often."""
        return Folding(graphs, len(self.convolutions), degree=self.config.degree, counted=counted)


class Inputs(nn.Module):
    """W·x for the features x of each node, without ever writing a one-hot x down: W's columns are looked up."""

    def __init__(self, config: EncoderConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        width = config.layers[0]
        self.label = nn.Embedding(RESERVED + len(vocabulary.node_labels), width)
        self.degree = nn.Embedding(DEGREE_BINS, width) if config.degree else None
        numbers = TRIANGLE_FEATURES * config.clustering + len(vocabulary.attribute_mean)
        numbers += vocabulary.edge_columns if config.edge_counts else 0
        self.numbers = nn.Linear(numbers, width, bias=False) if numbers else None
        self.code = nn.Linear(config.hashed_labels, width, bias=False) if config.hashed_labels else None
        for table in (self.label, self.degree):
            if table is not None:
                nn.init.normal_(table.weight, std=width**-0.5)
        with torch.no_grad():
            self.label.weight *= config.label_scale
            self.label.weight[0].zero_()  # a label never seen says nothing
        self.trust: Tensor | None
        self.register_buffer("trust", torch.ones(len(self.label.weight), 1) if config.label_trust else None)

    def weigh_labels(self, shares: FloatArray, trust: float) -> None:
        """Lets each label count by the share of the graphs that have it."""
        assert self.trust is not None
        self.trust[RESERVED:, 0] = torch.from_numpy(shares / (shares + trust))

    def forward(self, batch: Batch) -> Tensor:
        nodes: Tensor = self.label(batch.slot)
        if self.trust is not None:
            nodes = nodes * self.trust[batch.slot]
        if self.degree is not None:
            nodes = nodes + self.degree(batch.degree)
        if self.numbers is not None:
            nodes = nodes + self.numbers(batch.numbers.to(nodes.dtype))
        if self.code is not None:
            nodes = nodes + self.code(batch.codes.to(nodes.dtype))[batch.code]
        return nodes


class Bias(nn.Module):
    """x + b: what is left of a dense layer whose product was taken before the sum over neighbors."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.bias


class Update(nn.Module):
    """MLP((1 + ε) u + s), the MLP two dense layers, the first of which is only its bias."""

    def __init__(self, width: int, learn_epsilon: bool) -> None:
        super().__init__()
        dense = nn.Linear(width, width)
        self.nn = nn.Sequential(Bias(width), nn.ReLU(), dense, nn.ReLU())
        if learn_epsilon:
            self.register_parameter("eps", nn.Parameter(torch.zeros(1)))
        else:
            self.register_buffer("eps", torch.zeros(1))

    @property
    def dense(self) -> nn.Linear:
        layer = self.nn[2]
        assert isinstance(layer, nn.Linear)
        return layer

    def forward(self, own: Tensor, sums: Tensor) -> Tensor:
        epsilon: Any = self.eps
        result: Tensor = self.nn(sums + (1 + epsilon) * own)
        return result


class GIN(nn.Module):
    """uᵢ ← MLP((1 + ε) uᵢ + Σⱼ uⱼ) (eq. 1); with edge labels Σⱼ ReLU(uⱼ + e) (GINE), e a vector of the edge's label.

    The product with the first layer's weights is taken before the sum: the same, and cheaper where the width shrinks.
    In the first convolution the inputs' tables are that product.
    """

    def __init__(self, before: int, width: int, *, is_first: bool, learn_epsilon: bool, edge_labels: int) -> None:
        super().__init__()
        self.product = None if is_first else nn.Linear(before, width, bias=False)
        self.convolution = Update(width, learn_epsilon)
        self.edge = nn.Embedding(edge_labels, width) if edge_labels else None
        self.convolution.dense.reset_parameters()  # drawn twice, as in 0.1: the same seed gives the same network

    def forward(self, rows: Tensor, own: Incidence | None, neighbors: Incidence, batch: Batch) -> Tensor:
        if self.product is not None:
            rows = self.product(rows)
        if self.edge is None:
            sums = neighbors.sums(rows)  # (rows after, width)
        else:
            messages = torch.relu(rows.index_select(0, neighbors.chosen) + self.edge(batch.edge_slot))
            sums = neighbors.sums_of_entries(messages)
        result: Tensor = self.convolution(rows if own is None else own.sums(rows), sums)
        return result


class Plain(nn.Module):
    """One of PyTorch Geometric's convolutions, then ReLU. It takes one row per node."""

    def __init__(self, convolution: nn.Module) -> None:
        super().__init__()
        self.convolution = convolution

    def forward(self, rows: Tensor, own: Incidence | None, neighbors: Incidence, batch: Batch) -> Tensor:
        assert own is None
        return torch.relu(self.convolution(rows, neighbors.edge_index))


class NodeAttention(nn.Module):
    """Sum of node vectors, each weighted by its likeness to a learned view of the whole graph (eq. 3).

    ATT(U) = Σₙ σ(uₙᵀ ReLU(Θ · mean(U))) uₙ  (Bai et al., IJCAI 2019). The weights are not normalized, so that the
    length of the sum tells the size of the graph.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width, bias=False)

    def forward(self, rows: Tensor, graphs: Incidence, sizes: Tensor) -> Tensor:
        context = torch.relu(self.transform(graphs.sums(rows) / sizes))  # (graphs, width)
        return graphs.sums(rows, torch.sigmoid(graphs.likeness(rows, context)))  # (graphs, width)


class Sum(nn.Module):
    """Σₙ uₙ; of graphs with a supersource that node's vector, which is all there is to sum."""

    def forward(self, rows: Tensor, graphs: Incidence, sizes: Tensor) -> Tensor:
        return graphs.sums(rows)


class Average(nn.Module):
    """Σₙ uₙ / N."""

    def forward(self, rows: Tensor, graphs: Incidence, sizes: Tensor) -> Tensor:
        return graphs.sums(rows) / sizes


class MultiScale(nn.Module):
    """One readout after each chosen layer, concatenated (eq. 2 with attention is the paper's MSNA)."""

    def __init__(self, readouts: list[nn.Module], scales: tuple[int, ...]) -> None:
        super().__init__()
        self.readouts = nn.ModuleList(readouts)
        self.scales = scales

    def forward(self, layers: list[Tensor], graphs: list[Incidence], sizes: Tensor) -> Tensor:
        read = zip(self.readouts, self.scales, strict=True)
        return torch.cat([readout(layers[k], graphs[k], sizes) for readout, k in read], dim=1)


def _convolution(config: EncoderConfig, before: int, width: int, *, is_first: bool, edge_labels: int) -> nn.Module:
    if config.convolution == "gin":
        return GIN(before, width, is_first=is_first, learn_epsilon=config.learn_epsilon, edge_labels=edge_labels)
    from torch_geometric import nn as geometric

    kinds: dict[str, Any] = {"gcn": geometric.GCNConv, "sage": geometric.SAGEConv, "gat": geometric.GATConv}
    return Plain(kinds[config.convolution](before, width))


def _scales(config: EncoderConfig) -> tuple[int, ...]:
    """Which layers are read: the last one only, unless the readout is one of many scales."""
    last = len(config.layers)
    if config.readout in ("attention", "supersource", "average"):
        return config.scales or (last,)
    return config.scales or tuple(range(1, last + 1))


def _readout(config: EncoderConfig, width: int) -> nn.Module:
    if config.readout in ("msna", "attention"):
        return NodeAttention(width)
    return Average() if config.readout == "average" else Sum()
