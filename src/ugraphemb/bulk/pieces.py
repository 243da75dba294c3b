"""Files of graphs, cut into pieces that workers read one by one.

A file that is small, or whose format does not allow to begin in the middle, is one piece, which the worker reads
itself. A large file of lines (.smi, .csv, .jsonl, gzipped or not) is read here, from its beginning to its end, and cut
at line ends; the lines are sent with the piece.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ugraphemb.errors import GraphFormatError
from ugraphemb.files import remote
from ugraphemb.graphs.collector import Reading
from ugraphemb.graphs.formats import FORMATS, format_of
from ugraphemb.graphs.formats.text import Excerpt, suffix_of, unpacked

_SMALL = 1 << 20  # bytes of a file that is not cut; a quarter of it for .gz
_LINES = {".smi": False, ".smiles": False, ".csv": True, ".tsv": True, ".jsonl": False, ".ndjson": False}
"""Suffixes of formats that are cut, and whether their first line is repeated in each piece."""
_SUFFIXES = {suffix for format in FORMATS.values() for suffix in format.suffixes}


@dataclass(frozen=True)
class Piece:
    """Some graphs of a file.

    Attributes:
        address: Address of the file.
        name: Path of the file below the folder that all files share; without .gz.
        number: 0, 1, ... within the file.
        excerpt: Its lines, if they were read already; None means the whole file.
        size: Number of bytes of the file, for the progress bar.
    """

    address: str
    name: str
    number: int
    size: int
    excerpt: Excerpt | None = field(default=None, repr=False)

    @property
    def output(self) -> str:
        return f"{self.name}-{self.number:05d}.parquet"


def entries_of(files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[remote.Entry]:
    """The files that paths, addresses and patterns name, each once; of a folder those with the suffix of a format.

    Raises:
        GraphFormatError: One of them matches no file.
    """
    patterns = [files] if isinstance(files, str | os.PathLike) else list(files)
    found = []
    for pattern in [os.fspath(pattern) for pattern in patterns]:
        try:
            entries = remote.listed(pattern)
        except FileNotFoundError as error:
            raise GraphFormatError(f"{error}; expected files of graphs") from error
        named = remote.is_pattern(pattern) or [entry.address for entry in entries] == [pattern]
        found += [entry for entry in entries if named or suffix_of(entry.address) in _SUFFIXES]
    return list(dict.fromkeys(found))


def names_of(entries: Sequence[remote.Entry]) -> list[str]:
    """Names for the output of each file: its path below the common folder, without .gz.

    Raises:
        ValueError: Two files would have the same name.
    """
    addresses = [entry.address for entry in entries]
    folders = [address.split("/")[:-1] for address in addresses]
    shared = next(
        (i for i, level in enumerate(zip(*folders, strict=False)) if len(set(level)) > 1), min(map(len, folders))
    )
    names = ["/".join(address.split("/")[shared:]).removesuffix(".gz") for address in addresses]
    taken: dict[str, str] = {}
    for name, address in zip(names, addresses, strict=True):
        if name in taken:
            raise ValueError(
                f"{taken[name]} and {address} would both become {name}-00000.parquet; embed one into another folder"
            )
        taken[name] = address
    return names


def pieces_of(entry: remote.Entry, name: str, rows: int, format: str | None, read_here: bool) -> Iterator[Piece]:
    """The pieces of a file, in order.

    Args:
        rows: Lines of a piece.
        read_here: Also small files are read here, because workers do not see them.
    """
    suffix = suffix_of(entry.address)
    packed = entry.address.lower().endswith(".gz")
    cut = suffix in _LINES and format in (None, FORMATS["molecules"].name, FORMATS["jsonl"].name)
    if not cut or (entry.size <= (_SMALL // 4 if packed else _SMALL) and not read_here):
        yield Piece(entry.address, name, 0, entry.size)
        return
    try:
        with remote.opened(entry.address) as raw:
            lines: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
            yield from _cut(entry, name, lines, raw, rows, suffix)
    except (OSError, EOFError) as error:
        raise GraphFormatError(f"{entry.address}: cannot be read ({error})") from error


def _cut(entry: remote.Entry, name: str, lines: IO[bytes], raw: IO[bytes], rows: int, suffix: str) -> Iterator[Piece]:
    header, number, line, row, before = b"", 0, 1, 0, 0
    while True:
        some = list(islice(lines, rows))
        quotes = sum(text.count(b'"') for text in some) if suffix in (".csv", ".tsv") else 0
        while quotes % 2 and (more := lines.readline()):  # within a quoted cell with line breaks
            some.append(more)
            quotes += more.count(b'"')
        if not some and number:
            return
        if number == 0 and some and (_LINES[suffix] or _is_header(some[0])):
            header = some[0]
        here = raw.tell()
        yield Piece(
            entry.address, name, number, here - before, Excerpt(b"".join(some), line, row, header if number else b"")
        )
        line += len(some)
        row += sum(1 for text in some if text.strip()) - (number == 0 and _counts_not(some, suffix))
        number, before = number + 1, here


def _is_header(first: bytes) -> bool:
    """Of JSON Lines: the vocabularies of all graphs."""
    return first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b'{"ugraphemb"')


def _counts_not(some: list[bytes], suffix: str) -> bool:
    """Whether the first line is a header."""
    first = some[0].split()[:1] if some else []
    return _LINES[suffix] or (bool(first) and first[0].lower() == b"smiles") or (bool(some) and _is_header(some[0]))


def read_piece(piece: Piece, raw: bytes | None, format: str | None, options: dict[str, Any]) -> Reading:
    """The graphs of a piece.

    Args:
        raw: The bytes of the file, for a piece without lines.

    Raises:
        GraphFormatError: Something in it is not a graph; the message says where.
    """
    address = piece.address
    cut = suffix_of(address) in _LINES and format in (None, FORMATS["molecules"].name, FORMATS["jsonl"].name)
    if cut:
        assert piece.excerpt is not None or raw is not None
        excerpt = piece.excerpt or Excerpt(unpacked(raw or b"", address))
        return format_of(address, format).reader().reading(address, excerpt=excerpt, **options)
    if not remote.scheme_of(address):
        path = remote.local_path(address)
        return format_of(path, format).reader().reading(path, **options)
    with tempfile.TemporaryDirectory(prefix="ugraphemb-") as folder:
        path = Path(folder) / Path(address).name
        path.write_bytes(raw or b"")
        try:
            graphs, notes = format_of(path, format).reader().reading(path, **options)
        except GraphFormatError as error:
            raise GraphFormatError(str(error).replace(str(path), address)) from error
        return Reading(graphs, [note.replace(str(path), address) for note in notes])
