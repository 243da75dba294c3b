"""GraphIndex on a database: sends rows in batches, repeats failed calls, and ranks the candidates of the database."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import xxhash

from ugraphemb.encoder.heads import PSEUDO
from ugraphemb.encoder.names import Head
from ugraphemb.errors import EngineError, IndexFormatError
from ugraphemb.estimator import UGraphEmb
from ugraphemb.graphs import GraphSet
from ugraphemb.progress import progress_of
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.search.answers import Question
from ugraphemb.search.engines import header, values
from ugraphemb.search.engines.embedded import refuse_known, refuse_missing
from ugraphemb.search.engines.protocol import Scope, Store
from ugraphemb.search.engines.records import from_records, to_records
from ugraphemb.search.engines.sizes import node_range
from ugraphemb.search.metadata import Condition, Where, conditions, schema_of
from ugraphemb.search.neighbors import Neighbors, Vectors
from ugraphemb.search.parts import Database, Part

BATCH = 2_000
"""Rows that are sent at once."""

ASKED = 2_000
"""Ids that are requested or removed at once."""

PAGE = 5_000
"""Rows that are fetched at once when all are."""

MOST = 5_000_000
"""Graphs that a complete search fetches; about 5 GB of molecules."""

_TRIES, _FIRST_PAUSE = 6, 0.2  # pauses double: 6 seconds in all
COLUMNS = ("id", "vector", "graph", "nodes", "added", "digest")
_ROW = ("id", "vector", "graph", "added", "meta")
_T = TypeVar("_T")


def proposals(count: int, head: Head) -> int:
    """How many candidates are requested by L2, so that they contain the `count` nearest by the head."""
    return max(5 * count, count + 200) if head in (*PSEUDO, "l1", "sized_l1") else max(2 * count, count + 32)


class Remote:
    """An engine that is a database; see `Engine`.

    Every row has the packed graph beside its vector. Rows are sent in batches, each of which is stored completely
    or not at all; ids that exist with the same graph and metadata are skipped, so an interrupted `add` can be repeated.
    """

    def __init__(self, store: Store, head: Head, kind: str) -> None:
        self.store, self.head, self.kind = store, head, kind
        self._schema, self._width = pa.schema([]), -1

    @classmethod
    def made(cls, store: Store, model: UGraphEmb, kind: str, costs: dict[str, Any]) -> Remote:
        """For a model; see `engine_at`."""
        if kind not in ("auto", "flat", "hnsw"):
            raise ValueError(f"kind={kind!r}; for {store.name} it is one of 'auto', 'flat', 'hnsw'")
        files = header.model_files(model)
        config = model._fitted()
        fingerprint = header.fingerprint_of(files)
        engine = cls(store, config.head, kind)
        about = engine._asked("open", store.about)
        if "index" not in about:
            engine._asked("create", lambda: store.create(config.dimension, config.head == "inner", kind))
            engine._asked("keep the model", lambda: store.keep("model", header.packed(files)))
            content = {
                "fingerprint": fingerprint, "head": config.head, "dimension": config.dimension, "kind": kind,
                "costs": costs, "model": xxhash.xxh64_hexdigest(header.packed(files)),
            }  # fmt: skip
            engine._asked("keep the header", lambda: store.keep("index", header.FORMAT.text(content)))  # the last step
            about = engine._asked("open", store.about)
        kept = header.FORMAT.parsed(about["index"], store.name)
        if kept["fingerprint"] != fingerprint:
            raise IndexFormatError(
                f"{store.name}: holds vectors of another model (fingerprint {kept['fingerprint'][:12]}; "
                f"yours has {fingerprint[:12]}); GraphIndex.load(url) takes the model from there"
            )
        engine._asked("load", lambda: store.create(config.dimension, config.head == "inner", kept["kind"]))
        engine._read_columns(about)
        return engine

    @classmethod
    def opened(cls, store: Store, device: str | None) -> tuple[Remote, UGraphEmb, dict[str, Any]]:
        """With the model and the costs that are kept there; see `engines.opened`."""
        engine = cls(store, "l2", "auto")
        about = engine._asked("open", store.about)
        if "index" not in about:
            raise IndexFormatError(f"{store.name}: there is no index")
        kept = header.FORMAT.parsed(about["index"], store.name)
        if xxhash.xxh64_hexdigest(about.get("model", b"")) != kept["model"]:
            raise IndexFormatError(f"{store.name}: its model is not what was written (another checksum)")
        model = header.model_from(about["model"], store.name, device)
        engine.head, engine.kind = model.head_, kept["kind"]
        engine._asked("load", lambda: store.create(kept["dimension"], kept["head"] == "inner", kept["kind"]))
        engine._read_columns(about)
        return engine, model, kept["costs"]

    @property
    def name(self) -> str:
        return self.store.name

    def count(self, where: Where | None = None) -> int:
        filters = self._filters(where)
        return self._asked("count", lambda: self.store.count(filters))

    def known(self, ids: Sequence[str]) -> list[str]:
        there = self._digests(ids)
        return [name for name in ids if name in there]

    def ids(self) -> list[str]:
        pages = [page.select(["id", "added"]) for page in self._pages(("id", "added"))]
        return _in_order(pa.concat_tables(pages))["id"].to_pylist() if pages else []

    def fetch(self, ids: Sequence[str] | None) -> GraphSet:
        if ids is None:
            tables = list(self._pages(("id", "graph", "added")))
            return self._graphs(_in_order(pa.concat_tables(tables))) if tables else GraphSet.from_edges([], [])
        found = pa.concat_tables([self._rows(some, ("id", "graph")) for some in _batches(ids)] or [_nothing()])
        place = {name: i for i, name in enumerate(found["id"].to_pylist())}
        missing = next((name for name in ids if name not in place), None)
        if missing is not None:
            raise KeyError(f"no graph has the id {missing!r}")
        return self._graphs(found.take([place[name] for name in ids])) if len(ids) else GraphSet.from_edges([], [])

    def add(
        self, graphs: GraphSet, rows: pa.Table, vectors: Vectors, *, replace: bool, progress: bool | None = None
    ) -> None:
        names = rows["id"].to_pylist()
        if not names:
            return
        metadata = rows.drop_columns(["id"])
        self._widen(metadata, -1 if graphs.node_attributes is None else graphs.node_attributes.shape[1])
        objects = values.to_objects(metadata)
        records = to_records(graphs)
        self._check_sizes(names, records)
        digests = [_digest(record, about) for record, about in zip(records, objects, strict=True)]
        there = self._digests(names)
        if not replace:
            refuse_known([n for n, own in zip(names, digests, strict=True) if there.get(n, own) != own], names)
        wanted = [i for i, name in enumerate(names) if there.get(name) != digests[i]]
        first = time.time_ns()
        with progress_of(len(wanted), f"graphs sent to {self.store.name}", progress) as tick:
            for begin in range(0, len(wanted), BATCH):
                some = np.array(wanted[begin : begin + BATCH], np.int64)
                batch = pa.table(
                    {
                        "id": pa.array([names[i] for i in some], pa.string()),
                        "vector": pa.FixedSizeListArray.from_arrays(
                            pa.array(np.ascontiguousarray(vectors[some], np.float32).reshape(-1)), vectors.shape[1]
                        ),
                        "graph": pa.array([records[i] for i in some], pa.binary()),
                        "nodes": pa.array(graphs.num_nodes[some], pa.int64()),
                        "added": pa.array(first + some, pa.int64()),
                        "digest": pa.array([digests[i] for i in some], pa.int64()),
                    }
                )
                about = metadata.take(pa.array(some)) if metadata.num_columns else None
                batch = self._with_metadata(batch, about, [objects[i] for i in some])
                self._asked("add", lambda batch=batch: self.store.upsert(batch))  # type: ignore[misc]
                tick(min(begin + BATCH, len(wanted)))
        if wanted:
            self._asked("build the index", lambda: self.store.built(self.kind))

    def remove(self, ids: Sequence[str]) -> None:
        refuse_missing(self.known(ids), ids)
        for some in _batches(ids):
            self._asked("remove", lambda some=some: self.store.delete(some))  # type: ignore[misc]

    def scopes(
        self, queries: GraphSet, vectors: Vectors, question: Question, where: Where | None, costs: EditCosts | None
    ) -> list[Scope]:
        if not len(queries):
            return []
        filters = self._filters(where)
        if question.everywhere:
            return [self._whole(queries[[q]], vectors[[q]], question, filters, costs) for q in range(len(queries))]
        return self._shortlists(vectors, question, filters)

    def pages(self) -> Iterator[tuple[GraphSet, pa.Table, Vectors]]:
        for page in self._pages(_ROW):
            table = _in_order(page)
            yield self._graphs(table), self._metadata(table), _vectors(table)

    def _shortlists(self, vectors: Vectors, question: Question, filters: Sequence[Condition]) -> list[Scope]:
        """What the database proposes to each query, ranked by the head; graphs of the best alone are unpacked."""
        count = question.candidates
        found = self._asked("search", lambda: self.store.nearest(vectors, proposals(count, self.head), filters, _ROW))
        scopes = []
        for vector, table in zip(vectors, found, strict=True):
            table = _in_order(table)
            places, scores = Neighbors(_vectors(table), self.head, "flat").nearest(vector[None], count)[0]
            kept = np.sort(places)
            database = Database([self._part(table.take(pa.array(kept)))])
            scopes.append(
                Scope(database, (np.searchsorted(kept, places), scores), [None] * len(database.parts), len(places))
            )
        return scopes

    def _whole(
        self, query: GraphSet, vector: Vectors, question: Question, filters: Sequence[Condition],
        costs: EditCosts | None,
    ) -> Scope:  # fmt: skip
        """All graphs whose size does not rule them out, fetched a page at a time."""
        near = None if question.within is not None else self._shortlists(vector, question, filters)[0]
        nodes = None if costs is None else node_range(query, near, question, costs)
        total = self._asked("count", lambda: self.store.count(filters))
        tables, fetched = [], 0
        for page in self._pages(_ROW, filters, nodes):
            tables.append(page)
            fetched += len(page)
            if fetched > MOST:
                raise EngineError(
                    f"{self.store.name}: complete search would fetch more than {MOST:,} of {total:,} graphs; narrow it "
                    "with `where` or `within`, or `ugraphemb copy` the index to a folder and search there"
                )
        database = Database([self._part(_in_order(pa.concat_tables(tables)))] if tables else [])
        chosen: list[Any] = [None] * len(database.parts)
        found = database.nearest(vector, question.candidates, chosen)[0] if near is not None else _NOTHING
        return Scope(database, found, chosen, total)

    def _part(self, table: pa.Table) -> Part:
        return Part.of(self._graphs(table), self._metadata(table), _vectors(table), self.head, "flat")

    def _graphs(self, table: pa.Table) -> GraphSet:
        return from_records(table["graph"].to_pylist(), table["id"].to_pylist(), self.store.name)

    def _metadata(self, table: pa.Table) -> pa.Table:
        if self.store.native:
            return table.select(["id", *(name for name in self._schema.names if name in table.column_names)])
        objects = [json.loads(text) for text in table["meta"].to_pylist()]
        if any(name not in self._schema.names for found in objects for name in found):
            self._read_columns(self._asked("open", self.store.about))  # another client added a column
        return values.to_table(table["id"].to_pylist(), objects, self._schema)

    def _with_metadata(self, batch: pa.Table, metadata: pa.Table | None, objects: Sequence[dict[str, Any]]) -> pa.Table:
        if not self.store.native:
            return batch.append_column("meta", pa.array([values.to_text(found) for found in objects], pa.string()))
        for field in self._schema:
            there = metadata is not None and field.name in metadata.column_names
            column = metadata[field.name].cast(field.type) if there else pa.nulls(len(batch), field.type)  # type: ignore[index]
            batch = batch.append_column(field, column)
        return batch

    def _check_sizes(self, names: Sequence[str], records: Sequence[bytes]) -> None:
        largest = self.store.largest
        for name, record in zip(names, records, strict=True):
            if largest is not None and len(record) > largest:
                raise ValueError(
                    f"{self.store.name}: graph {name!r} takes {len(record):,} bytes; at most {largest:,} fit"
                )
            if len(name.encode()) > 1_024:
                raise ValueError(f"{self.store.name}: an id of {len(name.encode()):,} bytes; at most 1,024 fit")

    def _widen(self, metadata: pa.Table, width: int) -> None:
        """Keeps columns that are new."""
        about = self._asked("open", self.store.about)
        self._read_columns(about)
        if self._width != width and "columns" in about:
            own, there = (("no" if one < 0 else str(one)) for one in (width, self._width))
            raise ValueError(
                f"graphs with {own} node attributes; those of the index have {there.replace('no', 'none')}"
            )
        schema = schema_of([self._schema.empty_table(), metadata.schema.empty_table()])
        if schema != self._schema or "columns" not in about:
            if self.store.native:
                wrong = [name for name in schema.names if name in COLUMNS or "." in name or name.startswith("_")]
                if wrong:
                    raise ValueError(f"{self.store.name}: no metadata column can have the name {wrong[0]!r}")
                self._asked("add columns", lambda: self.store.widen(schema))
            content = {"schema": base64.b64encode(schema.remove_metadata().serialize()).decode(), "attributes": width}
            self._asked("keep columns", lambda: self.store.keep("columns", json.dumps(content).encode()))
            self._schema, self._width = schema, width

    def _read_columns(self, about: dict[str, bytes]) -> None:
        if "columns" not in about:
            return
        try:
            content = json.loads(about["columns"])
            self._schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(content["schema"])))
            self._width = int(content["attributes"])
        except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
            raise IndexFormatError(f"{self.store.name}: its list of columns is damaged ({error})") from error

    def _filters(self, where: Where | None) -> list[Condition]:
        if where is None:
            return []
        if any(name not in self._schema.names for name in where):
            self._read_columns(self._asked("open", self.store.about))
        if any(name not in self._schema.names for name in where) and not self.count():
            return []
        return conditions(pa.schema([pa.field("id", pa.string()), *self._schema]), where)

    def _digests(self, ids: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for some in _batches(ids):
            table = self._rows(some, ("id", "digest"))
            found.update(zip(table["id"].to_pylist(), table["digest"].to_pylist(), strict=True))
        return found

    def _rows(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        return self._asked("fetch", lambda: self.store.rows(ids, columns))

    def _pages(
        self, columns: Sequence[str], filters: Sequence[Condition] = (), nodes: tuple[int, int] | None = None
    ) -> Iterator[pa.Table]:
        try:
            yield from self.store.pages(filters, nodes, columns, PAGE)
        except self.store.errors as error:
            raise self._error("fetch", error) from error

    def _asked(self, what: str, call: Callable[[], _T]) -> _T:
        """The answer of the database; the call is repeated after a pause if the connection broke or the server is busy.

        Raises:
            EngineError: It did not answer, or refused.
        """
        pause = _FIRST_PAUSE
        for attempt in range(_TRIES):
            try:
                if attempt:
                    self.store.reconnect()
                return call()
            except self.store.errors as error:
                if attempt == _TRIES - 1 or not self.store.passing(error):
                    raise self._error(what, error) from error
                time.sleep(pause)
                pause *= 2
        raise AssertionError

    def _error(self, what: str, error: Exception) -> EngineError:
        return EngineError(
            f"{self.store.name}: could not {what} ({type(error).__name__}: {' '.join(str(error).split())})"
        )


def _digest(record: bytes, about: dict[str, Any]) -> int:
    """Of a graph and its metadata, as databases keep it: 64 bits with a sign."""
    return int(xxhash.xxh64_intdigest(record + values.to_text(about).encode())) - (1 << 63)


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[begin : begin + ASKED] for begin in range(0, len(ids), ASKED))


def _in_order(table: pa.Table) -> pa.Table:
    """In the order the graphs were added, in one chunk."""
    return table.sort_by([("added", "ascending"), ("id", "ascending")]).combine_chunks()


def _vectors(table: pa.Table) -> Vectors:
    column = table["vector"].combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat, np.float32).reshape(len(table), -1 if len(table) else 0)


def _nothing() -> pa.Table:
    return pa.table({"id": pa.array([], pa.string()), "graph": pa.array([], pa.binary())})


_NOTHING = (np.empty(0, np.int64), np.empty(0))
