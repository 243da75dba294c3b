"""Text files of comma-separated numbers: read fast if valid; errors name the line."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.limits import limits, refusal

_KINDS = {np.int32: "a whole number", np.int64: "a whole number", np.float64: "a number"}
_BLANK = b" \t\r\n"
_BLOCK = 1 << 18  # bytes, of a file with an invalid line


def number_columns(
    data: bytes, where: str, dtype: type[np.generic], width: int | None = None
) -> list[npt.NDArray[Any]]:
    """The columns of a text file; line k of the file is entry k - 1 of each.

    Args:
        where: What messages call the file.
        dtype: np.int32 (np.int64 is returned if values do not fit), np.int64 or np.float64.
        width: Numbers per line; None takes it from the first line.
    """
    import pyarrow as pa

    end = len(data.rstrip(_BLANK))
    if end == 0:
        return [np.empty(0, dtype) for _ in range(width or 1)]
    if width is None:
        width = data.count(b",", 0, data.find(b"\n") if b"\n" in data else end) + 1
        if width > limits().columns:
            raise refusal(f"{where}:1", f"{width} numbers in a line", "columns")
    text = memoryview(data)[:end]
    try:
        return _parsed(text, dtype, width)
    except pa.ArrowInvalid:
        blocks = [_block(*block, where, dtype, width) for block in _blocks(data, end)]
        return [np.concatenate(columns) for columns in zip(*blocks, strict=True)]


def _parsed(text: memoryview, dtype: type[np.generic], width: int) -> list[npt.NDArray[Any]]:
    import pyarrow as pa
    from pyarrow import csv

    names = [str(i) for i in range(width)]
    table = csv.read_csv(
        pa.BufferReader(pa.py_buffer(text)),
        read_options=csv.ReadOptions(column_names=names, use_threads=False),
        parse_options=csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.from_numpy_dtype(dtype)),
            null_values=[],
            check_utf8=False,
        ),
        memory_pool=pa.system_memory_pool(),
    )
    return [table.column(name).to_numpy() for name in names]


def _blocks(data: bytes, end: int) -> Iterator[tuple[memoryview, int]]:
    """Parts of the text that end with a line, and the number of their first line."""
    view, start, line = memoryview(data), 0, 1
    while start <= end:
        stop = data.find(b"\n", min(start + _BLOCK, end), end)
        stop = end if stop < 0 else stop
        yield view[start:stop], line
        line += data.count(b"\n", start, stop) + 1
        start = stop + 1


def _block(text: memoryview, first: int, where: str, dtype: type[np.generic], width: int) -> list[npt.NDArray[Any]]:
    import pyarrow as pa

    wide = np.float64 if dtype == np.float64 else np.int64
    try:
        return _parsed(text, wide, width)
    except pa.ArrowInvalid:
        pass
    try:
        columns = _parsed(text, np.float64, width)  # 1.0 is a whole number
        if wide == np.int64 and all(np.all((column == np.rint(column)) & (abs(column) < 2**53)) for column in columns):
            return [column.astype(np.int64) for column in columns]
    except pa.ArrowInvalid:
        pass
    return _carefully(bytes(text), first, where, dtype, width)


def _carefully(data: bytes, first: int, where: str, dtype: type[np.generic], width: int) -> list[npt.NDArray[Any]]:
    """The same answer number by number, or the error of the first line that has none."""
    if first == 1 and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise GraphFormatError(f"{where}:1: UTF-16 text; expected UTF-8")
    if first == 1:
        data = data.removeprefix(b"\xef\xbb\xbf")
    values: array[Any] = array("d" if dtype == np.float64 else "q")
    for line, text in enumerate(data.split(b"\n"), start=first):
        if not text.strip():
            raise GraphFormatError(f"{where}:{line}: an empty line; expected {_expected(dtype, width)}")
        cells = text.split(b",")
        if len(cells) != width:
            raise GraphFormatError(
                f"{where}:{line}: {len(cells)} value{'s' * (len(cells) > 1)}; expected {_expected(dtype, width)}"
            )
        values.extend([_number(cell, where, line, dtype) for cell in cells])
    return list(np.frombuffer(values, np.float64 if dtype == np.float64 else np.int64).reshape(-1, width).T)


def _number(cell: bytes, where: str, line: int, dtype: type[np.generic]) -> float:
    try:
        if b"_" in cell:
            raise ValueError("Python's own digits separator")
        value = float(cell)
        if dtype == np.float64:
            return value
        whole = int(cell) if cell.strip().lstrip(b"+-").isdigit() else int(value)
        if whole != value and abs(value) < 2**53:
            raise ValueError("not whole")
    except (ValueError, OverflowError) as error:
        shown = cell.strip()[:40].decode("utf-8", "backslashreplace")
        raise GraphFormatError(f"{where}:{line}: {shown!r}; expected {_KINDS[dtype]}") from error
    if not -(2**63) <= whole < 2**63:
        raise GraphFormatError(f"{where}:{line}: {str(whole)[:40]} does not fit into 64 bits")
    return whole


def _expected(dtype: type[np.generic], width: int) -> str:
    return _KINDS[dtype] if width == 1 else f"{width} numbers with commas between"
