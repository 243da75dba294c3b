"""The protocols that GraphIndex requires of an engine, and that a database engine requires of its client library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.search.answers import Question
from ugraphemb.search.metadata import Condition, Where
from ugraphemb.search.neighbors import Flags, Floats, Ints, Vectors
from ugraphemb.search.parts import Database


@dataclass(frozen=True)
class Scope:
    """The graphs that one query is compared with.

    Attributes:
        database: The graphs that are in memory: all of them, or those that a database server proposed.
        near: Positions in `database` and proximities of the nearest by vectors, best first.
        chosen: For each part of `database` which graphs count; None means all.
        count: Number of graphs in the scope of the query, including those that were ruled out by their size.
    """

    database: Database
    near: tuple[Ints, Floats]
    chosen: list[Flags | None]
    count: int


class Engine(Protocol):
    """Keeps graphs with their vectors and metadata, and proposes the nearest."""

    @property
    def name(self) -> str:
        """What messages call it: "embedded", or the URL without a password."""

    def count(self, where: Where | None = None) -> int:
        """How many graphs there are, or pass a filter."""

    def known(self, ids: Sequence[str]) -> list[str]:
        """Those of these ids that exist."""

    def ids(self) -> list[str]:
        """All ids, in the order they were added."""

    def fetch(self, ids: Sequence[str] | None) -> GraphSet:
        """The graphs with these ids, in this order, or all.

        Raises:
            KeyError: An id that does not exist.
        """

    def add(
        self, graphs: GraphSet, rows: pa.Table, vectors: Vectors, *, replace: bool, progress: bool | None = None
    ) -> None:
        """Adds graphs.

        Args:
            rows: The column `id`, then metadata.
            replace: Whether existing ids are replaced; else they are an error.
        """

    def remove(self, ids: Sequence[str]) -> None:
        """Removes graphs; all of them or, if one does not exist, none.

        Raises:
            KeyError: An id that does not exist.
        """

    def scopes(
        self, queries: GraphSet, vectors: Vectors, question: Question, where: Where | None, costs: EditCosts | None
    ) -> list[Scope]:
        """The graphs that each query is compared with."""

    def pages(self) -> Iterator[tuple[GraphSet, pa.Table, Vectors]]:
        """Everything, a page at a time: graphs, their rows and their vectors."""


class Store(Protocol):
    """One collection of a database, as rows of Arrow tables; a file for each database.

    A row has an `id`, a `vector`, the packed `graph`, its number of `nodes`, when it was `added`, a `digest` of graph
    and metadata, and the metadata: a JSON object `meta` or, if `native`, one column for each name.

    Attributes:
        name: What messages call it: the URL without a password.
        native: Whether metadata are columns of Arrow types.
        largest: Maximum number of bytes of a packed graph; None means no limit.
        errors: What its client library raises.
    """

    name: str
    native: bool
    largest: int | None
    errors: tuple[type[Exception], ...]

    def passing(self, error: Exception) -> bool:
        """Whether to try again after `reconnect`: a broken connection, a server that is starting."""

    def reconnect(self) -> None: ...

    def about(self) -> dict[str, bytes]:
        """What `keep` kept, by key; empty where there is nothing yet."""

    def keep(self, key: str, value: bytes) -> None:
        """Keeps a value beside the rows."""

    def create(self, dimension: int, inner: bool, kind: str) -> None:
        """Creates the collection, if it does not exist, and prepares it for searches.

        Args:
            inner: The nearest are those of the greatest inner product, not of the least L2 distance.
        """

    def widen(self, schema: pa.Schema) -> None:
        """Makes columns for metadata, where they are `native`."""

    def upsert(self, rows: pa.Table) -> None:
        """Adds rows, in place of those with the same ids."""

    def delete(self, ids: Sequence[str]) -> None: ...

    def built(self, kind: str) -> None:
        """Builds the search index, if there are enough rows."""

    def count(self, filters: Sequence[Condition]) -> int: ...

    def nearest(
        self, vectors: Vectors, count: int, filters: Sequence[Condition], columns: Sequence[str]
    ) -> list[pa.Table]:
        """The nearest rows to each vector, in any order."""

    def rows(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """Those of these ids that exist, in any order."""

    def pages(
        self, filters: Sequence[Condition], nodes: tuple[int, int] | None, columns: Sequence[str], size: int
    ) -> Iterator[pa.Table]:
        """Every row once, about `size` at a time.

        Args:
            nodes: Only graphs with at least and at most so many nodes.
        """

    def drop(self) -> None:
        """Removes the collection and what is kept beside it."""

    def close(self) -> None: ...
