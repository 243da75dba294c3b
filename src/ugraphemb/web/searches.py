"""Search: by vectors in batches, verified in a separate thread, or as a stream of improving answers."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugraphemb.errors import UGraphEmbError
from ugraphemb.graphs import Graph, GraphSet, concatenated
from ugraphemb.graphs.collector import Reading
from ugraphemb.plots.molecules import are_molecules
from ugraphemb.search import Matches
from ugraphemb.web.bodies import SearchBody
from ugraphemb.web.collection import Collection
from ugraphemb.web.drawings import Look, shown
from ugraphemb.web.graph_answers import certificate_answer, graph_answer, match_answer
from ugraphemb.web.queries import check_graphs, smiles_graphs
from ugraphemb.web.refusals import RefusalError
from ugraphemb.web.settings import Limits
from ugraphemb.web.work import Batches, Places

Vectors = npt.NDArray[np.float32]
_FIRST_BUDGET, _GROWTH = 0.1, 4.0  # seconds of the first round of a stream, and how much longer the next one is
_WRONG = (ValueError, TypeError, OverflowError, KeyError, pa.ArrowException)


class StoppedError(Exception):
    """The client has gone."""


class Stop:
    """Raises in the thread that works once the client has gone."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def heard(self, done: int, total: int) -> None:
        if self._event.is_set():
            raise StoppedError


@dataclass(frozen=True, eq=False)
class Asked:
    """One search by vectors: what is to be embedded, and what is to be found near it (k = 0: nothing).

    Attributes:
        asked: A graph; or SMILES, which are read for all of a batch together.
    """

    collection: Collection
    asked: GraphSet | str
    k: int = 0
    where: dict[str, Any] | None = None
    place: bool = True


@dataclass(frozen=True, eq=False)
class Near:
    """Its answer: the graph with its vector and its place on the map, and what is near (see `answers.MatchAnswer`)."""

    graph: Graph
    vector: Vectors
    place: list[float] | None
    matches: list[dict[str, Any]]


def answered(batch: Sequence[Asked], limits: Limits) -> list[Near | Exception]:
    """Searches that came together: one pass of the encoder for all of one collection."""
    results: dict[int, Near | Exception] = {}
    for collection in {id(asked.collection): asked.collection for asked in batch}.values():
        rows = [i for i, asked in enumerate(batch) if asked.collection is collection]
        try:
            found = _answered(collection, [batch[i] for i in rows], limits)
        except Exception as error:
            # One graph that cannot be read or embedded must not fail the others.
            found = [error] if len(rows) == 1 else [answered([batch[i]], limits)[0] for i in rows]
        results.update(zip(rows, found, strict=True))
    return [results[i] for i in range(len(batch))]


def _answered(collection: Collection, batch: Sequence[Asked], limits: Limits) -> list[Near | Exception]:
    graphs, order = _together(collection, batch)
    check_graphs(graphs, limits, "query")
    vectors = collection.index._embedded(graphs)[order]
    places = None
    if any(asked.place for asked in batch) and collection.map is not None and len(collection):
        places = collection.map.place(vectors).tolist()
    near: dict[int, tuple[Any, Any] | Exception] = {}
    for key in {(asked.k, repr(asked.where)): asked for asked in batch if asked.k}.values():
        rows = [i for i, asked in enumerate(batch) if (asked.k, repr(asked.where)) == (key.k, repr(key.where))]
        try:
            chosen = collection.database.chosen(key.where or None)
            found = collection.database.nearest(vectors[rows], key.k, chosen)
            near.update(zip(rows, found, strict=True))
        except _WRONG as error:
            near.update(dict.fromkeys(rows, RefusalError("invalid", " ".join(str(error).split())[:500], "where")))
    matches = _matches(collection, {i: found for i, found in near.items() if not isinstance(found, Exception)})
    answers: list[Near | Exception] = []
    for i, asked in enumerate(batch):
        failed = near.get(i)
        if isinstance(failed, Exception):
            answers.append(failed)
            continue
        spot = places[i] if places is not None and asked.place else None
        answers.append(Near(graphs[int(order[i])], vectors[i], spot, matches.get(i, [])))
    return answers


def _matches(collection: Collection, near: dict[int, tuple[Any, Any]]) -> dict[int, list[dict[str, Any]]]:
    """Matches by vectors of each query; what is known of their graphs is looked up once for the whole batch."""
    if not near:
        return {}
    rows = iter(collection.row_answers(collection.positions_of(np.concatenate([found[0] for found in near.values()]))))
    return {
        i: [
            {"rank": rank, "id": row["id"], "position": row["position"], "distance": None, "lower": None, "upper": None,
             "proven": False, "normalized": None, "predicted": predicted, "num_nodes": row["num_nodes"],
             "num_edges": row["num_edges"], "metadata": row["metadata"]}
            for rank, (predicted, row) in enumerate(zip(values.tolist(), rows, strict=False), 1)
        ]
        for i, (_, values) in near.items()
    }  # fmt: skip


def _together(collection: Collection, batch: Sequence[Asked]) -> tuple[GraphSet, npt.NDArray[np.int64]]:
    """The graphs of a batch as one collection, and where in it each stands."""
    texts = [i for i, asked in enumerate(batch) if isinstance(asked.asked, str)]
    others = [i for i, asked in enumerate(batch) if not isinstance(asked.asked, str)]
    sets = [batch[i].asked for i in others]
    if texts:
        sets.insert(0, smiles_graphs([str(batch[i].asked) for i in texts], collection, "query.smiles").graphs)
    order = np.empty(len(batch), np.int64)
    order[texts + others] = np.arange(len(batch))
    return sets[0] if len(sets) == 1 else concatenated(sets), order  # type: ignore[return-value,arg-type]


class Searches:
    """What answers /api/search and /api/search/stream."""

    def __init__(self, limits: Limits, embedding: Places, proofs: Places, drawing: Places) -> None:
        self.limits, self.proofs, self.drawing = limits, proofs, drawing
        self.batches: Batches[Asked, Near] = Batches(
            lambda batch: answered(batch, limits), embedding, most=32, waiting=limits.connections
        )

    def allowed(self, body: SearchBody) -> SearchBody:
        """The request, with defaults that are no more than what is allowed.

        Raises:
            RefusalError: It requests more.
        """
        lower: dict[str, float] = {}
        for name, most in (("k", self.limits.k), ("shortlist", self.limits.shortlist), ("budget", self.limits.seconds)):
            value = getattr(body, name)
            if value is None or value <= most:
                continue
            if name in body.model_fields_set:
                raise RefusalError("invalid", f"{name} is {value:g}; at most {most:g} is allowed", name)
            lower[name] = most
        return body.model_copy(update=lower) if lower else body

    def warm_up(self, collection: Collection) -> None:
        """A search by vectors without an answer: it loads what searches need."""
        if len(collection):
            answered([Asked(collection, collection.graphs(np.array([0])), k=1)], self.limits)

    async def vectors(self, body: SearchBody, collection: Collection, reading: Reading | None) -> dict[str, Any]:
        """The answer by vectors. Without a reading, the query is SMILES that are still to be read."""
        begin = time.monotonic()
        asked = (body.query.smiles or "") if reading is None else reading.graphs
        near = await self.batches.one(Asked(collection, asked, body.k or 10, body.where, body.place))
        notes = [] if reading is None else reading.notes
        return _answer("vectors", begin, collection, near, notes, near.matches, None)

    async def verified(self, body: SearchBody, collection: Collection, reading: Reading) -> dict[str, Any]:
        """The verified answer."""
        begin = time.monotonic()
        near = await self.batches.one(Asked(collection, reading.graphs, 0, None, body.place))
        found = await self._round(body, collection, reading.graphs, body.budget)
        return _answer(body.mode, begin, collection, near, reading.notes, *_found(found, collection))

    async def stream(
        self, body: SearchBody, collection: Collection, reading: Reading
    ) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Events: the answer by vectors, then verified ones with growing budgets until nothing is left to prove.

        Each round is a search of its own with four times the time of the one before, so that all of them together take
        a third longer than the last one alone.
        """
        begin, (graphs, notes) = time.monotonic(), reading
        near = await self.batches.one(Asked(collection, graphs, body.k or 10, body.where, body.place))
        look = await self.drawing.run(lambda: self._look(collection, near.graph))
        answer = _answer("vectors", begin, collection, near, notes, near.matches, None, look)
        yield "vectors", answer
        budget, number = min(_FIRST_BUDGET, body.budget), 0
        while body.mode != "vectors":
            started = time.monotonic()
            found = await self._round(body, collection, graphs, budget)
            answer = _answer(body.mode, begin, collection, near, notes, *_found(found, collection), look)
            number += 1
            left = body.budget - (time.monotonic() - begin)
            if time.monotonic() - started < 0.9 * budget or left <= 0.05 or budget >= body.budget:
                break
            yield "progress", {**answer, "round": number, "budget": budget}
            budget = left if left < 1.5 * _GROWTH * budget else _GROWTH * budget
        yield "done", answer

    def _look(self, collection: Collection, graph: Graph) -> dict[str, Any]:
        """Coordinates of the query, for pages that draw it."""
        if graph.num_nodes > self.limits.draw_nodes:
            return {}
        return shown(Look.of(graph, collection.molecules and are_molecules(graph.graphs[[graph.position]])))

    async def _round(self, body: SearchBody, collection: Collection, graphs: GraphSet, budget: float) -> Matches:
        stop = Stop()
        return await self.proofs.run(_verification(body, collection, graphs, budget, stop), stop.set)


def _verification(
    body: SearchBody, collection: Collection, graphs: GraphSet, budget: float, stop: Stop
) -> Callable[[], Matches]:
    def work() -> Matches:
        stop.heard(0, 1)
        try:
            return collection.index.search(
                graphs, body.k, verify=body.mode == "verified", complete=body.mode == "complete", within=body.within,
                where=body.where or None, by=body.by, budget=budget, shortlist=body.shortlist, progress=stop.heard,
            )[0]  # fmt: skip
        except UGraphEmbError as error:
            raise RefusalError("invalid", " ".join(str(error).split())[:500]) from error
        except _WRONG as error:
            raise RefusalError("invalid", " ".join(str(error).split())[:500], "where") from error

    return work


def _found(found: Matches, collection: Collection) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    matches = [match_answer(match, collection.position_of(match.id)) for match in found]
    return matches, certificate_answer(found.certificate)


def _answer(
    mode: str, begin: float, collection: Collection, near: Near, notes: list[str], matches: list[dict[str, Any]],
    certificate: dict[str, Any] | None, look: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    unseen = collection.unseen(near.graph)
    return {
        "mode": mode,
        "seconds": time.monotonic() - begin,
        "state": collection.state,
        "query": {"graph": {**graph_answer(near.graph), **(look or {})}, "place": near.place},
        "warnings": [*notes, *([unseen] if unseen else [])],
        "matches": matches,
        "certificate": certificate,
    }
