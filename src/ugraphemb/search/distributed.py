"""Proven search on many workers, each with slices of the database; the answer is that of one machine.

A slice is some graphs of a part of the index, in their order. Slices depend on the index alone; a worker loads one from
the saved index on first use, and keeps it. If it cannot (an index that was never saved, a folder that it does not
see), the graphs are sent to it, once.

First the calling process computes upper bounds for the shortlist, which give a k-th distance. Then each slice returns
the graphs that bounds cannot rule out, given the k-th (distance, position) that is known at that time. The distances
of these graphs are computed in further rounds with growing time limits, a few graphs at a time, the least lower bounds
first, and again with the k-th distance that is known: hard graphs of one slice keep all workers busy, and about
the same distances are computed as on one machine. Workers keep no state of a query between rounds, so that any worker
can process any slice at any time: if one dies, nothing is lost.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import IndexFormatError
from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.search.neighbors import Flags, Floats, Ints
from ugraphemb.search.part_files import graphs_of_part, seal_of
from ugraphemb.search.parts import Database, Part
from ugraphemb.search.searchable import Searchable
from ugraphemb.search.verification import NO_CEILING, SLACK, STAGES, By, Found, find
from ugraphemb.workers import Crew, Kept, Shared
from ugraphemb.workers.crew import canceled

_SLICES, _LEAST, _MOST = 32, 2_000, 100_000  # slices of a database; graphs of the smallest and of the largest slice
_ROUNDS = (0.0, 0.02, 0.2, 2.0, float("inf"))  # seconds that a graph may take in each round: those of one machine
_INSTANT = 1e-3  # seconds, where the budget is used up: bounds only
_AT_ONCE = 1.0  # seconds that a task of the rounds after the first may take, if it has more than one graph


@dataclass(frozen=True)
class Slice:
    """Graphs `begin` to `end` of a part.

    Attributes:
        key: Names the part and what it holds.
        home: Folder of the part; "" if it is not saved.
        seal: Checksum of the folder.
        index: Names all parts of the index: workers keep slices of one index together.
        start: Position of the first graph in the database.
    """

    key: str
    home: str
    seal: str
    index: str
    begin: int
    end: int
    start: int

    @property
    def name(self) -> str:
        return f"{self.key}:{self.begin}:{self.end}"

    def __contains__(self, position: int) -> bool:
        return self.start <= position < self.start + self.end - self.begin

    def among(self, positions: Ints) -> Ints:
        """Those of some sorted positions of the database that lie in it."""
        first, last = np.searchsorted(positions, [self.start, self.start + self.end - self.begin])
        return positions[first:last]


@dataclass(frozen=True)
class Task:
    """A task: search a whole slice, or some positions of the database in it."""

    slice: Slice
    only: Ints | None = None

    @property
    def place(self) -> str:
        """Tasks with the same key go to the same worker, if it is available."""
        return self.slice.name if self.only is None else f"{self.slice.name}:{self.only[0]}"


@dataclass(frozen=True)
class Query:
    """What is the same for all tasks of a search."""

    graph: GraphSet
    costs: EditCosts
    k: int | None
    within: float | None
    by: By
    threads: int


@dataclass(frozen=True)
class Bounds:
    """Bounds and status of a graph that may belong to the answer."""

    lower: float
    upper: float
    mapping: npt.NDArray[np.int32]

    @property
    def proven(self) -> bool:
        return bool(self.upper - self.lower <= SLACK)


class Merged:
    """Answers of slices, put together.

    Args:
        sizes: Gives the numbers of nodes of graphs at some positions.

    Attributes:
        known: Graphs that may belong to the answer, with bounds of their distances, by position.
        open: Lower bounds of others that a slice could not decide, by position.
        decided: Sorted positions that need not be searched any more.
    """

    def __init__(self, query: Query, sizes: Callable[[Ints], Ints]) -> None:
        self._query, self._sizes = query, sizes
        self._scale: dict[int, float] = {}
        self.known: dict[int, Bounds] = {}
        self.open: dict[int, float] = {}
        self.decided: Ints = np.empty(0, np.int64)
        self.removed = dict.fromkeys(STAGES, 0)
        self.asked = dict.fromkeys(STAGES, 0)
        self.seconds = dict.fromkeys(STAGES, 0.0)

    def start_with(self, found: Found, near: Ints) -> None:
        """Adds the answer of the shortlist. What it ruled out is beyond a k-th distance, which can only decrease."""
        left = np.concatenate([found.undecided, found.positions[~found.proven]])
        self.decided = np.setdiff1d(near, left)
        self._count(found)
        self._learn(found.positions, found)

    def add(self, task: Task, found: Found) -> None:
        """Adds the answer of a slice, which has decided all graphs of its task except those it lists as undecided."""
        self._count(found)
        start = task.slice.start
        undecided, positions = start + found.undecided, start + found.positions
        left = {*undecided.tolist(), *positions.tolist()}
        asked = task.only
        if asked is None:
            known = np.array([p for p in self.known if p in task.slice], np.int64)
            asked = np.setdiff1d(known, self.decided)
        for position in asked.tolist():
            self.open.pop(position, None)
            if position not in left:
                self.known.pop(position, None)
        bounds = zip(undecided.tolist(), found.undecided_lower.tolist(), strict=True)
        self.open.update((p, lower) for p, lower in bounds if p not in self.known)
        self._learn(positions, found)

    def _count(self, found: Found) -> None:
        for name in STAGES:
            self.removed[name] += found.removed[name]
            self.asked[name] += found.asked[name]
            self.seconds[name] += found.seconds[name]

    def _learn(self, positions: Ints, found: Found) -> None:
        scales = self._scales(self._sizes(positions))
        for i, position in enumerate(positions.tolist()):
            self._scale[position] = float(scales[i])
            old, new = self.known.get(position), Bounds(found.lower[i], found.upper[i], found.mappings[i])
            if old is not None:
                best = min(old, new, key=lambda bounds: bounds.upper)
                new = Bounds(min(max(old.lower, new.lower), best.upper), best.upper, best.mapping)
            self.known[position] = new
            self.open.pop(position, None)

    def _scales(self, sizes: Ints) -> Floats:
        """What distances from graphs of these sizes are divided by."""
        mean = (sizes + int(self._query.graph.num_nodes[0])) / 2
        return np.where((mean > 0) & (self._query.by == "normalized"), mean, 1.0)

    def order(self) -> list[int]:
        """Positions of what is known, best first."""
        return sorted(self.known, key=lambda p: (self.known[p].upper / self._scale[p], p))

    def ceiling(self) -> tuple[float, int]:
        """The k-th (distance, position); nothing after it belongs to the answer."""
        k = self._query.k
        if k is None or len(self.known) < k:
            return NO_CEILING
        last = self.order()[k - 1]
        return self.known[last].upper / self._scale[last], last

    def unfinished(self) -> list[int]:
        """Positions of what may belong to the answer and whose distance is not proven; the most promising first."""
        ceiling = self.ceiling()
        left = {p: bounds.lower for p, bounds in self.known.items() if not bounds.proven and self._lowest(p) <= ceiling}
        left |= self.open
        positions = np.array(sorted(left), np.int64)
        scale = self._scales(self._sizes(positions))
        lower = np.array([left[p] for p in positions.tolist()]) / scale
        return [int(p) for p in positions[np.argsort(lower, kind="stable")]]

    def found(self, last_stage: str) -> Found:
        """The answer: what is known of the best, and how many of the others each bound ruled out."""
        order = self.order()
        best, others = order[: self._query.k], order[len(order[: self._query.k]) :]
        ceiling = self.ceiling()
        undecided = {p for p in others if not self.known[p].proven and self._lowest(p) < ceiling}
        self.removed[last_stage] += len(others) - len(undecided)
        known = [self.known[p] for p in best]
        return Found(
            np.array(best, np.int64), np.array([b.lower for b in known]), np.array([b.upper for b in known]),
            np.array([b.mapping for b in known], np.int32).reshape(len(known), int(self._query.graph.num_nodes[0])),
            *self._left(undecided), self.removed, self.asked, self.seconds,
        )  # fmt: skip

    def _left(self, undecided: set[int]) -> tuple[Ints, Floats]:
        """Positions and lower bounds of what is undecided."""
        left = self.open | {p: self.known[p].lower for p in undecided}
        return np.array(sorted(left), np.int64), np.array([left[p] for p in sorted(left)])

    def _lowest(self, position: int) -> tuple[float, int]:
        """The smallest (distance, position) that its bounds allow."""
        return self.known[position].lower / self._scale[position], position


def find_on_workers(
    query: GraphSet, database: Database, crew: Crew, *, costs: EditCosts, k: int, within: float | None = None,
    by: By = "normalized", near: Ints, chosen: Sequence[Flags | None], budget: float | None = None, threads: int = 1,
    tick: Callable[[], None] = lambda: None,
) -> Found:  # fmt: skip
    """What `find` gives for the whole database; see there.

    Raises:
        ClusterError: A worker has another version, or workers die repeatedly.
    """
    begin = time.monotonic()

    def seconds() -> float:
        left = float("inf") if budget is None else budget - (time.monotonic() - begin)
        return 0.0 if budget == 0 else max(left, _INSTANT)

    asked = Query(query, costs, k if within is None else None, within, by, max(threads, 1))
    merged = Merged(asked, database.sizes)
    if within is None and len(near):
        searchables = [part.searchable for part in database.parts]
        merged.start_with(
            find(query, searchables, costs=costs, count=len(near), k=k, by=by, near=near, only_near=True,
                 budget=0.0, threads=max(threads, 1), tick=tick), near
        )  # fmt: skip
    slices = slices_of(database)
    shared = crew.share(asked)
    masks = {one: _mask(one, database, chosen, merged.decided) for one in slices}
    tasks, unfinished = [Task(one) for one in slices], list[int]()
    for patience in itertools.pairwise((-1.0, *_ROUNDS)):
        if patience[0] >= 0:
            tasks = _divided(slices, unfinished, crew.size, patience[1])
        _ask(crew, shared, tasks, merged, masks, database, patience, seconds, tick)
        unfinished = merged.unfinished()
        if not unfinished or budget == 0 or (budget is not None and time.monotonic() - begin >= budget):
            break
    crew.forget(shared)
    return merged.found("tight" if budget == 0 else "exact")


def _ask(
    crew: Crew, shared: Shared, tasks: list[Task], merged: Merged, masks: dict[Slice, bytes | None], database: Database,
    patience: tuple[float, float], seconds: Callable[[], float], tick: Callable[[], None],
) -> None:  # fmt: skip
    """One round: every task, once."""
    waiting = list(reversed(tasks))
    left = Counter(task.slice for task in tasks)
    sent: dict[Slice, Shared] = {}

    def arguments(task: Task) -> tuple[Any, ...]:
        graphs = sent[task.slice].handle if task.slice in sent else None
        value, position = merged.ceiling()
        only = None if task.only is None else task.only - task.slice.start
        ceiling = (value, position if value == float("inf") else position - task.slice.start)
        return task.slice, graphs, masks[task.slice], only, ceiling, patience, seconds()

    def take() -> Task | None:
        return waiting.pop() if waiting else None

    while waiting:
        found = crew.results(search_slice, shared, take, arguments, place=lambda task: task.place, ahead=1, glance=tick)
        for task, answer in found:
            if answer is None:  # the worker cannot load it
                if task.slice not in sent:
                    sent[task.slice] = crew.share(_graphs(task.slice, database), everywhere=False)
                waiting.append(task)
            else:
                merged.add(task, answer)
                left[task.slice] -= 1
                if task.slice in sent and not left[task.slice]:
                    crew.forget(sent.pop(task.slice))


def _divided(slices: Sequence[Slice], positions: Sequence[int], workers: int, patience: float) -> list[Task]:
    """Tasks for some positions, in their order: for all workers, and none that takes long."""
    most = max(1, min(-(-len(positions) // workers), int(_AT_ONCE / patience)))
    starts = [one.start for one in slices]
    filled: dict[tuple[int, int], list[int]] = {}  # by slice, and number within it
    seen: Counter[int] = Counter()
    for position in positions:
        place = bisect_right(starts, position) - 1
        filled.setdefault((place, seen[place] // most), []).append(position)
        seen[place] += 1
    return [Task(slices[place], np.array(sorted(some), np.int64)) for (place, _), some in filled.items()]


def slices_of(database: Database) -> list[Slice]:
    """The slices of an index, which depend on nothing else."""
    total = int(database.starts[-1])
    size = min(max(-(-total // _SLICES), _LEAST), _MOST)
    sources = [_source(part) for part in database.parts]
    index = hashlib.blake2b("|".join(key for key, _, _ in sources).encode(), digest_size=16).hexdigest()
    return [
        Slice(key, home, seal, index, begin, min(begin + size, part.count), int(start) + begin)
        for part, start, (key, home, seal) in zip(database.parts, database.starts, sources, strict=False)
        for begin in range(0, part.count, size)
    ]


def _source(part: Part) -> tuple[str, str, str]:
    """Key, folder and seal of a part."""
    if part.home is not None:
        try:
            seal = seal_of(part.home)
            return seal, str(part.home.resolve()), seal
        except IndexFormatError:  # its folder is gone, what it held is in memory
            pass
    return part.content.token, "", ""


def _graphs(one: Slice, database: Database) -> GraphSet:
    part = int(np.searchsorted(database.starts, one.start, side="right")) - 1
    return database.parts[part].graphs[one.begin : one.end]


def _mask(one: Slice, database: Database, chosen: Sequence[Flags | None], decided: Ints) -> bytes | None:
    """Bit mask of the graphs of a slice to search; None means all of them."""
    part = chosen[int(np.searchsorted(database.starts, one.start, side="right")) - 1]
    known = one.among(decided) - one.start
    if part is None and not len(known):
        return None
    flags = np.ones(one.end - one.begin, np.bool_) if part is None else part[one.begin : one.end].copy()
    flags[known] = False
    return np.packbits(flags).tobytes()


_slices: Kept[dict[str, Searchable]] = Kept(2)  # of a worker, by index
_parts: Kept[GraphSet] = Kept(4)


def search_slice(
    query: Query, one: Slice, graphs: GraphSet | None, mask: bytes | None, only: Ints | None,
    ceiling: tuple[float, int], patience: tuple[float, float], budget: float,
) -> Found | None:  # fmt: skip
    """Runs on a worker: the answer of a slice, with positions in it; None if the worker cannot load its graphs."""
    there = _slices.get(one.index, dict)
    if one.name not in there:
        graphs = _loaded(one) if graphs is None else graphs
        if graphs is None:
            return None
        there[one.name] = Searchable(graphs)
    size = one.end - one.begin
    flags = None if mask is None else np.unpackbits(np.frombuffer(mask, np.uint8), count=size).astype(np.bool_)
    count = len(only) if only is not None else size if flags is None else int(flags.sum())
    return find(
        query.graph, [there[one.name]], costs=query.costs, count=count, k=query.k, within=query.within, by=query.by,
        near=np.empty(0, np.int64) if only is None else only, only_near=only is not None, chosen=[flags],
        budget=budget, threads=query.threads, ceiling=ceiling, patience=patience, tick=_stop_if_canceled,
    )  # fmt: skip


def _loaded(one: Slice) -> GraphSet | None:
    if not one.home:
        return None
    try:
        return _parts.get(one.key, lambda: graphs_of_part(Path(one.home), one.seal))[one.begin : one.end]
    except (IndexFormatError, OSError):  # not on this machine, or replaced since
        return None


def _stop_if_canceled() -> None:
    if canceled():
        raise CancelledError
