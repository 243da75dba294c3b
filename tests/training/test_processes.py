"""Several processes that train one network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from gradient_process import work
from torch import distributed, multiprocessing

from ugraphemb.training.processes import average, rank

pytestmark = pytest.mark.skipif(not distributed.is_gloo_available(), reason="this torch has no gloo")


def test_two_processes_have_the_mean_of_their_gradients(tmp_path: Path) -> None:
    multiprocessing.set_forkserver_preload(["torch"])  # imported once for both
    multiprocessing.start_processes(work, (str(tmp_path),), nprocs=2, start_method="forkserver")
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
