"""Graphs per second of `transform` on all of NCI109, beside plain PyTorch Geometric with the same weights, in one run.

    python benchmarks/bench_encode.py                 two minutes on an idle machine
    python benchmarks/bench_encode.py --graphs 1000   a first impression

The plain version has one Data object per graph with one-hot features, a DataLoader, GINConv over edge_index with the
MLP of the paper, the readouts over `batch`, no gradients. The vectors must be equal except for rounding; this checks
the answers. Three comparisons: from a GraphSet to vectors, where both sides prepare their inputs (features, Data
objects); with inputs prepared on both sides; and, least favorable to us, `transform` with all its work against their
network with prepared Data objects. Degrees and random walks, which the default adds to the labels, are computed by our
code on both sides. PyTorch Geometric gets the best of several batch sizes. One thread is CPU time, two threads are wall
time and need an idle machine; each figure is the best of several runs that alternate.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from report import Report, data_root, parser
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool, global_mean_pool

from ugraphemb import UGraphEmb, load_dataset
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.features import DEGREE_BINS, RESERVED, NodeFeatures, Vocabulary
from ugraphemb.encoder.model import Network
from ugraphemb.training.passes import embedded
from ugraphemb.training.presets import PRESETS

FASTER = 3.0
BATCHES = (32, 128, 512)  # graphs per batch; the best of them counts for PyTorch Geometric


def our_model(preset: str, graphs: Any, threads: int) -> UGraphEmb:
    """A model with random weights: speed does not depend on them."""
    config = PRESETS[preset][0]
    model = UGraphEmb(preset=preset, threads=threads)
    model.vocabulary_ = Vocabulary.of(graphs, config)
    torch.manual_seed(0)
    model.network_ = Network(config, model.vocabulary_)
    with torch.no_grad():  # biases and running means other than 0, so that errors in them are detected
        for name, tensor in model.network_.state_dict().items():
            if tensor.dim() == 1 and not name.endswith(".eps"):
                tensor.uniform_(0.1, 0.5)
    model.network_.eval()
    return model


class Plain(nn.Module):
    """The network as it is usually written with PyTorch Geometric."""

    def __init__(self, ours: Network) -> None:
        super().__init__()
        self.config = config = ours.config
        self.scales = ours.readout.scales
        table = _input_matrix(ours)
        self.input = None  # if the input itself is read out, the first product is computed separately
        if 0 in self.scales:
            self.input = _linear(table, None)
        self.convolutions = nn.ModuleList()
        for k, layer in enumerate(ours.convolutions):
            bias, *rest = layer.convolution.nn
            if k:
                first: nn.Module = _linear(layer.product.weight, bias.bias)
            else:
                first = bias if self.input is not None else _linear(table, bias.bias)
            convolution = GINConv(nn.Identity())
            convolution.nn = nn.Sequential(first, *rest)  # passed to GINConv, it would be reset
            self.convolutions.append(convolution)
        self.attention = nn.ModuleList(part.transform for part in ours.readout.readouts if config.readout == "msna")
        self.norm, self.dense = ours.norm, ours.dense

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        layers = [x if self.input is None else self.input(x)]
        for convolution in self.convolutions:
            rows = convolution(layers[-1], edge_index)
            layers.append(rows + layers[-1] if self.config.residual else rows)
        read = torch.cat([self.read(i, layers[k], batch) for i, k in enumerate(self.scales)], dim=1)
        if self.config.compression == "log_mean":
            mean = torch.cat([global_mean_pool(layers[k], batch) for k in self.scales], dim=1)
            read = torch.cat([torch.sign(read) * torch.log1p(read.abs()), mean], dim=1)
        return self.dense(self.norm(read))

    def read(self, i: int, nodes: Tensor, batch: Tensor) -> Tensor:
        if not len(self.attention):
            return global_add_pool(nodes, batch)
        context = torch.relu(self.attention[i](global_mean_pool(nodes, batch)))
        weight = torch.sigmoid((nodes * context[batch]).sum(1, keepdim=True))
        return global_add_pool(weight * nodes, batch)


def _input_matrix(network: Network) -> Tensor:
    """The weights of the features that `data_objects` writes down, column by column."""
    inputs = network.inputs
    trust = 1 if inputs.trust is None else inputs.trust[RESERVED:]
    parts = [(inputs.label.weight[RESERVED:] * trust).T]
    if inputs.degree is not None:
        parts.append(inputs.degree.weight.T)
    if inputs.numbers is not None:
        parts.append(inputs.numbers.weight)
    return torch.cat(parts, dim=1)


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)
    return layer


def data_objects(graphs: Any, features: NodeFeatures, labels: int, network: Network) -> list[Data]:
    """One Data object per graph, with its one-hot features."""
    slot, degree, numbers = map(torch.from_numpy, (features.slot, features.degree, features.numbers))
    result = []
    for i in range(len(graphs)):
        begin, end = graphs.node_offsets[i], graphs.node_offsets[i + 1]
        parts = [nn.functional.one_hot(slot[begin:end] - RESERVED, labels).float()]
        if network.inputs.degree is not None:
            parts.append(nn.functional.one_hot(degree[begin:end], DEGREE_BINS).float())
        if network.inputs.numbers is not None:
            parts.append(numbers[begin:end])
        first, last = graphs.indptr[begin], graphs.indptr[end]
        node = np.repeat(np.arange(end - begin), np.diff(graphs.indptr[begin : end + 1]))
        edges = np.stack([graphs.indices[first:last].astype(np.int64), node])
        result.append(Data(x=torch.cat(parts, dim=1), edge_index=torch.from_numpy(edges)))
    return result


def encoded(network: Plain, objects: list[Data], batch: int) -> np.ndarray[Any, Any]:
    network.eval()
    with torch.inference_mode():
        parts = [network(data.x, data.edge_index, data.batch) for data in DataLoader(objects, batch_size=batch)]
    return torch.cat(parts).numpy()


def fastest(ways: dict[str, Callable[[], object]], clock: Callable[[], float], runs: int) -> dict[str, float]:
    """Seconds of each, the best of `runs` that alternate, so that a busy machine affects all alike."""
    taken = dict.fromkeys(ways, float("inf"))
    for _ in range(runs):
        for name, way in ways.items():
            start = clock()
            way()
            taken[name] = min(taken[name], clock() - start)
    return taken


def compared(graphs: Any, preset: str, threads: int, runs: int, report: Report) -> dict[str, Any]:
    torch.set_num_threads(threads)
    model = our_model(preset, graphs, threads)
    network, vocabulary = model.network_, model.vocabulary_
    plain, collator, everything = Plain(network), Collator(graphs, vocabulary, network.config), np.arange(len(graphs))

    def objects() -> list[Data]:
        features = vocabulary.features(graphs, network.config)
        return data_objects(graphs, features, len(vocabulary.node_labels), network)

    made = objects()
    ours, theirs = model.transform(graphs), encoded(plain, made, BATCHES[1])
    gap = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    name = f"{preset}, {threads} thread{'s' * (threads > 1)}"
    report.check(f"{name}: the same vectors", gap < 1e-5, f"largest difference {gap:.1e} of the largest number")
    ways: dict[str, Callable[[], object]] = {
        "transform": lambda: model.transform(graphs),
        "prepared": lambda: embedded(network, collator, everything, torch.device("cpu")),
        "objects": objects,
        **{f"batches of {size}": lambda size=size: encoded(plain, made, size) for size in BATCHES},
    }
    taken = fastest(ways, time.process_time if threads == 1 else time.perf_counter, runs)
    best = min((way for way in taken if way.startswith("batches")), key=lambda way: taken[way])
    alone, whole = taken[best], taken[best] + taken["objects"]
    found = {
        "from graphs to vectors": whole / taken["transform"],
        "with inputs prepared on both sides": alone / taken["prepared"],
        "with theirs prepared and ours not": alone / taken["transform"],
    }
    for what in list(found)[:2]:
        report.check(f"{name}: {FASTER:g} times faster {what}", found[what] >= FASTER, f"{found[what]:.2f} times")
    count = len(graphs)
    return {
        "preset": preset, "threads": threads, "transform, graphs/s": round(count / taken["transform"]),
        "PyG, graphs/s": round(count / whole), "prepared: ours, graphs/s": round(count / taken["prepared"]),
        "prepared: PyG, graphs/s": round(count / alone), "PyG at its best": best,
        **{f"times faster {what}": round(ratio, 2) for what, ratio in found.items()},
    }  # fmt: skip


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--graphs", type=int, help="number of graphs; the first ones are used")
    options.add_argument("--runs", type=int, default=7, help="runs of each (default: 7)")
    options.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="of torch (default: 1 2)")
    arguments = options.parse_args()
    graphs = load_dataset("NCI109", root=data_root(arguments.data))[: arguments.graphs]
    report = Report("encode", "Encoding", seed=0, note=" ".join((__doc__ or "").split()))
    rows = []
    for preset in ("default", "paper"):
        for threads in arguments.threads:
            rows.append(compared(graphs, preset, threads, arguments.runs, report))
    report.table(f"{len(graphs)} graphs of NCI109", rows)
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
