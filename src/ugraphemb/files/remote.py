"""Files by path or address: of this machine, and of object stores (s3://, gs://, memory://, ...) through fsspec.

A file appears whole or not at all: on this machine as `drafts` has it, in an object store because an object is put in
one step, elsewhere (sftp://, ...) under a name of its own that is then changed.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from ugraphemb.errors import MissingExtraError, StorageError
from ugraphemb.files.drafts import remove_file, write_file
from ugraphemb.files.failures import storage_errors

_PUTS = ("s3", "s3a", "gs", "gcs", "abfs", "az", "adl", "oss", "memory")  # a put is all or nothing there


_ARROW = {"s3": "S3FileSystem", "gs": "GcsFileSystem", "gcs": "GcsFileSystem"}


class Entry(NamedTuple):
    """A file: its path or address, and its size in bytes."""

    address: str
    size: int


def scheme_of(address: str | os.PathLike[str]) -> str:
    """The part before ://; "" for paths of this machine, also with file://."""
    scheme, separator, _ = os.fspath(address).partition("://")
    return scheme.lower() if separator and scheme.lower() not in ("file", "local") else ""


def local_path(address: str | os.PathLike[str]) -> Path:
    """The path that an address of this machine means."""
    text = os.fspath(address)
    scheme, separator, rest = text.partition("://")
    return Path(unquote(rest) if separator and scheme.lower() in ("file", "local") else text).expanduser()


def absolute(address: str | os.PathLike[str]) -> str:
    """The same place for a process with another working directory."""
    return os.fspath(address) if scheme_of(address) else str(local_path(address).absolute())


def joined(address: str | os.PathLike[str], name: str) -> str:
    """The address of a file in a folder; the name may have folders of its own."""
    return os.fspath(address).rstrip("/") + "/" + name


def listed(pattern: str | os.PathLike[str]) -> list[Entry]:
    """The files that a path, address or pattern (*, ?, [..], **) names, sorted; all files of a folder.

    Raises:
        FileNotFoundError: None.
    """
    text = os.fspath(pattern)
    if scheme_of(text):
        found = _listed_there(text)
    else:
        path = local_path(text)
        names = glob.glob(str(path), recursive=True) if is_pattern(text) else [str(path)]
        paths = [file for name in names for file in _files_below(Path(name))]
        found = [Entry(str(file), file.stat().st_size) for file in paths]
    if not found:
        raise FileNotFoundError(f"{text}: no such file")
    return sorted(set(found))


def is_pattern(address: str) -> bool:
    """Whether it has *, ? or [..], and no local file has this very name."""
    magic = any(sign in address for sign in "*?[")
    return magic and (bool(scheme_of(address)) or not local_path(address).exists())


def _files_below(path: Path) -> list[Path]:
    """The file, or all files of the folder that are not hidden."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    return [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]


def _listed_there(text: str) -> list[Entry]:
    system, path = _system(text)
    scheme = text.partition("://")[0]
    details = system.glob(path, detail=True) if is_pattern(text) else system.find(path, detail=True)
    return [
        Entry(f"{scheme}://{name.lstrip('/')}", int(about["size"] or 0))
        for name, about in details.items()
        if about["type"] == "file"
    ]


def read_bytes(address: str) -> bytes:
    """The whole file.

    Raises:
        OSError: It cannot be read.
    """
    with opened(address) as file:
        return file.read()


@contextmanager
def opened(address: str) -> Iterator[IO[bytes]]:
    """The file, to be read.

    Raises:
        OSError: It cannot be read.
    """
    if not scheme_of(address):
        with local_path(address).open("rb") as file:
            yield file
        return
    system, path = _system(address)
    with system.open(path, "rb") as file:
        yield file


def write_whole(address: str, data: bytes) -> None:
    """Writes the file atomically. Missing folders are created.

    Raises:
        StorageError: It could not be written; the old state is kept.
    """
    if not scheme_of(address):
        with storage_errors(address):
            write_file(local_path(address), data)
        return
    system, path = _system(address)
    with _failures(address):
        if scheme_of(address) in _PUTS:  # folders are parts of names there
            system.pipe_file(path, data)
        else:
            system.makedirs(system._parent(path), exist_ok=True)
            draft = f"{path}.ugraphemb-{os.urandom(8).hex()}"
            system.pipe_file(draft, data)
            system.mv(draft, path)


def remove(address: str) -> None:
    """Removes a file, if it exists."""
    if not scheme_of(address):
        remove_file(local_path(address))
        return
    system, path = _system(address)
    with _failures(address):
        if system.exists(path):
            system.rm_file(path)


@contextmanager
def _failures(address: str) -> Iterator[None]:
    """Errors of an object store, as StorageError; client libraries raise many kinds of errors."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise StorageError(f"{address}: cannot write ({reason}); the previous content is safe") from error


def _system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it.

    S3 and Google's storage need no further package: where fsspec has none for them, pyarrow's own clients are taken.

    Raises:
        MissingExtraError: The store needs a package that is not installed.
    """
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(address)
    except ImportError as error:  # of fsspec, or of what it needs for this store
        native = _ARROW.get(scheme_of(address))
        if native is None or find_spec("fsspec") is None:
            raise MissingExtraError(f"{address}: {error}: run  pip install 'ugraphemb[remote]'") from error
        return _arrow_system(native), address.partition("://")[2]
    return system, path


@cache
def _arrow_system(name: str) -> Any:
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow import fs

    if name != "S3FileSystem":
        return ArrowFSWrapper(getattr(fs, name)())
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return ArrowFSWrapper(fs.S3FileSystem(endpoint_override=endpoint, allow_delayed_open=True))
