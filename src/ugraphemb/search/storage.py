"""An index as a folder, which changes from one complete state to the next.

    index.json            the manifest: format, version, and which of the following belong to the index
    model-ID/             the model, as `UGraphEmb.save` writes it
    part-ID/              graphs, ids and vectors, see `part_files`
    removed-DIGEST.npy    positions of removed graphs of a part
    lock                  held by the writer

Files are never changed, only added: a new state is written beside the old one and flushed to the disk, then the
manifest is replaced atomically. A crash before that leaves the old state; one after it, files that the next `write`
removes. Readers map files into memory when they load, so that a state they hold outlives its files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ugraphemb.encoder.storage import remove_model
from ugraphemb.errors import IndexFormatError, ModelFormatError, StorageError
from ugraphemb.estimator import UGraphEmb
from ugraphemb.files import (
    Format,
    Sums,
    checked_file,
    checked_name,
    digest,
    locked,
    make_folders,
    remove_dead_drafts,
    remove_empty_folder,
    remove_file,
    remove_folder,
    storage_errors,
    write_file,
)
from ugraphemb.files.arrays import npy_array, npy_bytes, read_npy
from ugraphemb.files.drafts import is_draft
from ugraphemb.files.folders import MANIFEST as PART_MANIFEST
from ugraphemb.files.named import is_ours, name_of, stem_of
from ugraphemb.search.neighbors import Ints, chosen_kind
from ugraphemb.search.part_files import (
    OnDisk,
    check_files_of_0_1,
    mapped_files,
    mapped_files_of_0_1,
    seal_of,
    write_part,
)
from ugraphemb.search.parts import Part

MANIFEST, LOCK = "index.json", "lock"
FORMAT = Format(
    "ugraphemb-index", 2, IndexFormatError, keys=("state", "kind", "costs", "model", "parts"),
    migrations={1: lambda content: {**content, "files_of_0_1": content["files"]}},
)  # fmt: skip
_OWN_FOLDER = re.compile(r"(part|model)-[0-9a-f]{16}")


@dataclass(frozen=True)
class Stored:
    """What a folder holds.

    Attributes:
        costs: Edit costs, as `EditCosts.description` gives them.
        home: The folder; None for an index that was never saved.
        state: Changes with every write; shows whether another process wrote.
    """

    model: UGraphEmb
    parts: tuple[Part, ...]
    kind: str
    costs: dict[str, Any]
    home: Path | None = None
    state: str = ""


def write(folder: Path, stored: Stored) -> Stored:
    """Writes this to the folder atomically, and returns what the folder then holds.

    Parts that the folder has already are not written again.

    Raises:
        IndexFormatError: The folder holds something else, or was changed by another process.
        StorageError: It could not be written; the old state is kept.
    """
    folder = folder.absolute()
    with storage_errors(folder):
        if not (folder / LOCK).exists():  # else another process may be saving: the state after it counts
            _refuse_foreign(folder)
        make_folders(folder)
        with locked(folder / LOCK):
            _refuse_foreign(folder)
            remove_dead_drafts(folder)
            return _write(folder, stored)


def _write(folder: Path, stored: Stored) -> Stored:
    old = _manifest(folder) if _names(folder, MANIFEST) else None
    ours = stored.home == folder and old is not None
    if ours and old is not None and old["state"] != stored.state:
        raise IndexFormatError(f"{folder}: changed by another process since it was read; load it again")
    old_model = old["model"] if ours and old is not None else None
    model = old_model if isinstance(old_model, dict) else _new_model(folder, stored.model)
    parts, listed = [], []
    for part in stored.parts:
        home = part.home if part.home is not None and part.home.parent == folder else None
        if home is None or not (home / PART_MANIFEST).exists():
            home = folder / f"part-{_token()}"
            write_part(home, part)
        parts.append(replace(part, home=home))
        listed.append(
            {"folder": home.name, "seal": seal_of(home), "count": part.count, "kind": part.neighbors.kind,
             "removed": _write_removed(folder, part.removed)}
        )  # fmt: skip
    state = _token()
    content = {"state": state, "kind": stored.kind, "costs": stored.costs, "model": model, "parts": listed}
    write_file(folder / MANIFEST, FORMAT.text(content))
    _clean(folder, content, old)
    return replace(stored, parts=tuple(parts), home=folder, state=state)


def _new_model(folder: Path, model: UGraphEmb) -> dict[str, str]:
    name = f"model-{_token()}"
    model.save(folder / name)
    return {"folder": name, "seal": _model_seal(folder / name)}


def _model_seal(home: Path) -> str:
    try:
        return digest((home / "config.json").read_bytes())
    except OSError as error:
        raise IndexFormatError(f"{home}: config.json is missing, but {MANIFEST} lists it ({error})") from error


def _write_removed(folder: Path, removed: Ints) -> dict[str, Any] | None:
    if not len(removed):
        return None
    data = npy_bytes(removed)
    name = name_of("removed", data, ".npy")
    return {"name": name, **write_file(folder / name, data).to_json()}


def read(folder: Path, *, check: bool = False, device: str | None = None) -> Stored:
    """What a folder holds, with graphs and vectors mapped into memory.

    Args:
        check: Verify every file now, not when it is first used.

    Raises:
        IndexFormatError: Not an index, of an unknown version, or with files that are missing or damaged.
    """
    folder = folder.absolute()
    while True:
        manifest = _manifest(folder)
        try:
            return _read(folder, manifest, check, device)
        except IndexFormatError:
            # Another process wrote while we read: files of the old state are gone, so the new state is read.
            if _manifest(folder)["state"] == manifest["state"]:
                raise


def _read(folder: Path, manifest: dict[str, Any], check: bool, device: str | None) -> Stored:
    try:
        if not isinstance(manifest["kind"], str) or not isinstance(manifest["costs"], dict):
            raise IndexFormatError(f"{folder / MANIFEST}: kind or costs of another form")
        if "files_of_0_1" in manifest:
            check_files_of_0_1(folder, manifest["files_of_0_1"])
        entry = manifest["model"]
        home = folder / checked_name(entry["folder"] if isinstance(entry, dict) else entry, IndexFormatError)
        if isinstance(entry, dict) and _model_seal(home) != entry["seal"]:
            raise IndexFormatError(f"{home}: not the model that was written (another checksum)")
        model = UGraphEmb.load(home, device=device)
        chosen_kind(manifest["kind"], 0, model.head_)
        parts = tuple(_read_part(folder, part, model, manifest, check) for part in manifest["parts"])
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, IndexFormatError):
            raise
        if isinstance(error, ModelFormatError):
            raise IndexFormatError(str(error)) from error
        raise IndexFormatError(f"{folder}: damaged ({type(error).__name__}: {error})") from error
    return Stored(model, parts, manifest["kind"], manifest["costs"], folder, manifest["state"])


def _read_part(folder: Path, entry: dict[str, Any], model: UGraphEmb, manifest: dict[str, Any], check: bool) -> Part:
    home = folder / checked_name(entry["folder"], IndexFormatError)
    count, old = entry["count"], manifest.get("files_of_0_1")
    if type(count) is not int or count < 0:
        raise IndexFormatError(f"{home}: {count!r} graphs")
    files = mapped_files(home, entry["seal"]) if old is None else mapped_files_of_0_1(home)
    content = OnDisk(home, files, count, entry["kind"], model.head_)
    if content.neighbors.source.shape[1] != model.dimension_:
        raise IndexFormatError(f"{home}: vectors of another model")
    if check:
        content.check()
    removed = _read_removed(folder, entry["removed"])
    if removed.ndim != 1 or removed.dtype != np.int64 or (len(removed) and not _ascending(removed, count)):
        raise IndexFormatError(f"{home}: removed graphs that are not in the index")
    return Part(content, count, removed, home)


def _read_removed(folder: Path, entry: Any) -> Ints:
    if entry is None:
        return np.empty(0, np.int64)
    if isinstance(entry, str):  # of release 0.1
        return read_npy(folder / checked_name(entry, IndexFormatError), IndexFormatError)
    name = checked_name(entry["name"], IndexFormatError)
    sums = Sums.from_json({key: value for key, value in entry.items() if key != "name"})
    return npy_array(checked_file(folder, name, sums, IndexFormatError).check(), str(folder / name), IndexFormatError)


def _ascending(positions: Ints, count: int) -> bool:
    return bool(positions[0] >= 0 and positions[-1] < count and (np.diff(positions) > 0).all())


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        return FORMAT.read(folder / MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexFormatError(f"{folder}: not an index, it has no {MANIFEST}") from None


def _clean(folder: Path, new: dict[str, Any], old: dict[str, Any] | None) -> None:
    """Removes files of earlier states: only those whose manifest or name identifies them as files of this library."""
    used = {new["model"]["folder"], *(part["folder"] for part in new["parts"])}
    used |= {part["removed"]["name"] for part in new["parts"] if part["removed"]}
    for path in sorted(folder.iterdir()):
        if path.name in used or path.is_symlink():
            continue
        with suppress(OSError, StorageError):
            if _OWN_FOLDER.fullmatch(path.name) and (path / PART_MANIFEST).is_file():
                remove_folder(path)
            elif _OWN_FOLDER.fullmatch(path.name) and path.is_dir():
                remove_model(path)
            elif stem_of(path.name, ".npy") == "removed" and is_ours(path):
                remove_file(path)
    if old is not None and "files_of_0_1" in old:
        _remove_0_1(folder, old["files_of_0_1"])


def _remove_0_1(folder: Path, files: Iterable[str]) -> None:
    for name in files:
        parts = name.split("/")
        if len(parts) <= 2 and not {"", ".", ".."} & set(parts) and not (folder / parts[0]).is_symlink():
            remove_file(folder / name)
    for name in {name.split("/")[0] for name in files if name.count("/") == 1}:
        remove_empty_folder(folder / name)


def _refuse_foreign(folder: Path) -> None:
    if not folder.exists():  # checked first: another process may create it meanwhile
        return
    if not folder.is_dir():
        raise IndexFormatError(f"{folder}: there already, and not a folder; nothing was written")
    names = _names(folder)
    if MANIFEST not in names:
        strange = [name for name in names if not (name == LOCK or is_draft(name) or _left_over(folder / name))]
        if strange and not (folder / MANIFEST).exists():  # else another process has just made it an index
            raise IndexFormatError(f"{folder}: there already, and not an index ({strange[0]}); nothing was written")


def _left_over(path: Path) -> bool:
    """Files of a first save that was interrupted."""
    if path.is_dir() and not path.is_symlink():
        return _OWN_FOLDER.fullmatch(path.name) is not None
    return is_ours(path) or not (path.exists() or path.is_symlink())  # or gone since the folder was listed


def _names(folder: Path, only: str | None = None) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if only in (None, path.name))


def _token() -> str:
    return os.urandom(8).hex()
