"""Tests of saved files under disk faults, power failures, kills and concurrent processes: `make torture`.

Run as `python -m torture` with tests/ and benchmarks/ on the path. The full run writes benchmarks/results/torture.md.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # children are forked: no thread may hold a lock meanwhile

import torch
from report import Report
from torture.beside import readers_beside_a_writer, saves_at_once
from torture.faults import faulted, steps
from torture.flips import SAVED, flipped
from torture.kills import killed
from torture.processes import Child
from torture.training import killed_in_training
from torture.writers import BASIC, WRITERS, Writer

KINDS = ("kills", "training", "readers", "saves at once", "faults", "flips")


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(1)
    report = Report(
        "torture",
        "Kills, faults, damage and other processes",
        seed=arguments.seed,
        note="`make torture`. Each row is one kind of saved file or folder; a check fails with the first wrong state.",
    )
    chosen = [writer for writer in WRITERS.values() if writer.name in (arguments.writer or WRITERS)]
    for writer in chosen:
        _warm_up(writer)
    for kind in arguments.only or KINDS:
        _RUNS[kind](report, chosen, arguments)
    report.finish(write=arguments.record)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=KINDS, help="may be given several times")
    parser.add_argument("--writer", action="append", choices=list(WRITERS), help="likewise")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--kills", type=int, default=150, help="kills of each writer")
    parser.add_argument("--loads", type=int, default=400, help="loads while each writer saves")
    parser.add_argument("--rounds", type=int, default=100, help="rounds of two saves at once")
    parser.add_argument("--calls", type=int, default=0, help="calls of each save that are disturbed; 0 is all")
    parser.add_argument("--flips", type=int, default=300, help="flipped bits in each file, at most all of them")
    parser.add_argument("--quick", action="store_true", help="a small number of each, in a minute or two")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/torture.md and .json")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.kills, arguments.loads, arguments.rounds, arguments.calls, arguments.flips = 10, 40, 4, 6, 10
    return arguments


def _warm_up(writer: Writer) -> None:
    """Saves and loads, so that child processes start with all modules imported."""
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        for n in range(2):
            writer.save(Path(name), n)
            writer.load(Path(name))


def _table(report: Report, title: str, what: str, cases: dict[str, Callable[[], dict[str, int]]], jobs: int) -> None:
    """Runs the cases, several at a time, each in a separate process."""
    waiting, running, rows = list(cases), {}, {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            running[name] = Child(lambda send, name=name: send(_timed(cases[name])))
        for name, child in list(running.items()):
            try:
                row = child.receive(0.1)
            except AssertionError as failure:
                row = None
                report.check(f"{what}: {name}", False, str(failure))
                del running[name]
            if row is not None:
                rows[name] = {"of": name, **row}
                del running[name]
                print(f"{title}: {name}, {row['seconds']} s", file=sys.stderr, flush=True)
    table = [rows[name] for name in cases if name in rows]
    report.table(title, table)
    total = {key: sum(row[key] for row in table) for key in (table[0] if table else {}) if key not in ("of", "seconds")}
    report.check(what, len(table) == len(cases), ", ".join(f"{count:,} {key}" for key, count in total.items()))


def _timed(run: Callable[[], dict[str, int]]) -> dict[str, Any]:
    began = time.monotonic()
    return {**run(), "seconds": round(time.monotonic() - began, 1)}


def _kills(report: Report, writers: list[Writer], options: argparse.Namespace) -> None:
    _table(
        report, "SIGKILL at random moments", "after each kill the old or the new state, whole, and nothing left over",
        {writer.name: lambda w=writer: killed(w, options.kills, options.seed) for writer in writers}, options.jobs,
    )  # fmt: skip


def _training(report: Report, writers: list[Writer], options: argparse.Namespace) -> None:
    _table(
        report, "SIGKILL while training", "a training that is killed and resumed gives the same model",
        {"training": lambda: killed_in_training(options.kills, options.seed)}, options.jobs,
    )  # fmt: skip


def _readers(report: Report, writers: list[Writer], options: argparse.Namespace) -> None:
    _table(
        report, "Loads beside a process that saves", "each load sees one whole state, no older than the last saved",
        {writer.name: lambda w=writer: readers_beside_a_writer(w, options.loads) for writer in writers}, options.jobs,
    )  # fmt: skip


def _saves_at_once(report: Report, writers: list[Writer], options: argparse.Namespace) -> None:
    _table(
        report, "Two processes that save at once", "all succeed, or one and others are refused; what is there loads",
        {writer.name: lambda w=writer: saves_at_once(w, options.rounds, options.seed) for writer in writers},
        options.jobs,
    )  # fmt: skip


def _faults(report: Report, writers: list[Writer], options: argparse.Namespace) -> None:
    def choose(calls: list[int]) -> list[int]:
        few = options.calls and len(calls) > options.calls
        return sorted(random.Random(options.seed).sample(calls, options.calls)) if few else calls

    cases = {str(step): step for writer in (*BASIC.values(), *writers) for step in steps(writer)}
    _table(
        report, "Faults and power failures at every call of a save", "after each fault the old or the new state, whole",
        {name: lambda s=step: faulted(s, options.seed, choose) for name, step in cases.items()}, options.jobs,
    )  # fmt: skip


def _flips(report: Report, writers: list[Writer], options: argparse.Namespace) -> None:
    def run(name: str) -> dict[str, int]:
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            return flipped(SAVED[name], Path(folder), options.flips, options.seed)

    chosen = [name for name in SAVED if name.removeprefix("large ") in {writer.name for writer in writers}]
    _table(
        report, "Single flipped bits", "each flipped bit is found",
        {name: lambda n=name: run(n) for name in chosen}, options.jobs,
    )  # fmt: skip


_RUNS = {
    "kills": _kills, "training": _training, "readers": _readers, "saves at once": _saves_at_once, "faults": _faults,
    "flips": _flips,
}  # fmt: skip

if __name__ == "__main__":
    main()
