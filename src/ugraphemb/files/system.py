"""All system calls that change or lock files, one thin function for each.

The rest of the package calls these as `system.write(...)`, looked up at call time, so that a test can replace any of
them: make it fail, kill the process there, or lose what was not yet flushed to the disk. Paths are absolute or relative
to the working directory, as the caller has them; every function raises OSError.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
from functools import cache
from typing import Any

CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""A new file, which must not exist yet."""
LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""A file to hold a lock on, made if it does not exist; a link in its place is an error."""
CHANGE = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


def open_file(path: str, flags: int) -> int:
    """A descriptor; flags are one of the constants above."""
    return os.open(path, flags, 0o666)


def close(descriptor: int) -> None:
    os.close(descriptor)


def read(descriptor: int, size: int) -> bytes:
    return os.read(descriptor, size)


def write(descriptor: int, data: bytes | memoryview) -> int:
    """How many bytes were taken, as in os.write: perhaps not all."""
    return os.write(descriptor, data)


def fsync(descriptor: int) -> None:
    """Flushes a file or a folder to the disk."""
    os.fsync(descriptor)


def lock(descriptor: int, *, wait: bool) -> None:
    """Takes the exclusive lock of an open file or folder; it ends with the descriptor, however the process ends.

    Raises:
        BlockingIOError: Another process holds it, and `wait` is False.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def status(path: str) -> os.stat_result:
    """Of the path itself: links are not followed."""
    return os.lstat(path)


def status_of(descriptor: int) -> os.stat_result:
    return os.fstat(descriptor)


def list_folder(path: str) -> list[str]:
    """Names, sorted."""
    return sorted(os.listdir(path))


def rename(source: str, target: str) -> None:
    """Atomic; a file at `target` is replaced, and so is an empty folder by a folder."""
    os.rename(source, target)


def exchange(one: str, other: str) -> None:
    """Exchanges two paths atomically; ENOSYS or EINVAL where kernel or file system cannot."""
    swap = _renameat2()
    if swap is None:
        raise OSError(38, os.strerror(38), one)
    if swap(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), one, None, other)


def unlink(path: str) -> None:
    os.unlink(path)


def mkdir(path: str) -> None:
    os.mkdir(path)


def rmdir(path: str) -> None:
    os.rmdir(path)


def is_regular(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode)


def is_folder(found: os.stat_result) -> bool:
    return stat.S_ISDIR(found.st_mode)


@cache
def _renameat2() -> Any:
    """The C function, or None where the C library has none."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        function.restype = ctypes.c_int
    return function
