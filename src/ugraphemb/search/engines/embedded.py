"""The default engine: graphs and vectors in this process, and a folder that holds them; see `search.storage`."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ugraphemb.encoder.names import Head
from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.search.answers import Question
from ugraphemb.search.engines.protocol import Scope
from ugraphemb.search.metadata import Where, schema_of
from ugraphemb.search.neighbors import Floats, Ints, Vectors, chosen_kind
from ugraphemb.search.parts import Database, Part, with_part


class Embedded:
    """Parts that never change: a search works on a snapshot, `add` and `remove` make a new one."""

    name = "embedded"

    def __init__(self, head: Head, kind: str) -> None:
        chosen_kind(kind, 0, head)
        self.head, self.kind = head, kind
        self.parts: tuple[Part, ...] = ()
        self.writing = threading.RLock()
        self.home: Path | None = None
        self.state = ""

    def count(self, where: Where | None = None) -> int:
        if where is None:
            return sum(map(len, self.parts))
        database = Database(self.parts)
        return database.count(database.chosen(where))

    def known(self, ids: Sequence[str]) -> list[str]:
        parts = self.parts
        return [name for name in ids if any(name in part.position for part in parts)]

    def ids(self) -> list[str]:
        return [str(name) for part in Database(self.parts).parts for name in _alive_rows(part)["id"].to_pylist()]

    def fetch(self, ids: Sequence[str] | None) -> GraphSet:
        database = Database(self.parts)
        if ids is None:
            return database.take(database.positions(database.chosen(None)))
        return database.take(np.array([_position(database, name) for name in ids], np.int64))

    def add(
        self, graphs: GraphSet, rows: pa.Table, vectors: Vectors, *, replace: bool, progress: bool | None = None
    ) -> None:
        names = rows["id"].to_pylist()
        with self.writing:
            parts = self.parts
            if replace:
                parts = _without(parts, self.known(names))
            else:
                refuse_known(self.known(names), names)  # another thread may have added them meanwhile
            if parts and len(graphs):
                _check_attributes(parts[0].graphs, graphs)
                schema_of([*(part.rows for part in parts), rows])  # refuses what could not be joined
            if len(graphs):
                parts = with_part(parts, Part.of(graphs, rows, vectors, self.head, "flat"), self.kind)
            self.parts = parts

    def remove(self, ids: Sequence[str]) -> None:
        with self.writing:
            refuse_missing(self.known(ids), ids)
            self.parts = _without(self.parts, ids)

    def scopes(
        self, queries: GraphSet, vectors: Vectors, question: Question, where: Where | None, costs: EditCosts | None
    ) -> list[Scope]:
        database = Database(self.parts)
        chosen = database.chosen(where)
        near: list[tuple[Ints, Floats]] = [(np.empty(0, np.int64), np.empty(0))] * len(queries)
        if question.within is None:  # else every graph that its bounds do not rule out is examined, in any order
            near = database.nearest(vectors, question.candidates, chosen)
        count = database.count(chosen) if question.everywhere else 0
        return [Scope(database, found, chosen, count if question.everywhere else len(found[0])) for found in near]

    def pages(self) -> Iterator[tuple[GraphSet, pa.Table, Vectors]]:
        for part in Database(self.parts).parts:
            there = np.arange(part.count) if part.alive is None else np.flatnonzero(part.alive)
            yield part.take(there), _alive_rows(part), part.neighbors.rows(there)


def refuse_known(known: Sequence[str], names: Sequence[str]) -> None:
    if known:
        raise ValueError(
            f"the id {known[0]!r} is already in the index ({len(known)} of {len(names)} are); "
            "replace=True (--replace) replaces them"
        )


def refuse_missing(known: Sequence[str], names: Sequence[str]) -> None:
    if len(known) < len(names):
        there = set(known)
        missing = [name for name in names if name not in there]
        if missing:
            raise KeyError(f"no graph has the id {missing[0]!r} ({len(missing)} of {len(names)} do not exist)")


def _position(database: Database, name: str) -> int:
    for part, start in zip(database.parts, database.starts, strict=False):
        if name in part.position:
            return int(start) + part.position[name]
    raise KeyError(f"no graph has the id {name!r}")


def _check_attributes(there: GraphSet, new: GraphSet) -> None:
    widths = [None if part.node_attributes is None else part.node_attributes.shape[1] for part in (there, new)]
    if widths[0] != widths[1]:
        raise ValueError(
            f"graphs with {widths[1] or 'no'} node attributes; those of the index have {widths[0] or 'none'}"
        )


def _without(parts: tuple[Part, ...], names: Sequence[str]) -> tuple[Part, ...]:
    """The parts without these graphs, wherever they are."""
    left = []
    for part in parts:
        places = [part.position[name] for name in names if name in part.position]
        left.append(part.without(places) if places else part)
    return tuple(part for part in left if len(part))


def _alive_rows(part: Part) -> pa.Table:
    return part.rows if part.alive is None else part.rows.filter(pa.array(part.alive))
