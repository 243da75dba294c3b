"""What all readers share: notes instead of warnings, GraphFormatError as the only error, progress."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import update_wrapper
from pathlib import Path
from typing import Generic, ParamSpec, TypeVar

from ugraphemb.errors import GraphFormatError, warned
from ugraphemb.files import read_whole
from ugraphemb.graphs.collector import Reading
from ugraphemb.graphs.formats.text import suffix_of
from ugraphemb.graphs.graphset import GraphSet

Progress = Callable[[int, int], None]
_P = ParamSpec("_P")
_T = TypeVar("_T")
# Exceptions of libraries for damaged files. ValueError is also raised for wrong options.
_UNFORESEEN = (OSError, EOFError, LookupError, ArithmeticError, RecursionError, MemoryError, UnicodeError, zlib.error)
_MOST_NOTES = 5


class Reader(Generic[_P]):
    """A function that reads the graphs of a file. A call warns about what was dropped; `reading` returns the notes."""

    def __init__(self, function: Callable[_P, Reading]) -> None:
        self._function = function
        update_wrapper(self, function)

    def __call__(self, *arguments: _P.args, **options: _P.kwargs) -> GraphSet:
        return reported(self.reading(*arguments, **options))

    def reading(self, *arguments: _P.args, **options: _P.kwargs) -> Reading:
        def read() -> Reading:
            return self._function(*arguments, **options)

        try:
            path = Path(str(arguments[0]))
            return read_whole(path, read) if _has_several_files(path) else read()
        except GraphFormatError:
            raise
        except _UNFORESEEN as error:
            if isinstance(error, LookupError) and not isinstance(error, IndexError | KeyError):
                raise
            reason = getattr(error, "strerror", None) or error or type(error).__name__
            raise GraphFormatError(f"{arguments[0]}: cannot be read ({reason})") from error


def _has_several_files(path: Path) -> bool:
    return path.is_dir() or (suffix_of(path) == ".cxl" and path.exists())


def reported(reading: Reading) -> GraphSet:
    """The graphs, with one GraphWarning for all notes. The only place where readers warn."""
    notes = reading.notes
    if notes:
        more = f"; and {len(notes) - _MOST_NOTES} more" if len(notes) > _MOST_NOTES else ""
        warned("; ".join(notes[:_MOST_NOTES]) + more)
    return reading.graphs


def counted(items: Sequence[_T], progress: Progress | None) -> Iterator[_T]:
    """The items; `progress` is called a hundred times with the number done."""
    if progress is None:
        yield from items
        return
    step = max(1, len(items) // 100)
    for done, item in enumerate(items):
        if done % step == 0:
            progress(done, len(items))
        yield item
    progress(len(items), len(items))
