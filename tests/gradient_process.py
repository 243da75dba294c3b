"""One of two processes of tests/training/test_processes.py. They import it, so it must not be in a package `tests`:
other distributions install one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import distributed

from ugraphemb.training.processes import average, rank


def work(place: int, folder: str) -> None:
    """Gradients that differ, and a running mean that differs."""
    distributed.init_process_group("gloo", f"file://{folder}/meeting", rank=place, world_size=2)
    network: Any = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    for parameter in network.parameters():
        parameter.grad = torch.full_like(parameter, float(place + 1))
    network[1].running_mean.fill_(float(place))
    average(network)
    gradients = torch.cat([parameter.grad.reshape(-1) for parameter in network.parameters()])
    np.savez(Path(folder) / f"{place}.npz", gradients=gradients, mean=network[1].running_mean, rank=rank())
    distributed.destroy_process_group()
