"""The API. Every route works on the collection that was current when the request arrived."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Annotated, Any, TypeVar

import numpy as np
import pyarrow as pa
from fastapi import APIRouter, Query, Request, Response

from ugraphemb import __version__
from ugraphemb.encoder.heads import between
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.collector import Reading
from ugraphemb.web import answers, bodies, neighborhoods, tables
from ugraphemb.web.collection import Collection
from ugraphemb.web.drawings import Look, drawing, shown
from ugraphemb.web.edits import edits_answer
from ugraphemb.web.graph_answers import graph_answer
from ugraphemb.web.queries import (
    check_graphs,
    graphs_of_input,
    graphs_of_json,
    graphs_of_query,
    position_of_query,
    smiles_graphs,
)
from ugraphemb.web.refusals import RefusalError
from ugraphemb.web.replies import EventStream, json_reply, while_connected
from ugraphemb.web.searches import Asked
from ugraphemb.web.service import Service

API = 1
SVG = "image/svg+xml"
_QUICK = 500  # characters of SMILES, edges of a graph, that are read without a thread
_REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": answers.ErrorAnswer, "description": text}
    for status, text in {
        400: "Not JSON",
        401: "No token, or a wrong one",
        403: "Not allowed here",
        404: "No such graph, column or route",
        408: "Too slow",
        409: "The index has changed",
        413: "Too large",
        421: "Another host",
        422: "An invalid request",
        429: "Too much at once",
    }.items()
}
Work = TypeVar("Work")
Name = Annotated[str, Query(max_length=1_000)]
Id = Annotated[str | None, Query(max_length=1_000)]
Position = Annotated[int | None, Query(ge=0, le=2**53)]
Side = Annotated[int, Query(ge=16, le=2_000)]


def _binary(media: str) -> dict[int | str, dict[str, Any]]:
    schema = {"schema": {"type": "string", "format": "binary"}}
    return {**_REFUSED, 200: {"content": {media: schema}, "description": "OK"}}


def _shown(model: type) -> dict[int | str, dict[str, Any]]:
    return {**_REFUSED, 200: {"model": model, "description": "OK"}}


def api(service: Service) -> APIRouter:
    """All routes."""
    routes = APIRouter(prefix="/api")
    limits, settings = service.settings.limits, service.settings

    async def light(work: Callable[[], Work]) -> Work:
        return await service.light.run(work)

    async def read(query: bodies.Query, collection: Collection, where: str = "query") -> Reading:
        small = len(query.smiles or "") <= _QUICK and len(query.graph.edges if query.graph else ()) <= _QUICK
        if query.file is None and small:
            return graphs_of_query(query, collection, limits, where)
        return await light(lambda: graphs_of_query(query, collection, limits, where))

    def chosen(body: bodies.RowsBody, collection: Collection, most: int) -> Any:
        collection.check_state(body.state)
        wanted = body.positions if body.ids is None else body.ids
        if len(wanted or []) > most:
            raise RefusalError("too_large", f"{len(wanted or [])} graphs; at most {most} at once")
        if body.ids is not None:
            return np.array([collection.position_of(name) for name in body.ids], np.int64)
        return collection.check_positions(body.positions or [])

    @routes.get("/health", responses=_shown(answers.Health))
    async def health() -> Response:
        return json_reply({"status": "ok"})

    @routes.get("/version", responses=_shown(answers.Version))
    async def version() -> Response:
        return json_reply({"version": __version__, "api": API})

    @routes.get("/info", responses=_shown(answers.Info))
    async def info() -> Response:
        """What is served: the collection, its columns, the model, the map, limits."""
        found = await light(service.info)
        return json_reply({**found, "writable": settings.writable, "limits": asdict(limits), "version": __version__})

    @routes.get("/map", responses={**_binary(tables.ARROW), 304: {"description": "Not modified"}})
    async def map_(request: Request, columns: Annotated[str | None, Query(max_length=10_000)] = None) -> Response:
        """The place of every graph on the map, and columns, as an Arrow stream of one batch; row = position."""
        collection, state = service.collection, dict(service.map_state)
        names = None if columns is None else [name for name in columns.split(",") if name]
        if names is not None and len(names) > 20:
            raise RefusalError("invalid", f"{len(names)} columns; at most 20 at once", "columns")
        tag = f'"{hashlib.sha256(f"{state}{columns}".encode()).hexdigest()[:32]}"'
        if request.headers.get("if-none-match") == tag:
            return Response(None, 304, {"etag": tag, "cache-control": "no-cache"})
        places = collection.drawn_map.coordinates
        about = {"status": "provisional" if state["status"] == "computing" else "final", "method": state["method"]}
        data = await light(lambda: tables.map_bytes(collection, places, names, about))
        return Response(data, 200, {"etag": tag, "cache-control": "no-cache"}, tables.ARROW)

    @routes.get("/column", responses=_binary(tables.ARROW))
    async def column(name: Name) -> Response:
        """One column by position, as Arrow."""
        collection = service.collection
        data = await light(lambda: tables.arrow_bytes({"value": tables.colored(collection, name)},
                                                      {"state": collection.state}))  # fmt: skip
        return Response(data, media_type=tables.ARROW)

    @routes.post("/distances", responses=_binary(tables.ARROW))
    async def distances(body: bodies.QueryBody) -> Response:
        """What the model predicts for the query and every graph, by position, as Arrow."""
        collection = service.collection
        collection.check_state(body.state)
        reading = await read(body.query, collection)
        near = await service.searches.batches.one(Asked(collection, reading.graphs, place=False))

        def work() -> bytes:
            values = between(near.vector[None], collection.vectors(), collection.index.head)[0]
            return tables.arrow_bytes({"predicted": pa.array(values.astype(np.float32))}, {"state": collection.state})

        return Response(await light(work), media_type=tables.ARROW)

    @routes.get("/graph", responses=_shown(answers.GraphAnswer))
    async def graph(id: Id = None, position: Position = None) -> Response:
        """One graph of the collection, by id or by position."""
        collection = service.collection
        place = position_of_query(_named(id, position), collection, "id")

        def work() -> dict[str, Any]:
            one = collection.graph(place)
            known = graph_answer(one, place, collection.metadata(np.array([place]))[0])
            if one.num_nodes <= limits.draw_nodes:
                known.update(shown(Look.of(one, collection.molecules)))
            return known

        return json_reply(await light(work))

    def drawn(collection: Collection, graphs: GraphSet, size: int, theme: bodies.Theme, chemical: bool) -> bytes:
        if graphs[0].num_nodes > limits.draw_nodes:
            raise RefusalError(
                "too_large", f"{graphs[0].num_nodes} nodes are too many to draw; at most {limits.draw_nodes}"
            )
        colors = service.colors(collection)
        text = drawing(graphs[0], chemical=chemical, colors=colors, size=size, theme=theme)
        return text.encode("utf-8", "replace")

    def drawn_once(collection: Collection, place: int, size: int, theme: bodies.Theme, tag: str) -> bytes:
        found = service.drawings.get(tag)
        if found is None:
            found = drawn(collection, collection.graphs(np.array([place])), size, theme, collection.molecules)
            service.drawings.put(tag, found)
        return found

    @routes.get("/drawing", responses={**_binary(SVG), 304: {"description": "Not modified"}})
    async def drawing_of(
        request: Request, id: Id = None, position: Position = None, size: Side = 220, theme: bodies.Theme = "light"
    ) -> Response:
        """A graph of the collection as SVG."""
        collection = service.collection
        place = position_of_query(_named(id, position), collection, "id")
        tag = f'"{hashlib.sha256(f"{collection.state} {place} {size} {theme}".encode()).hexdigest()[:32]}"'
        headers = {"etag": tag, "cache-control": "private, max-age=60"}
        if request.headers.get("if-none-match") == tag:
            return Response(None, 304, headers)
        data = await service.drawing.run(lambda: drawn_once(collection, place, size, theme, tag))
        return Response(data, 200, headers, SVG)

    @routes.post("/drawing", responses=_binary(SVG))
    async def drawing_of_query(body: bodies.DrawingBody) -> Response:
        """Any graph as SVG."""
        collection = service.collection
        collection.check_state(body.state)
        reading = await read(body.query, collection)
        chemical = service.chemical(reading.graphs)
        data = await service.drawing.run(lambda: drawn(collection, reading.graphs, body.size, body.theme, chemical))
        return Response(data, media_type=SVG)

    @routes.post("/parse", responses=_shown(answers.Parsed))
    async def parse(body: bodies.ParseBody) -> Response:
        """SMILES, a JSON graph or a file, as graphs."""
        collection = service.collection

        def work() -> dict[str, Any]:
            found = graphs_of_input(body, collection, limits, "body")
            shown = found.graphs[: limits.file_graphs]
            check_graphs(shown, limits, "body")
            return {"graphs": [graph_answer(one) for one in shown], "count": len(found.graphs), "warnings": found.notes}

        return json_reply(await light(work))

    @routes.post("/search", responses=_shown(answers.SearchAnswer))
    async def search(body: bodies.SearchBody, request: Request) -> Response:
        """The graphs most like the query: by vectors, or verified by edit distances."""
        collection = service.collection
        collection.check_state(body.state)
        body = service.searches.allowed(body)
        batched = body.mode == "vectors" and body.query.smiles is not None
        reading = None if batched else await read(body.query, collection)
        if reading is None or body.mode == "vectors":
            return json_reply(await service.searches.vectors(body, collection, reading))
        return json_reply(await while_connected(request, service.searches.verified(body, collection, reading)))

    @routes.post(
        "/search/stream", responses={**_REFUSED, 200: {"content": {"text/event-stream": {}}, "description": "Events"}}
    )
    async def search_stream(body: bodies.SearchBody) -> Response:
        """The same as server-sent events: vectors, progress, ..., done; or error."""
        collection = service.collection
        collection.check_state(body.state)
        body = service.searches.allowed(body)
        reading = await read(body.query, collection)
        return EventStream(service.searches.stream(body, collection, reading))

    @routes.post("/edits", responses=_shown(answers.EditsAnswer))
    async def edits(body: bodies.EditsBody, request: Request) -> Response:
        """The edits from one graph to another, step by step, with drawings."""
        collection = service.collection
        collection.check_state(body.state)
        if body.budget > limits.seconds:
            raise RefusalError("invalid", f"budget is {body.budget:g}; at most {limits.seconds:g}", "budget")
        pair = [(await read(query, collection, name)).graphs for name, query in
                (("left", body.left), ("right", body.right))]  # fmt: skip
        largest = max(int(graphs.num_nodes[0]) for graphs in pair)
        if largest > limits.edit_nodes:
            raise RefusalError("too_large", f"{largest} nodes; edits are shown for at most {limits.edit_nodes}")
        costs = service.costs(collection)
        chemical = all(service.chemical(graphs) for graphs in pair)

        def work() -> dict[str, Any]:
            return edits_answer(
                pair[0][0], pair[1][0], costs=costs, budget=body.budget, chemical=chemical, drawings=body.drawings,
                size=body.size, theme=body.theme,
            )  # fmt: skip

        return json_reply(await while_connected(request, service.proofs.run(work)))

    @routes.post("/embed", responses=_shown(answers.Embedded))
    async def embed(body: bodies.EmbedBody) -> Response:
        """Vectors of any graphs, and where they fall on the map."""
        collection = service.collection
        collection.check_state(body.state)
        if len(body.queries) > limits.embed:
            raise RefusalError("too_large", f"{len(body.queries)} graphs; at most {limits.embed} at once", "queries")
        near = [
            await service.searches.batches.one(
                Asked(collection, (await read(query, collection, f"queries.{i}")).graphs)
            )
            for i, query in enumerate(body.queries)
        ]
        return json_reply({"vectors": [one.vector.tolist() for one in near], "places": [one.place for one in near]})

    @routes.post("/line", responses=_shown(answers.Line))
    async def line(body: bodies.LineBody) -> Response:
        """Graphs along the line between two graphs on the map."""
        collection = service.collection
        collection.check_state(body.state)
        ends = position_of_query(body.start, collection, "from"), position_of_query(body.stop, collection, "to")
        return json_reply(await light(lambda: neighborhoods.line(collection, *ends, body.points)))

    @routes.get("/clusters", responses=_shown(answers.Clusters))
    async def clusters(
        count: Annotated[int, Query(ge=1, le=50)] = 5, members: Annotated[int, Query(ge=1, le=100)] = 12
    ) -> Response:
        """The most crowded discs of the map, each with graphs from its center outward."""
        collection = service.collection
        return json_reply(await light(lambda: neighborhoods.clusters(collection, count, members)))

    @routes.post("/cluster", responses=_shown(answers.Cluster))
    async def cluster(body: bodies.ClusterBody) -> Response:
        """Graphs of a disc of the map, from its center outward."""
        collection = service.collection
        collection.check_state(body.state)
        if body.positions is not None:
            some = collection.check_positions(body.positions)
            return json_reply(await light(lambda: neighborhoods.central(collection, some, body.members)))
        return json_reply(
            await light(
                lambda: neighborhoods.cluster(collection, body.x or 0.0, body.y or 0.0, body.radius, body.members)
            )
        )

    @routes.post("/rows", responses=_shown(answers.Rows))
    async def rows(body: bodies.RowsBody) -> Response:
        """Ids, sizes, metadata and places of many graphs."""
        collection = service.collection
        return json_reply(await light(lambda: {"rows": collection.row_answers(chosen(body, collection, limits.rows))}))

    @routes.post("/export", responses={**_REFUSED, 200: {"content": {
        kind.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}} for kind in tables.TYPES.values()
    }, "description": "A file"}})  # fmt: skip
    async def export(body: bodies.ExportBody) -> Response:
        """Chosen graphs as a file."""
        collection = service.collection
        data = await light(lambda: tables.export(collection, chosen(body, collection, limits.export), body.format))
        name = f"graphs.{tables.SUFFIXES[body.format]}"
        return Response(data, 200, {"content-disposition": f'attachment; filename="{name}"'}, tables.TYPES[body.format])

    def check_writable() -> None:
        if not settings.writable:
            raise RefusalError("read_only", "this server is read-only; start it with --writable to change the index")

    @routes.post("/add", responses=_shown(answers.Written))
    async def add(body: bodies.AddBody) -> Response:
        """Adds graphs to the index; all or none."""
        check_writable()
        collection = service.collection

        def work() -> GraphSet:
            if body.smiles is not None:
                graphs = smiles_graphs(body.smiles, collection, "smiles").graphs
            elif body.graphs is not None:
                if not body.graphs:
                    raise RefusalError("invalid", "no graphs", "graphs")
                graphs = graphs_of_json(body.graphs, limits, "graphs").graphs
            else:
                graphs = graphs_of_input(bodies.ParseBody(file=body.file), collection, limits, "body").graphs
            check_graphs(graphs, limits, "graphs")
            if len(graphs) > limits.add:
                raise RefusalError("too_large", f"{len(graphs)} graphs; at most {limits.add} at once")
            return graphs if body.ids is None else replace(graphs, ids=_ids(body.ids, len(graphs)))

        graphs = await light(work)
        metadata: Any = body.metadata
        if metadata is None and body.graphs is not None and any(one.metadata for one in body.graphs):
            metadata = [one.metadata for one in body.graphs]
        changed = await service.write(
            lambda index: index.add(graphs, metadata=metadata, replace=body.replace, progress=False)
        )
        return json_reply({"graphs": len(changed), "state": changed.state})

    @routes.post("/remove", responses=_shown(answers.Written))
    async def remove(body: bodies.RemoveBody) -> Response:
        """Removes graphs from the index; all or none."""
        check_writable()
        changed = await service.write(lambda index: index.remove(body.ids))
        return json_reply({"graphs": len(changed), "state": changed.state})

    return routes


def _ids(ids: list[str], count: int) -> Any:
    if len(ids) != count:
        raise RefusalError("invalid", f"{len(ids)} ids for {count} graphs", "ids")
    return np.array(ids, np.str_)


def _named(id: str | None, position: int | None) -> bodies.Query:
    if (id is None) == (position is None):
        raise RefusalError("invalid", "exactly one of id, position is needed", "id")
    return bodies.Query(id=id, position=position)
