"""Cells and the files that store them: a finished cell is not computed again."""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ugraphemb.files import BusyError, Lock


@dataclass(frozen=True)
class Cell:
    """One number, or a few that belong together: an experiment on one data set by one method on one split.

    Attributes:
        settings: Everything else that the numbers depend on (JSON). Part of the key:
            cells with other settings are different cells.
        tier: Cells of a lower tier are computed first.
    """

    experiment: str
    data: str
    method: str
    split: int
    settings: dict[str, Any] = field(default_factory=dict)
    tier: int = 1

    @property
    def key(self) -> str:
        return digest([self.experiment, self.data, self.method, self.split, self.settings])

    def __str__(self) -> str:
        return f"{self.experiment} {self.data} {self.method} split {self.split}"


class Ledger:
    """The finished cells of one experiment on one data set: a file of JSON lines, appended to and never rewritten.

    A line that a crash left incomplete is ignored; of two lines with the same key the later one counts.
    """

    def __init__(self, folder: Path, experiment: str, data: str) -> None:
        self.path = folder / experiment / f"{data}.jsonl"

    def rows(self) -> dict[str, dict[str, Any]]:
        """Finished cells by key."""
        if not self.path.exists():
            return {}
        rows = {}
        for line in self.path.read_text().splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            rows[row["key"]] = row
        return rows

    def add(self, cell: Cell, values: dict[str, Any], about: dict[str, Any]) -> None:
        """Appends one line, which is completely on the disk when this returns."""
        row = {
            "key": cell.key, "experiment": cell.experiment, "set": cell.data, "method": cell.method,
            "split": cell.split, "values": rounded(values), **about, "settings": cell.settings,
        }  # fmt: skip
        line = json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0, os.SEEK_END)
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # an incomplete line is ended, so that the next one is valid
                    file.write(b"\n")
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())


def digest(content: Any) -> str:
    """A short name for anything JSON can hold; the order of keys makes no difference."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def rounded(values: Any) -> Any:
    """Six digits of every float, and None for what is not finite: files stay small and are JSON."""
    if isinstance(values, dict):
        return {key: rounded(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [rounded(value) for value in values]
    if isinstance(values, float) or type(values).__name__.startswith("float"):
        return float(f"{float(values):.6g}") if math.isfinite(values) else None
    return values.item() if hasattr(values, "item") else values


@contextmanager
def lock(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds a file's lock, which the system releases when the process ends; yields False if another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        held = Lock(path, wait=wait)
    except BusyError:
        yield False
        return
    try:
        yield True
    finally:
        held.release()
