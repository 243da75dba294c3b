"""The fault tests detect the faults that they are made for: writers with the usual mistakes do not pass."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from torture.faults import faulted, steps
from torture.processes import FailureError
from torture.writers import Writer

from ugraphemb.errors import StorageError
from ugraphemb.files import storage_errors, system


def _text(n: int) -> bytes:
    return str(n % 10).encode() * 300


def _load(folder: Path) -> int:
    data = (folder / "saved").read_bytes()
    if not data:
        raise StorageError("empty")
    assert data == data[:1] * 300
    return int(data[:1])


def _written(path: Path, data: bytes, *, flags: int = system.CREATE, flush: bool = True) -> None:
    descriptor = system.open_file(str(path), flags)
    try:
        while data:
            data = data[system.write(descriptor, data) :]
        if flush:
            system.fsync(descriptor)
    finally:
        system.close(descriptor)


def _flushed(folder: Path) -> None:
    descriptor = system.open_file(str(folder), system.FOLDER)
    system.fsync(descriptor)
    system.close(descriptor)


def _without_draft(folder: Path, n: int) -> None:
    _written(folder / "saved", _text(n), flags=os.O_RDWR | os.O_CREAT)
    _flushed(folder)


def _without_flush(folder: Path, n: int) -> None:
    (folder / "draft").unlink(missing_ok=True)
    _written(folder / "draft", _text(n), flush=False)
    system.rename(str(folder / "draft"), str(folder / "saved"))
    _flushed(folder)


def _without_flush_of_the_folder(folder: Path, n: int) -> None:
    (folder / "draft").unlink(missing_ok=True)
    _written(folder / "draft", _text(n))
    system.rename(str(folder / "draft"), str(folder / "saved"))


def _with_a_moment_of_neither(folder: Path, n: int) -> None:
    (folder / "draft").unlink(missing_ok=True)
    _written(folder / "draft", _text(n))
    if (folder / "saved").exists():
        system.unlink(str(folder / "saved"))
    system.rename(str(folder / "draft"), str(folder / "saved"))
    _flushed(folder)


def _leaving_drafts(folder: Path, n: int) -> None:
    draft = folder / f".draft-{len(os.listdir(folder))}"
    _written(draft, _text(n))
    system.rename(str(draft), str(folder / "saved"))
    _flushed(folder)


def _ignoring_short_writes(folder: Path, n: int) -> None:
    descriptor = system.open_file(str(folder / "draft"), os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    system.write(descriptor, _text(n))
    system.fsync(descriptor)
    system.close(descriptor)
    system.rename(str(folder / "draft"), str(folder / "saved"))
    _flushed(folder)


def _overwriting(folder: Path, n: int) -> None:
    _written(folder / "notes.txt", _text(n), flags=os.O_RDWR | os.O_CREAT)
    _without_flush_of_the_folder(folder, n)
    _flushed(folder)


def _by_other_means(folder: Path, n: int) -> None:
    (folder / "saved").write_bytes(_text(n))


@pytest.mark.parametrize(
    "save",
    [
        _without_draft, _without_flush, _without_flush_of_the_folder, _with_a_moment_of_neither, _leaving_drafts,
        _ignoring_short_writes, _overwriting, _by_other_means,
    ],
)  # fmt: skip
def test_a_wrong_writer_is_found(save: Callable[[Path, int], None]):
    def guarded(folder: Path, n: int) -> None:
        with storage_errors(folder):
            save(folder, n)

    with pytest.raises(AssertionError):
        faulted(steps(Writer("wrong", "saved", guarded, _load))[1], 0, lambda calls: calls)


def test_a_raw_error_is_found():
    def save(folder: Path, n: int) -> None:
        (folder / "draft").unlink(missing_ok=True)
        _without_flush_of_the_folder(folder, n)
        _flushed(folder)

    with pytest.raises(FailureError, match="instead of our own error"):
        faulted(steps(Writer("raw", "saved", save, _load))[0], 0, lambda calls: calls)
