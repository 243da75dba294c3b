"""Text files of comma-separated numbers: fast when they are right, exact about the line when they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError

_KINDS = {np.int32: "a whole number", np.int64: "a whole number", np.float64: "a number"}
_BLANK = b" \t\r\n"


def number_columns(
    data: bytes, where: str, dtype: type[np.generic], width: int | None = None
) -> list[npt.NDArray[Any]]:
    """The columns of a text file; line k of the file is entry k - 1 of each.

    Args:
        where: What messages call the file.
        dtype: np.int32 (np.int64 comes out where that does not do), np.int64 or np.float64.
        width: Numbers a line; None takes it from the first line.
    """
    import pyarrow as pa
    from pyarrow import csv

    end = len(data)
    while end and data[end - 1] in _BLANK:
        end -= 1
    if end == 0:
        return [np.empty(0, dtype) for _ in range(width or 1)]
    if width is None:
        width = data[: data.find(b"\n") if b"\n" in data else end].count(b",") + 1
    names = [str(i) for i in range(width)]
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(data).slice(0, end)),
            read_options=csv.ReadOptions(column_names=names, use_threads=False),
            parse_options=csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.from_numpy_dtype(dtype)),
                null_values=[],
                check_utf8=False,
            ),
            memory_pool=pa.system_memory_pool(),
        )
    except pa.ArrowInvalid:
        return _carefully(data[:end], where, dtype, width)
    return [table.column(name).to_numpy() for name in names]


def _carefully(data: bytes, where: str, dtype: type[np.generic], width: int) -> list[npt.NDArray[Any]]:
    """The same answer number by number, or the error of the first line that has none."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise GraphFormatError(f"{where}:1: UTF-16 text; expected UTF-8")
    rows = []
    for line, text in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not text.strip():
            raise GraphFormatError(f"{where}:{line}: an empty line; expected {_expected(dtype, width)}")
        cells = text.split(b",")
        if len(cells) != width:
            raise GraphFormatError(
                f"{where}:{line}: {len(cells)} value{'s' * (len(cells) > 1)}; expected {_expected(dtype, width)}"
            )
        rows.append([_number(cell, where, line, dtype) for cell in cells])
    return list(np.array(rows, np.float64 if dtype == np.float64 else np.int64).T)


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
        raise GraphFormatError(f"{where}:{line}: {whole} does not fit into 64 bits")
    return whole


def _expected(dtype: type[np.generic], width: int) -> str:
    return _KINDS[dtype] if width == 1 else f"{width} numbers with commas between"
