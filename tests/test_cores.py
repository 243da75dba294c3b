"""Threads default to the cores that the process may use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ugraphemb import cores
from ugraphemb.proximity.metrics import Run


@pytest.mark.parametrize(
    ("text", "expected"),
    [("max 100000\n", 8), ("200000 100000\n", 2), ("150000 100000\n", 2), ("1000 100000\n", 1), ("nonsense", 8)],
)
def test_the_limit_of_a_container_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: int
) -> None:
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert cores.available_cores() == expected
    assert Run().num_threads == expected
    assert Run(threads=3).num_threads == 3


def test_an_old_container_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu.cfs_quota_us").write_text("400000\n")
    (tmp_path / "cpu.cfs_period_us").write_text("100000\n")
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "none")
    monkeypatch.setattr(cores, "_OLD_QUOTA", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert cores.available_cores() == 4


def test_torch_uses_no_more_threads_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from ugraphemb.training import threads

    before = torch.get_num_threads()
    monkeypatch.setattr(threads, "available_cores", lambda: 1)
    with threads.torch_threads(0):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(("given", "expected"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")])
def test_threads_of_torch_sleep_while_they_wait(given: dict[str, str], expected: str) -> None:
    code = "import os, ugraphemb; print(os.environ['OMP_WAIT_POLICY'])"
    others = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", code], env={**others, **given}, capture_output=True, text=True)
    assert done.stdout.strip() == expected
