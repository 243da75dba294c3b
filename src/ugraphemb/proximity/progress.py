"""Progress of work that takes more than two seconds: a bar on a terminal or in a notebook, lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tick = Callable[[int], None]
_PATIENCE = 2.0
_BETWEEN_LINES = 10.0  # seconds


@contextmanager
def progress_of(total: int, what: str, progress: bool | Callable[[int, int], None] | None) -> Iterator[Tick]:
    """Gives the function that hears how many items are done.

    Args:
        progress: None shows a bar on a terminal or in a notebook if the work takes more than two seconds; True shows it
            at once, or writes a line to stderr every ten seconds if that is a file; False never shows anything. A
            function is called with the items done and the total instead.
    """
    if callable(progress):
        hear = progress
        yield lambda done: hear(done, total)
        hear(total, total)
    elif progress and not _has_bars():
        with _Lines(total, what) as lines:
            yield lines.tick
    elif progress or (progress is None and _has_bars()):
        with _Bar(total, what, 0.0 if progress else _PATIENCE) as bar:
            yield bar.tick
    else:
        yield lambda done: None


def _has_bars() -> bool:
    """Whether a bar can be drawn: on a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Lines:
    """A line now and then, and one at the end."""

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what = total, what
        self.begin = time.monotonic()
        self.next = self.begin + _BETWEEN_LINES

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._write(self.total)

    def tick(self, done: int) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + _BETWEEN_LINES
            self._write(done)

    def _write(self, done: int) -> None:
        rate = done / max(time.monotonic() - self.begin, 1e-9)
        print(f"{self.what}: {done:,} of {self.total:,}, {rate:,.0f}/s", file=sys.stderr, flush=True)


class _Bar:
    """rich's bar, loaded and shown when the work turns out to be long."""

    def __init__(self, total: int, what: str, patience: float) -> None:
        self.total, self.what = total, what
        self.begin = time.monotonic()
        self.show_at = self.begin + patience
        self.shown: Tick | None = None
        self.close: Callable[[], None] = lambda: None

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self.shown is not None and kind is None:
            self.shown(self.total)
        self.close()

    def tick(self, done: int) -> None:
        if self.shown is None and time.monotonic() >= self.show_at:
            self._open()
        if self.shown is not None:
            self.shown(done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = [
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
            TextColumn("{task.fields[rate]:,.0f}/s"),
            TimeRemainingColumn(),
        ]
        bar = Progress(*columns, console=Console(stderr=True), refresh_per_second=5)
        task = bar.add_task(self.what, total=self.total, rate=0.0)
        bar.start()

        def shown(done: int) -> None:
            bar.update(task, completed=done, rate=done / max(time.monotonic() - self.begin, 1e-9))

        self.shown, self.close = shown, bar.stop
