"""Several processes that train one network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributed, multiprocessing

from ugraphemb.training.processes import average, rank

pytestmark = pytest.mark.skipif(not distributed.is_gloo_available(), reason="this torch has no gloo")


def _work(place: int, folder: str) -> None:
    """One of two processes: gradients that differ, and a running mean that differs."""
    distributed.init_process_group("gloo", f"file://{folder}/meeting", rank=place, world_size=2)
    network: Any = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    for parameter in network.parameters():
        parameter.grad = torch.full_like(parameter, float(place + 1))
    network[1].running_mean.fill_(float(place))
    average(network)
    gradients = torch.cat([parameter.grad.reshape(-1) for parameter in network.parameters()])
    np.savez(Path(folder) / f"{place}.npz", gradients=gradients, mean=network[1].running_mean, rank=rank())
    distributed.destroy_process_group()


def test_two_processes_have_the_mean_of_their_gradients(tmp_path: Path) -> None:
    multiprocessing.set_forkserver_preload(["torch"])  # imported once for both
    multiprocessing.start_processes(_work, (str(tmp_path),), nprocs=2, start_method="forkserver")
    for place in range(2):
        with np.load(tmp_path / f"{place}.npz") as found:
            assert set(found["gradients"].tolist()) == {1.5}
            assert set(found["mean"].tolist()) == {0.5}
            assert int(found["rank"]) == place


def test_one_process_keeps_its_gradients() -> None:
    network = torch.nn.Linear(2, 1)
    network.weight.grad = torch.ones_like(network.weight)
    average(network)
    assert rank() == 0
    assert network.weight.grad.tolist() == [[1.0, 1.0]]
