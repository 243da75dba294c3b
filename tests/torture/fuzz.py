"""Damaged files for every reader and every saved format: `make fuzz`.

Each input is a good file of one target with a few mutations. In every case, loading it gives a result or an error
of this library, in less than 2 s of CPU and less than 1 GiB of memory. A row of the report is one of torture.targets.
An input is repeated by its number: `python -m torture.fuzz --target gxl --only 1234`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # workers are forked: no thread may hold a lock meanwhile

from torture.mutations import mutated_file
from torture.processes import Child, FailureError
from torture.targets import TARGETS, Target

from ugraphemb.errors import GraphWarning, UGraphEmbError

SECONDS = 2.0
BYTES = 1 << 30
_PATIENCE = 60  # seconds of wall time until an input counts as hanging


@dataclass
class Outcome:
    """The results of the inputs of a target."""

    inputs: int = 0
    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    largest: int = 0
    problems: list[str] = field(default_factory=list)


def fuzzed(target: Target, numbers: range, seed: int, tell: Callable[[int], None] = lambda number: None) -> Outcome:
    """Uses the target on the inputs of these numbers.

    Args:
        tell: Called with each number before its input is used, so that the parent process knows which one crashed it.
    """
    outcome = Outcome()
    with folder() as good, folder() as place:
        target.save(good)
        content = {path.relative_to(good): path.read_bytes() for path in sorted(good.rglob("*")) if path.is_file()}
        files = [name for name, data in content.items() if data and name.name not in ("README.md", "lock", ".lock")]
        shutil.copytree(good, place, dirs_exist_ok=True)
        with _strict_warnings():
            target.use(place, random.Random(0))  # the files before mutations are good
        for number in numbers:
            chance = random.Random(f"{seed} {target.name} {number}")
            chosen = chance.choice(files)
            (place / chosen).write_bytes(mutated_file(chosen.name, content[chosen], chance))
            tell(number)
            _use(target, place, chance, outcome, number)
            if not (place / chosen).is_file():
                outcome.problems.append(f"input {number}: {chosen} was removed")
            (place / chosen).write_bytes(content[chosen])
    return outcome


def _use(target: Target, place: Path, chance: random.Random, outcome: Outcome, number: int) -> None:
    before = _memory("VmRSS")
    _reset_peak()
    began = time.process_time()
    try:
        with _strict_warnings():
            target.use(place, chance)
        outcome.read += 1
    except UGraphEmbError:
        outcome.refused += 1
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        outcome.problems.append(f"input {number}: {type(error).__name__}: {str(error)[:200]}")
    spent, peak = time.process_time() - began, _memory("VmHWM") - before
    outcome.inputs += 1
    outcome.slowest, outcome.largest = max(outcome.slowest, spent), max(outcome.largest, peak)
    if spent > SECONDS:
        outcome.problems.append(f"input {number}: {spent:.1f} s")
    if peak > BYTES:
        outcome.problems.append(f"input {number}: {peak / 2**20:.0f} MiB")


@contextmanager
def _strict_warnings() -> Iterator[None]:
    """Warnings of other libraries are findings, for example NumPy's about overflow."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".torch.jit", DeprecationWarning)  # PyTorch Geometric on import
        warnings.simplefilter("ignore", GraphWarning)
        yield


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # then the peak is that of the whole process so far, which is larger


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder, in memory if possible."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=shared) as name:
        yield Path(name)


def in_child(target: Target, numbers: range, seed: int) -> Outcome:
    """The same in a separate process, with bounded memory: crashes and endless loops are outcomes, too."""

    def work(send: Callable[[Any], None]) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") + 8 * BYTES, most))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        last = [0]

        def tell(number: int) -> None:
            signal.alarm(_PATIENCE)
            last[0] = number
            (place / "number").write_text(str(number))

        outcome = fuzzed(target, numbers, seed, tell)
        signal.alarm(0)
        send(outcome)

    with folder() as place:
        try:
            found = Child(work).receive(24 * 3600.0)
            assert isinstance(found, Outcome)
            return found
        except FailureError as error:
            if not (place / "number").exists():
                raise  # before the first input
            number = int((place / "number").read_text())
            what = str(error).strip().rpartition("\n")[2]
            return Outcome(inputs=number - numbers.start + 1, problems=[f"input {number}: {what}"])


def main() -> None:
    from report import Report

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=200_000, help="inputs of all targets together")
    parser.add_argument(
        "--target", action="append", choices=[*TARGETS], help="only this one; may be given several times"
    )
    parser.add_argument("--only", type=int, help="only the input of this number, in this process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/fuzz.md and .json")
    parser.add_argument("--update", action="store_true", help="keep the rows of other targets from the last record")
    options = parser.parse_args()
    chosen = [TARGETS[name] for name in options.target or TARGETS]
    if options.only is not None:
        for target in chosen:
            print(target.name, fuzzed(target, range(options.only, options.only + 1), options.seed))
        return
    report = Report(
        "fuzz", "Damaged files", seed=options.seed,
        note="`make fuzz`. Inputs are good files with mutations. Seconds of CPU; MiB beyond what the process had.",
    )  # fmt: skip
    known = _recorded() if options.update else {}
    problems: list[str] = []
    each = options.inputs / sum(target.share for target in chosen)
    for target in chosen:
        began = time.monotonic()
        outcome = _all(target, int(each * target.share) + 1, options.seed)
        problems += [f"{target.name}: {problem}" for problem in outcome.problems]
        known[target.name] = {
            "target": target.name, "inputs": outcome.inputs, "read": outcome.read, "refused": outcome.refused,
            "problems": len(outcome.problems), "slowest, s": round(outcome.slowest, 2),
            "largest, MiB": round(outcome.largest / 2**20), "minutes": round((time.monotonic() - began) / 60, 1),
            "commit": report.about["commit"],
        }  # fmt: skip
        print(known[target.name], *outcome.problems[:5], sep="\n  ", file=sys.stderr, flush=True)
    rows = [known[name] for name in TARGETS if name in known]
    problems += [f"{row['target']}: see its record" for row in rows if row["problems"] and not problems]
    report.table("Inputs", rows)
    total, wanted = sum(row["inputs"] for row in rows), 200_000 if options.update else options.inputs
    report.check(f"{wanted:,} inputs", total >= wanted, f"{total:,}")
    report.check("only results and our own errors, no crash", not problems, "; ".join(problems[:5]) or "no other")
    slowest, largest = max(row["slowest, s"] for row in rows), max(row["largest, MiB"] for row in rows)
    report.check("less than 2 s each", slowest < SECONDS, f"{slowest} s")
    report.check("less than 1 GiB each", largest < BYTES >> 20, f"{largest} MiB")
    report.finish(write=options.record)


def _recorded() -> dict[str, dict[str, Any]]:
    """The rows of the last record, by target."""
    from report import RESULTS

    record = json.loads((RESULTS / "fuzz.json").read_text())
    return {row["target"]: {**row, "commit": row.get("commit", record["commit"])} for row in record["tables"]["Inputs"]}


def _all(target: Target, count: int, seed: int) -> Outcome:
    """All inputs, in child processes with a few thousand each; a child that dies is replaced by another one."""
    total = Outcome()
    next_number = 0
    while next_number < count:
        found = in_child(target, range(next_number, min(count, next_number + 5_000)), seed)
        next_number += found.inputs
        for name in ("inputs", "read", "refused", "problems"):
            setattr(total, name, getattr(total, name) + getattr(found, name))
        total.slowest, total.largest = max(total.slowest, found.slowest), max(total.largest, found.largest)
    return total


if __name__ == "__main__":
    main()
