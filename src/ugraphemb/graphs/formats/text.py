"""What readers and writers of text files share."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ugraphemb.errors import GraphFormatError, warned
from ugraphemb.files import label_from_json, label_to_json, storage_errors, write_file
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.limits import limits, refusal


class Excerpt(NamedTuple):
    """Some lines of a file, which a reader takes in place of the file.

    Attributes:
        data: The lines, unpacked.
        line: Number of the first of them in the file.
        row: Graphs before them.
        header: The first line of the file, where a reader needs it; "" where `data` begins with it.
    """

    data: bytes
    line: int = 1
    row: int = 0
    header: bytes = b""

    def lines(self, path: str | Path) -> list[str]:
        """With the header in front."""
        return decoded_lines(self.header, path) + decoded_lines(self.data, path)

    @property
    def first(self) -> int:
        """The number to count `lines` from: that of the header is not looked at."""
        return self.line - 1 if self.header else self.line


def suffix_of(path: str | Path) -> str:
    """The suffix that says the format: that before .gz, in lower case."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes[-2:]]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def stem_of(path: str | Path) -> str:
    """The name of a file without its suffixes: set for set.jsonl.gz."""
    path = Path(path)
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def read_bytes(path: str | Path) -> bytes:
    """The file's bytes, unpacked where its name ends in .gz; a GraphFormatError where there is no such file."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise GraphFormatError(f"{path}: {error.strerror or error}; expected a readable file") from error
    return unpacked(data, path)


def unpacked(data: bytes, path: str | Path) -> bytes:
    """The content of a file of this name with these bytes, which are gzipped where the name ends in .gz."""
    if Path(path).suffix.lower() != ".gz":
        return data
    most = limits().unpacked_bytes(len(data))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise GraphFormatError(f"{path}: damaged ({error}); expected a whole gzip file") from error
    if len(content) > most:
        raise refusal(str(path), f"unpacks to more than {most} bytes from {len(data)}", "ratio")
    return content


def read_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 file, without their line ends."""
    return decoded_lines(read_bytes(path), path)


def decoded_lines(data: bytes, path: str | Path) -> list[str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GraphFormatError(f"{path}:{line}: byte {data[error.start]:#04x}, which is not UTF-8 text") from error
    lines = text.replace("\r\n", "\n").split("\n")  # splitlines() would cut at characters that labels may hold
    return lines[:-1] if lines[-1] == "" else lines


def write_text(text: str, path: str | Path) -> None:
    """The text as a file, atomically."""
    write_bytes(encoded(text, path), path)


def encoded(text: str, path: str | Path) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise GraphFormatError(f"{path}: {error.object[error.start]!r} cannot be written as UTF-8") from error


def write_bytes(data: bytes, path: str | Path) -> None:
    """The bytes as a file, packed where its name ends in .gz, atomically.

    Raises:
        StorageError: It could not be written; the old state is kept.
    """
    path = Path(path)
    with storage_errors(path):
        write_file(path, packed(data, path))


def packed(data: bytes, name: str | Path) -> bytes:
    """The bytes of a file of this name: gzipped where it ends in .gz."""
    return gzip.compress(data, mtime=0) if Path(name).suffix.lower() == ".gz" else data


def check_size(nodes: int, size: int, where: str) -> None:
    """Refuses a short file that claims more nodes than memory could hold."""
    if nodes > limits().nodes + size:
        raise refusal(where, f"{nodes} nodes claimed by {size} bytes", "nodes")


def check_losses(
    graphs: GraphSet, path: str | Path, *, holds: Sequence[str], strict: bool, also: Sequence[str] = ()
) -> None:
    """Reports in one GraphWarning what a format cannot hold, or raises if that is not allowed.

    Args:
        holds: Which of "ids", "node labels", "edge labels", "node attributes", "targets" and "metadata" the format
            holds. The SMILES of a molecule are no loss: its labels hold them.
        also: Further losses.
    """
    present = {
        "ids": not np.array_equal(graphs.ids, np.arange(len(graphs)).astype(np.str_)),
        "node labels": bool(graphs.node_vocabulary),
        "edge labels": graphs.edge_labels is not None and bool(graphs.edge_vocabulary),
        "node attributes": graphs.node_attributes is not None,
        "targets": graphs.targets is not None,
        "metadata": any(name != "smiles" for name in graphs.metadata),
    }
    lost = [what for what, there in present.items() if there and what not in holds] + list(also)
    if not lost:
        return
    if strict:
        raise GraphFormatError(f"{path}: {', '.join(lost)} would be lost in this format (.jsonl holds everything)")
    warned(f"{path}: lost {', '.join(lost)}, which this format cannot hold")


def plain(value: Any) -> Any:
    """A label, target or metadata value as JSON represents it: tuples as lists, scalars of NumPy as Python's own."""
    return label_to_json(value, "a file of graphs", GraphFormatError)


def label(value: Any) -> Any:
    """The inverse of `plain`."""
    return label_from_json(value, "JSON", GraphFormatError) if isinstance(value, list | dict) else value


def parsed_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise GraphFormatError(f"{where}: not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets nested too deeply
        raise GraphFormatError(f"{where}: JSON that exceeds the limits of the parser: {error}") from error
