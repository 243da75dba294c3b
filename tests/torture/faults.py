"""Faults at every call to the operating system that a writer makes: a full disk, an input or output error, a process
that dies there, and a power failure that loses what was not flushed to the disk.

After each of them the old state or the new one is stored completely; only errors of this library were raised; the next
save succeeds and leaves no files of the one that failed.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from torture.journal import CHANGES, Journal, KilledError, Remains, write_remains
from torture.kills import loaded
from torture.neighbors import check_untouched, own_names, put_beside, put_within
from torture.processes import FailureError
from torture.writers import Writer

from ugraphemb.errors import UGraphEmbError

LOSSES = ("none", "all", "names", "content", *["some"] * 8)
_ERRORS = {"full disk": errno.ENOSPC, "input/output error": errno.EIO}


@dataclass(frozen=True)
class Step:
    """A save that is disturbed: of state `new`, over `old`, which is None for a first save."""

    writer: Writer
    old: int | None

    def __str__(self) -> str:
        return f"{self.writer.name}, {'first save' if self.old is None else f'state {self.old} to {self.new}'}"

    @property
    def new(self) -> int:
        return 0 if self.old is None else self.old + 1


class Tester:
    """Disturbs one save in every way.

    Args:
        scratch: A folder for everything.
    """

    def __init__(self, step: Step, scratch: Path, seed: int) -> None:
        self.step, self.writer = step, step.writer
        self.tally: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._scratch = scratch
        self._before, self._remains = scratch / "before", scratch / "remains"
        self._names: dict[int, Counter[str]] = {}
        self._checked: dict[tuple[int, bool], str] = {}
        self._prepare()

    def _prepare(self) -> None:
        self._before.mkdir()
        put_beside(self._before)
        undisturbed = self._scratch / "undisturbed"
        undisturbed.mkdir()
        for n in range(self.step.new + 2):
            self.writer.save(undisturbed, n)
            self._names[n] = own_names(undisturbed, self.writer)
            if n == self.step.old:
                shutil.copytree(undisturbed, self._before, dirs_exist_ok=True)
                put_within(self._before, self.writer)
        with self._copy() as folder, Journal(folder).active() as journal:
            self.writer.save(folder, self.step.new)
            journal.check_against(folder)
        self.calls = journal.calls

    def die_at(self, number: int) -> None:
        """The process dies before call `number`, or after the last one; after a write also with a part of it done."""
        self._die(number, None)
        if number and self.calls[number - 1] == "write":
            self._die(number, 1)

    def _die(self, number: int, cut: int | None) -> None:
        def before(current: int, name: str) -> int | None:
            if current == number:
                raise KilledError
            return cut if current == number - 1 else None

        with self._copy() as folder, Journal(folder, before).active() as journal:
            try:
                self.writer.save(folder, self.step.new)
            except KilledError:
                pass
            except Exception as error:  # a library may turn it into another exception
                if not journal.dead:
                    raise FailureError(f"{self._where(number)}: {type(error).__name__}: {error}") from error
        for loss in LOSSES:
            remains = journal.remains(loss, self._chance)
            self._check(remains, f"{self._where(number)}, loss: {loss}", must_be_new=not journal.dead)
            self.tally["deaths"] += 1

    def fail_at(self, number: int, kind: str, *, lasting: bool) -> None:
        """Call `number` fails; `lasting`: so does every later call that can fail."""

        def before(current: int, name: str) -> None:
            if name != "close" and (current == number or (lasting and current > number and name in CHANGES)):
                code = _ERRORS[kind]
                raise OSError(code, os.strerror(code))

        where = f"{self._where(number)}: {kind}{', lasting' if lasting else ''}"
        with self._copy() as folder, Journal(folder, before).active() as journal:
            done = False
            try:
                self.writer.save(folder, self.step.new)
                done = True
            except UGraphEmbError:
                pass
            except Exception as error:
                raise FailureError(f"{where}: {type(error).__name__} instead of our own error: {error}") from error
        for loss in ("none", "all"):
            self._check(journal.remains(loss, self._chance), f"{where}, loss: {loss}", must_be_new=done)
            self.tally["errors"] += 1

    def short_writes(self) -> None:
        """Every write stores only a few bytes, which the operating system is allowed to do."""
        with self._copy() as folder, Journal(folder, lambda number, name: 200 + number % 50).active() as journal:
            self.writer.save(folder, self.step.new)
            journal.check_against(folder)
        self._check(journal.remains("all", self._chance), f"{self.step}, short writes", must_be_new=True)

    def _check(self, remains: Remains, where: str, *, must_be_new: bool) -> None:
        """Checks that one complete state remains, and that the next save works and cleans up. Equal results once."""
        key = hash(remains), must_be_new
        if key in self._checked:
            self.tally[self._checked[key]] += 1
            return
        self._checked[key] = self._state_of(remains, where, must_be_new=must_be_new)
        self.tally[self._checked[key]] += 1
        self.tally["different"] += 1

    def _state_of(self, remains: Remains, where: str, *, must_be_new: bool) -> str:
        folder = self._remains
        write_remains(remains, folder)
        try:
            try:
                found = loaded(self.writer, folder, first=self.step.old is None)
            except Exception as error:
                raise FailureError(f"{where}: neither old nor new: {type(error).__name__}: {error}") from error
            if found not in ((self.step.new,) if must_be_new else (self.step.old, self.step.new)):
                raise FailureError(
                    f"{where}: state {found}, not {self.step.old} or {self.step.new} (done: {must_be_new})"
                )
            check_untouched(folder, self.writer, within=self.step.old is not None)
            following = 0 if found is None else found + 1
            try:
                self.writer.save(folder, following)
                again = self.writer.load(folder)
            except Exception as error:
                raise FailureError(f"{where}: the next save fails: {type(error).__name__}: {error}") from error
            if again != following:
                raise FailureError(f"{where}: the next save gives state {again}, not {following}")
            check_untouched(folder, self.writer, within=self.step.old is not None)
            if own_names(folder, self.writer) != self._names[following]:
                more, less = (
                    own_names(folder, self.writer) - self._names[following],
                    self._names[following] - own_names(folder, self.writer),
                )
                raise FailureError(f"{where}: after the next save, left over: {dict(more)}, missing: {dict(less)}")
            return "old" if found == self.step.old else "new"
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        folder = self._scratch / "work"
        shutil.copytree(self._before, folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)

    def _where(self, number: int) -> str:
        call = self.calls[number] if number < len(self.calls) else "end"
        return f"{self.step}, call {number} of {len(self.calls)} ({call})"


def steps(writer: Writer) -> list[Step]:
    """The different saves of a writer: the first, one over another, and for an index also a part and a complete one."""
    old: list[int | None] = [None, 0]
    if writer.name == "index":
        old += [2, 6]  # removes a graph; replaces the index by another one
    return [Step(writer, n) for n in old]


def faulted(step: Step, seed: int, choose: Callable[[list[int]], list[int]]) -> dict[str, int]:
    """All faults of one save, at the calls that `choose` selects.

    Returns:
        The number of calls of a save, and of faults by kind.
    """
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # fsync is simulated and need not wait
    with tempfile.TemporaryDirectory(prefix="torture-", dir=memory) as name:
        tester = Tester(step, Path(name), seed)
        everywhere = list(range(len(tester.calls)))
        changing = [number for number in everywhere if tester.calls[number] in CHANGES]
        for number in choose([*changing, len(tester.calls)]):
            tester.die_at(number)
        for number in choose([number for number in everywhere if tester.calls[number] != "close"]):
            for kind in _ERRORS:
                for lasting in (False, True):
                    tester.fail_at(number, kind, lasting=lasting)
        tester.short_writes()
    return {
        "calls": len(tester.calls),
        **{name: tester.tally[name] for name in ("deaths", "errors", "old", "new", "different")},
    }
