"""A pair table that grows on disk: what is finished survives a kill, a full disk, a torn file.

A store is a folder of `manifest.json`, which says what the numbers mean, and files of finished pairs. Each is written
under another name, flushed to the disk and renamed, and carries a checksum of its content in its name, so that it is
either there and whole or does not count.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphWarning, TableError
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.metrics import Columns, Positions
from ugraphemb.proximity.table import PairTable

_MANIFEST = "manifest.json"
_FORMAT = 1
_HEADER = [field.name for field in fields(PairTable)]
_COLUMNS = ("left", "right", "lower", "upper", "proven")


class Store:
    """A folder that finished pairs are added to, by one process at a time.

    Args:
        folder: Made if it is not there.
        table: A table of the right collection and metric, whose rows do not matter.
        details: What else must be the same when the work goes on (JSON).

    Raises:
        TableError: The folder is of other graphs, settings or another version; or another process writes to it.
    """

    def __init__(self, folder: str | os.PathLike[str], table: PairTable, details: dict[str, Any]) -> None:
        self.folder = Path(folder)
        with _disk_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise TableError(f"{self.folder}: another process is writing to this store") from None
        try:
            self._begin(table, details)
        except BaseException:
            self._lock.close()
            raise

    def _begin(self, table: PairTable, details: dict[str, Any]) -> None:
        wanted = {"format": _FORMAT, **table.header(), **details}
        manifest = self.folder / _MANIFEST
        for left_over in self.folder.glob(".*.partial"):
            left_over.unlink()
        if manifest.exists():
            _check(self.folder, wanted)
        else:
            with _disk_errors(self.folder):
                _write_whole(manifest, json.dumps(wanted).encode())
        self.table = _read(self.folder, replace(table, **_none()), repair=True)
        self._number = 1 + max((int(path.name[:6]) for path in _files(self.folder)), default=-1)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.close()

    def fill(self, left: Positions, right: Positions, out: Columns) -> None:
        """Puts what is known about these pairs where it belongs."""
        known = self.table
        keys, wanted = _keys(known, known.left, known.right), _keys(known, left, right)
        if not len(keys) or not len(wanted):
            return
        order = np.argsort(keys, kind="stable")
        place = np.searchsorted(keys, wanted, sorter=order)
        rows = order[np.minimum(place, len(order) - 1)]
        found = keys[rows] == wanted
        out.lower[found], out.upper[found] = known.lower[rows[found]], known.upper[rows[found]]
        out.proven[found], out.done[found] = known.proven[rows[found]], True

    def add(self, left: Positions, right: Positions, columns: Columns) -> None:
        """Adds the pairs that are done; when this returns they are on the disk.

        Raises:
            TableError: They could not be written; what was there before still is.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        done = columns.done
        if not done.any():
            return
        arrays: list[np.ndarray[Any, Any]] = [left, right, columns.lower, columns.upper, columns.proven]
        content = pa.table({name: array[done] for name, array in zip(_COLUMNS, arrays, strict=True)})
        buffer = pa.BufferOutputStream()
        pq.write_table(content, buffer, compression="zstd", compression_level=1, write_statistics=False)
        data = buffer.getvalue().to_pybytes()
        with _disk_errors(self.folder):
            _write_whole(self.folder / f"{self._number:06d}-{_digest(data)}.parquet", data)
        self._number += 1


def targets_mark(*collections: GraphSet) -> str:
    """Changes with the targets of graphs."""
    return _digest(
        repr([None if graphs.targets is None else graphs.targets.tolist() for graphs in collections]).encode()
    )


def read_store(folder: str | os.PathLike[str]) -> PairTable:
    """The finished pairs of a store, as one table.

    Raises:
        TableError: The folder is no store.
    """
    header = {name: value for name, value in _manifest(Path(folder)).items() if name in _HEADER}
    return _read(Path(folder), PairTable.from_header(header, _none()), repair=False)


def _check(folder: Path, wanted: dict[str, Any]) -> None:
    found = _manifest(folder)
    wanted = json.loads(json.dumps(wanted))
    for name in sorted(found.keys() | wanted.keys(), key=lambda name: (name == "version", name)):
        if found.get(name) != wanted.get(name):
            what = "other graphs" if name in ("fingerprints", "counts", "sizes") else f"another {name}"
            detail = "" if name == "sizes" else f": {found.get(name)!r} there, {wanted.get(name)!r} here"
            raise TableError(f"{folder}: a store of {what}{detail}; choose another folder")


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / _MANIFEST
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        raise TableError(f"{folder}: a folder, but no store of pairs ({_MANIFEST} is not there)") from None
    except ValueError as error:
        raise TableError(f"{path}: not a manifest of a store ({error})") from None
    if content.get("format") != _FORMAT:
        raise TableError(f"{path}: written by ugraphemb {content.get('version')} in a format unknown here")
    return content


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*-*.parquet"))


def _read(folder: Path, empty: PairTable, *, repair: bool) -> PairTable:
    """All files that are whole; with `repair`, those that are not are removed so that their pairs are done again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = []
    for path in _files(folder):
        data = path.read_bytes()
        if _digest(data) == path.stem.partition("-")[2]:
            whole.append(pq.ParquetFile(pa.BufferReader(data)))
            continue
        warnings.warn(
            f"{path}: torn; its pairs are {'computed again' if repair else 'left out'}", GraphWarning, stacklevel=2
        )
        if repair:
            path.unlink()
    # Straight into place: fresh memory is most of what loading costs, so there is no second copy of anything.
    count = sum(file.metadata.num_rows for file in whole)
    out = Columns.empty(count)
    columns = {"left": np.empty(count, np.int32), "right": np.empty(count, np.int32), "lower": out.lower,
               "upper": out.upper, "proven": out.proven}  # fmt: skip
    begin = 0
    for file in whole:
        content = file.read(columns=list(_COLUMNS), use_threads=False)
        for name, column in columns.items():
            column[begin : begin + len(content)] = content.column(name).to_numpy()
        begin += len(content)
    return replace(empty, **columns)  # type: ignore[arg-type]


def _none() -> dict[str, Any]:
    out = Columns.empty(0)
    nobody = np.empty(0, np.int32)
    return {"left": nobody, "right": nobody, "lower": out.lower, "upper": out.upper, "proven": out.proven}


def _keys(table: PairTable, left: Positions, right: Positions) -> npt.NDArray[np.int64]:
    if table.symmetric:
        left, right = np.minimum(left, right), np.maximum(left, right)
    keys: npt.NDArray[np.int64] = left.astype(np.int64) * max(table.counts) + right
    return keys


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _write_whole(path: Path, data: bytes) -> None:
    """The file appears whole or not at all, and is on the disk when this returns."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    """Turns an OSError into an error that says what is safe and what to do."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise TableError(
            f"{folder}: cannot write ({error.strerror or error}); what was finished before is safe: "
            f"{'make room' if full else 'see to it'} and run the same again"
        ) from error
