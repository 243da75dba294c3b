"""The one progress bar: of work that takes more than two seconds, on a terminal or in a notebook; lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

Progress = bool | Callable[[int, int], None] | None
_PATIENCE = 2.0
_BETWEEN_LINES = 10.0  # seconds


class Tick(Protocol):
    """Is called with the number of items done, a status text, and the total if it was not known before."""

    def __call__(self, done: int, text: str = "", *, total: int | None = None) -> None: ...


@contextmanager
def progress_of(total: int | None, what: str, progress: Progress, *, unit: str = "") -> Iterator[Tick]:
    """Returns the function to call with the number of items done.

    Args:
        total: How many there are; None if that is not known yet.
        progress: None shows a bar on a terminal or in a notebook if the work takes more than two seconds; True shows it
            at once, or writes a line to stderr every ten seconds if that is a file; False never shows anything. A
            function is called with the items done and the total instead.
        unit: "bytes" counts in MB.
    """
    if callable(progress):
        hear, known = progress, total or 0

        def pass_on(done: int, text: str = "", *, total: int | None = None) -> None:
            hear(done, known if total is None else total)

        yield pass_on
        hear(known, known)
    elif progress and not _has_bars():
        with _Shown(total, what, unit, 0.0, _Lines) as shown:
            yield shown.tick
    elif progress or (progress is None and _has_bars()):
        with _Shown(total, what, unit, 0.0 if progress else _PATIENCE, _Bar) as shown:
            yield shown.tick
    else:
        yield _ignore


def _ignore(done: int, text: str = "", *, total: int | None = None) -> None:
    """Shows nothing."""


def _has_bars() -> bool:
    """Whether a bar can be drawn: on a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Shown:
    """Counts, and opens the display when the work turns out to be long."""

    def __init__(self, total: int | None, what: str, unit: str, patience: float, display: type[_Bar | _Lines]) -> None:
        self.total, self.what, self.unit, self.display = total, what, unit, display
        self.begin = time.monotonic()
        self.show_at = self.begin + patience
        self.done, self.text = 0, ""
        self.shown: _Bar | _Lines | None = None

    def __enter__(self) -> _Shown:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and (self.shown is not None or self.display is _Lines):
            self._display().show(self.total or self.done, self.total, self.status(self.total or self.done), last=True)
        if self.shown is not None:
            self.shown.close()

    def tick(self, done: int, text: str = "", *, total: int | None = None) -> None:
        self.done, self.text = done, text
        if total is not None:
            self.total = total
        if self.shown is not None or time.monotonic() >= self.show_at:
            self._display().show(done, self.total, self.status(done))

    def status(self, done: int) -> str:
        """The status text of the caller, or else the rate."""
        return self.text or f"{_count(done / max(time.monotonic() - self.begin, 1e-9), self.unit)}/s"

    def _display(self) -> _Bar | _Lines:
        if self.shown is None:
            self.shown = self.display(self.what, self.unit, self.total)
        return self.shown


class _Lines:
    """A line every ten seconds, and one at the end."""

    def __init__(self, what: str, unit: str, total: int | None) -> None:
        self.what, self.unit = what, unit
        self.next = time.monotonic() + _BETWEEN_LINES

    def show(self, done: int, total: int | None, status: str, last: bool = False) -> None:
        if last or time.monotonic() >= self.next:
            self.next = time.monotonic() + _BETWEEN_LINES
            of = "" if total is None else f" of {_count(total, self.unit)}"
            print(f"{self.what}: {_count(done, self.unit)}{of}, {status}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Lines stay."""


class _Bar:
    """rich's bar."""

    def __init__(self, what: str, unit: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}")]
        columns += [TextColumn("{task.fields[status]}", markup=False), TimeRemainingColumn()]
        self.unit = unit
        self.bar = Progress(*columns, console=Console(stderr=True), refresh_per_second=5)
        self.task = self.bar.add_task(what, total=total, count="", status="")
        self.bar.start()

    def show(self, done: int, total: int | None, status: str, last: bool = False) -> None:
        count = _count(done, self.unit) if total is None else f"{_count(done, self.unit)}/{_count(total, self.unit)}"
        self.bar.update(self.task, completed=done, total=total, count=count, status=status)

    def close(self) -> None:
        self.bar.stop()


def _count(number: float, unit: str) -> str:
    return f"{number / 1e6:,.1f} MB" if unit == "bytes" else f"{number:,.0f}"
