"""Forward passes: vectors of the graphs of a collection, with or without gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugraphemb.encoder.batches import Collator, runs
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.model import Network
from ugraphemb.encoder.rows import Rows
from ugraphemb.graphs import GraphSet

Positions = npt.NDArray[np.int64]

_NODES_A_BATCH = 3_000  # so that their vectors stay in the cache
_NODES_FOLDED = 1 << 17  # larger, because more nodes of a larger batch have the same color
_WORTHWHILE = 0.6  # rows per node up to which folding makes training steps faster


class Passes:
    """Forward passes in training; the collection is folded once for all steps, if that makes them faster."""

    def __init__(self, network: Network, collator: Collator, device: torch.device) -> None:
        self._network, self._collator, self._device = network, collator, device
        folding = network.folding(collator.batch(np.arange(len(collator.num_nodes)))) if network.folds else None
        self._folding = folding if folding and folding.rows_a_node <= _WORTHWHILE else None

    def batch(self, chosen: Positions) -> Rows:
        """The graphs at these positions, on the device."""
        if self._folding is None:
            return self._network.rows(self._collator.batch(chosen)).to(self._device)
        return self._folding.batch(chosen).to(self._device)

    def vectors(self, chosen: Positions) -> Tensor:
        """Vectors of the graphs at these positions, with gradients."""
        return self._network.forward(self.batch(chosen))


def prepared(network: Network, vocabulary: Vocabulary, graphs: GraphSet) -> Rows:
    """These graphs as input of the network in training, on the CPU."""
    collator = Collator(graphs, vocabulary, network.config)
    batch = collator.batch(np.arange(len(graphs)))
    folding = network.folding(batch) if network.folds else None
    return folding.batch() if folding and folding.rows_a_node <= _WORTHWHILE else network.rows(batch)


def embedded(
    network: Network,
    collator: Collator,
    chosen: Positions,
    device: torch.device,
    tick: Callable[[int], None] = lambda done: None,
) -> Tensor:
    """Vectors of the graphs at these positions, on the CPU, in float32; `tick` is called with the number done."""
    vectors = torch.empty((len(chosen), network.config.dimension))
    network.eval()
    with torch.inference_mode():
        for begin, end in runs(collator.num_nodes[chosen], _NODES_FOLDED if network.folds else _NODES_A_BATCH):
            batch = collator.batch(chosen[begin:end])
            folding = network.folding(batch, counted=False) if network.folds else None
            rows = network.rows(batch) if folding is None else folding.batch(gradients=False)
            vectors[begin:end] = network(rows.to(device)).float().cpu()
            tick(end)
    return vectors
