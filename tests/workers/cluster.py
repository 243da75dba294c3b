"""A real Dask cluster on this machine, each worker a process that tests may kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _start(*arguments: str, folder: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
    environment = {**os.environ, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def worker(address: str, folder: Path, *more: str) -> subprocess.Popen:
    return _start("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1",
                  "--local-directory", str(folder), *more, folder=folder)  # fmt: skip


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """The address of the scheduler, and the processes: the scheduler first, then the workers."""
    pytest.importorskip("distributed")
    file = folder / "scheduler.json"
    processes = [_start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file",
                        str(file), folder=folder)]  # fmt: skip
    try:
        end = time.monotonic() + 200
        while not file.exists() or not file.read_text().rstrip().endswith("}"):
            assert processes[0].poll() is None, "the scheduler ended"
            assert time.monotonic() < end, "no scheduler"
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        processes += [worker(address, folder) for _ in range(workers)]
        yield address, processes
    finally:
        for process in reversed(processes):
            process.kill()
        for process in processes:
            process.wait(60)
