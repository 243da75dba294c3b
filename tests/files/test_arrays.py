"""Arrays and Arrow tables in files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ugraphemb.errors import IndexFormatError
from ugraphemb.files import BLOCK, CheckedFile, write_file
from ugraphemb.files.arrays import CheckedArray, arrow_content, arrow_table, npy_bytes, npy_content, read_npy

ARRAYS = [
    np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.empty((0, 3), np.float32),
    np.array(["a", "bcä"]), np.array(3), np.arange(5)[::2], np.array([True]), np.arange(3, dtype=">i8"),
]  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_arrays_are_written_and_read_as_numpy_does(array, tmp_path: Path):
    path = tmp_path / "a.npy"
    write_file(path, npy_content(array))
    expected = io.BytesIO()
    np.save(expected, array)
    assert path.read_bytes() == npy_bytes(array) == expected.getvalue()
    back = read_npy(path, IndexFormatError)
    np.testing.assert_array_equal(back, array)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)


def test_whatever_is_wrong_with_an_array_is_the_error_that_was_asked_for(tmp_path: Path):
    path, random = tmp_path / "a.npy", np.random.default_rng(0)
    whole = npy_bytes(np.arange(20.0).reshape(4, 5))
    wrong = [b"", b"\x93NUMPY", b"x" * 200, whole[:-1], whole + b"x"]
    wrong += [whole[:10] + text.encode().ljust(118) + whole[128:] for text in (
        "(" * 117, "{'descr': '|O', 'fortran_order': False, 'shape': (20,)}", "1 +", "{'descr': [('a', '<f8')]}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-20,)}", "{'descr': '<f8', 'shape': (4, 5)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10**30,)}", "'''",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",
    )]  # fmt: skip
    for data in wrong:
        path.write_bytes(data)
        with pytest.raises(IndexFormatError, match=r"a\.npy"):
            read_npy(path, IndexFormatError)
    for _ in range(300):
        data = bytearray(whole)
        data[random.integers(128)] = random.integers(256)
        path.write_bytes(data)
        try:
            read_npy(path, IndexFormatError)
        except IndexFormatError:
            continue
    with pytest.raises(IndexFormatError, match="no such file"):
        read_npy(tmp_path / "none.npy", IndexFormatError)


def test_rows_are_verified_when_they_are_taken(tmp_path: Path):
    array = np.random.default_rng(0).normal(size=(4 * BLOCK // 64, 8))
    path = tmp_path / "a.npy"
    sums = write_file(path, npy_content(array))
    with path.open("rb+") as file:
        file.seek(128 + 64 * 2100)
        file.write(b"x")
    damaged = (2100 * 64 + 128) // BLOCK
    rows = CheckedArray(CheckedFile(path, sums, IndexFormatError), IndexFormatError)
    safe = np.array([i for i in range(0, len(array), 7) if (i * 64 + 128) // BLOCK != damaged
                     and (i * 64 + 191) // BLOCK != damaged])  # fmt: skip
    np.testing.assert_array_equal(rows.rows(safe), array[safe])
    for use in (lambda: rows.rows(np.array([0, 2100])), rows.whole):
        with pytest.raises(IndexFormatError, match="checksum"):
            use()


def test_arrow_files_are_validated(tmp_path: Path):
    table = pa.table({"text": ["a", "ä"], "list": [[1], [2, 3]]})
    write_file(tmp_path / "t", arrow_content(table))
    data = (tmp_path / "t").read_bytes()
    assert arrow_table(data, "t", IndexFormatError).equals(table)
    place = data.index("aä".encode()) + 1
    with pytest.raises(IndexFormatError, match="UTF"):
        arrow_table(data[:place] + b"\xff" + data[place + 1 :], "t", IndexFormatError)
    for cut in range(0, len(data), 50):
        with pytest.raises(IndexFormatError, match="not an Arrow file"):
            arrow_table(data[:cut], "t", IndexFormatError)
