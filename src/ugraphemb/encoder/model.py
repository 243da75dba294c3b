"""The network: features → convolutions → readouts → dense layers → vector, in one forward pass over rows (rows.py)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ugraphemb.encoder.batches import Batch
from ugraphemb.encoder.classes import ClassLayers, Shape
from ugraphemb.encoder.config import EncoderConfig, scales_of
from ugraphemb.encoder.features import DEGREE_BINS, RESERVED, FloatArray, Vocabulary
from ugraphemb.encoder.heads import NODES, TINY
from ugraphemb.encoder.incidence import Incidence
from ugraphemb.encoder.rows import Folding, Rows
from ugraphemb.errors import no_deprecations


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
        scales = scales_of(config)
        self.readout = MultiScale([_readout(config, widths[k]) for k in scales], scales)
        width = sum(widths[k] for k in scales) * (2 if config.readout == "msna_sum" else 1)
        width *= 2 if config.compression == "log_mean" else 1
        norm: nn.Module = nn.BatchNorm1d(width, eps=config.norm_floor, momentum=0.02)
        if config.running_norm:
            norm = RunningNorm(width, eps=config.norm_floor, momentum=0.001)
        self.norm = norm if config.batch_norm else nn.Identity()
        hidden = config.hidden or config.dimension
        self.dense = nn.Sequential(nn.Linear(width, hidden), _activation(config), nn.Linear(hidden, config.dimension))
        self.classes: ClassLayers | None = None

    def add_classes(self, shape: Shape) -> ClassLayers:
        """Adds new class layers of these sizes (UGraphEmb-F in the paper)."""
        self.classes = ClassLayers(self.config, shape)
        return self.classes

    # inference.py computes the same with NumPy, for few graphs; test_inference.py compares the two. Settings that it
    # does not list are supported only here, so new settings need not be added there.
    def forward(self, rows: Rows) -> Tensor:
        layers = [self.inputs(rows.batch)]  # (rows, layers[0])
        *convolutions, last = zip(self.convolutions, rows.own, rows.neighbors, strict=True)
        for layer, own, neighbors in convolutions:
            layers.append(layer(layers[-1], own, neighbors, rows.batch))  # (rows, layers[k])
        convolution: Any
        convolution, own, neighbors = last
        sizes = rows.batch.offsets.diff().clamp(min=1).unsqueeze(1)  # (graphs, 1)
        if self.sums_first:
            sums = [graphs.sums(nodes) for graphs, nodes in zip(rows.graphs, layers, strict=False)]
            sums.append(sums[-1] + convolution.sums(layers[-1], own, neighbors, rows.graphs[-1]))
            read = torch.cat([sums[k] for k in self.readout.scales], dim=1)  # (graphs, sum of widths)
        else:
            layers.append(convolution(layers[-1], own, neighbors, rows.batch))
            read = self.readout(layers, rows.graphs, sizes)
        if self.config.compression != "none":
            mean = read / sizes
            read = torch.sign(read) * torch.log1p(read.abs())
            if self.config.compression == "log_mean":
                read = torch.cat([read, mean], dim=1)
        vectors: Tensor = self.dense(self.norm(read))  # (graphs, dimension)
        if self.config.head == "sized_l1":
            vectors = vectors[:, 1:]
        if self.config.scaled or self.config.anchored:
            ends = rows.graphs[1].sums(rows.neighbors[0].sizes)  # (graphs, 1), twice the number of edges
            mass = 1 + ends / (2 * sizes)
            if self.config.anchored:
                mass = mass / vectors.abs().sum(1, keepdim=True).clamp(min=TINY)
            vectors = vectors * mass
        if self.config.head == "sized_l1":
            count = sizes.to(vectors.dtype)
            vectors = torch.cat([count / NODES, count * vectors], dim=1)
        return vectors

    @property
    def sums_first(self) -> bool:
        """Whether nodes can be summed before the last dense layer of the last convolution, which is faster."""
        return self.config.residual and self.config.readout == "sum" and not self.config.edge_labels

    def rows(self, graphs: Batch) -> Rows:
        """These graphs with one row per node. With a supersource, readouts use only its row."""
        return Rows.of_nodes(graphs, len(self.convolutions), last=self.config.readout == "supersource")

    @property
    def folds(self) -> bool:
        """Whether nodes with equal features and equal neighborhoods get equal vectors, so that they can be folded."""
        return self.config.convolution == "gin" and not self.config.edge_labels and self.config.readout != "supersource"

    def folding(self, graphs: Batch, *, counted: bool = True) -> Folding:
        """These graphs, on the CPU, folded for this network's convolutions. Use `counted` if it is used many times."""
        return Folding(graphs, len(self.convolutions), degree=self.config.degree, counted=counted)


class RunningNorm(nn.BatchNorm1d):
    """Batch normalization by running means, also in training; a batch updates them before it is standardized.

    If each batch has graphs of one kind only, differences between kinds are kept, as they are in inference.
    """

    def forward(self, x: Tensor) -> Tensor:
        mean, variance, seen = self.running_mean, self.running_var, self.num_batches_tracked
        assert mean is not None
        assert variance is not None
        assert seen is not None
        if self.training:
            with torch.no_grad():
                share = max(float(self.momentum or 0), 1 / (1 + int(seen)))  # at first the mean of all batches
                seen += 1
                far = (x - mean).square().mean(0)
                mean.lerp_(x.mean(0).to(mean.dtype), share)
                variance.lerp_(far.to(variance.dtype) if int(seen) > 1 else x.var(0).to(variance.dtype), share)
        return nn.functional.batch_norm(x, mean, variance, self.weight, self.bias, False, 0.0, self.eps)


class Inputs(nn.Module):
    """W·x for the features x of each node; for one-hot features the columns of W are looked up."""

    def __init__(self, config: EncoderConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        width = config.layers[0]
        self.label = nn.Embedding(RESERVED + len(vocabulary.node_labels), width)
        self.degree = nn.Embedding(DEGREE_BINS, width) if config.degree else None
        numbers = vocabulary.numbers(config)
        self.numbers = nn.Linear(numbers, width, bias=False) if numbers else None
        self.code = nn.Linear(config.hashed_labels, width, bias=False) if config.hashed_labels else None
        for table in (self.label, self.degree):
            if table is not None:
                nn.init.normal_(table.weight, std=width**-0.5)
        with torch.no_grad():
            self.label.weight *= config.label_scale
            self.label.weight[0].zero_()  # unseen labels have no effect
        self.trust: Tensor | None
        self.register_buffer("trust", torch.ones(len(self.label.weight), 1) if config.label_trust else None)

    def weigh_labels(self, shares: FloatArray, trust: float) -> None:
        """Scales the vector of each label by s / (s + trust), where s is the share of graphs that contain the label."""
        assert self.trust is not None
        self.trust[RESERVED:, 0] = torch.from_numpy(shares / (shares + trust))

    def trust_all_labels(self) -> None:
        """Makes all labels learn at the same rate from now on; their scaled vectors do not change."""
        if self.trust is not None:
            with torch.no_grad():
                self.label.weight *= self.trust
            self.trust.fill_(1.0)

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
    """x + b: the rest of a dense layer whose matrix product is computed before the sum over neighbors."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.bias


class Update(nn.Module):
    """MLP((1 + ε) u + s), where the MLP has two dense layers, the first of which is only a bias (see `Bias`)."""

    def __init__(self, width: int, config: EncoderConfig) -> None:
        super().__init__()
        dense = nn.Linear(width, width)
        last = [] if config.residual else [_activation(config)]
        self.nn = nn.Sequential(Bias(width), _activation(config), dense, *last)
        if config.learn_epsilon:
            self.register_parameter("eps", nn.Parameter(torch.zeros(1)))
        else:
            self.register_buffer("eps", torch.zeros(1))

    @property
    def dense(self) -> nn.Linear:
        layer = self.nn[2]
        assert isinstance(layer, nn.Linear)
        return layer

    def inside(self, own: Tensor, sums: Tensor) -> Tensor:
        """Input of the second dense layer. Overwrites `sums`, because allocating large arrays is slow."""
        epsilon: Any = self.eps
        bias: Any = self.nn[0]
        fixed = not isinstance(epsilon, nn.Parameter)
        x = sums.add_(own, alpha=1 + float(epsilon)) if fixed else sums.add_((1 + epsilon) * own)
        result: Tensor = self.nn[1](x.add_(bias.bias))
        return result

    def forward(self, own: Tensor, sums: Tensor) -> Tensor:
        result: Tensor = self.nn[2:](self.inside(own, sums))
        return result


class GIN(nn.Module):
    """uᵢ ← MLP((1 + ε) uᵢ + Σⱼ uⱼ) (eq. 1); with edge labels Σⱼ ReLU(uⱼ + e) (GINE), e a vector for the edge label.

    With aggregation "log", the sum over d neighbors is multiplied by log(1 + d) / d. With `residual`, uᵢ is
    added to the result, and the MLP ends with its second dense layer.

    The product with the weights of the first dense layer is computed before the sum: the result is the same, and it is
    faster if the width decreases. In the first convolution `Inputs` computes that product.
    """

    def __init__(self, before: int, width: int, config: EncoderConfig, *, is_first: bool, edge_labels: int) -> None:
        super().__init__()
        self.residual, self.is_log = config.residual, config.aggregation == "log"
        self.product = None if is_first else nn.Linear(before, width, bias=False)
        self.convolution = Update(width, config)
        self.edge = nn.Embedding(edge_labels, width) if edge_labels else None
        self.convolution.dense.reset_parameters()  # initialized twice, as in 0.1: the same seed gives the same network

    def forward(self, rows: Tensor, own: Incidence | None, neighbors: Incidence, batch: Batch) -> Tensor:
        before, rows = rows, rows if self.product is None else self.product(rows)
        kept = rows if own is None else own.sums(rows)
        result: Tensor = self.convolution(kept, self._around(rows, neighbors, batch))
        if self.residual:
            result.add_(kept if before is rows else before if own is None else own.sums(before))
        return result

    def sums(self, rows: Tensor, own: Incidence | None, neighbors: Incidence, graphs: Incidence) -> Tensor:
        """With `residual`: sum over each graph of what is added to its nodes, as W Σ x + N b instead of Σ (W x + b)."""
        rows = rows if self.product is None else self.product(rows)
        inside = self.convolution.inside(rows if own is None else own.sums(rows), self._around(rows, neighbors))
        dense = self.convolution.dense
        return graphs.sums(inside) @ dense.weight.T + graphs.sizes * dense.bias

    def _around(self, rows: Tensor, neighbors: Incidence, batch: Batch | None = None) -> Tensor:
        """Sum over the neighbors: (rows after the convolution, width)."""
        if self.edge is not None:
            assert batch is not None
            messages = torch.relu(rows.index_select(0, neighbors.chosen) + self.edge(batch.edge_slot))
            return neighbors.sums_of_entries(messages)
        sums = neighbors.sums(rows)
        if self.is_log:
            sums = sums * (torch.log1p(neighbors.sizes) / neighbors.sizes.clamp(min=1)).to(sums.dtype)
        return sums


class Plain(nn.Module):
    """A convolution of PyTorch Geometric, then ReLU. Requires one row per node."""

    def __init__(self, convolution: nn.Module) -> None:
        super().__init__()
        self.convolution = convolution

    def forward(self, rows: Tensor, own: Incidence | None, neighbors: Incidence, batch: Batch) -> Tensor:
        assert own is None
        return torch.relu(self.convolution(rows, neighbors.edge_index))


class NodeAttention(nn.Module):
    """Sum of node vectors, each weighted by its similarity to a learned summary of the graph (eq. 3).

    ATT(U) = Σₙ σ(uₙᵀ ReLU(Θ · mean(U))) uₙ  (Bai et al., IJCAI 2019). The weights are not normalized, so that the
    norm of the sum depends on the size of the graph.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width, bias=False)

    def forward(self, rows: Tensor, graphs: Incidence, sizes: Tensor) -> Tensor:
        context = torch.relu(self.transform(graphs.sums(rows) / sizes))  # (graphs, width)
        return graphs.sums(rows, torch.sigmoid(graphs.likeness(rows, context)))  # (graphs, width)


class Sum(nn.Module):
    """Σₙ uₙ; with a supersource, `graphs` contains only its row, so this is the vector of the supersource."""

    def forward(self, rows: Tensor, graphs: Incidence, sizes: Tensor) -> Tensor:
        return graphs.sums(rows)


class Average(nn.Module):
    """Σₙ uₙ / N."""

    def forward(self, rows: Tensor, graphs: Incidence, sizes: Tensor) -> Tensor:
        return graphs.sums(rows) / sizes


class Both(nn.Module):
    """Two readouts, concatenated."""

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    def forward(self, rows: Tensor, graphs: Incidence, sizes: Tensor) -> Tensor:
        return torch.cat([self.first(rows, graphs, sizes), self.second(rows, graphs, sizes)], dim=1)


class MultiScale(nn.Module):
    """Concatenation of one readout for each selected layer (eq. 2; with attention it is MSNA of the paper)."""

    def __init__(self, readouts: list[nn.Module], scales: tuple[int, ...]) -> None:
        super().__init__()
        self.readouts = nn.ModuleList(readouts)
        self.scales = scales

    def forward(self, layers: list[Tensor], graphs: list[Incidence], sizes: Tensor) -> Tensor:
        read = zip(self.readouts, self.scales, strict=True)
        return torch.cat([readout(layers[k], graphs[k], sizes) for readout, k in read], dim=1)


def _convolution(config: EncoderConfig, before: int, width: int, *, is_first: bool, edge_labels: int) -> nn.Module:
    if config.convolution == "gin":
        return GIN(before, width, config, is_first=is_first, edge_labels=edge_labels)
    with no_deprecations():
        from torch_geometric import nn as geometric

    kinds: dict[str, Any] = {"gcn": geometric.GCNConv, "sage": geometric.SAGEConv, "gat": geometric.GATConv}
    return Plain(kinds[config.convolution](before, width))


def _activation(config: EncoderConfig) -> nn.Module:
    return nn.GELU() if config.activation == "gelu" else nn.ReLU()


def _readout(config: EncoderConfig, width: int) -> nn.Module:
    if config.readout in ("msna", "attention"):
        return NodeAttention(width)
    if config.readout == "msna_sum":
        return Both(NodeAttention(width), Sum())
    return Average() if config.readout == "average" else Sum()
