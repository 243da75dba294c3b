"""From positions in the database to matches, by vectors alone or verified."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from ugraphemb.encoder.names import Head
from ugraphemb.graphs import Graph, GraphSet
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.search.distributed import find_on_workers
from ugraphemb.search.matches import Certificate, Match, Matches
from ugraphemb.search.neighbors import Flags, Floats, Ints, Vectors, proximities
from ugraphemb.search.parts import Database
from ugraphemb.search.verification import By, find, ordered
from ugraphemb.workers import Crew


@dataclass(frozen=True)
class Question:
    """The request; see `GraphIndex.search`."""

    k: int | None = None
    verify: bool = False
    shortlist: int = 100
    complete: bool = False
    within: float | None = None
    by: By = "normalized"
    budget: float | None = 5.0

    def __post_init__(self) -> None:
        for name, least in (("k", 1), ("shortlist", 1), ("within", 0), ("budget", 0)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise ValueError(f"{name} is {value}; it must be at least {least}")
        if self.by not in get_args(By):
            raise ValueError(f"by={self.by!r}; it is one of {', '.join(map(repr, get_args(By)))}")

    @property
    def count(self) -> int:
        return 10 if self.k is None else self.k

    @property
    def everywhere(self) -> bool:
        """Whether the whole database is searched, not only the shortlist."""
        return self.complete or self.within is not None

    @property
    def verified(self) -> bool:
        return self.verify or self.everywhere

    @property
    def candidates(self) -> int:
        """How many of the nearest by vectors are needed."""
        return max(self.shortlist, self.count) if self.verified else self.count


def plain_matches(query: Graph, database: Database, positions: Ints, scores: Floats, costs: EditCosts) -> Matches:
    """The nearest by vectors, as they are."""
    nan = float("nan")
    return Matches(
        Match(name, i + 1, nan, nan, nan, False, float(scores[i]), None, metadata, query, graph, costs)
        for i, (name, metadata, graph) in enumerate(_described(database, positions))
    )


def verified_matches(
    query: GraphSet,
    vector: Vectors,
    database: Database,
    near: Ints,
    chosen: Sequence[Flags | None],
    question: Question,
    *,
    count: int,
    head: Head,
    costs: EditCosts,
    threads: int,
    crew: Crew | None = None,
    tick: Callable[[], None],
) -> Matches:
    """The answer to a request for edit distances.

    Args:
        query: A collection of one graph.
        near: Positions of graphs that are likely to be near.
        chosen: For each part which graphs count; None means all of them.
        crew: Workers that search the database.
        count: Number of graphs in the scope of the query, in `database` or not.
    """
    begin = time.monotonic()
    if crew is not None and question.everywhere:
        found = find_on_workers(
            query, database, crew, costs=costs, k=question.count, within=question.within, by=question.by, near=near,
            chosen=chosen, budget=question.budget, threads=threads, tick=tick,
        )  # fmt: skip
        found.removed["size"] += count - database.count(chosen)
    else:
        found = find(
            query, [part.searchable for part in database.parts], costs=costs, count=count, k=question.count,
            within=question.within, by=question.by, near=near, only_near=not question.everywhere, chosen=chosen,
            budget=question.budget, threads=threads, tick=tick,
        )  # fmt: skip
    places = found.positions if question.k is None else found.positions[: question.k]
    scores = proximities(vector, database.vectors(places), head) if len(places) else np.empty(0)
    matches = [
        Match(
            name, i + 1, float(found.upper[i]), float(found.lower[i]), float(found.upper[i]), bool(found.proven[i]),
            float(scores[i]), found.mappings[i], metadata, query[0], graph, costs,
        )
        for i, (name, metadata, graph) in enumerate(_described(database, places))
    ]  # fmt: skip
    mean = (database.sizes(found.positions) + query.num_nodes[0]) / 2
    scale = np.where(mean > 0, mean, 1.0) if question.by == "normalized" else np.ones(len(mean))
    certificate = Certificate(
        proven=not len(found.undecided),
        ordered=ordered(found, scale) and not len(found.undecided),
        scope="database" if question.everywhere else "shortlist",
        graphs=count,
        found=len(found.positions),
        removed=found.removed,
        undecided=tuple(database.ids(found.undecided)),
        seconds=time.monotonic() - begin,
        within=question.within,
    )
    return Matches(matches, certificate)


def _described(database: Database, positions: Ints) -> list[tuple[str, dict[str, object], Graph]]:
    """Id, metadata, and the graph as it was added, with its metadata: drawings use the SMILES."""
    rows, graphs = database.rows(positions), database.take(positions)
    names = [str(row.pop("id")) for row in rows]
    if len({tuple(row) for row in rows}) > 1:  # a graph has only the columns in which it has a value
        known = [_with_metadata(graphs[[i]], [row])[0] for i, row in enumerate(rows)]
    else:
        known = list(_with_metadata(graphs, rows))
    return list(zip(names, rows, known, strict=True))


def _with_metadata(graphs: GraphSet, rows: Sequence[dict[str, object]]) -> GraphSet:
    """Graphs whose rows of metadata have the same columns, with these."""
    columns = {name: np.empty(len(rows), object) for name in (rows[0] if rows else ())}
    for name, column in columns.items():
        for i, row in enumerate(rows):
            column[i] = row[name]
    return replace(graphs, metadata=columns) if columns else graphs
