"""Milvus: milvus://host:19530/collection. Metadata are one JSON field; packed graphs are base64 text."""

from __future__ import annotations

import base64
import json
import logging
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pyarrow as pa

from ugraphemb.errors import needs_extra
from ugraphemb.search.engines import shown, values
from ugraphemb.search.metadata import Condition
from ugraphemb.search.neighbors import Vectors

_LINKS, _BUILD_EFFORT, _SEARCH_EFFORT = 16, 80, 128  # HNSW: as the embedded one
_LONGEST = 65_535  # bytes of a text field
_CHUNK = 48_000
_MOST_FOUND = 16_384
_TYPES = {"id": pa.string(), "nodes": pa.int64(), "added": pa.int64(), "digest": pa.int64()}
_BROKEN = re.compile(
    r"unavailable|timeout|timed out|deadline|connect|not ready|not healthy|unhealthy|channel|not loaded|leader|"
    r"node offline|no available|service internal error|context canceled|closed", re.IGNORECASE
)  # fmt: skip


class Milvus:
    """A collection, and one beside it for what is kept once; see `Store`.

    Writes, counts and fetches by id see what any client wrote before. A search sees at least what this client wrote.
    """

    native = False
    largest = 3 * _LONGEST // 4 - 3

    def __init__(self, url: str) -> None:
        with needs_extra("engines"):
            import grpc
            import pymilvus

        for name in ("pymilvus", "pymilvus.decorators"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # errors are raised and converted, not logged
        self._pymilvus = pymilvus
        self.name = shown(url)
        self.errors: tuple[type[Exception], ...] = (pymilvus.MilvusException, grpc.RpcError, OSError)
        parts = urlsplit(url)
        collection = parts.path.strip("/")
        if not parts.hostname or not re.fullmatch(r"[A-Za-z_]\w*", collection, re.ASCII):
            raise ValueError(f"{self.name}: expected milvus://host:19530/collection, of letters, digits and _")
        options = dict(parse_qsl(parts.query))
        self._timeout = float(options.get("timeout", 60))
        self._collection, self._kept = collection, collection + "_about"
        self._uri = f"http://{parts.hostname}:{parts.port or 19530}"
        self._user, self._password = parts.username or "", parts.password or ""
        self._metric = "L2"
        self._found: Any = None
        self._loaded: set[str] = set()

    def passing(self, error: Exception) -> bool:
        return not isinstance(error, self._pymilvus.MilvusException) or _BROKEN.search(str(error)) is not None

    @property
    def _client(self) -> Any:
        if self._found is None:
            self._found = self._pymilvus.MilvusClient(
                uri=self._uri, user=self._user, password=self._password, timeout=min(self._timeout, 10)
            )
        return self._found

    def reconnect(self) -> None:
        self.close()

    def close(self) -> None:
        client, self._found = self._found, None
        self._loaded.clear()
        if client is not None:
            client.close()

    def about(self) -> dict[str, bytes]:
        if not self._client.has_collection(self._kept, timeout=self._timeout):
            return {}
        self._load(self._kept)
        rows = self._query(self._kept, 'id != ""', ["id", "text"])
        found: dict[str, dict[int, str]] = {}
        for row in rows:
            key, number, _ = row["id"].split("/")
            found.setdefault(key, {})[int(number)] = row["text"]
        counts = {row["id"].split("/")[0]: int(row["id"].split("/")[2]) for row in rows}
        return {
            key: base64.b64decode("".join(chunks[i] for i in range(counts[key])))
            for key, chunks in found.items()
            if set(range(counts[key])) <= set(chunks)
        }

    def keep(self, key: str, value: bytes) -> None:
        kind = self._pymilvus.DataType
        if not self._client.has_collection(self._kept, timeout=self._timeout):
            schema = self._pymilvus.MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("id", kind.VARCHAR, is_primary=True, max_length=1_024)
            schema.add_field("vector", kind.FLOAT_VECTOR, dim=2)  # Milvus wants one
            schema.add_field("text", kind.VARCHAR, max_length=_LONGEST)
            self._create(self._kept, schema, {"index_type": "FLAT", "metric_type": "L2"})
        text = base64.b64encode(value).decode()
        chunks = [text[begin : begin + _CHUNK] for begin in range(0, len(text), _CHUNK)] or [""]
        old = self._query(self._kept, f'id like "{key}/%"', ["id"])
        rows = [
            {"id": f"{key}/{i}/{len(chunks)}", "vector": [0.0, 0.0], "text": chunk} for i, chunk in enumerate(chunks)
        ]
        self._client.upsert(self._kept, rows, timeout=self._timeout)
        gone = [row["id"] for row in old if row["id"] not in {row["id"] for row in rows}]
        if gone:
            self._client.delete(self._kept, filter=_one_of("id", gone), timeout=self._timeout)

    def create(self, dimension: int, inner: bool, kind: str) -> None:
        self._metric = "IP" if inner else "L2"
        if not self._client.has_collection(self._collection, timeout=self._timeout):
            types = self._pymilvus.DataType
            schema = self._pymilvus.MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("id", types.VARCHAR, is_primary=True, max_length=1_024)
            schema.add_field("vector", types.FLOAT_VECTOR, dim=dimension)
            schema.add_field("graph", types.VARCHAR, max_length=_LONGEST)
            for name in ("nodes", "added", "digest"):
                schema.add_field(name, types.INT64)
            schema.add_field("meta", types.JSON)
            settings = {"index_type": "FLAT"} if kind == "flat" else {
                "index_type": "HNSW", "params": {"M": _LINKS, "efConstruction": _BUILD_EFFORT}
            }  # fmt: skip
            self._create(self._collection, schema, {**settings, "metric_type": self._metric})
        self._load(self._collection)

    def _load(self, name: str) -> None:
        """Loads a collection for queries; a server that was restarted may not have loaded it."""
        if name not in self._loaded:
            self._client.load_collection(name, timeout=self._timeout)
            self._loaded.add(name)

    def _create(self, name: str, schema: Any, index: dict[str, Any]) -> None:
        settings = self._client.prepare_index_params()
        settings.add_index("vector", **index)
        self._client.create_collection(
            name, schema=schema, index_params=settings, consistency_level="Strong", timeout=self._timeout
        )

    def widen(self, schema: pa.Schema) -> None: ...

    def upsert(self, rows: pa.Table) -> None:
        vectors = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(len(rows), -1)
        columns = [rows[name].to_pylist() for name in ("id", "graph", "nodes", "added", "digest", "meta")]
        data = [
            {"id": name, "vector": vectors[i], "graph": base64.b64encode(graph).decode(), "nodes": nodes,
             "added": added, "digest": digest, "meta": json.loads(meta)}
            for i, (name, graph, nodes, added, digest, meta) in enumerate(zip(*columns, strict=True))
        ]  # fmt: skip
        self._client.upsert(self._collection, data, timeout=self._timeout)

    def delete(self, ids: Sequence[str]) -> None:
        self._client.delete(self._collection, filter=_one_of("id", ids), timeout=self._timeout)

    def built(self, kind: str) -> None:
        """Milvus builds by itself, segment by segment."""

    def sealed(self) -> None:
        """Writes what is in memory to segments, and waits until these have their indexes."""
        self._client.flush(self._collection, timeout=600)
        while self._client.describe_index(self._collection, "vector", timeout=self._timeout)["state"] != "Finished":
            time.sleep(0.5)

    def count(self, filters: Sequence[Condition]) -> int:
        found = self._query(self._collection, _where(filters), ["count(*)"])
        return int(found[0]["count(*)"])

    def _query(
        self, collection: str, expression: str, columns: Sequence[str], consistency: str = "Strong"
    ) -> list[dict[str, Any]]:
        return list(
            self._client.query(
                collection, filter=expression, output_fields=list(columns), consistency_level=consistency,
                timeout=self._timeout,
            )
        )  # fmt: skip

    def nearest(
        self, vectors: Vectors, count: int, filters: Sequence[Condition], columns: Sequence[str]
    ) -> list[pa.Table]:
        count = min(count, _MOST_FOUND)
        found = self._client.search(
            self._collection, [vector.tolist() for vector in vectors], filter=_where(filters), limit=count,
            output_fields=list(columns), consistency_level="Session", timeout=self._timeout,
            search_params={"metric_type": self._metric, "params": {"ef": max(_SEARCH_EFFORT, 2 * count)}},
        )  # fmt: skip
        return [_arrow([hit["entity"] for hit in hits], columns) for hits in found]

    def rows(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        return _arrow(self._query(self._collection, _one_of("id", ids), columns), columns)

    def pages(
        self, filters: Sequence[Condition], nodes: tuple[int, int] | None, columns: Sequence[str], size: int
    ) -> Iterator[pa.Table]:
        """Ranges of `added` are halved until each has at most `size` rows: queries of Milvus are not ordered."""
        where = [_where(filters)] if filters else []
        where += [f"nodes >= {nodes[0]} and nodes <= {nodes[1]}"] if nodes is not None else []
        ranges, level = [(0, 1 << 62)], "Strong"
        while ranges:
            low, high = ranges.pop()
            expression = " and ".join([*where, f"added >= {low} and added < {high}"])
            count = int(self._query(self._collection, expression, ["count(*)"], level)[0]["count(*)"])
            level = "Eventually"  # everything written before the first query is visible
            if count > size and high - low > 1:
                middle = _middle(low, high)
                ranges += [(middle, high), (low, middle)]
            elif count:
                yield _arrow(self._query(self._collection, expression, columns, level), columns)

    def drop(self) -> None:
        self._loaded.clear()
        for name in (self._collection, self._kept):
            self._client.drop_collection(name, timeout=self._timeout)


def _middle(low: int, high: int) -> int:
    now = time.time_ns()  # nearly all rows were added in the last years
    return now - (1 << 50) if low < now - (1 << 50) < high and high - low > 1 << 60 else (low + high) // 2


def _arrow(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> pa.Table:
    table: dict[str, pa.Array] = {}
    for name in columns:
        column = [row[name] for row in rows]
        if name == "vector":
            flat = np.array(column, np.float32).reshape(-1)
            table[name] = pa.FixedSizeListArray.from_arrays(pa.array(flat), len(column[0]) if column else 1)
        elif name == "graph":
            table[name] = pa.array([base64.b64decode(text) for text in column], pa.binary())
        elif name == "meta":
            table[name] = pa.array([values.to_text(found) for found in column], pa.string())
        else:
            table[name] = pa.array(column, _TYPES[name])
    return pa.table(table)


def _where(filters: Sequence[Condition]) -> str:
    return " and ".join(map(_condition, filters))


def _condition(asked: Condition) -> str:
    name = asked.name if asked.name == "id" else f"meta[{_text(asked.name)}]"
    known = values.to_json(asked.values)
    parts = []
    if known and pa.types.is_boolean(asked.kind):
        parts = [f"{name} == {'true' if value else 'false'}" for value in known]
    elif known:
        parts = [f"{name} in [{', '.join(map(_text, known))}]"]
    if asked.none and asked.name != "id":
        parts.append(f"not (exists {name})")
    return f"({' or '.join(parts) or _NEVER})"


_NEVER = 'id == ""'


def _one_of(name: str, texts: Sequence[str]) -> str:
    return f"{name} in [{', '.join(map(_text, texts))}]"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
