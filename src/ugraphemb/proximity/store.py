"""A pair table that grows on disk: what is finished survives a kill, a full disk, a damaged file.

A store is a folder of `manifest.json`, which says what the numbers mean, and files of finished pairs,
`NUMBER-DIGEST.parquet`. Each is written atomically and named after its content: a file whose content does not match its
name is ignored. Files with other names do not belong to the store and are kept.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ugraphemb.errors import GraphWarning, TableError
from ugraphemb.files import (
    BusyError,
    Format,
    Lock,
    make_folders,
    move_aside,
    remove_dead_drafts,
    storage_errors,
    write_file,
)
from ugraphemb.files.named import has_its_name, name_of, stem_of
from ugraphemb.files.parquet import columns_of, parquet_bytes
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.function_keys import refuse_unidentified
from ugraphemb.proximity.metrics import Columns, Positions
from ugraphemb.proximity.table import PairTable
from ugraphemb.proximity.table_files import COLUMNS, header_names, header_of, table_of

_MANIFEST = "manifest.json"


def _of_0_1(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """A manifest of release 0.1, which put everything side by side, and the release into "version"."""
    if content.get("format") != 1:
        return None
    names = header_names()
    header = {name: value for name, value in content.items() if name in names}
    details = {name: value for name, value in content.items() if name not in names and name != "format"}
    return {"format": "ugraphemb-store", "version": 1, "table": header, "details": details}


_FORMAT = Format("ugraphemb-store", 2, TableError, keys=("table", "details"), migrations={1: dict}, of_0_1=_of_0_1)


class Store:
    """A folder that finished pairs are added to, by one process at a time.

    Args:
        folder: Made if it does not exist.
        table: A table of the right collection and metric, whose rows do not matter.
        details: What else must be the same when the work continues (JSON).

    Raises:
        TableError: The folder is of other graphs, settings or another version; or another process writes to it.
    """

    def __init__(self, folder: str | os.PathLike[str], table: PairTable, details: dict[str, Any]) -> None:
        self.folder = Path(folder)
        refuse_unidentified(table.settings, f"{self.folder}: a store")
        with storage_errors(self.folder):
            make_folders(self.folder.absolute())
            try:
                self._lock = Lock(self.folder / "lock", wait=False)
            except BusyError:
                raise TableError(f"{self.folder}: another process is writing to this store") from None
            try:
                self._begin(table, details)
            except BaseException:
                self._lock.release()
                raise

    def _begin(self, table: PairTable, details: dict[str, Any]) -> None:
        wanted = {"table": header_of(table), "details": details}
        manifest = self.folder / _MANIFEST
        remove_dead_drafts(self.folder)
        if manifest.exists() or manifest.is_symlink():
            _check(self.folder, wanted)
        else:
            write_file(manifest, _FORMAT.text(wanted))
        self.table = _read(self.folder, replace(table, **_none()), repair=True)
        self._number = 1 + max((int(path.name.partition("-")[0]) for path in _files(self.folder)), default=-1)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def fill(self, left: Positions, right: Positions, out: Columns) -> None:
        """Copies the known results of these pairs to their rows."""
        known = self.table
        rows = known.lookup.rows(left, right)
        found = rows >= 0
        out.lower[found], out.upper[found] = known.lower[rows[found]], known.upper[rows[found]]
        out.proven[found], out.done[found] = known.proven[rows[found]], True

    def add(self, left: Positions, right: Positions, columns: Columns) -> None:
        """Adds the pairs that are done; when this returns they are on the disk.

        Raises:
            StorageError: They could not be written; the old state is kept.
        """
        import pyarrow as pa

        done = columns.done
        if not done.any():
            return
        arrays: list[np.ndarray[Any, Any]] = [left, right, columns.lower, columns.upper, columns.proven]
        content = pa.table({name: array[done] for name, array in zip(COLUMNS, arrays, strict=True)})
        data = parquet_bytes(content, checksum=False)
        with storage_errors(self.folder):
            write_file(self.folder / name_of(f"{self._number:06d}", data, ".parquet"), data)
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
    empty = table_of(_manifest(Path(folder))["table"], _none(), os.fspath(folder))
    return _read(Path(folder), empty, repair=False)


def _check(folder: Path, content: dict[str, Any]) -> None:
    manifest = _manifest(folder)
    wanted_all = _FORMAT.parsed(_FORMAT.text(content), "")  # as JSON gives it back
    found, wanted = ({**entry["table"], **entry["details"]} for entry in (manifest, wanted_all))
    for name in sorted(found.keys() | wanted.keys(), key=lambda name: (name == "version", name)):
        if found.get(name) != wanted.get(name):
            what = "other graphs" if name in ("fingerprints", "counts", "sizes") else f"another {name}"
            detail = "" if name == "sizes" else f": {found.get(name)!r} there, {wanted.get(name)!r} here"
            hint = ", or give version= where a function is the same as before" if "'code'" in detail else ""
            raise TableError(f"{folder}: a store of {what}{detail}; choose another folder{hint}")


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        content = _FORMAT.read(folder / _MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        raise TableError(f"{folder}: a folder, but no store of pairs ({_MANIFEST} is not there)") from None
    if not isinstance(content["table"], dict) or not isinstance(content["details"], dict):
        raise TableError(f"{folder / _MANIFEST}: not the manifest of a store of pairs")
    return content


def _files(folder: Path) -> list[Path]:
    """Files with names of a store, in the order they were added."""
    named = ((stem_of(entry.name, ".parquet"), entry) for entry in folder.iterdir())
    return sorted(entry for stem, entry in named if stem is not None and len(stem) >= 6 and stem.isdecimal())


def _read(folder: Path, empty: PairTable, *, repair: bool) -> PairTable:
    """All files that are whole; with `repair`, others are put aside, and their pairs are computed again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = []
    for path in _files(folder):
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # put aside meanwhile
            continue
        except OSError as error:
            raise TableError(f"{path}: cannot be read ({error.strerror or error})") from error
        if has_its_name(path.name, data):
            whole.append((path, pa.BufferReader(data)))
            continue
        what = f"damaged; {'put aside, and its pairs are computed again' if repair else 'its pairs are left out'}"
        warnings.warn(f"{path}: {what}", GraphWarning, stacklevel=2)
        if repair:
            move_aside(path)
    # Straight into place: fresh memory is most of what loading costs, so there is no second copy of anything.
    begin, path = 0, folder
    try:
        opened = [(path, pq.ParquetFile(file)) for path, file in whole]
        count = sum(file.metadata.num_rows for _, file in opened)
        out = Columns.empty(count)
        columns = {"left": np.empty(count, np.int32), "right": np.empty(count, np.int32), "lower": out.lower,
                   "upper": out.upper, "proven": out.proven}  # fmt: skip
        for path, file in opened:
            content = columns_of(file.read(columns=list(COLUMNS), use_threads=False), COLUMNS, str(path), TableError)
            for name, column in columns.items():
                column[begin : begin + len(content[name])] = content[name]
            begin += len(content["left"])
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{path}: not a file of finished pairs ({error})") from error
    return table_of(header_of(empty), columns, str(folder))


def _none() -> dict[str, Any]:
    out = Columns.empty(0)
    nothing = np.empty(0, np.int32)
    return {"left": nothing, "right": nothing, "lower": out.lower, "upper": out.upper, "proven": out.proven}


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
