"""Threads default to the cores that the process may use."""

from __future__ import annotations

import os
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
