"""The pairs of a table in pieces: one after the other here, or many at once on an executor's workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.metrics import Columns, Metric, Positions, Run
from ugraphemb.workers import Workers, crew_of

SECONDS = 3.0  # seconds of work in a piece: the most that a kill can lose
_FIRST, _GROWTH, _MOST = 64, 8, 1 << 20  # pairs of the first pieces; how fast pieces grow; pairs of the largest

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Job:
    """What is the same for every piece."""

    metric: Metric
    left: GraphSet
    right: GraphSet
    timeout: float | None
    threads: int


class Pieces:
    """Cuts a list of pairs into pieces of equal estimated cost, whose size follows the speed that is seen.

    The cost of a pair is the product of the numbers of nodes, plus a constant per pair.
    """

    def __init__(self, job: Job, rows: Rows, left_of: Positions, right_of: Positions) -> None:
        self.rows = rows
        costs = job.left.num_nodes[left_of[rows]].astype(np.float64) * job.right.num_nodes[right_of[rows]] + 16
        self._ends = np.cumsum(costs)
        self._next = 0
        self._largest = _FIRST
        self._cost, self._seconds = 0.0, 0.0

    def take(self, workers: int) -> Rows | None:
        """The next piece, for one of `workers` workers; None when there are no more."""
        begin = self._next
        left = len(self.rows) - begin
        if left == 0:
            return None
        count = self._largest
        if self._seconds > 0:
            before = self._ends[begin - 1] if begin else 0.0
            target = before + self._cost / self._seconds * SECONDS
            count = min(int(np.searchsorted(self._ends, target, side="right")) - begin, self._largest)
        if workers > 1:  # near the end, work for every worker
            count = min(count, -(-left // (2 * workers)))
        self._next = begin + min(max(count, 1), left, _MOST)
        return self.rows[begin : self._next]

    def learn(self, rows: Rows, seconds: float) -> None:
        """How long a piece took."""
        first = int(np.searchsorted(self.rows, rows[0]))
        last = first + len(rows)
        self._cost += float(self._ends[last - 1] - (self._ends[first - 1] if first else 0.0))
        self._seconds += max(seconds, 1e-6)
        self._largest = max(self._largest, min(_GROWTH * len(rows), _MOST))


Piece = tuple[Rows, Columns]


def here(
    job: Job, pieces: Pieces, left_of: Positions, right_of: Positions, tick: Callable[[int], None]
) -> Iterator[Piece]:
    """Piece after piece in this process, on all its threads. When stopped, the last piece holds what was finished."""
    finished = 0
    while (rows := pieces.take(1)) is not None:
        out = Columns.empty(len(rows))
        begin = time.monotonic()
        run = Run(job.threads, job.timeout, lambda done, before=finished: tick(before + done))  # type: ignore[misc]
        try:
            job.metric.compute(job.left, job.right, left_of[rows], right_of[rows], run, out)
        except BaseException:
            yield rows, out
            raise
        pieces.learn(rows, time.monotonic() - begin)
        finished += len(rows)
        tick(finished)
        yield rows, out


def away(
    job: Job, pieces: Pieces, left_of: Positions, right_of: Positions, tick: Callable[[int], None], executor: Workers
) -> Iterator[Piece]:
    """Pieces as workers finish them.

    Raises:
        ClusterError: A worker has another version, or workers die repeatedly.
    """
    finished = 0
    with crew_of(executor) as crew:
        found = crew.results(
            _computed,
            crew.share(job),
            lambda: pieces.take(crew.size),
            lambda rows: (left_of[rows], right_of[rows]),
            glance=lambda: tick(finished),
            advice="with a store, finished pairs are kept: run the same again",
        )
        for rows, (seconds, lower, upper, proven) in found:
            pieces.learn(rows, seconds)
            finished += len(rows)
            yield rows, Columns(lower, upper, proven, np.ones(len(rows), np.bool_))


def _computed(job: Job, left_of: Positions, right_of: Positions) -> tuple[float, Any, Any, Any]:
    """Runs on a worker: seconds of work, lower, upper, proven."""
    out = Columns.empty(len(left_of))
    begin = time.monotonic()
    job.metric.compute(job.left, job.right, left_of, right_of, Run(job.threads, job.timeout), out)
    return time.monotonic() - begin, out.lower, out.upper, out.proven
