"""The network: features → convolutions → readout → dense layers → vector."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, GINEConv, SAGEConv

from ugraphemb.encoder.batches import Batch
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import DEGREE_BINS, RESERVED, FloatArray, Vocabulary
from ugraphemb.encoder.folding import FoldedBatch, Folding
from ugraphemb.encoder.incidence import Incidence
from ugraphemb.encoder.readouts import Average, MultiScale, NodeAttention, Sum, Supersource
from ugraphemb.encoder.segments import adjacency, neighbor_sum

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

    def forward(self, batch: Batch) -> Tensor:
        nodes = self.inputs(batch)  # (nodes, layers[0])
        links: Any = None
        if self.config.convolution != "gin" or self.config.edge_labels:
            links = batch.edge_index()
        else:
            links = adjacency(batch.indptr, batch.indices, nodes.dtype)
        layers = [nodes]
        for convolution in self.convolutions:
            layers.append(convolution(layers[-1], links, batch))  # (nodes, layers[k])
        return self.finished(self.readout(layers, batch), batch)  # (graphs, dimension)

    def finished(self, read: Tensor, batch: Batch) -> Tensor:
        """From what the readouts give, (graphs, sum of widths), to the vectors."""
        if self.config.compression != "none":
            mean = read / batch.offsets.diff().clamp(min=1).unsqueeze(1)
            read = torch.sign(read) * torch.log1p(read.abs())
            if self.config.compression == "log_mean":
                read = torch.cat([read, mean], dim=1)
        vectors: Tensor = self.dense(self.norm(read))
        return vectors

    @property
    def folds(self) -> bool:
        """Whether nodes with the same features around them get the same vectors, so that `folded` can be used."""
        return self.config.convolution == "gin" and not self.config.edge_labels and self.config.readout != "supersource"

    def folding(self, graphs: Batch, *, counted: bool = True) -> Folding:
        """These graphs, on the CPU, folded as far as this network's convolutions allow. Counting pays if used often."""
        return Folding(graphs, len(self.convolutions), degree=self.config.degree, counted=counted)

    def folded(self, graphs: FoldedBatch) -> Tensor:
        """What `forward` gives, computed once for all nodes that are alike."""
        rows = [self.inputs(graphs.batch)]
        for convolution, own, around in zip(self.convolutions, graphs.own, graphs.around, strict=True):
            assert isinstance(convolution, GIN)
            rows.append(convolution.of_rows(rows[-1], own, around))  # (rows, layers[k])
        return self.finished(self.readout.of_rows(rows, graphs), graphs.batch)


class Inputs(nn.Module):
    """W·x for the features x of each node, without ever writing a one-hot x down: W's columns are looked up."""

    def __init__(self, config: EncoderConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        width = config.layers[0]
        self.label = nn.Embedding(RESERVED + len(vocabulary.node_labels), width)
        self.degree = nn.Embedding(DEGREE_BINS, width) if config.degree else None
        numbers = TRIANGLE_FEATURES * config.clustering + len(vocabulary.attribute_mean)
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


class _SymmetricGIN(GINConv):  # type: ignore[misc]
    def message_and_aggregate(self, adj_t: Tensor, x: Any) -> Tensor:
        return neighbor_sum(adj_t, x[0])


class GIN(nn.Module):
    """uᵢ ← MLP((1 + ε) uᵢ + Σⱼ uⱼ) (eq. 1), the MLP two dense layers.

    The product with the first layer's weights is taken before the sum: the same, and cheaper where the width shrinks.
    In the first convolution the inputs' tables are that product.
    """

    def __init__(self, before: int, width: int, *, is_first: bool, learn_epsilon: bool, edge_labels: int) -> None:
        super().__init__()
        self.product = None if is_first else nn.Linear(before, width, bias=False)
        rest = nn.Sequential(Bias(width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        kind = GINEConv if edge_labels else _SymmetricGIN
        self.edge = nn.Embedding(edge_labels, width) if edge_labels else None
        self.convolution = kind(rest, eps=0.0, train_eps=learn_epsilon)

    def forward(self, nodes: Tensor, links: Tensor, batch: Batch) -> Tensor:
        if self.product is not None:
            nodes = self.product(nodes)
        if self.edge is None:
            result: Tensor = self.convolution(nodes, links)
        else:
            result = self.convolution(nodes, links, edge_attr=self.edge(batch.edge_slot))
        return result

    def of_rows(self, rows: Tensor, own: Incidence, around: Incidence) -> Tensor:
        """The same for folded nodes."""
        if self.product is not None:
            rows = self.product(rows)
        result: Tensor = self.convolution.nn(around.sums(rows) + (1 + self.convolution.eps) * own.sums(rows))
        return result


class Plain(nn.Module):
    """One of PyTorch Geometric's convolutions, then ReLU."""

    def __init__(self, convolution: nn.Module) -> None:
        super().__init__()
        self.convolution = convolution

    def forward(self, nodes: Tensor, links: Tensor, batch: Batch) -> Tensor:
        return torch.relu(self.convolution(nodes, links))


def _convolution(config: EncoderConfig, before: int, width: int, *, is_first: bool, edge_labels: int) -> nn.Module:
    if config.convolution == "gin":
        return GIN(before, width, is_first=is_first, learn_epsilon=config.learn_epsilon, edge_labels=edge_labels)
    kinds = {"gcn": GCNConv, "sage": SAGEConv, "gat": GATConv}
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
    return {"sum": Sum, "average": Average, "supersource": Supersource}[config.readout]()
