"""An index as a folder, which changes from one whole state to the next.

    index.json        the manifest: format, version, which files belong to it, their sizes and checksums
    model-N/          the model, as `UGraphEmb.save` writes it
    part-N/           graphs.arrow, rows.arrow (ids and metadata), vectors.npy, and structure.faiss for many vectors
    removed-N-P.npy   positions of removed graphs in part P
    lock              held by whoever writes

Files are never changed, only added: a new state is written beside the old one and flushed to the disk, then the
manifest is replaced in one step. A crash before that leaves the old state; one after it, files that the next `write`
removes. Readers map files into memory when they load, so that a state they hold outlives its files.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ugraphemb.errors import IndexFormatError, ModelFormatError
from ugraphemb.estimator import UGraphEmb
from ugraphemb.search.graph_table import from_table, to_table
from ugraphemb.search.neighbors import Neighbors, chosen_kind
from ugraphemb.search.parts import Part

FORMAT, VERSION = "ugraphemb-index", 1
MANIFEST = "index.json"
_SMALL = 1 << 20  # bytes; what is smaller is always compared with its checksum
_OURS = re.compile(r"(model|part)-\d+|removed-\d+-\d+\.npy|\.index\.json\.partial|\.model-\d+\..*")
_NUMBERED = re.compile(r"[a-z]+-(\d+)")


@dataclass(frozen=True)
class Stored:
    """What a folder holds.

    Attributes:
        costs: Of edits, as `EditCosts.description` puts them.
        home: The folder; None for an index that was never saved.
        state: Changes with every write; tells whether somebody else wrote.
    """

    model: UGraphEmb
    parts: tuple[Part, ...]
    kind: str
    costs: dict[str, Any]
    home: Path | None = None
    state: str = ""


def write(folder: Path, stored: Stored) -> Stored:
    """Makes the folder hold this, in one step, and says what it then holds.

    Parts that the folder has already are not written again.

    Raises:
        IndexFormatError: The folder holds something else, or was changed by another process.
    """
    folder = folder.absolute()
    there = _entries(folder)
    if MANIFEST not in there and not all(name == "lock" or _OURS.fullmatch(name) for name in there):
        raise IndexFormatError(f"{folder}: there already, and not an index; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        nothing: dict[str, Any] = {"files": {}, "state": "", "model": ""}
        old = _manifest(folder) if (folder / MANIFEST).exists() else nothing
        ours = stored.home == folder and old is not nothing
        if ours and old["state"] != stored.state:
            raise IndexFormatError(f"{folder}: changed by another process since it was read; load it again")
        number = 1 + max((int(found[1]) for name in there if (found := _NUMBERED.match(name))), default=0)
        model: str = old["model"] if ours else ""
        if not model:
            model = f"model-{number}"
            stored.model.save(folder / model)
        parts = []
        for place, part in enumerate(stored.parts):
            home = part.home if part.home is not None and part.home.parent == folder else None
            if home is None or not home.exists():
                home = folder / f"part-{number + place}"
                _write_part(home, part)
            parts.append(replace(part, home=home))
        listed = [_entry(folder, part, f"removed-{number}-{place}.npy") for place, part in enumerate(parts)]
        names: list[str] = [model]
        for entry in listed:
            names += [entry["folder"], *([entry["removed"]] if entry["removed"] else [])]
        paths = [path for name in names for path in _files(folder, name)]
        state = os.urandom(8).hex()
        manifest = {
            "format": FORMAT, "version": VERSION, "state": state, "kind": stored.kind, "costs": stored.costs,
            "model": model, "parts": listed,
            "files": {path: old["files"].get(path) or _sealed(folder / path) for path in paths},
        }  # fmt: skip
        _sync(folder)
        _write_whole(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
        for name in _entries(folder):
            if _OURS.fullmatch(name) and name not in names:
                path = folder / name
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    return replace(stored, parts=tuple(parts), home=folder, state=state)


def _entry(folder: Path, part: Part, removed: str) -> dict[str, Any]:
    """A part in the manifest; what is removed from it goes into a file."""
    assert part.home is not None
    if len(part.removed):
        np.save(folder / removed, part.removed)
    return {
        "folder": part.home.name,
        "count": len(part.graphs),
        "kind": part.neighbors.kind,
        "removed": removed if len(part.removed) else None,
    }


def read(folder: Path, *, check: bool = False, device: str | None = None) -> Stored:
    """What a folder holds, with graphs and vectors mapped into memory.

    Args:
        check: Compare the checksum of every file, not only of small ones.

    Raises:
        IndexFormatError: Not an index, of another version, or with files that are missing or torn.
    """
    folder = folder.absolute()
    while True:
        manifest = _manifest(folder)
        try:
            return _read(folder, manifest, check, device)
        except (IndexFormatError, ModelFormatError):
            # Somebody wrote while we read: files of the old state go away, and the new one is read instead.
            if _manifest(folder)["state"] == manifest["state"]:
                raise


def _read(folder: Path, manifest: dict[str, Any], check: bool, device: str | None) -> Stored:
    for name, entry in manifest["files"].items():
        _check(folder / name, entry, check)
    try:
        model = UGraphEmb.load(folder / manifest["model"], device=device)
        parts = [_read_part(folder, entry, model) for entry in manifest["parts"]]
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        if isinstance(error, ModelFormatError | IndexFormatError):
            raise
        raise IndexFormatError(f"{folder}: damaged ({type(error).__name__}: {error})") from error
    return Stored(model, tuple(parts), manifest["kind"], manifest["costs"], folder, manifest["state"])


def _write_part(home: Path, part: Part) -> None:
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    _write_arrow(home / "graphs.arrow", to_table(part.graphs))
    _write_arrow(home / "rows.arrow", part.rows)
    np.save(home / "vectors.npy", part.neighbors.vectors)
    if part.neighbors.structure is not None:
        part.neighbors.write(home / "structure.faiss")


def _read_part(folder: Path, entry: dict[str, Any], model: UGraphEmb) -> Part:
    home, head = folder / entry["folder"], model.network_.config.head
    graphs = from_table(_read_arrow(home / "graphs.arrow"))
    rows = _read_arrow(home / "rows.arrow")
    vectors = np.load(home / "vectors.npy", mmap_mode="r", allow_pickle=False)
    removed = np.empty(0, np.int64)
    if entry["removed"] is not None:
        removed = np.load(folder / entry["removed"], allow_pickle=False)
    if not len(graphs) == rows.num_rows == len(vectors) == entry["count"]:
        raise IndexFormatError(
            f"{home}: {len(graphs)} graphs, {rows.num_rows} rows and {len(vectors)} vectors; {MANIFEST} says "
            f"{entry['count']}"
        )
    kind = chosen_kind(entry["kind"], len(vectors), head)
    structure = home / "structure.faiss"
    neighbors = Neighbors.read(vectors, head, kind, structure if structure.exists() else None)
    return Part(graphs, rows, neighbors, removed, home)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise IndexFormatError(f"{folder}: not an index, it has no {MANIFEST}") from None
    except ValueError as error:
        raise IndexFormatError(f"{path}: not the manifest of an index ({error})") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise IndexFormatError(f"{path}: not the manifest of a ugraphemb index")
    if content.get("version") != VERSION:
        raise IndexFormatError(f"{path}: format version {content.get('version')!r}, this ugraphemb reads {VERSION}")
    missing = [name for name in ("state", "kind", "costs", "model", "parts", "files") if name not in content]
    if missing:
        raise IndexFormatError(f"{path}: no entry {missing[0]!r}")
    return content


def _check(path: Path, entry: dict[str, Any], thorough: bool) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise IndexFormatError(f"{path}: missing, but {MANIFEST} lists it ({error.strerror})") from None
    if size != entry["bytes"]:
        raise IndexFormatError(f"{path}: torn, {size} bytes where {MANIFEST} says {entry['bytes']}")
    if (thorough or size < _SMALL) and _digest(path) != entry["digest"]:
        raise IndexFormatError(f"{path}: its content is not what was written (another checksum)")


def _sealed(path: Path) -> dict[str, Any]:
    """Size and checksum of a file, once it is on the disk."""
    _sync(path)
    return {"bytes": path.stat().st_size, "digest": _digest(path)}


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


def _files(folder: Path, name: str) -> list[str]:
    """The files under a name of the manifest, as paths within the folder; the folder itself is flushed."""
    path = folder / name
    if not path.is_dir():
        return [name]
    _sync(path)
    return [f"{name}/{inside.name}" for inside in sorted(path.iterdir())]


def _entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _write_arrow(path: Path, table: pa.Table) -> None:
    # One batch, so that columns are read back as one piece of memory.
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        for batch in table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]:
            writer.write_batch(batch)


def _read_arrow(path: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(path), "r")).read_all()


def _write_whole(path: Path, data: bytes) -> None:
    """The file appears whole or not at all, and is on the disk when this returns."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(data)
    _sync(partial)
    partial.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
