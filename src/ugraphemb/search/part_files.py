"""One part of a saved index, as a folder.

    manifest.json     the files with their checksums
    graphs.arrow      the graphs, see `graph_table`
    rows.arrow        ids and metadata
    vectors.npy       float32, one row for each graph
    profiles.npy      data of each graph for the filters of complete search, see `searchable`
    structure.faiss   for many vectors: the approximate index that proposes candidates

All files are mapped when the index is loaded, so that they outlive a writer that removes them, and verified when they
are first used: vectors row by row, the others as a whole. A further file needs a line in `write_part`, and a
`cached_property` of `OnDisk` that calls `self.files[NAME].check()` before it reads the data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ugraphemb.encoder.names import Head
from ugraphemb.errors import IndexFormatError
from ugraphemb.files import CheckedFile, NewFolder, Sums, checked_file, checked_name, digest, write_folder
from ugraphemb.files.arrays import CheckedArray, arrow_content, arrow_table, npy_array, npy_content
from ugraphemb.files.folders import FOLDER, MANIFEST, files_of
from ugraphemb.graphs import GraphSet
from ugraphemb.search.graph_table import from_table, to_table
from ugraphemb.search.neighbors import Neighbors, chosen_kind
from ugraphemb.search.parts import Part, new_token
from ugraphemb.search.searchable import Block

PROFILES = 0x31464F5250454755  # the first word of the layout of profiles that the core reads, "UGEPROF1"
_NEEDED = ("graphs.arrow", "rows.arrow", "vectors.npy")


def write_part(home: Path, part: Part) -> None:
    """Makes the folder, atomically."""

    def fill(new: NewFolder) -> None:
        new.write("graphs.arrow", arrow_content(to_table(part.graphs)))
        new.write("rows.arrow", arrow_content(part.rows))
        new.write("vectors.npy", npy_content(part.neighbors.vectors))
        new.write("profiles.npy", npy_content(part.searchable.profiles))
        if part.neighbors.structure is not None:
            new.write("structure.faiss", part.neighbors.write)

    write_folder(home, fill)


def seal_of(home: Path) -> str:
    """Changes with anything in the folder of a part."""
    try:
        return digest((home / MANIFEST).read_bytes())
    except OSError as error:
        raise IndexFormatError(f"{home / MANIFEST}: missing, or not readable ({error.strerror or error})") from error


def mapped_files(home: Path, seal: str) -> dict[str, CheckedFile]:
    """The files of a part, mapped and of the right sizes; their content is not verified yet."""
    if seal_of(home) != seal:
        raise IndexFormatError(f"{home / MANIFEST}: not the one that was written (another checksum)")
    listed = files_of(FOLDER.read(home / MANIFEST), home, IndexFormatError)
    return {name: checked_file(home, name, sums, IndexFormatError) for name, sums in listed.items()}


def check_files_of_0_1(folder: Path, listed: Mapping[str, Any]) -> None:
    """Verifies all files of an index of release 0.1, which had one checksum for each."""
    for path, entry in listed.items():
        source = folder
        for name in path.split("/"):
            source /= checked_name(name, IndexFormatError)
        try:
            data = source.read_bytes()
        except OSError as error:
            raise IndexFormatError(f"{source}: missing, but the index lists it ({error.strerror or error})") from error
        if hashlib.blake2b(data, digest_size=16).hexdigest() != entry["digest"]:
            raise IndexFormatError(f"{source}: its content is not what was written (another checksum)")


def graphs_of_part(home: Path, seal: str) -> GraphSet:
    """The graphs of a part alone, verified.

    Raises:
        IndexFormatError: They are missing, not those that were written, or damaged.
    """
    file = mapped_files(home, seal).get("graphs.arrow")
    if file is None:
        raise IndexFormatError(f"{home}: no file 'graphs.arrow'")
    return from_table(arrow_table(file.check(), str(file.path), IndexFormatError), str(file.path))


def mapped_files_of_0_1(home: Path) -> dict[str, CheckedFile]:
    """The files of a part of release 0.1, which `check_files_of_0_1` has verified."""
    return {
        path.name: checked_file(home, path.name, Sums.of(path.read_bytes()), IndexFormatError)
        for path in sorted(home.iterdir())
        if path.is_file()
    }


class OnDisk:
    """Content of a saved part; see `parts.Content`.

    Args:
        files: As `mapped_files` gives them.
        count: Graphs, as the index says.

    Raises:
        IndexFormatError: Files that are missing, here; or damaged, when they are first used.
    """

    def __init__(self, home: Path, files: Mapping[str, CheckedFile], count: int, kind: str, head: Head) -> None:
        missing = [name for name in _NEEDED if name not in files]
        if missing:
            raise IndexFormatError(f"{home}: no file {missing[0]!r}")
        self.files, self._home, self._count = files, home, count
        vectors = CheckedArray(files["vectors.npy"], IndexFormatError)
        if vectors.dtype != np.float32 or len(vectors.shape) != 2 or len(vectors) != count:
            raise IndexFormatError(
                f"{home}: vectors of shape {vectors.shape} and {vectors.dtype} for {count} graphs; expected float32"
            )
        chosen = chosen_kind(kind, count, head)
        self.neighbors = Neighbors.read(vectors, head, chosen, files.get("structure.faiss"))

    def check(self) -> None:
        """Verifies everything now."""
        for file in self.files.values():
            file.check()
        _ = self.graphs, self.rows, self.profiles, self.neighbors.structure

    @cached_property
    def token(self) -> str:
        return new_token()

    @cached_property
    def graphs(self) -> GraphSet:
        source = str(self._home / "graphs.arrow")
        graphs = from_table(self._table("graphs.arrow"), source)
        self._check_count(len(graphs), "graphs")
        return graphs

    @cached_property
    def rows(self) -> pa.Table:
        table = self._table("rows.arrow")
        if "id" not in table.column_names or table["id"].type != pa.string() or table["id"].null_count:
            raise IndexFormatError(f"{self._home / 'rows.arrow'}: no column of ids")
        self._check_count(len(table), "rows")
        return table

    @cached_property
    def profiles(self) -> Block | None:
        file = self.files.get("profiles.npy")  # parts of release 0.1 have none
        if file is None:
            return None
        block = npy_array(file.check(), str(file.path), IndexFormatError)
        if block.dtype != np.uint64 or block.ndim != 1:
            raise IndexFormatError(f"{file.path}: {block.ndim} axes of {block.dtype}; expected one axis of uint64")
        return block if block[:1].tolist() == [PROFILES] else None  # of another layout: they are computed again

    def _table(self, name: str) -> pa.Table:
        return arrow_table(self.files[name].check(), str(self._home / name), IndexFormatError)

    def _check_count(self, found: int, what: str) -> None:
        if found != self._count:
            raise IndexFormatError(f"{self._home}: {found} {what}, but the index says {self._count}")
