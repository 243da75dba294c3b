"""PostgreSQL with pgvector: postgresql://user@host:5432/database/table. Metadata are one jsonb column."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import pyarrow as pa

from ugraphemb.errors import needs_extra
from ugraphemb.search.engines import shown, values
from ugraphemb.search.metadata import Condition
from ugraphemb.search.neighbors import Vectors

_EXACT_UP_TO = 20_000  # rows that are compared one by one
_MOST_MEMORY = 4 << 20  # kB for the build of an index; more only if the server is set to it
_LINKS, _BUILD_EFFORT, _SEARCH_EFFORT = 16, 80, 128  # HNSW: as the embedded one
_TYPES = {"id": pa.string(), "graph": pa.binary(), "nodes": pa.int64(), "added": pa.int64(), "digest": pa.int64(),
          "meta": pa.string()}  # fmt: skip


class Postgres:
    """A table, and one beside it for what is kept once; see `Store`."""

    native = False
    largest = 1 << 28

    def __init__(self, url: str) -> None:
        with needs_extra("engines"):
            import psycopg

        self._psycopg = psycopg
        self.name = shown(url)
        self.errors: tuple[type[Exception], ...] = (psycopg.Error, OSError)
        parts = urlsplit(url)
        database, slash, table = parts.path.strip("/").rpartition("/")
        if not slash or not table or "/" in database:
            raise ValueError(f"{self.name}: it is postgresql://user@host:5432/database/table")
        options = dict(parse_qsl(parts.query))
        self._timeout = float(options.pop("timeout", 60))
        self._url = parts._replace(scheme="postgresql", path=f"/{database}", query=urlencode(options)).geturl()
        self._table, self._kept = _identifier(table), _identifier(table + "_about")
        self._index = _identifier(table + "_vector")
        self._operator, self._class, self._width = "<->", "vector_l2_ops", 0
        self._connection: Any = None

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            self.close()

    def passing(self, error: Exception) -> bool:
        broken = self._connection is None or self._connection.closed or self._connection.broken
        wanted = (self._psycopg.OperationalError, self._psycopg.InterfaceError, OSError)
        return isinstance(error, wanted) or bool(broken)

    def reconnect(self) -> None:
        self.close()
        self._connect()

    def _connect(self) -> Any:
        if self._connection is None or self._connection.closed:
            settings = f"-c statement_timeout={int(1000 * self._timeout)} -c synchronous_commit=on"
            self._connection = self._psycopg.connect(
                self._url, autocommit=True, connect_timeout=max(2, int(min(self._timeout, 10))), options=settings
            )
        return self._connection

    def _asked(self, query: str, parameters: Sequence[Any] = (), *, binary: bool = False) -> list[tuple[Any, ...]]:
        with self._connect().cursor(binary=binary) as cursor:
            cursor.execute(query, parameters or None)
            return list(cursor.fetchall()) if cursor.description is not None else []

    def _has(self, name: str) -> bool:
        return bool(self._asked("SELECT to_regclass(%s) IS NOT NULL", [name])[0][0])

    def about(self) -> dict[str, bytes]:
        if not self._has(self._kept):
            return {}
        return {key: bytes(value) for key, value in self._asked(f"SELECT key, value FROM {self._kept}", binary=True)}

    def keep(self, key: str, value: bytes) -> None:
        self._asked(f"CREATE TABLE IF NOT EXISTS {self._kept} (key text PRIMARY KEY, value bytea NOT NULL)")
        self._asked(
            f"INSERT INTO {self._kept} VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [key, value],
        )

    def create(self, dimension: int, inner: bool, kind: str) -> None:
        if inner:
            self._operator, self._class = "<#>", "vector_ip_ops"
        self._width = dimension
        if self._has(self._table):
            return
        self._asked("CREATE EXTENSION IF NOT EXISTS vector")
        self._asked(
            f'CREATE TABLE IF NOT EXISTS {self._table} (id text COLLATE "C" PRIMARY KEY, vector vector({dimension}) '
            "NOT NULL, graph bytea NOT NULL, nodes bigint NOT NULL, added bigint NOT NULL, digest bigint NOT NULL, "
            "meta jsonb NOT NULL)"
        )
        self._asked(f"CREATE INDEX IF NOT EXISTS {_identifier(self._plain + '_added')} ON {self._table} (added, id)")

    @property
    def _plain(self) -> str:
        return self._table.strip('"')

    def widen(self, schema: pa.Schema) -> None: ...

    def upsert(self, rows: pa.Table) -> None:
        """A COPY into a temporary table, then one INSERT: all rows or none."""
        columns = [rows[name].to_pylist() for name in ("id", "graph", "nodes", "added", "digest", "meta")]
        vectors = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(len(rows), -1)
        with self._connect().transaction(), self._connect().cursor() as cursor:
            cursor.execute(f"CREATE TEMP TABLE incoming (LIKE {self._table}) ON COMMIT DROP")
            names = "id, graph, nodes, added, digest, meta, vector"
            with cursor.copy(f"COPY incoming ({names}) FROM STDIN (FORMAT BINARY)") as copy:
                copy.write(_binary(columns, vectors))
            changes = ", ".join(f"{name} = excluded.{name}" for name in names.split(", ")[1:])
            cursor.execute(
                f"INSERT INTO {self._table} ({names}) SELECT {names} FROM incoming "
                f"ON CONFLICT (id) DO UPDATE SET {changes}"
            )

    def delete(self, ids: Sequence[str]) -> None:
        self._asked(f"DELETE FROM {self._table} WHERE id = ANY(%s)", [list(ids)])

    def built(self, kind: str) -> None:
        """HNSW past 20,000 rows; PostgreSQL keeps it up to date."""
        if kind == "flat" or self._has(self._index) or self.count([]) <= (0 if kind == "hnsw" else _EXACT_UP_TO):
            return
        connection = self._connect()
        with connection.transaction():
            connection.execute("SET LOCAL statement_timeout = 0")
            connection.execute(f"SET LOCAL maintenance_work_mem = '{self._memory(connection)}kB'")
            connection.execute(
                f"CREATE INDEX IF NOT EXISTS {self._index} ON {self._table} USING hnsw (vector {self._class}) "
                f"WITH (m = {_LINKS}, ef_construction = {_BUILD_EFFORT})"
            )
        self._asked(f"ANALYZE {self._table}")

    def _memory(self, connection: Any) -> int:
        """kB for the build: what the vectors and their links take, if that is more than the setting of the server.

        A build that does not fit continues on disk and takes many times as long.
        """
        own = connection.execute("SELECT setting FROM pg_settings WHERE name = 'maintenance_work_mem'").fetchone()[0]
        needed = self.count([]) * (4 * self._width + 48 * _LINKS + 256) * 5 // 4 // 1024
        return max(int(own), min(needed, _MOST_MEMORY))

    def count(self, filters: Sequence[Condition]) -> int:
        where, parameters = _where(filters)
        return int(self._asked(f"SELECT count(*) FROM {self._table}{where}", parameters)[0][0])

    def nearest(
        self, vectors: Vectors, count: int, filters: Sequence[Condition], columns: Sequence[str]
    ) -> list[pa.Table]:
        where, parameters = _where(filters)
        connection = self._connect()
        found = []
        with connection.transaction():
            connection.execute(f"SET LOCAL hnsw.ef_search = {min(1_000, max(_SEARCH_EFFORT, 2 * count))}")
            connection.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
            for vector in vectors:
                text = f"[{','.join(map(repr, vector.tolist()))}]"
                query = (
                    f"SELECT {_select(columns)} FROM {self._table}{where} ORDER BY vector {self._operator} %s LIMIT %s"
                )
                rows = self._asked(query, [*parameters, text, count], binary=True)
                found.append(self._arrow(rows, columns))
        return found

    def rows(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        query = f"SELECT {_select(columns)} FROM {self._table} WHERE id = ANY(%s)"
        return self._arrow(self._asked(query, [list(ids)], binary=True), columns)

    def pages(
        self, filters: Sequence[Condition], nodes: tuple[int, int] | None, columns: Sequence[str], size: int
    ) -> Iterator[pa.Table]:
        where, parameters = _where(filters)
        if nodes is not None:
            where += f"{' AND' if where else ' WHERE'} nodes BETWEEN %s AND %s"
            parameters = [*parameters, *nodes]
        connection = self._connect()
        with connection.transaction(), connection.cursor("pages", binary=True) as cursor:
            cursor.execute(
                f"SELECT {_select(columns)} FROM {self._table}{where} ORDER BY added, id", parameters or None
            )
            while rows := cursor.fetchmany(size):
                yield self._arrow(rows, columns)

    def _arrow(self, rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pa.Table:
        table = {}
        for i, name in enumerate(columns):
            if name == "vector":  # its binary form: two int16, then float32, most significant byte first
                data = b"".join([row[i][4:] for row in rows])
                numbers = np.frombuffer(data, ">f4").astype(np.float32)
                table[name] = pa.FixedSizeListArray.from_arrays(pa.array(numbers), self._width)
            else:
                table[name] = pa.array([row[i] for row in rows], _TYPES[name])
        return pa.table(table)

    def drop(self) -> None:
        self._asked(f"DROP TABLE IF EXISTS {self._table}, {self._kept}")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""').replace("\0", "") + '"'


def _select(columns: Sequence[str]) -> str:
    forms = {"vector": "vector_send(vector)", "meta": "meta::text"}
    return ", ".join(forms.get(name, name) for name in columns)


def _where(filters: Sequence[Condition]) -> tuple[str, list[Any]]:
    clauses: list[str] = []
    parameters: list[Any] = []
    for asked in filters:
        parts = []
        if len(asked.values):
            known = values.to_json(asked.values)
            if asked.name == "id":
                parts.append("id = ANY(%s)")
                parameters.append(known)
            else:
                parts.append("meta -> %s = ANY(%s::jsonb[])")
                parameters += [asked.name, [json.dumps(value) for value in known]]
        if asked.none:
            parts.append("NOT meta ? %s" if asked.name != "id" else "false")
            parameters += [asked.name] if asked.name != "id" else []
        clauses.append(f"({' OR '.join(parts) or 'false'})")
    return (f" WHERE {' AND '.join(clauses)}" if clauses else ""), parameters


def _binary(columns: Sequence[list[Any]], vectors: np.ndarray[Any, Any]) -> bytes:
    """Rows in PostgreSQL's binary form: id, graph, nodes, added, digest, meta, vector."""
    out = io.BytesIO()
    out.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
    width = vectors.shape[1]
    numbers = vectors.astype(">f4")
    for i, (name, graph, nodes, added, digest, meta) in enumerate(zip(*columns, strict=True)):
        key, about = name.encode(), b"\x01" + meta.encode()  # jsonb: its version first
        out.write((7).to_bytes(2, "big") + len(key).to_bytes(4, "big") + key)
        out.write(len(graph).to_bytes(4, "big") + graph)
        for number in (nodes, added, digest):
            out.write(b"\0\0\0\x08" + number.to_bytes(8, "big", signed=True))
        out.write(len(about).to_bytes(4, "big") + about)
        out.write((4 + 4 * width).to_bytes(4, "big") + width.to_bytes(2, "big") + b"\0\0" + numbers[i].tobytes())
    out.write(b"\xff\xff")
    return out.getvalue()
