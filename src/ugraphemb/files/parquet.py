"""Parquet files with a checksum of the whole file, which any Parquet reader reads.

The checksum is an entry of the metadata at the end of the file. It is computed with zeros in its place, then put there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import xxhash

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = "ugraphemb.checksum"
_PLACE = re.compile(re.escape(_KEY).encode() + rb".{1,6}?([0-9a-f]{32})", re.DOTALL)
_EMPTY = b"0" * 32


def parquet_bytes(table: pa.Table, *, checksum: bool) -> bytes:
    """The file; without a checksum for files that are for others alone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    plain = [
        field.name for field in table.schema if pa.types.is_fixed_size_list(field.type)
    ]  # vectors: no two are equal
    named = [name for name in table.column_names if name not in plain] if plain else True
    options = {"compression": "zstd", "compression_level": 1, "write_statistics": False, "use_dictionary": named}
    with pq.ParquetWriter(buffer, table.schema, **options) as writer:
        writer.write_table(table, row_group_size=1 << 20)
        if checksum:
            writer.add_key_value_metadata({_KEY: _EMPTY.decode()})
    data: bytes = buffer.getvalue().to_pybytes()
    if not checksum:
        return data
    place = _place(data)
    assert place is not None
    return b"".join([data[: place[0]], _digest(data, *place), data[place[1] :]])


def vector_table(ids: Sequence[str], vectors: npt.NDArray[np.float32], head: str, about: str = "") -> pa.Table:
    """Vectors as others read them: the columns `id` and `vector`, a list of fixed length.

    Args:
        head: How vectors are compared, kept as metadata "ugraphemb.head".
        about: Kept as metadata "ugraphemb.source".
    """
    import pyarrow as pa

    rows = pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(vectors).reshape(-1)), vectors.shape[1])
    table = pa.table({"id": pa.array(list(ids), pa.string()), "vector": rows})
    return table.replace_schema_metadata({"ugraphemb.head": head} | ({"ugraphemb.source": about} if about else {}))


def checked_parquet(data: Any, source: str, error: type[Exception]) -> bool:
    """Compares the checksum of a file in memory; False where it has none, as files of release 0.1.

    Raises:
        Exception: Of the class `error`: it is another one.
    """
    place = _place(data)
    if place is None:
        return False
    if bytes(data[slice(*place)]) != _digest(data, *place):
        raise error(f"{source}: its content is not what was written (another checksum)")
    return True


def columns_of(
    table: pa.Table, types: dict[str, str], source: str, error: type[Exception]
) -> dict[str, npt.NDArray[Any]]:
    """Columns as arrays, if they are of these types and without holes."""
    found = {}
    for name, kind in types.items():
        if table.column_names.count(name) != 1:
            raise error(f"{source}: {table.column_names.count(name)} columns {name!r}, expected one")
        column = table.column(name)
        if str(column.type) != kind or column.null_count:
            raise error(f"{source}: the column {name!r} holds {column.type}; expected {kind} without holes")
        array = column.to_numpy()
        found[name] = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    return found


def _place(data: Any) -> tuple[int, int] | None:
    """Where the checksum stands: the last such place in the metadata, whose length is before the last four bytes."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    found = list(_PLACE.finditer(data, max(0, start)))
    return found[-1].span(1) if found else None


def _digest(data: Any, begin: int, end: int) -> bytes:
    state = xxhash.xxh3_128()
    view = memoryview(data)
    for part in (view[:begin], _EMPTY, view[end:]):
        state.update(part)
    return state.hexdigest().encode()
