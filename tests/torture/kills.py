"""Real SIGKILLs at random moments of every writer. What is loaded after each one is complete, and nothing is lost
for which `save` had returned."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from torture.neighbors import check_untouched, own_names, put_beside, put_within
from torture.processes import Child, FailureError
from torture.writers import Writer

from ugraphemb.errors import UGraphEmbError

_STATES = 40  # saves into one folder; then another folder is begun


def killed(writer: Writer, kills: int, seed: int) -> dict[str, int]:
    """Kills a process that saves one state after the other, again and again.

    Returns:
        How many kills left the old state, how many the new one, and how many hit a first save.

    Raises:
        FailureError: A state that was never saved, a state lost, files of others changed, or files left over.
    """
    chance = random.Random(seed)
    tally: Counter[str] = Counter()
    while tally["kills"] < kills:
        with tempfile.TemporaryDirectory(prefix="torture-") as name:
            _one_folder(writer, Path(name), kills, chance, tally)
    return {name: tally[name] for name in ("kills", "old", "new", "during the first save")}


def _one_folder(writer: Writer, folder: Path, kills: int, chance: random.Random, tally: Counter[str]) -> None:
    put_beside(folder)  # state -1: nothing is stored
    saved, within, seconds = -1, False, _seconds(writer)
    while tally["kills"] < kills and saved < _STATES:
        child = Child(lambda send, saved=saved: _saving(writer, folder, send, saved))
        found = child.receive()
        _check(writer, saved, found)
        if saved >= 0 or tally["kills"]:
            tally["old" if found == saved else "new"] += 1
        if found >= 0 and not within:
            put_within(folder, writer)
            within = True
        saved = found
        end = time.monotonic() + chance.uniform(0, 3.5 * seconds)
        while (left := end - time.monotonic()) > 0:
            saved = _latest(saved, child.receive(left))
        for state in child.kill():
            saved = _latest(saved, state)
        tally["kills"] += 1
        tally["during the first save"] += saved < 0
        check_untouched(folder, writer, within=within)
    last = Child(lambda send: _saving(writer, folder, send, saved, once=True)).messages()
    _check(writer, saved, last[0])
    check_untouched(folder, writer, within=within)
    _check_left_over(writer, folder, last[-1])


def _latest(saved: int, message: int | None) -> int:
    return saved if message is None else message


@cache
def _seconds(writer: Writer) -> float:
    """Duration of a save, roughly."""
    with tempfile.TemporaryDirectory(prefix="torture-") as name:

        def work(send: Callable[[Any], None]) -> None:
            for n in range(4):
                began = time.monotonic()
                writer.save(Path(name), n)
                send(time.monotonic() - began)

        return sum(Child(work).messages()[1:]) / 3


def _saving(writer: Writer, folder: Path, send: Callable[[Any], None], saved: int, *, once: bool = False) -> None:
    n = loaded(writer, folder, first=saved < 0)
    n = -1 if n is None else n
    send(n)
    while True:
        n += 1
        writer.save(folder, n)
        send(n)
        if once:
            return


def loaded(writer: Writer, folder: Path, *, first: bool) -> int | None:
    """The stored state; None if there is none, which is allowed only while the first save has not returned."""
    try:
        return writer.load(folder)
    except (UGraphEmbError, FileNotFoundError) as error:
        if not first:
            raise FailureError(f"{writer.name}: what had been saved does not load: {error}") from error
        return None


def _check(writer: Writer, saved: int, found: int | None) -> None:
    if found is None or not saved <= found <= saved + 1:
        raise FailureError(f"{writer.name}: state {saved} had been saved, and after a kill there is {found}")


def _check_left_over(writer: Writer, folder: Path, n: int) -> None:
    """Checks that the folder holds the same as one that was never disturbed."""
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        undisturbed = Path(name)

        def work(send: Callable[[Any], None]) -> None:
            for state in range(n + 1) if writer.grows else (n,):
                writer.save(undisturbed, state)

        Child(work).messages()
        more = own_names(folder, writer) - own_names(undisturbed, writer)
        less = own_names(undisturbed, writer) - own_names(folder, writer)
    if more or less:
        raise FailureError(f"{writer.name}: after kills and a save, left over: {dict(more)}, missing: {dict(less)}")
