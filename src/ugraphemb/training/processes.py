"""Several processes, on one machine or many, that train one network: torch.distributed over gloo or nccl.

Each draws graphs of its own, and gradients are averaged before each step, so that all have the same weights. A script
that is started by torchrun calls `torch.distributed.init_process_group` before training.
"""

from __future__ import annotations

import torch
from torch import distributed, nn


def rank() -> int:
    """Which of the processes this is; 0 where there is one."""
    return distributed.get_rank() if _together() else 0


def average(network: nn.Module) -> None:
    """Averages gradients, and running means that are kept beside the weights, over all processes."""
    if not _together():
        return
    gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    running = [buffer for buffer in network.buffers() if buffer.is_floating_point()]
    tensors = [*gradients, *running]
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors])  # one message instead of one for each
    distributed.all_reduce(flat)
    flat /= distributed.get_world_size()
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    for tensor, part in zip(tensors, parts, strict=True):
        tensor.copy_(part.view_as(tensor))


def _together() -> bool:
    return distributed.is_available() and distributed.is_initialized()
