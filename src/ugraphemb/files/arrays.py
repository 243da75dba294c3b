"""NumPy arrays and Arrow tables, written to files and read back without copying."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.files.checksums import BLOCK, CheckedFile
from ugraphemb.files.drafts import NewFile

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000
_PLAIN = "biufcSU"  # kinds of dtypes that hold no Python objects


def npy_content(array: npt.NDArray[Any]) -> Callable[[NewFile], None]:
    """Writes the array in the format of numpy.save."""
    return lambda file: np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def npy_bytes(array: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def npy_start(data: Any, source: str, error: type[Exception]) -> tuple[int, np.dtype[Any], tuple[int, ...], bool]:
    """Where the numbers of a .npy file begin, their dtype, the shape, and whether the first axis varies fastest.

    Raises:
        Exception: Of the class `error`: not such a file, or one that is cut short.
    """
    head = bytes(data[:12])
    wide = head[6:7] != b"\x01"
    start = 12 if wide else 10
    length = int.from_bytes(head[8:start], "little")
    if head[:6] != _MAGIC or length > _LONGEST_HEADER or len(data) < start + length:
        raise error(f"{source}: not an array written by numpy.save")
    try:
        fields = ast.literal_eval(bytes(data[start : start + length]).decode("latin-1").strip())
        dtype, shape, turned = np.dtype(fields["descr"]), fields["shape"], fields["fortran_order"]
        plain = dtype.kind in _PLAIN and dtype.names is None and isinstance(turned, bool) and isinstance(shape, tuple)
        if not plain or not all(type(side) is int and side >= 0 for side in shape):
            raise ValueError("it holds objects, or its shape makes no sense")
        size = dtype.itemsize
        for side in shape:
            size *= side
    except Exception as reason:  # any error of parsing a damaged header
        raise error(f"{source}: not an array written by numpy.save ({type(reason).__name__}: {reason})") from reason
    if len(data) != start + length + size:
        raise error(f"{source}: {len(data)} bytes, but an array of shape {shape} takes {start + length + size}")
    return start + length, dtype, shape, turned


def npy_array(data: Any, source: str, error: type[Exception]) -> npt.NDArray[Any]:
    """The array of a .npy file in memory, without copying, read-only."""
    start, dtype, shape, turned = npy_start(data, source, error)
    flat = np.frombuffer(data, dtype, offset=start) if start < len(data) else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if turned else "C")


class CheckedArray:
    """The array of a mapped .npy file, whose rows are verified when they are taken.

    Raises:
        Exception: The error of `file`, here and from `rows` and `whole`.
    """

    def __init__(self, file: CheckedFile, error: type[Exception]) -> None:
        self._file = file
        file.check(0, min(BLOCK, file.sums.size))
        self._start, _, _, turned = npy_start(file.data, str(file.path), error)
        if turned:
            raise error(f"{file.path}: columns first; expected rows first")
        self._array = npy_array(file.data, str(file.path), error)
        self.shape, self.dtype = self._array.shape, self._array.dtype

    def __len__(self) -> int:
        return len(self._array)

    def rows(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """A copy of these rows."""
        self._file.check_rows(positions, self._start, self._array[:1].nbytes)
        found: npt.NDArray[Any] = self._array[positions]
        return found

    def whole(self) -> npt.NDArray[Any]:
        """All of it, mapped."""
        self._file.check()
        return self._array


def read_npy(path: Path, error: type[Exception]) -> npt.NDArray[Any]:
    """The array of a .npy file.

    Raises:
        Exception: Of the class `error`, whatever is wrong with it.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as reason:
        raise error(f"{path}: no such file") from reason
    except OSError as reason:
        raise error(f"{path}: {reason.strerror or reason}") from reason
    return npy_array(data, str(path), error)


def arrow_content(table: pa.Table) -> Callable[[NewFile], None]:
    """Writes an Arrow IPC file of one batch, so that columns are read back as one piece of memory."""

    def write(file: NewFile) -> None:
        import pyarrow as pa

        with pa.ipc.new_file(pa.PythonFile(file, "w"), table.schema) as writer:
            for batch in table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]:
                writer.write_batch(batch)

    return write


def arrow_table(data: Any, source: str, error: type[Exception]) -> pa.Table:
    """The table of an Arrow IPC file in memory, without copying, validated: offsets, lengths, text.

    Raises:
        Exception: Of the class `error`: not such a file.
    """
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(data))).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as reason:
        raise error(f"{source}: not an Arrow file ({reason})") from reason
    return table
