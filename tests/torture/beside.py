"""Concurrent processes: readers while another process saves, and several that save to the same place at once."""

from __future__ import annotations

import multiprocessing
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torture.neighbors import check_untouched, put_beside, put_within
from torture.processes import Child, FailureError
from torture.writers import Writer

from ugraphemb.errors import UGraphEmbError

_BARRIER = multiprocessing.get_context("fork").Barrier


def readers_beside_a_writer(writer: Writer, loads: int, *, readers: int = 2) -> dict[str, int]:
    """Loads while another process saves one state after the other.

    Each load gives one complete state, no older than what was saved when it began, and raises nothing.

    Returns:
        The number of loads, and how many different states they saw.
    """
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        folder = Path(name)
        put_beside(folder)
        writer.save(folder, 0)
        put_within(folder, writer)
        saved = multiprocessing.get_context("fork").Value("q", 0)

        def saving(send: Callable[[Any], None]) -> None:
            n = 0
            while n < 90:  # then the readers finish without further saves
                n += 1
                writer.save(folder, n)
                saved.value = n
                time.sleep(0.001)

        def reading(send: Callable[[Any], None]) -> None:
            for _ in range(loads // readers):
                at_least = saved.value
                found = writer.load(folder)
                at_most = saved.value + 1
                if not at_least <= found <= at_most:
                    raise FailureError(f"{writer.name}: state {found}, where {at_least} to {at_most} were there")
                send(found)

        process = Child(saving)
        others = [Child(reading) for _ in range(readers)]
        try:
            seen = [state for other in others for state in other.messages()]
        finally:
            process.kill()
        check_untouched(folder, writer, within=True)
    return {"loads": len(seen), "states": len(set(seen))}


def saves_at_once(writer: Writer, rounds: int, seed: int, *, processes: int = 2) -> dict[str, int]:
    """Several processes save to the same place at the same moment: first to an empty place, then over a saved state.

    All of them succeed; with an exclusive writer one succeeds, and the others get an error of this library. So do those
    that change what they had loaded, if another process has changed it meanwhile. The final state can be loaded.
    """
    chance = random.Random(seed)
    tally: Counter[str] = Counter()
    for number in range(rounds):
        with tempfile.TemporaryDirectory(prefix="torture-") as name:
            folder, barrier, state = Path(name), _BARRIER(processes), number % 2
            put_beside(folder)
            if state:
                Child(lambda send: writer.save(folder, 0)).messages()  # noqa: B023
                put_within(folder, writer)
            delays = [chance.choice([0, 0, chance.uniform(0, 0.01)]) for _ in range(processes)]

            def saving(send: Callable[[Any], None], wait: float) -> None:
                barrier.wait()  # noqa: B023
                time.sleep(wait)
                try:
                    writer.save(folder, state)  # noqa: B023
                    send("saved")
                except UGraphEmbError:
                    if not writer.exclusive and not (writer.grows and state):  # noqa: B023
                        raise
                    send("refused")

            children = [Child(lambda send, wait=wait: saving(send, wait)) for wait in delays]  # type: ignore[misc]
            answers = [answer for child in children for answer in child.messages()]
            if "saved" not in answers:
                raise FailureError(f"{writer.name}: {processes} saves at once, and none of them succeeded")
            if Child(lambda send: send(writer.load(folder))).messages() != [state]:  # noqa: B023
                raise FailureError(f"{writer.name}: {processes} saves at once, and the stored state does not load")
            check_untouched(folder, writer, within=bool(state))
            tally.update(answers)
    return {"rounds": rounds, "saved": tally["saved"], "refused": tally["refused"]}
