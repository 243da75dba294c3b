"""graph6 and sparse6, one line of printable characters per graph (https://users.cecs.anu.edu.au/~bdm/data/formats.txt)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.collector import Collector, Reading
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import check_losses, check_size, read_bytes, stem_of, suffix_of, write_bytes
from ugraphemb.graphs.graphset import Graph, GraphSet

_HEADERS = (b">>graph6<<", b">>sparse6<<")
_Bits = npt.NDArray[np.uint8]


@Reader
def read_graph6(path: str | Path, *, strict: bool = False, progress: Progress | None = None) -> Reading:
    """Graphs of a graph6 or sparse6 file, with its header or without; both kinds may stand in one file.

    Args:
        strict: Refuse loops and repeated edges (sparse6 may hold them) instead of dropping them with a warning.
        progress: Called with the number of lines done and of all.
    """
    data = read_bytes(path)
    collector = Collector(str(path))
    nodes = 0
    for number, line in enumerate(counted(data.split(b"\n"), progress), 1):
        text = line.removesuffix(b"\r")
        if number == 1:
            for header in _HEADERS:
                text = text.removeprefix(header)
        if not text:
            continue
        where = f"{path}:{number}"
        sparse = text.startswith(b":")
        if text[:1] in b"&;":
            raise GraphFormatError(f"{where}: digraph6 or incremental sparse6, expected graph6 or sparse6")
        sixes = np.frombuffer(text[sparse:], np.uint8) - np.uint8(63)
        if (sixes > 63).any():
            found = text[sparse:][int((sixes > 63).argmax())]
            raise GraphFormatError(f"{where}: byte {found:#04x}, expected characters from '?' to '~'")
        size, rest = _size(sixes, where)
        nodes += size
        check_size(nodes, len(data), where)
        edges = _sparse_edges(size, rest) if sparse else _dense_edges(size, rest, where)
        collector.add(size, edges, where=where)
    return collector.reading(strict=strict, name=stem_of(path))


def write_graph6(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """graph6, or sparse6 where the file's suffix is .s6 or .sparse6; no header.

    Everything but the edges is lost, with a GraphWarning; refused with `strict`.
    """
    check_losses(graphs, path, holds=(), strict=strict)
    sparse = suffix_of(path) in (".s6", ".sparse6")
    lines = [_sparse_line(graph) if sparse else _dense_line(graph) for graph in graphs]
    write_bytes(b"".join(line + b"\n" for line in lines), path)


def _bits(sixes: _Bits) -> _Bits:
    return np.unpackbits(sixes[:, None] << np.uint8(2), axis=1)[:, :6].ravel()


def _packed(bits: _Bits) -> bytes:
    sixes = np.packbits(bits.reshape(-1, 6), axis=1)[:, 0] >> np.uint8(2)
    return (sixes + np.uint8(63)).tobytes()


def _number(sixes: _Bits) -> int:
    return int.from_bytes(np.packbits(np.concatenate([np.zeros(-6 * len(sixes) % 8, np.uint8), _bits(sixes)])), "big")


def _size(sixes: _Bits, where: str) -> tuple[int, _Bits]:
    """The number of nodes, in one character, four or eight, and what follows."""
    marks = int(len(sixes) > 0 and sixes[0] == 63) + int(len(sixes) > 1 and sixes[0] == sixes[1] == 63)
    start, stop = ((0, 1), (1, 4), (2, 8))[marks]
    if len(sixes) < stop:
        raise GraphFormatError(f"{where}: {len(sixes)} characters, too few for the number of nodes")
    return _number(sixes[start:stop]), sixes[stop:]


def _size_characters(size: int) -> bytes:
    if size <= 62:
        return bytes([size + 63])
    long = size > 258047
    sixes = [63] * (1 + long) + [size >> shift & 63 for shift in (range(30, -1, -6) if long else (12, 6, 0))]
    return bytes(six + 63 for six in sixes)


def _dense_edges(size: int, sixes: _Bits, where: str) -> npt.NDArray[np.int64]:
    """The upper triangle, column by column."""
    needed = (size * (size - 1) // 2 + 5) // 6
    if len(sixes) != needed:
        raise GraphFormatError(f"{where}: {len(sixes)} characters of edges for {size} nodes, expected {needed}")
    ones = np.flatnonzero(_bits(sixes)[: size * (size - 1) // 2])
    starts = np.arange(size, dtype=np.int64) * (np.arange(size, dtype=np.int64) - 1) // 2
    v = np.searchsorted(starts, ones, side="right") - 1
    return np.stack([ones - starts[v], v], axis=1)


def _dense_line(graph: Graph) -> bytes:
    u, v = graph.edges.T
    count = graph.num_nodes * (graph.num_nodes - 1) // 2
    bits = np.zeros(count + -count % 6, np.uint8)
    bits[v * (v - 1) // 2 + u] = 1
    return _size_characters(graph.num_nodes) + _packed(bits)


def _width(size: int) -> int:
    return max(size - 1, 0).bit_length()


def _sparse_edges(size: int, sixes: _Bits) -> list[tuple[int, int]]:
    """Units of one bit, which moves on to the next node, and a node: a larger one moves on, another is an edge."""
    width = _width(size)
    bits = _bits(sixes)
    units = bits[: len(bits) // (width + 1) * (width + 1)].reshape(-1, width + 1)
    values = units[:, 1:] @ (1 << np.arange(width - 1, -1, -1, dtype=np.int64))
    edges = []
    v = 0
    for step, x in zip(units[:, 0].tolist(), values.tolist(), strict=True):
        v += step
        if v >= size or x >= size:
            break  # padding
        if x > v:
            v = x
        else:
            edges.append((x, v))
    return edges


def _sparse_line(graph: Graph) -> bytes:
    size, width = graph.num_nodes, _width(graph.num_nodes)
    units: list[tuple[int, int]] = []
    current = 0
    for v, u in sorted((v, u) for u, v in graph.edges.tolist()):
        if v == current:
            units.append((0, u))
        elif v == current + 1:
            units.append((1, u))
        else:
            units += [(1, v), (0, u)]
        current = v
    bits = list(_unit_bits(units, width))
    padding = -len(bits) % 6
    if width < 6 and size == 1 << width and padding > width and current < size - 1:
        bits.append(0)  # else the padding would read as a loop at the last node
        padding = -len(bits) % 6
    return b":" + _size_characters(size) + _packed(np.array(bits + [1] * padding, np.uint8))


def _unit_bits(units: Iterable[tuple[int, int]], width: int) -> Iterable[int]:
    for step, value in units:
        yield step
        yield from (value >> shift & 1 for shift in range(width - 1, -1, -1))
