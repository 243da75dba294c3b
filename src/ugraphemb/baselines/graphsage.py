"""GraphSAGE without labels: nodes that occur on the same random walks get similar vectors; averaged over each graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, normalize

from ugraphemb.baselines.averaging import Averaging, averaged, checked
from ugraphemb.baselines.protocol import Floats, at_least, fitted, some
from ugraphemb.encoder.batches import Batch, Collator
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.model import Inputs
from ugraphemb.errors import no_deprecations
from ugraphemb.graphs import GraphsLike, graphs_of

Positions = npt.NDArray[np.int64]


@dataclass
class GraphSAGE:
    """Inductive node vectors, learned on the union of the training graphs.

    Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs (NIPS 2017), mean aggregator:

        h_v ← σ(W₁ h_v + W₂ mean_{u ∈ N(v)} h_u), twice, z_v = h_v / ‖h_v‖;
        J(z_u) = −log σ(z_uᵀ z_v) − Q · E_{n ~ P} log σ(−z_uᵀ z_n)   (eq. 1)

    v occurs on a random walk from u, n is drawn by degree to the power of 3/4. A step takes some of the graphs, all
    their nodes, fresh walks from each of them and Q negatives among them. Input features are one-hot labels, or one-hot
    degrees where nodes carry no labels (looked up, so no one-hot vector is ever written down); an unseen label is a
    vector of zeros. Nodes without edges have no context and do not train.

    Attributes:
        width: Width of both layers and of the vectors.
        averaging: "mean", "degree", "inverse_degree" or "sum".
        epochs: How often each graph is visited.
        batch: Approximate number of nodes per step; graphs are not split.
        walk_length: Steps of a random walk.
        walks: Walks from each node per visit.
        negatives: Q.
        rate: Adam's learning rate.
        seed: Seed of weights, walks and negatives. The same seed gives the same vectors on the same machine.
    """

    width: int = 256
    averaging: Averaging = "mean"
    epochs: int = 10
    batch: int = 4096
    walk_length: int = 5
    walks: int = 1
    negatives: int = 20
    rate: float = 0.001
    seed: int = 0
    _model: Sage | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        checked(self.averaging)
        at_least(1, width=self.width, batch=self.batch, walk_length=self.walk_length, walks=self.walks)
        at_least(1, negatives=self.negatives)
        at_least(0, epochs=self.epochs)
        if not self.rate > 0:
            raise ValueError(f"rate is {self.rate}; it must be positive")

    def fit(self, graphs: GraphsLike) -> GraphSAGE:
        graphs = some(graphs)
        config = EncoderConfig(layers=(self.width,), degree=not graphs.node_vocabulary)
        random = np.random.default_rng(self.seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            model = Sage(config, Vocabulary.of(graphs, config))
        collator = Collator(graphs, model.vocabulary, config)
        optimizer = torch.optim.Adam(model.parameters(), self.rate)
        for _ in range(self.epochs):
            for chosen in _cut(random.permutation(len(graphs)), graphs.num_nodes, self.batch):
                batch = collator.batch(chosen)
                starts, ends = walk_pairs(batch, self.walk_length, self.walks, random)
                if len(starts) == 0:
                    continue
                loss = self._loss(model(batch), batch, starts, ends, random)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
        self._model = model.eval()
        return self

    def _loss(
        self, vectors: Tensor, batch: Batch, starts: Positions, ends: Positions, random: np.random.Generator
    ) -> Tensor:
        """Mean of J over the pairs of a batch; all pairs share the negatives."""
        weight = np.cumsum(batch.indptr.diff().numpy() ** 0.75)
        drawn = np.searchsorted(weight, random.random(self.negatives) * weight[-1], side="right")
        visits = torch.from_numpy(np.bincount(starts, minlength=len(vectors)))
        positive = (vectors[torch.from_numpy(starts)] * vectors[torch.from_numpy(ends)]).sum(1)  # (pairs)
        negative = vectors @ vectors[torch.from_numpy(drawn)].T  # (nodes, Q)
        both = logsigmoid(positive).sum() + (visits * logsigmoid(-negative).sum(1)).sum()
        return -both / len(starts)

    def node_vectors(self, graphs: GraphsLike) -> npt.NDArray[np.float32]:
        """(nodes, width), rows as in `graphs`."""
        graphs, model = graphs_of(graphs), fitted(self._model, self)
        collator = Collator(graphs, model.vocabulary, model.config)
        parts = [np.empty((0, self.width), np.float32)]
        with torch.inference_mode():
            for chosen in _cut(np.arange(len(graphs)), graphs.num_nodes, self.batch):
                parts.append(model(collator.batch(chosen)).numpy())
        return np.concatenate(parts)

    def transform(self, graphs: GraphsLike, averaging: Averaging | None = None) -> Floats:
        """(graphs, width), of any graphs, seen or not; another averaging than the one set is taken if given."""
        graphs = graphs_of(graphs)
        return averaged(self.node_vectors(graphs), graphs, averaging or self.averaging)


class Sage(nn.Module):
    """Features, two SAGE convolutions, unit length."""

    def __init__(self, config: EncoderConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        width = config.layers[0]
        self.config, self.vocabulary = config, vocabulary
        self.inputs = Inputs(config, vocabulary)
        with no_deprecations():
            from torch_geometric.nn import SAGEConv
        self.first = SAGEConv(width, width)
        self.second = SAGEConv(width, width)

    def forward(self, batch: Batch) -> Tensor:
        links = batch.edge_index()
        nodes = torch.relu(self.first(self.inputs(batch), links))  # (nodes, width)
        return normalize(self.second(nodes, links))  # (nodes, width)


def walk_pairs(batch: Batch, length: int, walks: int, random: np.random.Generator) -> tuple[Positions, Positions]:
    """Pairs of a node and another node on a random walk from it; nodes without edges have none."""
    indptr, indices = batch.indptr.numpy(), batch.indices.numpy()
    degree = np.diff(indptr)
    start = np.repeat(np.flatnonzero(degree), walks)
    here, pairs = start, []
    for _ in range(length):
        here = indices[indptr[here] + (random.random(len(here)) * degree[here]).astype(np.int64)]
        elsewhere = here != start
        pairs.append((start[elsewhere], here[elsewhere]))
    return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])


def _cut(order: Positions, sizes: Positions, limit: int) -> list[Positions]:
    """Graphs in this order, in pieces of about `limit` nodes."""
    piece = np.cumsum(sizes[order]) // limit
    return np.split(order, np.flatnonzero(np.diff(piece)) + 1) if len(order) else []
