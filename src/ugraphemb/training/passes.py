"""From graphs of a collection to vectors, with gradients or without."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugraphemb.encoder.batches import Batch, Collator, runs
from ugraphemb.encoder.folding import FoldedBatch
from ugraphemb.encoder.network import Network

Positions = npt.NDArray[np.int64]

_NODES_A_BATCH = 3_000  # their vectors stay in the cache
_NODES_FOLDED = 1 << 17  # the more, the more are alike
_WORTHWHILE = 0.6  # rows a node, up to which folding makes a step of training faster


class Passes:
    """Forward passes through a network in training; what can be folded is folded once, for all steps."""

    def __init__(self, network: Network, collator: Collator, device: torch.device) -> None:
        self._network, self._collator, self._device = network, collator, device
        folding = network.folding(collator.batch(np.arange(len(collator.num_nodes)))) if network.folds else None
        self._folding = folding if folding and folding.rows_a_node <= _WORTHWHILE else None

    def batch(self, chosen: Positions) -> Batch | FoldedBatch:
        """The graphs at these positions, on the device."""
        parts = self._collator.batch(chosen) if self._folding is None else self._folding.batch(chosen)
        return parts.to(self._device)

    def vectors(self, chosen: Positions) -> Tensor:
        """Of the graphs at these positions, with gradients."""
        batch = self.batch(chosen)
        return self._network.folded(batch) if isinstance(batch, FoldedBatch) else self._network.forward(batch)


def embedded(network: Network, collator: Collator, chosen: Positions, device: torch.device) -> Tensor:
    """Vectors of the graphs at these positions, on the CPU, in float32."""
    vectors = torch.empty((len(chosen), network.config.dimension))
    network.eval()
    with torch.inference_mode():
        for begin, end in runs(collator.num_nodes[chosen], _NODES_FOLDED if network.folds else _NODES_A_BATCH):
            batch = collator.batch(chosen[begin:end])
            if network.folds:
                found = network.folded(network.folding(batch, counted=False).batch(gradients=False).to(device))
            else:
                found = network(batch.to(device))
            vectors[begin:end] = found.float().cpu()
    return vectors
