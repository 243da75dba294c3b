"""Batches: several graphs as one disjoint union, built by array operations only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import SUPERSOURCE, NodeFeatures, Vocabulary
from ugraphemb.graphs import GraphSet

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """A batch of graphs: their disjoint union, one row per node, ordered by graph.

    Attributes:
        slot, degree, numbers, code: Node features (see NodeFeatures).
        codes: Fixed random codes of the labels.
        indptr, indices: CSR adjacency of the union.
        edge_slot: Row of the edge label table for each entry of `indices`, or empty.
        offsets: (graphs + 1); index of the first node of each graph.
        graph_of: (nodes); the graph each node belongs to.
    """

    slot: Tensor
    degree: Tensor
    numbers: Tensor
    code: Tensor
    codes: Tensor
    indptr: Tensor
    indices: Tensor
    edge_slot: Tensor
    offsets: Tensor
    graph_of: Tensor

    @property
    def size(self) -> int:
        return len(self.offsets) - 1

    def to(self, device: torch.device) -> Batch:
        return Batch(**{name: value.to(device, non_blocking=True) for name, value in vars(self).items()})

    def of_nodes(self, nodes: Positions) -> Batch:
        """Only the features of these nodes, without edges; the sizes of all graphs are kept."""
        names = [name for name in ("slot", "degree", "numbers", "code") if len(getattr(self, name))]
        none = dict.fromkeys(("indptr", "indices", "edge_slot", "graph_of"), torch.empty(0, dtype=torch.int64))
        return replace(self, **none, **{name: getattr(self, name)[torch.from_numpy(nodes)] for name in names})

    def of_sizes(self, sizes: Positions) -> Batch:
        """The same features with other graph sizes."""
        return replace(self, offsets=torch.from_numpy(_offsets(sizes)))

    def edge_index(self) -> Tensor:
        """(2, directed edges): each edge in both directions, from neighbor to node, as in PyTorch Geometric."""
        node = torch.repeat_interleave(torch.arange(len(self.slot), device=self.slot.device), self.indptr.diff())
        return torch.stack([self.indices, node])


class Collator:
    """Makes batches of graphs of one collection. Features are computed once; a batch takes a few gather operations."""

    def __init__(self, graphs: GraphSet, vocabulary: Vocabulary, config: EncoderConfig) -> None:
        features = vocabulary.features(graphs, config)
        offsets, indptr, indices = graphs.node_offsets, graphs.indptr, graphs.indices.astype(np.int64)
        if config.readout == "supersource":
            offsets, indptr, indices, features = _with_supersource(graphs, features)
        self.vocabulary, self.num_nodes = vocabulary, np.diff(offsets)
        self._offsets, self._indptr, self._indices, self._features = offsets, indptr, indices, features
        self._codes = torch.from_numpy(features.codes)

    def arrays(self) -> list[npt.NDArray[Any]]:
        """All arrays of the collection that the network uses."""
        return [self._offsets, self._indptr, self._indices, *vars(self._features).values()]

    def batch(self, chosen: Positions) -> Batch:
        """The graphs at these positions, in this order; repeated positions are allowed."""
        nodes, offsets = run_positions(self._offsets[chosen], self.num_nodes[chosen])
        ends, indptr = run_positions(self._indptr[nodes], self._indptr[nodes + 1] - self._indptr[nodes])
        graph_of = np.repeat(np.arange(len(chosen)), np.diff(offsets))
        indices = self._indices[ends] + np.repeat(offsets[graph_of], np.diff(indptr))
        features = self._features
        arrays = (
            features.slot[nodes], features.degree[nodes], features.numbers[nodes],
            features.code[nodes] if len(features.code) else features.code,
        )  # fmt: skip
        slot, degree, numbers, code = map(torch.from_numpy, arrays)
        return Batch(
            slot=slot, degree=degree, numbers=numbers, code=code, codes=self._codes,
            indptr=torch.from_numpy(indptr), indices=torch.from_numpy(indices),
            edge_slot=torch.from_numpy(features.edge_slot[ends] if len(features.edge_slot) else features.edge_slot),
            offsets=torch.from_numpy(offsets), graph_of=torch.from_numpy(graph_of),
        )  # fmt: skip


def runs(sizes: Positions, limit: int) -> list[tuple[int, int]]:
    """Divides graphs with these numbers of nodes into runs (begin, end) of about `limit` nodes each."""
    starts = np.flatnonzero(np.diff((np.cumsum(sizes + 1) - 1) // limit, prepend=-1)).tolist()
    return list(zip(starts, [*starts[1:], len(sizes)], strict=True))


def run_positions(starts: Positions, lengths: Positions) -> tuple[Positions, Positions]:
    """Concatenated ranges starts[i], ..., starts[i] + lengths[i] - 1, and the offset of each range in the result."""
    offsets = _offsets(lengths)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths), offsets


def _offsets(counts: Positions) -> Positions:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def _with_supersource(graphs: GraphSet, features: NodeFeatures) -> tuple[Positions, Positions, Positions, NodeFeatures]:
    """Adds a last node to each graph that is adjacent to all of its other nodes."""
    sizes = graphs.num_nodes
    total = len(graphs.node_labels)
    last = graphs.node_offsets[1:]  # inserting before these positions puts a node at the end of each graph
    end_of = np.repeat(sizes, sizes)  # local id of the supersource, for each node of its graph
    indices = np.insert(graphs.indices.astype(np.int64), graphs.indptr[1:], end_of)
    grown = _offsets(np.diff(graphs.indptr) + 1)
    own = np.arange(total) - np.repeat(graphs.node_offsets[:-1], sizes)  # neighbors of the supersource: all nodes
    indices = np.insert(indices, np.repeat(grown[last], sizes), own)
    degrees = np.insert(np.diff(graphs.indptr) + 1, last, sizes)
    edge_slot = features.edge_slot
    if len(edge_slot):
        edge_slot = np.insert(edge_slot, graphs.indptr[1:], SUPERSOURCE)
        edge_slot = np.insert(edge_slot, np.repeat(grown[last], sizes), SUPERSOURCE)
    widened = NodeFeatures(
        slot=np.insert(features.slot, last, SUPERSOURCE),
        degree=np.insert(features.degree, last, 0),
        numbers=np.insert(features.numbers, last, 0, axis=0),
        code=np.insert(features.code, last, len(features.codes)) if len(features.code) else features.code,
        codes=np.concatenate([features.codes, np.zeros((1, features.codes.shape[1]), np.float32)]),
        edge_slot=edge_slot,
    )
    return _offsets(sizes + 1), _offsets(degrees), indices, widened
