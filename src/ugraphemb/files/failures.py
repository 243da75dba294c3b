"""Errors of the operating system, as StorageError."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ugraphemb.errors import StorageError, UGraphEmbError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def storage_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns an OSError in the block into a StorageError that says what is safe and what to do."""
    try:
        yield
    except UGraphEmbError:
        raise
    except OSError as error:
        advice = "free disk space" if error.errno in _FULL else "correct the cause"
        failure = StorageError(
            f"{os.fspath(path)}: cannot write ({error.strerror or error}); the previous content is safe: {advice} and "
            "run the same again"
        )
        failure.errno = error.errno
        raise failure from error
