"""Folders that are written atomically, with a manifest of the files that this library wrote.

A manifest in the folder lists its files with their checksums. Only what a manifest lists is ever removed; files that
others put there stay.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ugraphemb.errors import StorageError
from ugraphemb.files import system
from ugraphemb.files.checksums import CheckedFile, Sums
from ugraphemb.files.documents import Format
from ugraphemb.files.drafts import Content, DraftFolder, remove_files, sync_folder, write_file, write_new_file

MANIFEST = "manifest.json"
HIDDEN = ".ugraphemb.json"
"""The manifest of folders in the formats of others."""
T = TypeVar("T")
_TRIES = 100
FOLDER = Format("ugraphemb-folder", 1, StorageError, keys=("files",))


class NewFolder:
    """A folder being filled."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.files: dict[str, Sums] = {}

    def write(self, name: str, content: Content) -> None:
        """A file with a plain name."""
        self.files[name] = write_new_file(self._path / checked_name(name, StorageError), content)


def write_folder(path: Path, fill: Callable[[NewFolder], Any], *, manifest: str = MANIFEST) -> dict[str, Sums]:
    """Makes the folder hold what `fill` writes, atomically; returns its files. When this returns it is on the disk.

    A crash leaves the old folder or the new one. An existing folder is replaced only if everything in it is listed
    in its manifest.

    Raises:
        StorageError: There is a file, or a folder with other things in it; or the file system cannot exchange folders.
        OSError: It could not be written.
    """
    draft = DraftFolder(path)
    replaced = False
    try:
        _refuse_foreign(draft.target)
        new = NewFolder(draft.path)
        fill(new)
        write_new_file(draft.path / manifest, FOLDER.text({"files": {n: s.to_json() for n, s in new.files.items()}}))
        replaced = draft.publish()
    except BaseException:
        draft.discard()
        raise
    try:
        if replaced:  # the draft's name is now that of the old folder
            with suppress(OSError, StorageError):
                _keep_foreign(draft.path, draft.target)
                remove_folder(draft.path)
    finally:
        draft.close()
    return new.files


def write_with_folder(path: Path, stem: str, fill: Callable[[NewFolder], Any], listing: Callable[[str], bytes]) -> None:
    """A file and a folder beside it with files that it lists, `STEM-TOKEN`; both change atomically.

    The folder is new each time; replacing the file is what counts, and folders that it no longer names are removed.

    Args:
        listing: The content of the file, given the name of the folder.

    Raises:
        OSError: It could not be written.
    """
    path = path.absolute()
    draft = DraftFolder(path.with_name(f"{stem}-{os.urandom(8).hex()}"), path.name)
    try:
        try:
            new = NewFolder(draft.path)
            fill(new)
            content = {"files": {name: sums.to_json() for name, sums in new.files.items()}, "listed by": path.name}
            write_new_file(draft.path / HIDDEN, FOLDER.text(content))
            draft.publish()
        except BaseException:
            with suppress(OSError):
                remove_files(draft.path)
            raise
        write_file(path, listing(draft.target.name))
        _remove_unlisted(path, stem)
    finally:
        draft.close()


def _remove_unlisted(path: Path, stem: str) -> None:
    """Folders of earlier states of a file, unless it lists them or another process is writing them."""
    for name in system.list_folder(str(path.parent)):
        if re.fullmatch(re.escape(stem) + "-[0-9a-f]{16}", name):
            with suppress(OSError):
                _remove_if_unlisted(path, path.with_name(name))


def _remove_if_unlisted(path: Path, folder: Path) -> None:
    descriptor = system.open_file(str(folder), system.FOLDER)
    try:
        system.lock(descriptor, wait=False)  # its writer has replaced the file since, or is dead
        if not system.list_folder(str(folder)):  # the process that was removing it is dead
            system.rmdir(str(folder))
            return
        ours = FOLDER.read(folder / HIDDEN).get("listed by") == path.name
        text = path.read_bytes()
        text = gzip.decompress(text) if path.suffix == ".gz" else text
        if ours and not folder.is_symlink() and f"{folder.name}/".encode() not in text:
            remove_folder(folder)
    finally:
        system.close(descriptor)


def listed_files(folder: Path) -> dict[str, Sums] | None:
    """The files that the manifest of a folder lists, with the manifest itself; None where there is no manifest.

    Raises:
        StorageError: A manifest that is damaged or foreign.
    """
    for manifest in (MANIFEST, HIDDEN):
        with suppress(FileNotFoundError, NotADirectoryError):
            return {**files_of(FOLDER.read(folder / manifest), folder, StorageError), manifest: Sums.of(b"")}
    return None


def files_of(content: dict[str, Any], folder: Path, error: type[Exception]) -> dict[str, Sums]:
    """The entry "files" of a document: names within its folder, with checksums."""
    files = content["files"]
    if not isinstance(files, dict):
        raise error(f"{folder}: a manifest without a list of files")
    try:
        return {checked_name(name, error): Sums.from_json(sums) for name, sums in files.items()}
    except ValueError as reason:
        raise error(f"{folder}: a manifest of another form ({reason})") from reason


def checked_file(folder: Path, name: str, sums: Sums, error: type[Exception]) -> CheckedFile:
    """A file of a folder, mapped; see `CheckedFile`."""
    try:
        return CheckedFile(folder / checked_name(name, error), sums, error)
    except (OSError, ValueError) as reason:
        if isinstance(reason, error):
            raise
        raise error(f"{folder / name}: listed, but cannot be read ({reason})") from reason


def checked_name(name: Any, error: type[Exception]) -> str:
    """A name that stays within its folder: no path, not hidden in a way that leads elsewhere."""
    if not isinstance(name, str) or not name or name in (".", "..") or "/" in name or "\0" in name:
        raise error(f"{name!r} is not the name of a file within its folder")
    return name


def remove_folder(folder: Path) -> None:
    """Removes a folder of this library: the files in its manifest; without a manifest (a draft) all its files.

    What others put there stays, and the folder with it. Links are not followed.
    """
    files = listed_files(folder)
    if files is None:
        remove_files(folder)
        return
    *others, manifest = files
    for name in others:
        with suppress(FileNotFoundError):
            system.unlink(str(folder / name))
    if system.list_folder(str(folder)) == [manifest]:  # else it stays: it shows that the remaining files are not listed
        sync_folder(folder)  # no file may reappear without it
        system.unlink(str(folder / manifest))
        system.rmdir(str(folder))


def _refuse_foreign(folder: Path) -> None:
    def strange() -> list[str]:
        names = system.list_folder(str(folder))
        known = (listed_files(folder) or {}) if names else {}
        return [name for name in names if name not in known]

    try:
        found = read_whole(folder, strange)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise StorageError(f"{folder}: a file, where a folder is to be written") from None
    if found:
        raise StorageError(
            f"{folder}: a folder with files in it that ugraphemb did not write ({', '.join(found[:3])}); choose "
            "another place, or remove it first"
        )


def read_whole(path: Path, read: Callable[[], T]) -> T:
    """What `read` returns of a folder, or of a file that lists others, all from one state.

    If another process replaces it meanwhile, it is read again.

    Raises:
        StorageError: It is replaced repeatedly.
        OSError: It cannot be opened.
    """
    for _ in range(_TRIES):
        descriptor = system.open_file(str(path), system.READ)  # while it is open, no other gets its inode number
        try:
            try:
                result = read()
            except Exception:
                if _is_still(path, descriptor):
                    raise
            else:
                if _is_still(path, descriptor):
                    return result
        finally:
            system.close(descriptor)
    raise StorageError(f"{path}: replaced more often than it could be read")


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), system.status_of(descriptor))
    except FileNotFoundError:
        return False


def _keep_foreign(old: Path, new: Path) -> None:
    """Moves what others put into the old folder since it was looked at."""
    known = listed_files(old) or {}
    moved = [name for name in system.list_folder(str(old)) if name not in known]
    for name in moved:
        if not (new / name).exists():
            system.rename(str(old / name), str(new / name))
    if moved:
        sync_folder(new)
