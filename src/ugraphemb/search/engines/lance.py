"""LanceDB: a folder of this machine or of an object store; no server. lance://folder, s3://bucket/folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ugraphemb.errors import needs_extra
from ugraphemb.search.engines import shown
from ugraphemb.search.metadata import Condition
from ugraphemb.search.neighbors import EXACT_UP_TO, Vectors

_ROWS, _ABOUT = "graphs", "about"
_OWN = ("id", "vector", "graph", "nodes", "added", "digest")
_WIDER = "wider_"  # before the name of a column that gets another type
_PROBES = 40  # partitions of the index that a query looks into
_REFINED = 2  # this many times as many as requested are compared by their full vectors


class Lance:
    """A folder with two tables, of graphs and of what is kept beside them; see `Store`."""

    native = True
    largest = None

    def __init__(self, url: str) -> None:
        with needs_extra("engines"):
            import lancedb

        self.name = shown(url)
        self.errors: tuple[type[Exception], ...] = (RuntimeError, OSError, ValueError)
        self._lancedb = lancedb
        self._path = url.removeprefix("lance://")
        if not self._path:
            raise ValueError(f"{self.name}: it is lance://folder")
        self._found: Any = None

    def passing(self, error: Exception) -> bool:
        return "conflict" in str(error).lower() or "timed out" in str(error).lower()

    def reconnect(self) -> None:
        self._found = None

    @property
    def _database(self) -> Any:
        if self._found is None:
            plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")  # a server of one's own
            options = {"allow_http": "true"} if plain and self._path.startswith("s3:") else None
            self._found = self._lancedb.connect(self._path, storage_options=options)
        return self._found

    def _table(self, name: str) -> Any:
        table = self._database.open_table(name)
        table.checkout_latest()
        return table

    def _has(self, name: str) -> bool:
        return name in self._database.list_tables().tables

    def about(self) -> dict[str, bytes]:
        if not self._has(_ABOUT):
            return {}
        found = self._table(_ABOUT).to_arrow()
        return dict(zip(found["key"].to_pylist(), found["value"].to_pylist(), strict=True))

    def keep(self, key: str, value: bytes) -> None:
        schema = pa.schema([pa.field("key", pa.string()), pa.field("value", pa.large_binary())])
        if not self._has(_ABOUT):
            self._database.create_table(_ABOUT, schema=schema, exist_ok=True)
        row = pa.table({"key": [key], "value": pa.array([value], pa.large_binary())}, schema)
        self._table(_ABOUT).merge_insert("key").when_matched_update_all().when_not_matched_insert_all().execute(row)

    def create(self, dimension: int, inner: bool, kind: str) -> None:
        self._metric = "dot" if inner else "l2"
        if self._has(_ROWS):
            return
        numbers = [pa.field(name, pa.int64()) for name in ("nodes", "added", "digest")]
        schema = pa.schema(
            [pa.field("id", pa.string()), pa.field("vector", pa.list_(pa.float32(), dimension)),
             pa.field("graph", pa.binary()), *numbers]
        )  # fmt: skip
        self._database.create_table(_ROWS, schema=schema, exist_ok=True)

    def widen(self, schema: pa.Schema) -> None:
        table = self._table(_ROWS)
        for field in schema:
            name, wider = field.name, f"{_WIDER}{field.name}"
            if name not in table.schema.names and wider in table.schema.names:  # of a call that was interrupted
                table.alter_columns({"path": wider, "rename": name})
            if name not in table.schema.names:
                table.add_columns([pa.field(name, field.type)])
            elif table.schema.field(name).type != field.type:
                table.add_columns({wider: f"arrow_cast(`{name}`, '{_sql_type(field.type)}')"})
                table.drop_columns([name])
                table.alter_columns({"path": wider, "rename": name})

    def upsert(self, rows: pa.Table) -> None:
        self._table(_ROWS).merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def delete(self, ids: Sequence[str]) -> None:
        self._table(_ROWS).delete(_one_of("id", ids))

    def built(self, kind: str) -> None:
        """An IVF of 8-bit codes for more than 100,000 rows; later rows are added to it."""
        from lancedb import index

        table = self._table(_ROWS)
        count = table.count_rows()
        names = {found.name for found in table.list_indices()}
        if count > 20_000 and "id_idx" not in names:
            table.create_index("id", config=index.BTree())
        if kind == "flat" or count <= (1_000 if kind == "hnsw" else EXACT_UP_TO):
            return
        if "vector_idx" not in names:
            settings = index.IvfSq(distance_type=self._metric, num_partitions=max(1, int(count**0.5)))
            table.create_index("vector", config=settings)
        elif table.index_stats("vector_idx").num_unindexed_rows > 0.1 * count:
            table.optimize()

    def count(self, filters: Sequence[Condition]) -> int:
        return int(self._table(_ROWS).count_rows(_where(filters) or None))

    def nearest(
        self, vectors: Vectors, count: int, filters: Sequence[Condition], columns: Sequence[str]
    ) -> list[pa.Table]:
        table, where = self._table(_ROWS), _where(filters)
        names = _columns(table, columns)
        found = []
        for vector in vectors:
            asked = table.search(vector, vector_column_name="vector").distance_type(self._metric).limit(count)
            asked = asked.nprobes(_PROBES).refine_factor(_REFINED).select([*names, "_distance"])
            found.append((asked.where(where, prefilter=True) if where else asked).to_arrow().select(names))
        return found

    def rows(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        table = self._table(_ROWS)
        names = _columns(table, columns)
        return table.search().where(_one_of("id", ids)).select(names).limit(len(ids)).to_arrow().select(names)

    def pages(
        self, filters: Sequence[Condition], nodes: tuple[int, int] | None, columns: Sequence[str], size: int
    ) -> Iterator[pa.Table]:
        table = self._table(_ROWS)
        names = _columns(table, columns)
        where = " AND ".join(filter(None, [_where(filters), _between(nodes)]))
        asked = table.search().select(names)
        for batch in (asked.where(where) if where else asked).to_batches(batch_size=size):
            yield pa.Table.from_batches([batch]).select(names)

    def drop(self) -> None:
        for name in (_ROWS, _ABOUT):
            if self._has(name):
                self._database.drop_table(name)

    def close(self) -> None: ...


def _sql_type(kind: pa.DataType) -> str:
    """What a column of numbers or text becomes, if others come into it."""
    return {"double": "Float64", "int64": "Int64", "float": "Float32", "string": "Utf8"}.get(str(kind), "Utf8")


def _columns(table: Any, columns: Sequence[str]) -> list[str]:
    metadata = [name for name in table.schema.names if name not in _OWN] if "meta" in columns else []
    return [*(name for name in columns if name != "meta"), *metadata]


def _between(nodes: tuple[int, int] | None) -> str:
    return "" if nodes is None else f"(nodes >= {nodes[0]} AND nodes <= {nodes[1]})"


def _where(filters: Sequence[Condition]) -> str:
    return " AND ".join(map(_condition, filters))


def _condition(asked: Condition) -> str:
    name = f"`{asked.name}`"
    known = [_literal(value, asked.kind) for value in asked.values]
    parts = [f"{name} IN ({', '.join(known)})"] if known else []
    parts += [f"{name} IS NULL"] if asked.none else []
    return f"({' OR '.join(parts) or 'false'})"


def _literal(value: pa.Scalar, kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "true" if value.as_py() else "false"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return repr(value.as_py())
    text = _quoted(str(value.cast(pa.string()).as_py()))
    if pa.types.is_timestamp(kind):
        return f"arrow_cast({text}, 'Timestamp({_UNITS[kind.unit]}, None)')"
    return f"date {text}" if pa.types.is_date(kind) else text


_UNITS = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}


def _one_of(name: str, texts: Sequence[str]) -> str:
    return f"{name} IN ({', '.join(map(_quoted, texts))})" if len(texts) else "false"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
