"""From a shortlist, or a whole database, to answers that are proven: bounds of edit distance, the cheap ones first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.filters import Filters
from ugraphemb.proximity.ged import EditDistance, Method
from ugraphemb.proximity.metrics import Answer, Columns, Run
from ugraphemb.search.neighbors import Flags, Floats, Ints
from ugraphemb.search.parts import Database

By = Literal["normalized", "edits"]
Mapping = npt.NDArray[np.int32]
STAGES = ("none", "size", "labels", "degrees", "branch", "tight", "exact")

_SLACK = 1e-9  # sums of costs that are no whole numbers
_PIECE = 4_000  # graphs compared in one go
_PROOFS = 8  # exact distances under way before it is asked again which ones matter
_PATIENCE = (0.02, 0.2, 2.0, float("inf"))  # seconds for one proof, round by round: an easy one never waits long


class Narrowing:
    """Bounds of the edit distance from one graph to some of a database, narrowed until the answer is proven.

    Args:
        query: A collection of one graph.
        positions: The graphs of the database that count.
        by: Ranks go by the distance divided by the mean size, or by the distance.
        budget: Seconds for proofs by `exact`; None is no limit.
        tick: Hears now and then; stops the work by raising.
    """

    def __init__(
        self, query: GraphSet, database: Database, positions: Ints, *, by: By, costs: EditCosts, budget: float | None,
        threads: int, tick: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.query, self.database, self.positions, self.costs = query, database, positions, costs
        count = len(positions)
        mean = (database.sizes(positions) + query.num_nodes[0]) / 2
        self.scale: Floats = np.where(mean > 0, mean, 1.0) if by == "normalized" else np.ones(count)
        self.lower, self.upper = np.zeros(count), np.full(count, np.inf)
        self.stage = np.zeros(count, np.int8)
        self.rows: Ints = np.arange(count)  # those that no cheap bound has ruled out
        self.maps: dict[int, tuple[float, Mapping]] = {}
        self.budget = float("inf") if budget is None else budget
        self.threads, self.tick = Run(threads).num_threads, tick

    @property
    def proven(self) -> Flags:
        return self.upper - self.lower <= _SLACK

    def limit(self, k: int) -> float:
        """The k-th smallest upper bound, as ranks go: nobody above it is among the k nearest."""
        if k > len(self.upper):
            return float("inf")
        return float(np.partition(self.upper[self.rows] / self.scale[self.rows], k - 1)[k - 1])

    def find_nearest(self, k: int, first: Ints) -> Ints:
        """The k nearest, best first. `first` (rows) are likely to be near: their distances rule out the others."""
        self._bound(first, "branch")
        self._tighten(first, k)
        rest = np.setdiff1d(self.rows, first)
        limit = self.limit(k) * self.scale
        for name in ("size", "labels", "degrees"):
            rest = self._filtered(rest, name, limit)
        self.rows = np.union1d(first, rest)
        self._bound(rest, "branch")
        self._tighten(rest, k)
        for rows, seconds in self._rounds(lambda: self._open(k)):
            self._prove(rows, seconds)
        return self._ranked()[:k]

    def _tighten(self, rows: Ints, k: int) -> None:
        """`tight` for those that may be among the k nearest, the likely ones first."""
        rows = rows[np.argsort(self.lower[rows] / self.scale[rows], kind="stable")]
        begin = 0
        while begin < len(rows):
            piece = rows[begin : begin + max(32, begin)]
            begin += len(piece)
            limit = self.limit(k) * self.scale[piece]
            self._bound(piece[(self.lower[piece] <= limit + _SLACK) & ~self.proven[piece]], "tight")

    def _open(self, k: int) -> Ints:
        """Whose exact distance can change the answer: bounds that straddle the limit, then matches not yet proven."""
        lower, limit = self.lower[self.rows] / self.scale[self.rows], self.limit(k)
        best = np.isin(self.rows, self._ranked()[:k])
        # A match may be nearer than its bound says, and so rule out the others.
        open_rows = ((lower < limit - _SLACK) | best) & ~self.proven[self.rows]
        return self.rows[open_rows][np.argsort(lower[open_rows], kind="stable")]

    def find_within(self, radius: float) -> Ints:
        """All that are within this edit distance, best first."""
        limit = np.full(len(self.positions), radius)
        for name in ("size", "labels", "degrees"):
            self.rows = self._filtered(self.rows, name, limit)
        self._bound(self.rows, "branch")
        self._bound(self.rows[(self.lower[self.rows] <= radius + _SLACK) & ~self.proven[self.rows]], "tight")
        for piece, seconds in self._rounds(lambda: self._open_within(radius)):
            self._prove(piece, seconds)
        ranked = self._ranked()
        return ranked[self.upper[ranked] <= radius + _SLACK]

    def _open_within(self, radius: float) -> Ints:
        """Undecided ones first, then members whose distance is not yet proven."""
        rows = self.rows[(self.lower[self.rows] <= radius + _SLACK) & ~self.proven[self.rows]]
        return rows[np.lexsort((self.lower[rows], self.upper[rows] <= radius + _SLACK))]

    def _filtered(self, rows: Ints, name: Literal["size", "labels", "degrees"], limit: Floats) -> Ints:
        """Rows that a cheap bound does not rule out."""
        for part, inside, where in self.database.split(self.positions[rows]):
            bound = getattr(Filters(self.query, part.profiles, self.costs), name)(inside)
            self._narrow(rows[where], bound, np.full(len(where), np.inf), name)
        self.tick()
        return rows[self.lower[rows] <= limit[rows] + _SLACK]

    def _bound(self, rows: Ints, method: Method) -> None:
        """Bounds by a solver, for all of these rows."""
        for begin in range(0, len(rows), _PIECE):
            piece = rows[begin : begin + _PIECE]
            out = Columns.empty(len(piece))
            run = Run(self.threads, None, lambda done: self.tick())
            EditDistance(method, self.costs).compute(
                self.query, self.database.take(self.positions[piece]), np.zeros(len(piece), np.int32),
                np.arange(len(piece), dtype=np.int32), run, out,
            )  # fmt: skip
            self._narrow(piece, out.lower, out.upper, method)

    def _narrow(self, rows: Ints, lower: Floats, upper: Floats, name: str) -> None:
        self.lower[rows] = np.fmax(self.lower[rows], lower)
        self.upper[rows] = np.fmin(self.upper[rows], upper)
        self.stage[rows] = STAGES.index(name)

    def _rounds(self, wanted: Callable[[], Ints]) -> Iterator[tuple[Ints, float]]:
        """Rows to prove next and the seconds for each, until none is left or the time is over."""
        end = time.monotonic() + self.budget
        for patience in _PATIENCE:
            tried: set[int] = set()
            while (left := end - time.monotonic()) > 0:
                rows = [row for row in wanted().tolist() if row not in tried][:_PROOFS]
                if not rows:
                    break
                tried.update(rows)
                yield np.array(rows, np.int64), min(patience, left)

    def _prove(self, rows: Ints, seconds: float) -> None:
        for row, answer in zip(rows.tolist(), self._solved(rows, "exact", seconds), strict=True):
            self._narrow(np.array([row]), np.array([answer.lower]), np.array([answer.upper]), "exact")
            if answer.mapping is not None:
                self._keep(row, answer)

    def _keep(self, row: int, answer: Answer) -> None:
        known = self.maps.get(row)
        if answer.mapping is not None and (known is None or answer.upper < known[0]):
            self.maps[row] = (answer.upper, answer.mapping)

    def _solved(self, rows: Ints, method: Method, seconds: float) -> list[Answer]:
        """Bounds and a map for each row, on several threads; an interrupt stops them all."""
        stop = threading.Event()

        def heard(_: int) -> None:
            if stop.is_set():
                raise KeyboardInterrupt

        graphs = self.database.take(self.positions[rows])
        solver = EditDistance(method, self.costs)
        run = Run(1, None if np.isinf(seconds) else seconds, heard)
        if self.threads == 1 or len(rows) == 1:
            here = Run(1, run.timeout, lambda done: self.tick())
            return [solver.one(self.query, graphs[[i]], here) for i in range(len(rows))]
        with ThreadPoolExecutor(min(self.threads, len(rows))) as pool:
            futures = [pool.submit(solver.one, self.query, graphs[[i]], run) for i in range(len(rows))]
            try:
                answers = []
                for future in futures:
                    answers.append(future.result())
                    self.tick()
            except BaseException:
                stop.set()
                for future in futures:
                    future.cancel()
                raise
        return answers

    def map_all(self, rows: Ints) -> None:
        """A map for each of these rows, whose cost is its upper bound."""
        solvers: tuple[Method, ...] = ("tight", "branch")
        for method in solvers:
            missing = [row for row in rows.tolist() if self.maps.get(row, (np.inf,))[0] > self.upper[row] + _SLACK]
            if not missing:
                return
            chosen = np.array(missing, np.int64)
            for row, answer in zip(missing, self._solved(chosen, method, float("inf")), strict=True):
                self._keep(row, answer)
        for row in rows.tolist():
            self.upper[row] = max(self.upper[row], self.maps[row][0])  # no bound without a map for it

    def _ranked(self) -> Ints:
        """Rows with a map, by upper bound, as ranks go; ties by lower bound, then in order of the database."""
        rows = self.rows[np.isfinite(self.upper[self.rows])]
        scale = self.scale[rows]
        ranked: Ints = rows[np.lexsort((self.lower[rows] / scale, self.upper[rows] / scale))]
        return ranked

    def undecided(self, found: Ints, within: float | None) -> Ints:
        """Rows that may belong to the answer as well as those that were found."""
        others = np.ones(len(self.positions), np.bool_)
        others[found] = False
        if within is not None:
            return np.flatnonzero(others & (self.lower <= within + _SLACK) & (self.upper > within + _SLACK))
        worst = float((self.upper[found] / self.scale[found]).max(initial=-np.inf))
        return np.flatnonzero(others & (self.lower / self.scale < worst - _SLACK))

    def ordered(self, found: Ints) -> bool:
        """Whether no match can be nearer than one ranked before it."""
        lower, upper = self.lower[found] / self.scale[found], self.upper[found] / self.scale[found]
        return bool(np.all(np.maximum.accumulate(upper)[:-1] <= lower[1:] + _SLACK))

    def removed(self, found: Ints, undecided: Ints) -> dict[str, int]:
        """How many rows each bound ruled out: the last one that was asked about them."""
        others = np.ones(len(self.positions), np.bool_)
        others[found] = False
        others[undecided] = False
        counts = np.bincount(self.stage[others], minlength=len(STAGES))
        return {name: int(count) for name, count in zip(STAGES[1:], counts[1:], strict=True)}
