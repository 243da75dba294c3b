"""gSpan text: `t # ID` begins a graph, `v NODE LABEL` and `e NODE NODE LABEL` are its nodes and edges."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.collector import Collector, Reading
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import check_losses, decoded_lines, read_bytes, stem_of, write_text
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import Coded, Vocabulary

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,99}")
_END = "-1"  # many files end with `t # -1`


@Reader
def read_gspan(path: str | Path, *, strict: bool = False, progress: Progress | None = None) -> Reading:
    """Graphs of a gSpan file; gzipped where the name ends in .gz.

    Node labels are whole numbers if all of them are, else text; likewise edge labels. Nodes of a graph are usually
    0, 1, 2, ...; other names are numbered as they appear. Labels may be missing. Lines that begin with # are comments.

    Args:
        strict: Refuse loops, repeated edges and repeated ids instead of dropping them with one GraphWarning.
        progress: Called with the number of lines done and of all.
    """
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    reading = _at_once(data, path, strict)
    if reading is None:
        return _line_by_line(data, path, strict, progress)
    if progress is not None:
        lines = data.count(b"\n")
        progress(lines, lines)
    return reading


def write_gspan(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """gSpan text; gzipped where the name ends in .gz. Labels are whole numbers, or text without spaces.

    Node attributes and targets are lost, with a GraphWarning; refused with `strict`. Labels that the format cannot
    hold are refused, strict or not.
    """
    ids = graphs.ids.tolist()
    for name in ids:
        if name == _END or name.split() != [name]:
            raise GraphFormatError(f"{path}: the id {name!r}, expected one without spaces, and not {_END}")
    node_names = _written(graphs.node_labels, graphs.node_vocabulary, f"{path}: node labels")
    edge_names = _written(graphs.edge_labels, graphs.edge_vocabulary, f"{path}: edge labels")
    check_losses(graphs, path, holds=("ids", "node labels", "edge labels"), strict=strict)
    lines = []
    for graph in graphs:
        lines.append(f"t # {ids[graph.position]}")
        lines += [f"v {node}{name}" for node, name in enumerate(map(node_names.__getitem__, graph.node_labels))]
        labels = graph.edge_labels or [None] * graph.num_edges
        lines += [
            f"e {u} {v}{name}"
            for (u, v), name in zip(graph.edges.tolist(), map(edge_names.__getitem__, labels), strict=True)
        ]
    write_text("".join(f"{line}\n" for line in lines), path)


class _Columns(NamedTuple):
    """The fields of all lines of one kind."""

    rows: npt.NDArray[np.int64]  # positions of the lines in the file
    numbers: list[npt.NDArray[np.int64]]
    text: Coded | None  # the last field


def _at_once(data: bytes, path: str | Path, strict: bool) -> Reading | None:
    """The whole file in array operations if every line is as gSpan writes it; None if any line is not."""
    characters = np.frombuffer(data if data.endswith(b"\n") else data + b"\n", np.uint8)
    stops = np.flatnonzero(characters == ord("\n")) + 1
    lengths = np.diff(stops, prepend=0)
    kinds = characters[stops - lengths]
    if kinds[0] != ord("t") or not np.isin(kinds, np.frombuffer(b"tve", np.uint8)).all():
        return None
    try:
        titles, nodes, edges = (_columns(characters, kinds, lengths, kind) for kind in "tve")
    except ValueError:  # which Arrow's own are
        return None
    assert titles.text is not None
    ids = [str(titles.text.vocabulary[code]) for code in titles.text.codes.tolist()]
    if ids[-1] == _END and titles.rows[-1] == len(kinds) - 1:
        ids.pop()
    graph_of_node = np.searchsorted(titles.rows, nodes.rows) - 1
    graph_of_edge = np.searchsorted(titles.rows, edges.rows) - 1
    sizes = np.bincount(graph_of_node, minlength=len(ids))
    starts = np.cumsum(sizes) - sizes
    ends = np.stack(edges.numbers, axis=1)
    if (
        _END in ids
        or len(set(ids)) < len(ids)
        or not np.array_equal(nodes.numbers[0], np.arange(len(nodes.rows)) - starts[graph_of_node])
        or (ends < 0).any()
        or (ends >= sizes[graph_of_edge][:, None]).any()
    ):
        return None
    notes: list[str] = []
    graphs = GraphSet.from_edges(
        sizes,
        ends + starts[graph_of_edge][:, None],
        node_labels=_typed(nodes.text),
        edge_labels=_typed(edges.text),
        ids=ids,
        name=stem_of(path),
        strict=strict,
        source=str(path),
        notes=notes,
    )
    return Reading(graphs, [f"{path}: {note}" for note in notes])


def _columns(
    characters: npt.NDArray[np.uint8], kinds: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64], kind: str
) -> _Columns:
    """The lines that begin with `kind`. Raises a ValueError where they are not all alike."""
    import pyarrow as pa
    from pyarrow import csv

    wanted = kinds == ord(kind)
    rows = np.flatnonzero(wanted)
    numbers = {"t": [], "v": ["node"], "e": ["from", "to"]}[kind]
    if not len(rows):
        return _Columns(rows, [np.empty(0, np.int64) for _ in numbers], None)
    text = characters[np.repeat(wanted, lengths)].tobytes()
    names = ["kind", *numbers] if kind != "t" else ["kind", "mark"]
    fields = text[: lengths[rows[0]]].count(b" ") + 1
    if fields == len(names) + 1:
        names.append("text")
    elif fields != len(names) or kind == "t":
        raise ValueError("too many fields, or too few")
    words = pa.dictionary(pa.int32(), pa.string())
    table = csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(column_names=names, use_threads=False),
        parse_options=csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types={name: pa.int64() if name in numbers else words for name in names}, null_values=[]
        ),
    )
    coded = {name: _from_arrow(table.column(name)) for name in names if name not in numbers}
    if len(table) != len(rows) or coded.pop("kind").vocabulary != (kind,):
        raise ValueError("lines that end or begin otherwise")
    if kind == "t" and coded.pop("mark").vocabulary != ("#",):
        raise ValueError("no # after t")
    return _Columns(rows, [table.column(name).to_numpy() for name in numbers], coded.get("text"))


def _from_arrow(column: Any) -> Coded:
    array = column.unify_dictionaries().combine_chunks()
    vocabulary = tuple(array.dictionary.to_pylist())
    if any(word.split() != [word] for word in vocabulary):
        raise ValueError("other spaces")
    return Coded(array.indices.to_numpy(zero_copy_only=False), vocabulary)


def _typed(labels: Coded | None) -> Coded | None:
    """Whole numbers if all labels are, else the text; sorted."""
    if labels is None:
        return None
    types = _types(str(word) for word in labels.vocabulary)
    typed: list[Any] = [types[str(word)] for word in labels.vocabulary]
    order = sorted(range(len(typed)), key=typed.__getitem__)
    position = np.empty(len(order), np.int32)
    position[order] = np.arange(len(order))
    return Coded(position[labels.codes], tuple(typed[i] for i in order))


class _Graph:
    """The lines of one graph."""

    def __init__(self, id: str, where: str) -> None:
        self.id = id
        self.where = where
        self.position: dict[str, int] = {}
        self.labels: list[str | None] = []
        self.edges: list[tuple[int, int]] = []
        self.edge_labels: list[str | None] = []

    def add(self, kind: str, fields: list[str], where: str) -> None:
        numbers = 1 if kind == "v" else 2
        if kind not in ("v", "e") or not numbers <= len(fields) <= numbers + 1:
            right = "'t # ID', 'v NODE LABEL' or 'e NODE NODE LABEL'"
            raise GraphFormatError(f"{where}: {' '.join([kind, *fields])[:60]!r}, expected {right}")
        label = fields[numbers] if len(fields) > numbers else None
        if kind == "v":
            if fields[0] in self.position:
                raise GraphFormatError(f"{where}: node {fields[0]!r} for a second time in graph {self.id!r}")
            self.position[fields[0]] = len(self.position)
            self.labels.append(label)
            return
        for name in fields[:2]:
            if name not in self.position:
                raise GraphFormatError(f"{where}: an edge of node {name!r}, which has no line 'v {name} LABEL' before")
        self.edges.append((self.position[fields[0]], self.position[fields[1]]))
        self.edge_labels.append(label)


def _line_by_line(data: bytes, path: str | Path, strict: bool, progress: Progress | None = None) -> Reading:
    """The same for files with other spaces, comments, names of nodes or missing labels; says which line is wrong."""
    graphs: list[_Graph] = []
    ended = False
    for number, line in enumerate(counted(decoded_lines(data, path), progress), 1):
        where = f"{path}:{number}"
        kind, *fields = line.split() or ["#"]
        if kind.startswith("#"):
            continue
        if ended:
            raise GraphFormatError(f"{where}: a line after 't # {_END}', which ends the file")
        if kind != "t":
            if not graphs:
                raise GraphFormatError(f"{where}: {line[:60]!r} before the first line 't # ID'")
            graphs[-1].add(kind, fields, where)
        elif len(fields) < 2 or fields[0] != "#":
            raise GraphFormatError(f"{where}: {line[:60]!r}, expected 't # ID'")
        elif fields[1] == _END:
            ended = True
        else:
            graphs.append(_Graph(fields[1], where))  # what follows is the support that miners write
    node_types = _types(label for graph in graphs for label in graph.labels)
    edge_types = _types(label for graph in graphs for label in graph.edge_labels)
    collector = Collector(str(path))
    for graph in graphs:
        collector.add(
            len(graph.labels),
            graph.edges,
            node_labels=[node_types[label] for label in graph.labels] if node_types.keys() - {None} else None,
            edge_labels=[edge_types[label] for label in graph.edge_labels] if edge_types.keys() - {None} else None,
            id=graph.id,
            where=graph.where,
        )
    collector.tell_ids_apart()
    return collector.reading(strict=strict, name=stem_of(path))


def _types(labels: Iterable[str | None]) -> dict[str | None, Hashable]:
    distinct = set(labels)
    whole = all(_WHOLE.fullmatch(label) for label in distinct if label is not None)
    return {label: int(label) if whole and label is not None else label for label in distinct}


def _written(codes: npt.NDArray[np.int32] | None, vocabulary: Vocabulary, where: str) -> dict[Hashable, str]:
    """The text of each label in the file."""
    if codes is None or not vocabulary:
        return {None: ""}
    used = [vocabulary[code] for code in np.unique(codes)]
    if all(type(label) is int for label in used):
        return {label: f" {label}" for label in used}
    if all(isinstance(label, str) and label.split() == [label] for label in used):
        words = [str(label) for label in used]
        if not words or not all(map(_WHOLE.fullmatch, words)):
            return {label: f" {label}" for label in words}
    raise GraphFormatError(
        f"{where}: such as {used[0]!r} and {used[-1]!r}; gSpan text holds whole numbers, or words that are not all "
        "whole numbers (.jsonl holds any)"
    )
