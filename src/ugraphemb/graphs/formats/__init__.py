"""All file formats, with `read_graphs` and `write_graphs`."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.collector import Reading
from ugraphemb.graphs.formats.reader import Progress, Reader, counted, reported
from ugraphemb.graphs.formats.text import stem_of, suffix_of
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.merge import concatenated


@dataclass(frozen=True)
class Format:
    """A module of this package with `read_NAME` and `write_NAME`, imported when first needed."""

    name: str
    suffixes: tuple[str, ...]
    what: str

    def reader(self) -> Reader[...]:
        reader: Reader[...] = getattr(import_module(f"{__name__}.{self.name}"), f"read_{self.name}")
        return reader

    def writer(self) -> Callable[..., None]:
        writer: Callable[..., None] = getattr(import_module(f"{__name__}.{self.name}"), f"write_{self.name}")
        return writer


FORMATS = {
    format.name: format
    for format in (
        Format("tu", (".zip",), "TU Dortmund's text files, as a folder or a zip"),
        Format("jsonl", (".jsonl", ".ndjson"), "JSON Lines, one graph per line; holds everything"),
        Format("gxl", (".gxl", ".cxl"), "GXL and CXL, as in the IAM collections; also a folder of them"),
        Format("graphml", (".graphml",), "GraphML"),
        Format("edgelist", (".edges", ".edgelist"), "edge lists"),
        Format("graph6", (".g6", ".graph6", ".s6", ".sparse6"), "graph6 and sparse6"),
        Format("gml", (".gml",), "GML"),
        Format("nodelink", (".json",), "node-link JSON"),
        Format("gspan", (".gspan", ".lg"), "gSpan text"),
        Format("molecules", (".smi", ".smiles", ".csv", ".tsv", ".sdf", ".sd", ".mol"), "molecules, through RDKit"),
    )
}
_BY_SUFFIX = {suffix: format for format in FORMATS.values() for suffix in format.suffixes}
_SAYS_NOTHING = {"", ".txt", ".xml", ".json", ".dat", ".data"}  # .json may be JSON Lines
_HEAD = 4096


def read_graphs(
    path: str | Path,
    *,
    format: str | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> GraphSet:
    """Graphs from a file or folder.

    A folder contains the files of a TU data set, GXL files, or any files of graphs, which are combined.

    Args:
        path: Its suffix determines the format; for .txt, .xml and no suffix its content does.
            Text files may be gzipped: .jsonl.gz, .gspan.gz and so on.
        format: One of `FORMATS`, whatever the suffix.
        strict: Refuse self loops, repeated edges and the like instead of dropping them with a GraphWarning.
        progress: Called with how much is done and how much there is: lines, molecules, graphs or files.
        options: Passed on to the reader of the format.

    Examples:
        >>> import ugraphemb as ug
        >>> ug.write_graphs(ug.load_dataset("atlas")[:5], "five.jsonl")
        >>> ug.read_graphs("five.jsonl")
        GraphSet(atlas: 5 graphs, 8 nodes, 1 edge)
    """
    return reported(_reading(path, format=format, strict=strict, progress=progress, **options))


@Reader
def _read(path: str | Path, *, format: str | None, strict: bool, progress: Progress | None, **options: Any) -> Reading:
    path = Path(path)
    if not path.exists():
        raise GraphFormatError(f"{path}: no such file or folder; expected a file of graphs")
    chosen = _format_of_folder(path) if path.is_dir() and not format else format_of(path, format)
    if chosen is None:
        return _put_together(path, strict, progress, options)
    return chosen.reader().reading(path, strict=strict, progress=progress, **options)


_reading = _read.reading


def write_graphs(
    graphs: GraphSet, path: str | Path, *, format: str | None = None, strict: bool = False, **options: Any
) -> None:
    """Writes graphs to a file or folder, which is either written completely or left as it was.

    A folder is replaced only if everything in it was written by this function. The files that a .cxl lists are in a
    folder beside it.

    Args:
        path: Its suffix determines the format; with a further .gz the file is gzipped. A path without a suffix is the
            folder of a TU data set.
        format: One of `FORMATS`, whatever the suffix.
        strict: Refuse to write what the format cannot store, instead of omitting it with a GraphWarning.

    Raises:
        GraphFormatError: What the format cannot store, or a path whose format is unknown.
        StorageError: It could not be written, or the folder contains other files.

    Examples:
        >>> import ugraphemb as ug
        >>> molecules = ug.GraphSet.from_smiles(["CCO", "CCN"], ids=["ethanol", "ethylamine"])
        >>> ug.write_graphs(molecules, "two.graphml")
        >>> ug.read_graphs("two.graphml").ids.tolist()
        ['ethanol', 'ethylamine']
    """
    output_format(path, format).writer()(graphs, Path(path), strict=strict, **options)


def output_format(path: str | Path, name: str | None = None) -> Format:
    """The format in which a path is written: that of a name, or of its suffix; without a suffix it is a TU folder.

    Raises:
        GraphFormatError: The suffix is not known.
        ValueError: No format has this name.
    """
    if name:
        return _named(name)
    return _format_of_suffix(Path(path)) if suffix_of(Path(path)) else FORMATS["tu"]


def format_of(path: str | Path, name: str | None = None) -> Format:
    """The format of a file: that of a name, or what its suffix or its content says.

    Raises:
        GraphFormatError: Neither says it.
        ValueError: No format has this name.
    """
    return _named(name) if name else _format_of_file(Path(path))


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise ValueError(f"no format {name!r}; there are {', '.join(FORMATS)}")
    return FORMATS[name]


def _format_of_suffix(path: Path) -> Format:
    suffix = suffix_of(path)
    if suffix not in _BY_SUFFIX:
        raise GraphFormatError(
            f"{path}: unknown suffix {suffix!r}; expected one of {' '.join(_BY_SUFFIX)}, or format=..."
        )
    return _BY_SUFFIX[suffix]


def _format_of_file(path: Path) -> Format:
    if suffix_of(path) not in _SAYS_NOTHING:
        return _format_of_suffix(path)
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        head = file.read(_HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    name = _format_of_content(head)
    if name is None:
        raise GraphFormatError(
            f"{path}: neither its suffix nor its content determines the format; expected one of the suffixes "
            f"{' '.join(_BY_SUFFIX)}, or format=..."
        )
    return FORMATS[name]


def _format_of_content(head: bytes) -> str | None:
    if head.startswith(b"PK\x03\x04"):
        return "tu"
    if head.startswith(b"<"):
        return "graphml" if b"<graphml" in head else "gxl" if re.search(rb"<gxl|<GraphCollection", head) else None
    if head.startswith(b"["):
        return "nodelink"
    if head.startswith(b"{"):
        node_link = re.search(rb'"(nodes|links|multigraph)"\s*:', head) and not re.search(rb'"num_nodes"\s*:', head)
        return "nodelink" if node_link else "jsonl"
    if re.match(rb"(Creator|Version|graph\s*\[|Comment)\b|graph\s*\[", head):
        return "gml"
    if head.startswith((b">>graph6<<", b">>sparse6<<", b":")):
        return "graph6"
    if re.match(rb"t\s+#\s", head):
        return "gspan"
    lines = [line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#")]
    return "edgelist" if lines and re.fullmatch(rb"\s*\d+[\s,]+\d+(\s.*)?", lines[0]) else None


def _format_of_folder(path: Path) -> Format | None:
    names = [entry.name for entry in path.iterdir() if not entry.name.startswith(".")]
    if any(name.endswith("_A.txt") for name in names):
        return FORMATS["tu"]
    if any(name.lower().endswith((".gxl", ".cxl")) for name in names):
        return FORMATS["gxl"]
    return None


def _put_together(path: Path, strict: bool, progress: Progress | None, options: dict[str, Any]) -> Reading:
    """All files of graphs in a folder, in the order of their names, which are the ids where each holds one graph."""
    files = sorted(
        entry for entry in path.iterdir() if suffix_of(entry) in _BY_SUFFIX and not entry.name.startswith(".")
    )
    if not files:
        raise GraphFormatError(f"{path}: no files of graphs; expected names that end in {' '.join(_BY_SUFFIX)}")
    readings = [
        _format_of_suffix(file).reader().reading(file, strict=strict, **options) for file in counted(files, progress)
    ]
    parts = [reading.graphs for reading in readings]
    notes = [note for reading in readings for note in reading.notes]
    if len(parts) == 1:
        return readings[0]
    stems = [stem_of(file) for file in files]
    if all(len(part) == 1 for part in parts) and len(set(stems)) == len(stems):
        parts = [replace(part, ids=np.array([stem])) for part, stem in zip(parts, stems, strict=True)]
    return Reading(replace(concatenated(parts), name=path.name), notes)
