"""Ids and metadata of graphs: an Arrow table, one row per graph, whose first column is `id`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ugraphemb.errors import type_of

Metadata: TypeAlias = Union[Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]], "pa.Table"]
Where = Mapping[str, Any]
Flags = npt.NDArray[np.bool_]


def checked_ids(ids: Sequence[Any], count: int) -> list[str]:
    """Ids as strings.

    Raises:
        ValueError: Too few or too many, or one that is given twice.
        TypeError: One that is no string.
    """
    names = [str(name) if isinstance(name, str) else name for name in ids]
    if len(names) != count:
        raise ValueError(f"{len(names)} ids for {count} graphs")
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        raise TypeError(f"id {wrong!r} is {type_of(wrong)}; ids are strings")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"the id {twice!r} is given twice")
    return names


def rows_of(ids: Sequence[str], metadata: Metadata | None) -> pa.Table:
    """The table for graphs with these ids.

    Raises:
        ValueError: Columns of the wrong length, or one called "id".
    """
    if metadata is None:
        metadata = {}
    if not isinstance(metadata, pa.Table | Mapping):
        metadata = pa.Table.from_pylist([dict(row) for row in metadata]) if len(metadata) else {}
    columns = (
        {name: metadata[name].combine_chunks() for name in metadata.column_names}
        if isinstance(metadata, pa.Table)
        else dict(metadata)
    )
    for name, values in columns.items():
        if name == "id":
            raise ValueError("metadata has a column 'id'; ids are given as `ids`")
        if len(values) != len(ids):
            raise ValueError(f"metadata column {name!r} has {len(values)} values for {len(ids)} graphs")
    try:
        return pa.table({"id": pa.array(list(ids), pa.string()), **columns})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(f"metadata: {error}") from error


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """All rows, in one chunk; columns that only some tables have are empty in the others."""
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks()


def schema_of(tables: Sequence[pa.Table]) -> pa.Schema:
    """The columns that all tables have together.

    Raises:
        ValueError: A column of different types, for example numbers in one table and text in another.
    """
    try:
        return pa.unify_schemas([rows.schema for rows in tables], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(f"metadata of different kinds in one column: {error}") from error


@dataclass(frozen=True)
class Condition:
    """The condition of `where` on one column.

    Attributes:
        kind: Type of the column.
        values: One of these, of that type.
        none: Or no value.
    """

    name: str
    kind: pa.DataType
    values: pa.Array
    none: bool


def conditions(schema: pa.Schema, where: Where | None) -> list[Condition]:
    """The conditions of a filter: for each column a value, or several; None means a missing value.

    Raises:
        ValueError: A column that does not exist, or a value that it cannot hold.
    """
    found = []
    for name, wanted in (where or {}).items():
        if name not in schema.names:
            raise ValueError(f"no metadata column {name!r}; there are {', '.join(map(repr, schema.names))}")
        kind = schema.field(name).type
        several = isinstance(wanted, Collection) and not isinstance(wanted, str | bytes | Mapping)
        values = [_cast(value, kind, name) for value in (wanted if several else [wanted])]
        known = pa.array([value.as_py() for value in values if value.is_valid], kind)
        found.append(Condition(name, kind, known, len(known) < len(values)))
    return found


def matching(tables: Sequence[pa.Table], where: Where) -> list[Flags]:
    """For each table, which rows pass the filter. Tables without a column have no value in it.

    Raises:
        ValueError: As `conditions`.
    """
    if not tables:
        return []
    found = [np.ones(rows.num_rows, np.bool_) for rows in tables]
    for asked in conditions(schema_of(tables), where):
        for rows, flags in zip(tables, found, strict=True):
            there = asked.name in rows.column_names
            column = rows[asked.name].cast(asked.kind) if there else pa.nulls(rows.num_rows, asked.kind)
            kept = pc.is_in(column, value_set=asked.values)
            if asked.none:
                kept = pc.or_(kept, pc.is_null(column))
            flags &= np.asarray(kept).astype(np.bool_)
    return found


def _cast(value: Any, kind: pa.DataType, name: str) -> pa.Scalar:
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return pa.scalar(value).cast(kind) if value is not None else pa.scalar(None, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise ValueError(f"metadata column {name!r} holds {kind}, which {value!r} is not") from error
