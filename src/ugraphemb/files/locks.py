"""Locks between processes, on regular files and never on links; a lock is released when its process ends."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ugraphemb.errors import StorageError
from ugraphemb.files import system


class BusyError(Exception):
    """Another process, or another part of this one, holds the lock."""


class Lock:
    """An exclusive lock, held from construction to `release`.

    Args:
        path: The lock file; made if it does not exist, empty, and never removed.
        wait: Until the holder releases it.

    Raises:
        BusyError: Another holder has it, and `wait` is False.
        StorageError: The path is a link, a folder or a device.
        OSError: The lock file cannot be made.
    """

    def __init__(self, path: Path, *, wait: bool = True) -> None:
        try:
            self._descriptor = system.open_file(str(path), system.LOCK)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
                raise StorageError(f"{path}: a link, folder or device; a lock is held on a plain file") from error
            raise
        try:
            if not system.is_regular(system.status_of(self._descriptor)):
                raise StorageError(f"{path}: not a plain file; a lock is held on one")
            system.lock(self._descriptor, wait=wait)
        except BaseException as error:
            system.close(self._descriptor)
            if isinstance(error, BlockingIOError):
                raise BusyError(str(path)) from None
            raise

    def release(self) -> None:
        system.close(self._descriptor)


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds the lock of a file in the block; see `Lock`."""
    held = Lock(path, wait=wait)
    try:
        yield
    finally:
        held.release()
