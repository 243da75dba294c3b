"""Files and folders that appear whole or not at all.

Everything is first written as a draft beside its place, `.NAME.ugraphemb-TOKEN`, flushed to the disk, then takes its
place atomically. The writer of a draft holds its lock; a draft whose lock is free was left by a process that died, and
the next writer of the same NAME removes it.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from ugraphemb.errors import StorageError
from ugraphemb.files import system
from ugraphemb.files.checksums import SumCounter, Sums

_DRAFT = re.compile(r"\.(?P<name>.+)\.ugraphemb-[0-9a-f]{16}", re.DOTALL)
_LONGEST = 200  # bytes of the name in the name of a draft: file systems allow 255
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)

Content: TypeAlias = "bytes | Callable[[NewFile], Any]"
"""Bytes, or a function that writes them into the file object that it is given."""


class NewFile(io.RawIOBase):
    """The end of a file that grows; libraries write into it. Checksums are computed while it is written."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__()
        self._descriptor, self.name = descriptor, name
        self._sums = SumCounter()
        self._size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: Any) -> int:
        """Writes all bytes; a raw file of Python may write fewer."""
        view = memoryview(data).cast("B")
        left = view
        while len(left):
            left = left[system.write(self._descriptor, left) :]
        self._sums.update(view)
        self._size += len(view)
        return len(view)

    def flush(self) -> None:
        """Does nothing: there is no buffer."""

    def sums(self) -> Sums:
        return self._sums.sums()


def write_file(path: Path, content: Content) -> Sums:
    """Makes the file hold this, atomically, and returns its checksums. When this returns it is on the disk.

    A crash leaves the old file or the new one. A link at `path` is replaced, not followed. Missing folders are made.

    Raises:
        OSError: It could not be written; `path` is as it was.
    """
    path = path.absolute()
    make_folders(path.parent)
    remove_dead_drafts(path.parent, path.name)
    draft, descriptor = _new_draft_file(path)
    try:
        try:
            sums = _fill(descriptor, path.name, content)
            system.rename(str(draft), str(path))
        finally:
            system.close(descriptor)
    except BaseException:
        with suppress(OSError):  # the next writer removes it
            system.unlink(str(draft))
        raise
    sync_folder(path.parent)
    return sums


def write_new_file(path: Path, content: Content) -> Sums:
    """A file in a folder that is not published yet: written in place and flushed to the disk."""
    descriptor = system.open_file(str(path), system.CREATE)
    try:
        return _fill(descriptor, path.name, content)
    finally:
        system.close(descriptor)


def _fill(descriptor: int, name: str, content: Content) -> Sums:
    file = NewFile(descriptor, name)
    if isinstance(content, bytes):
        file.write(content)
    else:
        content(file)
    system.fsync(descriptor)
    return file.sums()


class DraftFolder:
    """A folder being filled, which takes its place by `publish` or is removed by `discard`.

    Args:
        path: Where it is going to be; a link there is followed, for it is the caller's.
        name: Whose draft it is; by default that of `path`.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.target = Path(os.path.realpath(path))
        name = self.target.name if name is None else name
        make_folders(self.target.parent)
        remove_dead_drafts(self.target.parent, name)
        while True:
            self.path = draft_path(self.target.with_name(name))
            system.mkdir(str(self.path))
            with suppress(FileNotFoundError):  # another writer removed it as abandoned before it was locked
                self._descriptor = system.open_file(str(self.path), system.FOLDER)
                _hold(self._descriptor)
                if system.status_of(self._descriptor).st_nlink:
                    break
                system.close(self._descriptor)

    def publish(self) -> bool:
        """Flushes the folder and puts it in its place; True where it replaced another, now at `self.path`.

        Raises:
            StorageError: There is another folder, and this file system cannot exchange two atomically.
        """
        system.fsync(self._descriptor)
        while True:
            try:
                system.rename(str(self.path), str(self.target))
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            else:
                sync_folder(self.target.parent)
                return False
            try:
                system.exchange(str(self.path), str(self.target))
            except FileNotFoundError:
                continue  # it was removed meanwhile
            except OSError as error:
                if error.errno not in _NO_EXCHANGE:
                    raise
                raise StorageError(
                    f"{self.target}: exists already, and this file system cannot replace a folder atomically; "
                    "remove it, or choose another place"
                ) from error
            sync_folder(self.target.parent)
            return True

    def close(self) -> None:
        system.close(self._descriptor)

    def discard(self) -> None:
        """Removes the draft and closes it."""
        with suppress(OSError):  # the next writer removes it
            remove_files(self.path)
        self.close()


def draft_path(path: Path) -> Path:
    """A unique name beside `path`."""
    name = os.fsdecode(os.fsencode(path.name)[:_LONGEST])
    return path.with_name(f".{name}.ugraphemb-{os.urandom(8).hex()}")


def is_draft(name: str) -> bool:
    """Whether this is the name of a draft."""
    return _DRAFT.fullmatch(name) is not None


def _new_draft_file(path: Path) -> tuple[Path, int]:
    while True:
        draft = draft_path(path)
        descriptor = system.open_file(str(draft), system.CREATE)
        _hold(descriptor)
        if system.status_of(descriptor).st_nlink:
            return draft, descriptor
        system.close(descriptor)  # another writer removed it as abandoned before it was locked


def remove_dead_drafts(folder: Path, name: str | None = None) -> None:
    """Removes drafts of files and folders of this name, or of any, whose writer has ended."""
    if name is not None:
        name = os.fsdecode(os.fsencode(name)[:_LONGEST])
    for entry in system.list_folder(str(folder)):
        found = _DRAFT.fullmatch(entry)
        if found and name in (None, found["name"]):
            with suppress(OSError):  # locked by its writer, or gone
                _remove_if_dead(folder / entry)


def _remove_if_dead(path: Path) -> None:
    folder = system.is_folder(system.status(str(path)))
    descriptor = system.open_file(str(path), system.FOLDER if folder else system.CHANGE)
    try:
        system.lock(descriptor, wait=False)
        if folder:
            from ugraphemb.files.folders import remove_folder

            try:
                remove_folder(path)
            except StorageError:  # a manifest that is not whole: its writer died before the folder was published
                remove_files(path)
        else:
            system.unlink(str(path))
    finally:
        system.close(descriptor)


def remove_file(path: Path) -> None:
    """Removes an obsolete file of this library; if that fails, the next writer tries again."""
    with suppress(OSError):
        system.unlink(str(path))


def remove_empty_folder(path: Path) -> None:
    """Removes a folder, unless something is in it."""
    with suppress(OSError):
        system.rmdir(str(path))


def move_aside(path: Path) -> None:
    """Gives a damaged file another name, so that it no longer counts and is not lost."""
    system.rename(str(path), str(path.with_name(f"{path.name}.damaged-{os.urandom(4).hex()}")))
    sync_folder(path.parent)


def remove_files(folder: Path) -> None:
    """Removes a folder of plain files; what else is in it stays, and so does the folder then."""
    for name in system.list_folder(str(folder)):
        if system.is_regular(system.status(str(folder / name))):
            system.unlink(str(folder / name))
    system.rmdir(str(folder))


def make_folders(folder: Path) -> None:
    """The folder and those above it, where they are missing, on the disk."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        try:
            system.mkdir(str(made))
        except FileExistsError:
            if not made.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(made)) from None
        sync_folder(made.parent)


def sync_folder(folder: Path) -> None:
    """Flushes the names in a folder to the disk."""
    descriptor = system.open_file(str(folder), system.FOLDER)
    try:
        system.fsync(descriptor)
    finally:
        system.close(descriptor)


def _hold(descriptor: int) -> None:
    """On a file system without locks, drafts of dead writers stay."""
    with suppress(OSError):
        system.lock(descriptor, wait=True)
