"""The immutable parts of an index: a search that uses them works on a snapshot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugraphemb.encoder.names import Head
from ugraphemb.graphs import GraphSet, concatenated
from ugraphemb.search.graph_table import blank_ids
from ugraphemb.search.metadata import Where, joined, matching
from ugraphemb.search.neighbors import Floats, Ints, Neighbors, Vectors
from ugraphemb.search.searchable import Block, Searchable

_DEAD_SHARE = 0.25  # of a part; past it the part is written again without them


class Content(Protocol):
    """What a part holds. In a saved index it is verified when it is first used."""

    @property
    def graphs(self) -> GraphSet:
        """Without ids: those are in `rows`."""

    @property
    def rows(self) -> pa.Table:
        """The column `id`, then metadata."""

    @property
    def neighbors(self) -> Neighbors:
        """Finds the nearest vectors."""

    @property
    def profiles(self) -> Block | None:
        """Data that were computed before for `Part.searchable`, or None."""

    @property
    def token(self) -> str:
        """Identifies the content."""


def new_token() -> str:
    return os.urandom(16).hex()


@dataclass(frozen=True, eq=False)
class InMemory:
    """Content that was computed."""

    graphs: GraphSet
    rows: pa.Table
    neighbors: Neighbors
    profiles: Block | None = None

    @cached_property
    def token(self) -> str:
        return new_token()


@dataclass(frozen=True, eq=False)
class Part:
    """Some graphs with their vectors, ids and metadata.

    Attributes:
        content: Graphs, rows, neighbors and profiles.
        count: Graphs, with those that are removed.
        removed: Positions of removed graphs, sorted.
        home: The folder whose files hold the same, if it is saved.
    """

    content: Content
    count: int
    removed: Ints
    home: Path | None = None

    @classmethod
    def of(cls, graphs: GraphSet, rows: pa.Table, vectors: Vectors, head: Head, kind: str) -> Part:
        bare = replace(graphs, ids=blank_ids(len(graphs)), targets=None, name="")
        return cls(InMemory(bare, rows, Neighbors.built(vectors, head, kind)), len(graphs), np.empty(0, np.int64))

    @property
    def graphs(self) -> GraphSet:
        return self.content.graphs

    @property
    def rows(self) -> pa.Table:
        return self.content.rows

    @property
    def neighbors(self) -> Neighbors:
        return self.content.neighbors

    def __len__(self) -> int:
        """Number of graphs."""
        return self.count - len(self.removed)

    @cached_property
    def alive(self) -> npt.NDArray[np.bool_] | None:
        """Mask of the graphs that were not removed; None if none were removed."""
        if not len(self.removed):
            return None
        flags = np.ones(self.count, np.bool_)
        flags[self.removed] = False
        return flags

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each id is."""
        gone = set(self.removed.tolist())
        return {name: i for i, name in enumerate(self.rows["id"].to_pylist()) if i not in gone}

    @cached_property
    def searchable(self) -> Searchable:
        """The graphs for the compiled search."""
        return Searchable(self.graphs, self.content.profiles)

    def without(self, positions: Sequence[int]) -> Part:
        """The same part without these graphs."""
        removed = np.union1d(self.removed, np.asarray(positions, np.int64))
        smaller = replace(self, removed=removed)
        return merged([smaller], self.neighbors.kind) if len(removed) > _DEAD_SHARE * self.count else smaller

    def take(self, positions: Ints) -> GraphSet:
        """Graphs at these positions, with their ids."""
        names = self.rows["id"].take(pa.array(positions)).to_pylist()
        return replace(self.graphs[positions], ids=np.array(names, np.str_) if names else np.empty(0, "<U1"))


def merged(parts: Sequence[Part], kind: str) -> Part:
    """One part with all graphs that are not removed."""
    kept = [np.arange(p.count) if p.alive is None else np.flatnonzero(p.alive) for p in parts]
    graphs = [part.graphs if part.alive is None else part.graphs[rows] for part, rows in zip(parts, kept, strict=True)]
    rows = joined([part.rows.take(pa.array(rows)) for part, rows in zip(parts, kept, strict=True)])
    vectors = np.concatenate([part.neighbors.rows(rows) for part, rows in zip(parts, kept, strict=True)])
    return Part.of(concatenated(graphs), rows, vectors, parts[0].neighbors.head, kind)


def with_part(parts: Sequence[Part], new: Part, kind: str) -> tuple[Part, ...]:
    """The parts and a new one. Parts of similar size are merged, so that there are few and each graph is copied rarely.

    Args:
        new: A flat part; its structure, or that of what it becomes part of, is built here.
    """
    last = len(parts)
    size = len(new)
    while last and len(parts[last - 1]) <= 2 * size:
        last -= 1
        size += len(parts[last])
    tail = [part for part in parts[last:] if len(part)]
    if tail:
        return (*parts[:last], merged([*tail, new], kind))
    vectors, head = new.neighbors.vectors, new.neighbors.head
    content = InMemory(new.graphs, new.rows, Neighbors.built(vectors, head, kind))
    return (*parts[:last], replace(new, content=content))


class Database:
    """All graphs of some parts, numbered through. Never changes."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(part for part in parts if len(part))
        self.starts = np.cumsum([0, *(part.count for part in self.parts)])

    def chosen(self, where: Where | None) -> list[npt.NDArray[np.bool_] | None]:
        """For each part which graphs are not removed and pass the filter; None means all of them."""
        if where is None:
            return [part.alive for part in self.parts]
        passed = matching([part.rows for part in self.parts], where)
        return [f if p.alive is None else f & p.alive for p, f in zip(self.parts, passed, strict=True)]

    def positions(self, chosen: Sequence[npt.NDArray[np.bool_] | None]) -> Ints:
        """Positions of what `chosen` lets through."""
        found = [
            start + (np.arange(part.count) if flags is None else np.flatnonzero(flags))
            for part, start, flags in zip(self.parts, self.starts, chosen, strict=False)
        ]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def nearest(
        self, queries: Vectors, count: int, chosen: Sequence[npt.NDArray[np.bool_] | None]
    ) -> list[tuple[Ints, Floats]]:
        """Positions and proximities of the nearest to each query, best first."""
        found = [part.neighbors.nearest(queries, count, f) for part, f in zip(self.parts, chosen, strict=True)]
        answers = []
        for q in range(len(queries)):
            places = [start + part[q][0] for part, start in zip(found, self.starts, strict=False)]
            values = [part[q][1] for part in found]
            answers.append(self._best(np.concatenate(places), np.concatenate(values), count) if found else _NOTHING)
        return answers

    def _best(self, places: Ints, values: Floats, count: int) -> tuple[Ints, Floats]:
        sign = -1.0 if self.parts[0].neighbors.head == "inner" else 1.0
        order = np.lexsort((places, sign * values))[:count]
        return places[order], values[order]

    def split(self, positions: Ints) -> list[tuple[Part, Ints, Ints]]:
        """(part, positions in it, where these stand in `positions`) of every part that is concerned."""
        if len(self.parts) == 1 and len(positions):
            return [(self.parts[0], positions, np.arange(len(positions)))]
        part_of = np.searchsorted(self.starts, positions, side="right") - 1
        return [
            (self.parts[p], positions[rows] - self.starts[p], rows)
            for p in np.unique(part_of).tolist()
            for rows in [np.flatnonzero(part_of == p)]
        ]

    def take(self, positions: Ints) -> GraphSet:
        """The graphs at these positions, in this order, with their ids."""
        pieces = self.split(positions)
        if not pieces:
            return GraphSet.from_edges([], [])
        if len(pieces) == 1:
            return pieces[0][0].take(pieces[0][1])
        together = concatenated([part.take(rows) for part, rows, _ in pieces])
        order = np.argsort(np.concatenate([where for _, _, where in pieces]), kind="stable")
        return together[order]

    def count(self, chosen: Sequence[npt.NDArray[np.bool_] | None]) -> int:
        """How many graphs `chosen` lets through."""
        counts = [len(p.graphs) if f is None else int(f.sum()) for p, f in zip(self.parts, chosen, strict=True)]
        return sum(counts)

    def ids(self, positions: Ints) -> list[str]:
        names = np.empty(len(positions), object)
        for part, rows, where in self.split(positions):
            names[where] = part.rows["id"].take(pa.array(rows)).to_pylist()
        return [str(name) for name in names]

    def vectors(self, positions: Ints) -> Vectors:
        out = np.empty((len(positions), self.parts[0].neighbors.source.shape[1]), np.float32)
        for part, rows, where in self.split(positions):
            out[where] = part.neighbors.rows(rows)
        return out

    def sizes(self, positions: Ints) -> Ints:
        """Nodes of each graph."""
        out = np.empty(len(positions), np.int64)
        for part, rows, where in self.split(positions):
            out[where] = part.graphs.num_nodes[rows]
        return out

    def rows(self, positions: Ints) -> list[dict[str, object]]:
        """The id and the metadata of each graph, without columns in which it has no value."""
        found: list[dict[str, object]] = [{}] * len(positions)
        for part, places, where in self.split(positions):
            for at, row in zip(where.tolist(), part.rows.take(pa.array(places)).to_pylist(), strict=True):
                found[at] = {name: value for name, value in row.items() if value is not None}
        return found


_NOTHING: tuple[Ints, Floats] = (np.empty(0, np.int64), np.empty(0))
