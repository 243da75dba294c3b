"""Metadata as JSON objects, for databases that keep them in one column; the Arrow schema is kept beside them."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa


def to_objects(rows: pa.Table) -> list[dict[str, Any]]:
    """One object for each row, without names that have no value."""
    columns = {name: to_json(rows[name]) for name in rows.column_names}
    return [
        {name: values[i] for name, values in columns.items() if values[i] is not None} for i in range(rows.num_rows)
    ]


def to_text(found: dict[str, Any]) -> str:
    """One text for equal objects."""
    return json.dumps(found, ensure_ascii=False, sort_keys=True, allow_nan=False)


def to_json(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values as JSON has them: numbers, text and truth values as they are, others as text that `to_arrow` reads."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return to_json(column.cast(kind.value_type))
    if pa.types.is_floating(kind):
        return [value if value is None or math.isfinite(value) else str(value) for value in column.to_pylist()]
    if _is_binary(kind):
        return [None if value is None else base64.b64encode(value).decode() for value in column.to_pylist()]
    if _is_text(kind):
        return list(column.cast(pa.string()).to_pylist())
    return list(column.to_pylist())


def to_arrow(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """The inverse of `to_json`."""
    if pa.types.is_dictionary(kind):
        return to_arrow(values, kind.value_type).cast(kind)
    if pa.types.is_floating(kind):
        return pa.array([None if value is None else float(value) for value in values], kind)
    if _is_binary(kind):
        return pa.array([None if value is None else base64.b64decode(value) for value in values], kind)
    if _is_text(kind):
        return pa.array(values, pa.string()).cast(kind)
    return pa.array(values, kind)


def to_table(ids: Sequence[str], objects: Sequence[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """The rows of objects: `id`, then one column for each name of the schema that has a value, as it was added."""
    names = {name for found in objects for name in found}
    columns = {field.name: field.type for field in schema if field.name in names}
    table = {"id": pa.array(list(ids), pa.string())}
    for name, kind in columns.items():
        table[name] = to_arrow([found.get(name) for found in objects], kind)
    return pa.table(table)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(kind) or pa.types.is_decimal(kind))


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))
