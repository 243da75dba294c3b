"""JSON Lines: one graph per line, with everything that a GraphSet stores. The schema is in docs/formats.md."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.files.labels import label_from_json
from ugraphemb.graphs.collector import MISSING, Collector, Reading
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import (
    Excerpt,
    check_size,
    parsed_json,
    plain,
    read_bytes,
    stem_of,
    write_text,
)
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import Vocabulary, label_key

_VERSION = 1
_FIELDS = {"id", "num_nodes", "edges", "node_labels", "edge_labels", "node_attributes", "target", "metadata"}


@Reader
def read_jsonl(
    path: str | Path, *, strict: bool = False, progress: Progress | None = None, excerpt: Excerpt | None = None
) -> Reading:
    """Graphs of a JSON Lines file.

    Args:
        strict: Refuse self loops, repeated edges and unknown fields instead of dropping them with one GraphWarning.
        progress: Called with the number of lines done and of all.
        excerpt: Lines of the file, if they were read already; the file is not opened then.
    """
    excerpt = excerpt or Excerpt(read_bytes(path))
    collector = Collector(str(path))
    header: dict[str, Any] = {}
    nodes = 0
    for number, line in enumerate(counted(excerpt.lines(path), progress), excerpt.first):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        record = parsed_json(line, where)
        if not isinstance(record, dict):
            raise GraphFormatError(f"{where}: {_kind(record)}, expected an object with id, num_nodes and edges")
        if "ugraphemb" in record:
            if header or len(collector):
                raise GraphFormatError(f"{where}: a header; only the first line may be one")
            header = _checked_header(record, where)
            continue
        nodes += _whole_number(record, "num_nodes", where)
        check_size(nodes, len(excerpt.data), where)
        _add(collector, record, where)
    name = header.get("name", stem_of(path))
    graphs, notes = collector.reading(strict=strict, name=name)
    return Reading(_with_header(graphs, header, str(path)), notes)


def write_jsonl(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """Writes one graph per line, after a header. Nothing is lost."""
    header: dict[str, Any] = {"ugraphemb": "graphs", "version": _VERSION, "name": graphs.name}
    if graphs.node_vocabulary:
        header["node_vocabulary"] = [plain(value) for value in graphs.node_vocabulary]
    if graphs.edge_labels is not None:
        header["edge_vocabulary"] = [plain(value) for value in graphs.edge_vocabulary]
    if graphs.node_attributes is not None:
        header["node_attributes"] = graphs.node_attributes.shape[1]
    if graphs.targets is not None:
        header["targets"] = True
    lines = [json.dumps(header, ensure_ascii=False)]
    for graph in graphs:
        record: dict[str, Any] = {"id": graph.id, "num_nodes": graph.num_nodes, "edges": graph.edges.tolist()}
        if graphs.node_vocabulary:
            record["node_labels"] = [plain(value) for value in graph.node_labels]
        if graph.edge_labels is not None:
            record["edge_labels"] = [plain(value) for value in graph.edge_labels]
        if graph.node_attributes is not None:
            record["node_attributes"] = graph.node_attributes.tolist()
        if graphs.targets is not None:
            record["target"] = plain(graphs.targets[graph.position])
        if graphs.metadata:
            record["metadata"] = {name: plain(value) for name, value in graph.metadata.items()}
        lines.append(json.dumps(record, ensure_ascii=False))
    write_text("\n".join(lines) + "\n", path)


def _add(collector: Collector, record: dict[str, Any], where: str) -> None:
    for field in record.keys() - _FIELDS:
        collector.ignore(f"fields {field!r}")
    if "id" not in record:
        raise GraphFormatError(f"{where}: no id; expected id, num_nodes and edges")
    if not isinstance(record["id"], str | int) or isinstance(record["id"], bool):
        raise GraphFormatError(f"{where}: id is {_kind(record['id'])}, expected text or a whole number")
    edges = _array(record, "edges", where)
    if any(not isinstance(edge, list) or len(edge) != 2 or {*map(type, edge)} != {int} for edge in edges):
        raise GraphFormatError(f"{where}: edges must be pairs of node ids: [[0, 1], [1, 2]]")
    attributes = _array(record, "node_attributes", where) if "node_attributes" in record else None
    if attributes is not None and any(
        not isinstance(row, list) or any(type(value) not in (int, float) for value in row) for row in attributes
    ):
        raise GraphFormatError(f"{where}: node_attributes must be a row of numbers for each node")
    target = record.get("target", MISSING)
    if isinstance(target, list | dict):
        raise GraphFormatError(f"{where}: target is {_kind(target)}, expected text, a number, true, false or null")
    metadata = record.get("metadata", {})
    if not isinstance(metadata, dict) or any(isinstance(value, list | dict) for value in metadata.values()):
        raise GraphFormatError(f"{where}: metadata must be an object of text, numbers, true, false and null")
    collector.add(
        record["num_nodes"],
        edges,
        node_labels=_labels(record, "node_labels", where),
        edge_labels=_labels(record, "edge_labels", where),
        attributes=attributes,
        target=target,
        id=str(record["id"]),
        where=where,
        metadata=metadata,
    )


def _labels(record: dict[str, Any], field: str, where: str) -> list[Any] | None:
    if field not in record:
        return None
    return [label_from_json(value, f"{where}: {field}", GraphFormatError) for value in _array(record, field, where)]


def _array(record: dict[str, Any], field: str, where: str) -> list[Any]:
    value = record.get(field)
    if not isinstance(value, list):
        found = f"{field} is {_kind(value)}" if field in record else f"no {field}"
        raise GraphFormatError(f"{where}: {found}, expected an array")
    return value


def _whole_number(record: dict[str, Any], field: str, where: str) -> int:
    value = record.get(field)
    if type(value) is not int or value < 0:
        found = f"{field} is {value if type(value) is int else _kind(value)}" if field in record else f"no {field}"
        raise GraphFormatError(f"{where}: {found}, expected a whole number, 0 or more")
    return value


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    names = {dict: "an object", list: "an array", str: "text", int: "a whole number", float: "a fraction"}
    return names[type(value)]


def _checked_header(record: dict[str, Any], where: str) -> dict[str, Any]:
    if record["ugraphemb"] != "graphs":
        raise GraphFormatError(f'{where}: a header of {record["ugraphemb"]!r}, expected "ugraphemb": "graphs"')
    if record.get("version") != _VERSION:
        raise GraphFormatError(f"{where}: version {record.get('version')!r}, expected {_VERSION}")
    if not isinstance(record.get("name", ""), str):
        raise GraphFormatError(f"{where}: name is {_kind(record['name'])}, expected text")
    if "node_attributes" in record:
        check_size(_whole_number(record, "node_attributes", where), 0, where)
    header: dict[str, Any] = {
        field: record[field] for field in ("name", "node_attributes", "targets") if field in record
    }
    for field in ("node_vocabulary", "edge_vocabulary"):
        if field in record:
            header[field] = tuple(_labels(record, field, where) or ())
    return header


def _with_header(graphs: GraphSet, header: dict[str, Any], source: str) -> GraphSet:
    """What lines do not represent: the order of the vocabularies, and labels of collections without nodes or edges."""
    changes: dict[str, Any] = {}
    if header.get("node_vocabulary"):
        changes["node_labels"], changes["node_vocabulary"] = _recoded(
            graphs.node_labels, graphs.node_vocabulary, header["node_vocabulary"], source
        )
    if "edge_vocabulary" in header:
        codes = np.zeros(len(graphs.indices), np.int32) if graphs.edge_labels is None else graphs.edge_labels
        changes["edge_labels"], changes["edge_vocabulary"] = _recoded(
            codes, graphs.edge_vocabulary, header["edge_vocabulary"], source
        )
    if "node_attributes" in header and not len(graphs.node_labels):
        changes["node_attributes"] = np.empty((0, header["node_attributes"]))
    if header.get("targets") and not len(graphs):
        changes["targets"] = np.empty(0)
    return dataclasses.replace(graphs, **changes) if changes else graphs


def _recoded(
    codes: npt.NDArray[np.int32], vocabulary: Vocabulary, wanted: Vocabulary, source: str
) -> tuple[npt.NDArray[np.int32], Vocabulary]:
    """Codes in the wanted vocabulary; entries of `vocabulary` that are missing there come last."""
    if not vocabulary and len(codes):
        raise GraphFormatError(f"{source}:1: the header has a vocabulary, but the graphs carry no labels")
    labels = {label_key(value): value for value in wanted}
    if len(labels) < len(wanted):
        raise GraphFormatError(f"{source}:1: the header's vocabulary has a label twice")
    for value in vocabulary:
        labels.setdefault(label_key(value), value)
    position = {key: i for i, key in enumerate(labels)}
    table = np.array([position[label_key(value)] for value in vocabulary] or [0], np.int32)
    return table[codes], tuple(labels.values())
