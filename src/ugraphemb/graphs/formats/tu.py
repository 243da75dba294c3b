"""The text format of the TU Dortmund collection: a folder or a zip of NAME_A.txt, NAME_graph_indicator.txt, ...

Beyond TU's own files, `node_label_names.txt`, `edge_label_names.txt` and `graph_label_names.txt` (line k, from 0,
names label k) make labels text, and `graph_names.txt` gives each graph an id. Else node and edge labels have the names
that NAME_label_readme.txt or README.txt list, if they list all of them.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.files import HIDDEN, NewFolder, storage_errors, write_folder
from ugraphemb.graphs.archive import Archive
from ugraphemb.graphs.collector import Reading
from ugraphemb.graphs.formats.columns import number_columns
from ugraphemb.graphs.formats.label_names import label_names as names_of_labels
from ugraphemb.graphs.formats.reader import Progress, Reader
from ugraphemb.graphs.formats.text import decoded_lines, write_bytes
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import Coded, MisplacedEdgeError, Vocabulary, encoded

_KINDS = (
    "A", "graph_indicator", "graph_labels", "graph_attributes", "node_labels", "edge_labels", "node_attributes",
    "edge_attributes", "node_label_names", "edge_label_names", "graph_label_names", "graph_names", "label_readme",
)  # fmt: skip
_LONGEST_README = 1 << 20


@Reader
def read_tu(
    path: str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    name: str | None = None,
    target: int | None = None,
    label_names: bool = True,
) -> Reading:
    """A TU data set from its folder or zip.

    Targets are the whole numbers of `graph_labels`, or the numbers of `graph_attributes` where there are no
    labels. Nodes need not stand in the order of their graphs.

    Args:
        strict: Refuse self loops and repeated edges instead of dropping them.
        progress: Called with the number of files of the set done and of all.
        name: Which set, where there are several.
        target: Which column of `graph_attributes` to take, where it has several; from 0.
        label_names: Use the names of labels that the set's readme lists ("C" instead of 0), where it lists all of them.
    """
    with _opened(Path(path), name, progress) as files:
        graph_of = files.numbers("graph_indicator", np.int32)[0] - 1
        targets, ids = _targets(files, target), _ids(files)
        sizes = _sizes(files, graph_of, targets, ids)
        names = files.names() if label_names else {}
        node_labels = _labels(files, "node", "graph_indicator", len(graph_of), names.get("node"))
        attributes = _attributes(files, len(graph_of))
        given = np.stack(files.numbers("A", np.int32, width=2)).T
        given -= 1
        edge_labels = _labels(files, "edge", "A", len(given), names.get("edge"))
        notes = [f"{files.where('edge_attributes')}: ignored"] if "edge_attributes" in files else []
        dropped: list[str] = []
        edges = given
        if np.any(graph_of[1:] < graph_of[:-1]):
            order = np.argsort(graph_of, kind="stable")
            edges = _renumbered(given, order)
            node_labels = None if node_labels is None else node_labels._replace(codes=node_labels.codes[order])
            attributes = None if attributes is None else attributes[order]
        try:
            graphs = GraphSet.from_edges(
                sizes,
                edges,
                node_labels=node_labels,
                edge_labels=edge_labels,
                node_attributes=attributes,
                targets=targets,
                ids=ids,
                name=files.name,
                strict=strict,
                source=files.where("A"),
                notes=dropped,
            )
        except MisplacedEdgeError as error:
            raise _edge_error(files, error.row, given, graph_of) from error
    return Reading(graphs, [f"{files.where('A')}: {note}" for note in dropped] + notes)


def write_tu(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """A TU data set, as a zip if `path` ends in .zip and else as a folder; its name is that of `path`.

    Labels must be whole numbers, text without line breaks, or tuples of whole numbers, all of one kind. What the
    format cannot hold is refused, strict or not.
    """
    path = Path(path)
    zipped = path.suffix.lower() == ".zip"
    name = path.stem if zipped else path.name
    texts = ((f"{name}_{kind}.txt", data) for kind, data in _texts(graphs, str(path)))
    if zipped:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file, data in texts:
                archive.writestr(f"{name}/{file}", data)
        write_bytes(buffer.getvalue(), path)
        return

    def fill(new: NewFolder) -> None:
        for file, data in texts:
            new.write(file, data)

    with storage_errors(path):
        write_folder(path, fill, manifest=HIDDEN)


@dataclass(frozen=True)
class _Files:
    """The files of one set: how to get the bytes of each, and what messages call it."""

    name: str
    places: dict[str, str]
    load: Callable[[str], bytes]
    prefix: str
    done: Callable[[str], None] = lambda kind: None

    def __contains__(self, kind: str) -> bool:
        return kind in self.places

    def where(self, kind: str) -> str:
        return f"{self.prefix}{self.places[kind]}"

    def data(self, kind: str) -> bytes:
        if kind not in self.places:
            missing = f"{self.name}_{kind}.txt"
            raise GraphFormatError(f"{self.prefix}{missing}: missing; a TU data set needs it beside {self.name}_A.txt")
        self.done(kind)
        return self.load(self.places[kind])

    def names(self) -> dict[str, dict[int, str | int]]:
        """The names of labels by the readmes of the set; see `label_names`."""
        names: dict[str, dict[int, str | int]] = {}
        for kind in ("README", "label_readme"):
            if kind in self.places:
                names |= names_of_labels(self.data(kind)[:_LONGEST_README].decode("utf-8", "replace"))
        return names

    def numbers(self, kind: str, dtype: type[np.generic], width: int | None = 1) -> list[npt.NDArray[Any]]:
        data = self.data(kind)  # first, for its message
        return number_columns(data, self.where(kind), dtype, width)

    def lines(self, kind: str) -> list[str]:
        return decoded_lines(self.data(kind), self.where(kind))

    def expect(self, kind: str, found: int, expected: int, beside: str) -> None:
        if found != expected:
            raise GraphFormatError(
                f"{self.where(kind)}: {found} lines; expected {expected}, as many as {self.name}_{beside}.txt has"
            )


@contextmanager
def _opened(path: Path, name: str | None, progress: Progress | None) -> Iterator[_Files]:
    if path.is_dir():
        present = sorted(entry.name for entry in path.iterdir() if entry.is_file())
        files = _chosen(present, name, lambda file: (path / file).read_bytes(), f"{path}/")
        yield _followed(files, progress)
    elif path.exists():
        with Archive(path) as archive:
            yield _followed(_chosen(archive.names, name, archive.read, f"{path}/"), progress)
    else:
        raise GraphFormatError(f"{path}: no such file or folder; expected a TU data set as a folder or a .zip")


def _followed(files: _Files, progress: Progress | None) -> _Files:
    """The same files; `progress` is called when one is opened."""
    if progress is None:
        return files
    opened: set[str] = set()

    def done(kind: str) -> None:
        opened.add(kind)
        progress(len(opened), len(files.places))

    return replace(files, done=done)


def _chosen(present: Sequence[str], name: str | None, load: Callable[[str], bytes], prefix: str) -> _Files:
    stems = {
        str(PurePosixPath(file))[: -len("_A.txt")]
        for file in present
        if file.endswith("_A.txt") and not PurePosixPath(file).name.startswith("._")
    }
    if name is not None:
        stems = {stem for stem in stems if PurePosixPath(stem).name == name}
    if len(stems) != 1:
        found = "no " if not stems else f"{len(stems)} files "
        names = f" ({', '.join(sorted(stems)[:5])})" if stems else ""
        raise GraphFormatError(
            f"{prefix.rstrip('/')}: {found}{name or 'NAME'}_A.txt{names}; expected one TU data set"
            + ("" if not stems else ", choose one with name=...")
        )
    stem = stems.pop()
    readme = str(PurePosixPath(stem).parent / "README.txt")
    wanted = {kind: f"{stem}_{kind}.txt" for kind in _KINDS} | {"README": readme}
    places = {kind: file for kind, file in wanted.items() if file in set(present)}
    return _Files(PurePosixPath(stem).name, places, load, prefix)


def _targets(files: _Files, column: int | None) -> npt.NDArray[Any] | None:
    if "graph_label_names" in files:
        coded = _named(files, "graph", files.numbers("graph_labels", np.int64)[0])
        return np.array(coded.vocabulary, np.str_)[coded.codes] if len(coded.codes) else None
    if "graph_labels" in files:
        try:
            return files.numbers("graph_labels", np.int64)[0]
        except GraphFormatError:
            return files.numbers("graph_labels", np.float64)[0]
    if "graph_attributes" not in files:
        return None
    columns = files.numbers("graph_attributes", np.float64, width=None)
    if column is None and len(columns) > 1:
        raise GraphFormatError(
            f"{files.where('graph_attributes')}:1: {len(columns)} numbers per graph; choose one with target=0 "
            f"to {len(columns) - 1}"
        )
    if not 0 <= (column or 0) < len(columns):
        raise GraphFormatError(f"{files.where('graph_attributes')}:1: no column {column}, there are {len(columns)}")
    return columns[column or 0]


def _ids(files: _Files) -> list[str] | None:
    if "graph_names" not in files:
        return None
    names = files.lines("graph_names")
    return names if len(set(names)) == len(names) else None


def _sizes(
    files: _Files, graph_of: npt.NDArray[Any], targets: npt.NDArray[Any] | None, ids: list[str] | None
) -> npt.NDArray[np.int64]:
    """Nodes of each graph, once ids of graphs and the number of lines elsewhere are found to fit."""
    where = files.where("graph_indicator")
    count = len(targets) if targets is not None else len(ids) if ids is not None else None
    if targets is not None and ids is not None:
        beside = "graph_labels" if "graph_labels" in files else "graph_attributes"
        files.expect("graph_names", len(ids), len(targets), beside)
    limit = len(graph_of) if count is None else count
    beyond = (graph_of < 0) | (graph_of >= limit)
    if beyond.any():
        line = int(beyond.argmax()) + 1
        there = "graph ids begin at 1 and go up without a gap" if count is None else f"graph ids go from 1 to {count}"
        raise GraphFormatError(f"{where}:{line}: graph {graph_of[line - 1] + 1}, but {there}")
    sizes = np.bincount(graph_of, minlength=count or 0)
    if count is None and not sizes.all():
        raise GraphFormatError(
            f"{where}: no node of graph {int(sizes.argmin()) + 1} of {len(sizes)}; expected some of every graph, "
            f"or {files.name}_graph_labels.txt to count the graphs"
        )
    return sizes


def _labels(files: _Files, what: str, beside: str, expected: int, names: dict[int, str | int] | None) -> Coded | None:
    kind = f"{what}_labels"
    if kind not in files:
        return None
    columns = files.numbers(kind, np.int64, width=None)
    files.expect(kind, len(columns[0]), expected, beside)
    if f"{what}_label_names" in files:
        if len(columns) > 1:
            raise GraphFormatError(f"{files.where(kind)}:1: {len(columns)} labels; names need one")
        return _named(files, what, columns[0])
    if len(columns) == 1:
        labels = Coded(*encoded(columns[0], expected, files.where(kind)))
        if names and all(label in names for label in labels.vocabulary):
            labels = labels._replace(vocabulary=tuple(names[label] for label in labels.vocabulary))  # type: ignore[index]
        return labels
    distinct, codes = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return Coded(codes.reshape(-1), tuple(map(tuple, distinct.tolist())))


def _named(files: _Files, what: str, codes: npt.NDArray[Any]) -> Coded:
    names = files.lines(f"{what}_label_names")
    beyond = (codes < 0) | (codes >= len(names))
    if beyond.any():
        line = int(beyond.argmax()) + 1
        raise GraphFormatError(
            f"{files.where(f'{what}_labels')}:{line}: label {codes[line - 1]}, but "
            f"{files.name}_{what}_label_names.txt names labels 0 to {len(names) - 1}"
        )
    position = {name: i for i, name in enumerate(dict.fromkeys(names))}
    if len(position) < len(names):
        codes = np.array([position[name] for name in names])[codes]
    return Coded(codes, tuple(position))


def _attributes(files: _Files, nodes: int) -> npt.NDArray[np.float64] | None:
    if "node_attributes" not in files:
        return None
    attributes = np.stack(files.numbers("node_attributes", np.float64, width=None), axis=1)
    files.expect("node_attributes", len(attributes), nodes, "graph_indicator")
    return attributes


def _renumbered(edges: npt.NDArray[Any], order: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Edges between the new positions of their nodes; ids out of range stay so, for the check that follows."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    inside = (edges >= 0) & (edges < len(order))
    return np.where(inside, place[np.where(inside, edges, 0)], edges)


def _edge_error(files: _Files, row: int, edges: npt.NDArray[Any], graph_of: npt.NDArray[Any]) -> GraphFormatError:
    u, v = edges[row].tolist()
    nodes = len(graph_of)
    if 0 <= u < nodes and 0 <= v < nodes:
        wrong = f"which joins graph {graph_of[u] + 1} and graph {graph_of[v] + 1}; both ends must lie in one graph"
    else:
        wrong = f"but node ids go from 1 to {nodes}, one per line of {files.name}_graph_indicator.txt"
    return GraphFormatError(f"{files.where('A')}:{row + 1}: edge ({u + 1}, {v + 1}), {wrong}")


def _texts(graphs: GraphSet, where: str) -> Iterator[tuple[str, bytes]]:
    """Every file of the set: what it is called, and its bytes."""
    sizes = graphs.num_nodes
    starts = np.repeat(graphs.node_offsets[:-1], np.diff(graphs.indptr[graphs.node_offsets]))
    sources = np.repeat(np.arange(len(graphs.node_labels)), np.diff(graphs.indptr))
    yield "A", _lines([sources + 1, graphs.indices + starts + 1])
    yield "graph_indicator", _lines([np.repeat(np.arange(1, len(graphs) + 1), sizes)])
    positions = np.arange(len(graphs)).astype(np.str_)
    uncounted = graphs.targets is None and not sizes.all()  # empty graphs have no line in the indicator
    if uncounted or not np.array_equal(graphs.ids, positions):
        yield "graph_names", _joined(graphs.ids.tolist(), f"{where}: ids")
    if graphs.targets is not None:
        yield from _target_texts(graphs.targets, where)
    if graphs.node_vocabulary:
        yield from _label_texts("node", graphs.node_labels, graphs.node_vocabulary, where)
    if graphs.edge_labels is not None:
        yield from _label_texts("edge", graphs.edge_labels, graphs.edge_vocabulary, where)
    if graphs.node_attributes is not None:
        yield "node_attributes", _lines(list(graphs.node_attributes.T))


def _target_texts(targets: npt.NDArray[Any], where: str) -> Iterator[tuple[str, bytes]]:
    if targets.dtype.kind in "iub":
        yield "graph_labels", _lines([targets.astype(np.int64)])
    elif targets.dtype.kind == "f":
        yield "graph_attributes", _lines([targets.astype(np.float64)])
    elif targets.dtype.kind == "U":
        names, codes = np.unique(targets, return_inverse=True)
        yield "graph_labels", _lines([codes])
        yield "graph_label_names", _joined(names.tolist(), f"{where}: targets")
    else:
        raise GraphFormatError(f"{where}: targets of type {targets.dtype}; TU files hold numbers or text")


def _label_texts(
    what: str, codes: npt.NDArray[np.int32], vocabulary: Vocabulary, where: str
) -> Iterator[tuple[str, bytes]]:
    used = np.unique(codes)
    labels = [vocabulary[code] for code in used]
    rows = [label if isinstance(label, tuple) else (label,) for label in labels]
    widths = {len(label) if isinstance(label, tuple) else 0 for label in labels}
    if all(type(label) is str for label in vocabulary):
        yield f"{what}_labels", _lines([codes])
        yield f"{what}_label_names", _joined([str(label) for label in vocabulary], f"{where}: {what} labels")
    elif len(widths) < 2 and not widths & {1} and all(_is_whole(value) for row in rows for value in row):
        table = np.zeros((len(vocabulary), len(rows[0]) if rows else 1), np.int64)
        table[used] = np.array(rows, np.int64).reshape(len(used), table.shape[1])
        yield f"{what}_labels", _lines(list(table[codes].T))
    else:
        raise GraphFormatError(
            f"{where}: {what} labels such as {labels[0]!r} and {labels[-1]!r}; TU files hold whole numbers, text or "
            "tuples of whole numbers, all of one kind (.jsonl holds any)"
        )


def _is_whole(value: object) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _lines(columns: list[npt.NDArray[Any]]) -> bytes:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    table = pa.table({str(i): column for i, column in enumerate(columns)})
    csv.write_csv(table, sink, csv.WriteOptions(include_header=False, quoting_style="none"))
    return bytes(sink.getvalue())


def _joined(names: list[str], what: str) -> bytes:
    broken = next((name for name in names if "\n" in name or "\r" in name), None)
    if broken is not None:
        raise GraphFormatError(f"{what}: {broken!r} has a line break; TU files hold one name per line")
    text = "".join(f"{name}\n" for name in names)
    try:
        return text.encode("utf-8-sig" if text.startswith("\ufeff") else "utf-8")
    except UnicodeEncodeError as error:
        raise GraphFormatError(f"{what}: {text[error.start]!r} cannot be written as UTF-8") from error
