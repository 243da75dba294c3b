"""Training of one network by several processes, on one or more machines: torch.distributed with gloo or nccl.

Each process draws its own graphs, and gradients are averaged before each step, so that all have the same weights. A
script that is started by torchrun calls `torch.distributed.init_process_group` before training.
"""

from __future__ import annotations

import torch
from torch import distributed, nn


def rank() -> int:
    """Rank of this process; 0 if there is only one."""
    return distributed.get_rank() if _together() else 0


def average(network: nn.Module) -> None:
    """Averages gradients and floating-point buffers, such as running means, over all processes."""
    if not _together():
        return
    gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    running = [buffer for buffer in network.buffers() if buffer.is_floating_point()]
    tensors = [*gradients, *running]
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors])  # one message for all tensors
    distributed.all_reduce(flat)
    flat /= distributed.get_world_size()
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    for tensor, part in zip(tensors, parts, strict=True):
        tensor.copy_(part.view_as(tensor))


def _together() -> bool:
    return distributed.is_available() and distributed.is_initialized()
