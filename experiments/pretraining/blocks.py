"""Blocks of graphs from an endless source, with true distances of all pairs, for `ugraphemb.training.loop.train`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

import ugraphemb as ug
from ugraphemb.encoder.rows import Rows
from ugraphemb.training.online import Block, Truth

Floats = npt.NDArray[np.float32]

_AHEAD = 12  # blocks that are requested before they are needed


class Source(Protocol):
    """Where graphs come from."""

    name: str

    def block(self, number: int, size: int, seed: int) -> ug.GraphSet:
        """The graphs of one block, which depend only on its number and the seed."""


@dataclass
class SourceBlocks:
    """The counterpart of `OnlineBlocks` for graphs from a source: a step draws one of the last `window` blocks.

    With several processes (`world`), each makes its own blocks: those whose number is its `rank` modulo `world`.
    """

    source: Source
    size: int
    steps: int
    steps_a_block: int
    truth: Truth
    prepared: Callable[[ug.GraphSet], Rows]
    seed: int
    window: int = 250
    rank: int = 0
    world: int = 1
    share: float = 1.0
    pairs: int = 0
    _made: dict[int, Future[tuple[Rows, Floats]]] = field(default_factory=dict, init=False)
    _values: OrderedDict[int, Floats] = field(default_factory=OrderedDict, init=False)
    _workers: ThreadPoolExecutor | None = field(default=None, init=False)
    _stopped: bool = field(default=False, init=False)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Computes distances while the `with` block is active; after it, running computations stop within a moment."""
        self._stopped, self._made = False, {}
        with ThreadPoolExecutor(1, "truth") as self._workers:
            try:
                yield
            finally:
                self._stopped = True
                self._workers.shutdown(wait=False, cancel_futures=True)
        self._workers = None

    def drawn(self, step: int, generator: np.random.Generator, *_: Any) -> Block:
        """The block of this step. After a resumption, blocks whose distances are not in the checkpoint are made
        again."""
        assert self._workers is not None
        there = step // self.steps_a_block + 1
        first = max(0, there - self.window)
        for number in range(max(first, max(self._made, default=first - 1) + 1), there + _AHEAD):
            self._made[number] = self._workers.submit(self._make, number * self.world + self.rank)
        for number in [number for number in self._made if number < first]:
            del self._made[number]
            self._values.pop(number * self.world + self.rank, None)
        rows, value = self._made[int(generator.integers(first, there))].result()
        return Block(rows, value)

    def _make(self, number: int) -> tuple[Rows, Floats]:
        graphs = self.source.block(number, self.size, self.seed)
        value = self._values.get(number)
        if value is None:
            value = self.truth.of_all_pairs(graphs, self._tick)
            self.pairs += len(value)
        self._values[number] = value
        return self.prepared(graphs), value

    def _tick(self, done: int, of: int) -> None:
        if self._stopped:
            raise CancelledError

    def state(self) -> dict[str, Any]:
        """The distances of the blocks in use, for a checkpoint."""
        values = {str(number): torch.from_numpy(value) for number, value in list(self._values.items())}
        return {"pairs": self.pairs, "values": values}

    def restore(self, state: dict[str, Any]) -> None:
        self.pairs = state["pairs"]
        self._values = OrderedDict((int(number), value.numpy()) for number, value in state["values"].items())

    def identity(self) -> dict[str, Any]:
        settings = self.truth.metric.settings()
        return {
            "source": self.source.name, "size": self.size, "steps_a_block": self.steps_a_block, "window": self.window,
            "metric": self.truth.metric.name, **settings, "refined": self.truth.refined, "world": self.world,
        }  # fmt: skip
