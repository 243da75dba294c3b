"""Pair tables as Parquet files: one row for each pair, everything else as JSON in the metadata, and a checksum."""

from __future__ import annotations

import base64
import mmap
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import TableError
from ugraphemb.files import parsed_json, storage_errors, write_file
from ugraphemb.files.parquet import checked_parquet, columns_of, parquet_bytes

if TYPE_CHECKING:
    from ugraphemb.proximity.table import PairTable

COLUMNS = {"left": "int32", "right": "int32", "lower": "double", "upper": "double", "proven": "bool"}
_KEY = b"ugraphemb"
_VERSION = 2  # 1 had no checksum


def write_table(path: Path, table: PairTable) -> None:
    """Atomic.

    Raises:
        StorageError: It could not be written; the old state is kept.
    """
    import json

    import pyarrow as pa

    header = {"format": _VERSION, **header_of(table)}
    content = pa.table({name: getattr(table, name) for name in ("left", "right", "value", "lower", "upper", "proven")})
    data = parquet_bytes(content.replace_schema_metadata({_KEY: json.dumps(header)}), checksum=True)
    with storage_errors(path):
        write_file(path, data)


def read_table(path: Path) -> PairTable:
    """A table, verified.

    Raises:
        TableError: A file that is damaged, foreign or of an unknown version.
        FileNotFoundError: There is none.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot be read ({error})") from error
    header, columns = _content(data, str(path))
    return table_of(header, columns, str(path))


def _content(data: Any, source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    checked = checked_parquet(data, source, TableError)
    try:
        with pq.ParquetFile(pa.BufferReader(pa.py_buffer(data))) as file:
            header = _header(file.schema_arrow.metadata, source)
            if header.pop("format") > 1 and not checked:
                raise TableError(f"{source}: its checksum is missing; damaged")
            content = file.read(columns=list(COLUMNS), use_threads=True)
        content.validate(full=True)
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{source}: not a whole pair table ({error})") from error
    return header, columns_of(content, COLUMNS, source, TableError)


def _header(metadata: dict[bytes, bytes] | None, source: str) -> dict[str, Any]:
    text = (metadata or {}).get(_KEY)
    if text is None:
        raise TableError(f"{source}: a Parquet file, but not a pair table of ugraphemb")
    header = parsed_json(text, source, TableError)
    if not isinstance(header, dict) or header.get("format") not in (1, _VERSION):
        version = header.get("version") if isinstance(header, dict) else None
        raise TableError(f"{source}: written by ugraphemb {version} in a format unknown here")
    return header


def header_of(table: PairTable) -> dict[str, Any]:
    """Everything but the rows, as JSON."""
    return {
        "metric": table.metric,
        "kind": table.kind,
        "settings": table.settings,
        "value_is": table.value_is,
        "fingerprints": list(table.fingerprints),
        "counts": list(table.counts),
        "sizes": [_packed(sizes) for sizes in table.sizes],
        "symmetric": table.symmetric,
        "is_normalized": table.is_normalized,
        "version": table.version,
    }


def table_of(header: dict[str, Any], columns: dict[str, Any], source: str) -> PairTable:
    """A table of these rows; `columns` are left, right, lower, upper and proven.

    Raises:
        TableError: A header of another form, or rows that do not fit it.
    """
    from ugraphemb.proximity.table import PairTable

    if "is_normalised" in header:  # as tables before 0.2 spell it
        header = {"is_normalized": header["is_normalised"], **header}
        del header["is_normalised"]
    try:
        lists = {"fingerprints": tuple(header["fingerprints"]), "counts": tuple(header["counts"])}
        sizes = tuple(_unpacked(text) for text in header["sizes"])
        table = PairTable(**{**header, **lists, "sizes": sizes}, **columns)
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{source}: a header of another form ({error})") from error
    wrong = _mistake(table)
    if wrong:
        raise TableError(f"{source}: {wrong}")
    return table


def _mistake(table: PairTable) -> str | None:
    """What is invalid in a table, as text."""
    counts = table.counts
    strings = ("metric", "version")
    if any(not isinstance(getattr(table, name), str) for name in strings) or not isinstance(table.settings, dict):
        return "a header of another form"
    if table.kind not in ("distance", "similarity") or table.value_is not in ("lower", "upper"):
        return f"kind {table.kind!r}, value_is {table.value_is!r}"
    if not all(type(flag) is bool for flag in (table.symmetric, table.is_normalized)):
        return "a header of another form"
    if len(counts) not in (1, 2) or not all(type(count) is int and count >= 0 for count in counts):
        return f"counts {counts!r}; expected one or two whole numbers"
    if len(table.fingerprints) != len(counts) or not all(isinstance(mark, str) for mark in table.fingerprints):
        return "as many fingerprints as collections are expected"
    if table.sizes and [len(sizes) for sizes in table.sizes] != list(counts):
        return "sizes of other graphs than are counted"
    for name, positions, count in (("left", table.left, counts[0]), ("right", table.right, counts[-1])):
        if len(positions) and not (positions.min() >= 0 and positions.max() < count):
            return f"positions from {positions.min()} to {positions.max()} in the column {name!r}, of {count} graphs"
    return None


def header_names() -> set[str]:
    from ugraphemb.proximity.table import PairTable

    return {field.name for field in fields(PairTable)} | {"is_normalised"}


def _packed(sizes: npt.NDArray[np.int32]) -> str:
    return base64.b64encode(sizes.astype("<i4").tobytes()).decode()


def _unpacked(text: str) -> npt.NDArray[np.int32]:
    return np.frombuffer(base64.b64decode(text, validate=True), "<i4").astype(np.int32)
