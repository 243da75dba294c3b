"""Real kills, loads beside a process that saves, and first saves at once: a few of what `make torture` does.

In a process of its own, which has no threads when it forks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def test_kills_and_other_processes_lose_nothing():
    command = [sys.executable, "-m", "torture", "--kills", "4", "--loads", "16", "--rounds", "2"]
    for kind in ("kills", "readers", "saves at once"):
        command += ["--only", kind]
    path = os.pathsep.join(map(str, (TESTS, TESTS.parent / "benchmarks")))
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\nok ") == 3
