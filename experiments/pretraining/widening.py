"""A wider network that computes what a trained one computes: training continues from there with more parameters.

New channels have random weights, and nothing that existed reads them: those weights are 0. The vectors are therefore
the same at first, and gradients of the weights that are 0 are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ugraphemb.encoder.config import EncoderConfig, scales_of
from ugraphemb.encoder.model import Network
from ugraphemb.encoder.rows import Rows

Weights = Mapping[str, npt.NDArray[Any]]


def widened(network: Network, before: EncoderConfig, weights: Weights) -> None:
    """Puts the weights of a narrower network with the same vocabulary into a new network, in place."""
    own = network.state_dict()
    places = _places(_columns(before), _columns(network.config))
    for name, array in weights.items():
        into, value = own[name], torch.from_numpy(np.array(array))
        if name.startswith("norm.") and value.dim():
            into[places] = value
        elif name == "dense.0.weight":
            into[: len(value)] = 0  # what existed does not read what is new
            into[: len(value), places] = value
        elif value.dim() == 2:
            if name == "dense.2.weight":
                into[:, value.shape[1] :] = 0
            elif name.startswith("convolutions."):
                into[: len(value)] = 0
            into[: value.shape[0], : value.shape[1]] = value
        elif value.dim() == 1:
            into[: len(value)] = value
        else:
            into.copy_(value)
    network.load_state_dict(own)


def calibrate(network: Network, before: EncoderConfig, blocks: Callable[[int], Rows], count: int = 24) -> None:
    """Sets the running means and variances of the new columns of the readout from some blocks."""
    norm: Any = network.norm
    seen: list[torch.Tensor] = []
    hook = norm.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach()))
    network.eval()
    with torch.no_grad():
        for number in range(count):
            network(blocks(number))
    hook.remove()
    network.train()
    read = torch.cat(seen)
    fresh = np.setdiff1d(np.arange(read.shape[1]), _places(_columns(before), _columns(network.config)))
    norm.running_mean[fresh] = read.mean(0)[fresh]
    norm.running_var[fresh] = read.var(0)[fresh]


def _columns(config: EncoderConfig) -> tuple[int, int]:
    """Parts of the readout (scales, and their means again), and the width of each."""
    parts = len(scales_of(config)) * (2 if config.compression == "log_mean" else 1)
    return parts, config.layers[0]


def _places(old: tuple[int, int], new: tuple[int, int]) -> npt.NDArray[np.int64]:
    """Columns of the readout of a wide network that are those of the narrow one."""
    return (np.arange(old[0])[:, None] * new[1] + np.arange(old[1])).ravel()
