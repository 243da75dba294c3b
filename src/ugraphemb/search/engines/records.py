"""A graph as a record of bytes, so that any client of a database can verify an answer.

    version, flags             two bytes; flags: 1 edges have labels, 2 nodes have attributes
    nodes, edges, width, words four uint32: counts, attributes of a node, bytes of the next entry
    labels                     JSON: the labels of the nodes, and of the edges, that occur
    node codes                 positions in these labels, one for each node
    ends                       the two nodes of each edge, the lower one first
    edge codes                 likewise, if edges have labels
    attributes                 float64, if nodes have them
    checksum                   uint64, of all the above

Codes and ends take one, two or four bytes each, as few as the largest needs. A molecule takes about 150 bytes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from ugraphemb.errors import IndexFormatError
from ugraphemb.files import label_from_json, label_to_json, parsed_json
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.packing import Coded, label_key

_VERSION = 1
_HEADER = struct.Struct("<BBIIII")
_EDGE_LABELS, _ATTRIBUTES = 1, 2

Array = npt.NDArray[Any]


def to_records(graphs: GraphSet) -> list[bytes]:
    """One record for each graph."""
    node_codes, nodes = _in_order(graphs.node_labels, graphs.node_vocabulary)
    all_edge_codes, edges = _in_order(graphs.edge_labels, graphs.edge_vocabulary)
    source = np.repeat(np.arange(len(graphs.node_labels)), np.diff(graphs.indptr))
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    local = (source - graphs.node_offsets[graph_of[source]]) if len(source) else source
    once = np.flatnonzero(local < graphs.indices)
    bounds = np.searchsorted(once, graphs.indptr[graphs.node_offsets])
    ends = np.stack([local[once], graphs.indices[once]], axis=1)
    labels = None if all_edge_codes is None else all_edge_codes[once]
    found = []
    for i in range(len(graphs)):
        begin, end = int(graphs.node_offsets[i]), int(graphs.node_offsets[i + 1])
        first, last = int(bounds[i]), int(bounds[i + 1])
        codes, words = _used(node_codes[begin:end], nodes)
        edge_codes, edge_words = _used(labels[first:last], edges) if labels is not None else (None, "[]")
        attributes = None if graphs.node_attributes is None else graphs.node_attributes[begin:end]
        found.append(_record(codes, ends[first:last], edge_codes, attributes, f"[{words},{edge_words}]".encode()))
    return found


def _in_order(codes: Array | None, vocabulary: Sequence[Any]) -> tuple[Any, list[str]]:
    """Codes in a vocabulary of sorted JSON texts: equal graphs have equal records, whatever was read before them."""
    words = [json.dumps(label_to_json(word, "an index", IndexFormatError)) for word in vocabulary]
    order = sorted(range(len(words)), key=words.__getitem__)
    if codes is None or not words:
        return codes, words
    return np.argsort(order)[codes], [words[i] for i in order]


def _used(codes: Array, words: Sequence[str]) -> tuple[Array, str]:
    """Codes among those that occur, and these words as JSON."""
    if not words:
        return codes, "[]"
    used, own = np.unique(codes, return_inverse=True)
    return own, f"[{','.join([words[code] for code in used.tolist()])}]"


def _record(codes: Array, ends: Array, edge_codes: Array | None, attributes: Array | None, words: bytes) -> bytes:
    flags = (_EDGE_LABELS if edge_codes is not None else 0) | (_ATTRIBUTES if attributes is not None else 0)
    width = 0 if attributes is None else attributes.shape[1]
    parts = [_HEADER.pack(_VERSION, flags, len(codes), len(ends), width, len(words)), words]
    parts += [_narrow(codes), _narrow(ends, len(codes))]
    if edge_codes is not None:
        parts.append(_narrow(edge_codes))
    if attributes is not None:
        parts.append(np.ascontiguousarray(attributes, "<f8").tobytes())
    body = b"".join(parts)
    return body + xxhash.xxh64_digest(body)


def _size(limit: int) -> int:
    return 1 if limit <= 1 << 8 else 2 if limit <= 1 << 16 else 4


def _narrow(values: Array, limit: int | None = None) -> bytes:
    size = _size(int(values.max(initial=0)) + 1 if limit is None else limit)
    data = values.astype(f"<u{size}").tobytes()
    return data if limit is not None else bytes([size]) + data


def from_records(records: Sequence[bytes], ids: Sequence[str], source: str) -> GraphSet:
    """The graphs of records, with these ids.

    Raises:
        IndexFormatError: A record that is damaged, foreign or of an unknown version.
    """
    try:
        read = [_Reader(record).graph() for record in records]
    except (ValueError, TypeError, KeyError, struct.error, IndexFormatError) as error:
        bad = next(name for name, record in zip(ids, records, strict=True) if not _readable(record))
        raise IndexFormatError(f"{source}: graph {bad!r} is damaged ({error})") from error
    sizes = np.array([len(graph[1]) for graph in read], np.int64)
    starts = np.cumsum(sizes) - sizes
    has_labels = any(graph[3] is not None for graph in read)
    widths = {graph[4].shape[1] for graph in read if graph[4] is not None}
    if len(widths) > 1 or (widths and any(graph[4] is None for graph in read)):
        raise IndexFormatError(f"{source}: graphs with different numbers of node attributes")
    ends = np.concatenate([graph[2] + start for graph, start in zip(read, starts, strict=True)] or [np.empty((0, 2))])
    try:
        return GraphSet.from_edges(
            sizes.tolist(),
            ends.astype(np.int64),
            node_labels=_joined([(graph[0][0], graph[1]) for graph in read], source),
            edge_labels=_edge_labels(read, source) if has_labels else None,
            node_attributes=np.concatenate([graph[4] for graph in read]) if widths else None,
            ids=list(ids),
            strict=True,
            source=source,
        )
    except ValueError as error:
        raise IndexFormatError(f"{source}: not a graph ({error})") from error


def _edge_labels(read: Sequence[Any], source: str) -> Coded:
    codes = [np.zeros(len(graph[2]), np.int32) if graph[3] is None else graph[3] for graph in read]
    joined = _joined([(graph[0][1], own) for graph, own in zip(read, codes, strict=True)], source)
    return Coded(np.concatenate(codes).astype(np.int32), ()) if joined is None else joined


def _readable(record: bytes) -> bool:
    try:
        _Reader(record).graph()
    except (ValueError, TypeError, KeyError, struct.error, IndexFormatError):
        return False
    return True


def _joined(pieces: Sequence[tuple[list[Any], Array]], source: str) -> Coded | None:
    """Codes of all pieces in one vocabulary; where only some have labels, the others get the label None."""
    if not any(labels for labels, _ in pieces):
        return None
    code: dict[Any, int] = {}
    words: list[Any] = []
    seen: dict[str, Array] = {}
    found = []
    for labels, codes in pieces:
        key = repr(labels)
        if key not in seen and len(codes):
            own = [label_from_json(label, source, IndexFormatError) for label in labels or [None]]
            for word in own:
                if code.setdefault(label_key(word), len(words)) == len(words):
                    words.append(word)
            seen[key] = np.array([code[label_key(word)] for word in own], np.int32)
        found.append(seen[key][codes] if len(codes) else np.empty(0, np.int32))
    return Coded(np.concatenate(found), tuple(words))


class _Reader:
    def __init__(self, record: bytes) -> None:
        if len(record) < _HEADER.size + 8 or xxhash.xxh64_digest(record[:-8]) != record[-8:]:
            raise ValueError("another checksum")
        self.data, self.at = record[:-8], _HEADER.size
        version, self.flags, self.nodes, self.edges, self.width, self.words = _HEADER.unpack_from(record)
        if version != _VERSION:
            raise ValueError(f"version {version}; this ugraphemb reads {_VERSION}")

    def graph(self) -> tuple[list[list[Any]], Array, Array, Array | None, Array | None]:
        """Labels, node codes, ends, edge codes, attributes."""
        labels = parsed_json(self._bytes(self.words), "labels", IndexFormatError)
        codes = self._codes(self.nodes)
        size = _size(self.nodes)
        ends = np.frombuffer(self._bytes(2 * size * self.edges), f"<u{size}").reshape(-1, 2).astype(np.int64)
        edge_codes = self._codes(self.edges) if self.flags & _EDGE_LABELS else None
        attributes = None
        if self.flags & _ATTRIBUTES:
            attributes = np.frombuffer(self._bytes(8 * self.nodes * self.width), "<f8").reshape(self.nodes, self.width)
        if self.at != len(self.data):
            raise ValueError("bytes that belong to nothing")
        for own, used in ((labels[0], codes), (labels[1], edge_codes)):
            if used is not None and len(used) and own and used.max() >= len(own):
                raise ValueError("a code without a label")
        return labels, codes, ends, edge_codes, attributes

    def _codes(self, count: int) -> Array:
        size = self._bytes(1)[0]
        return np.frombuffer(self._bytes(size * count), f"<u{size}")

    def _bytes(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise ValueError("cut short")
        self.at += count
        return self.data[self.at - count : self.at]
