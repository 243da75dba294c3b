"""Edge lists: one edge per line, `u v [label]`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ugraphemb.errors import GraphFormatError
from ugraphemb.files.labels import label_from_json
from ugraphemb.graphs.collector import Collector, Reading
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import check_losses, plain, read_lines, stem_of, write_text
from ugraphemb.graphs.graphset import Graph, GraphSet

_MARK = "# graph "
_SEPARATOR = re.compile(r"\s*,\s*|\s+")


class _Block:
    """The lines of one graph: nodes are numbered as they appear."""

    def __init__(self, id: str | None, where: str) -> None:
        self.id = id
        self.where = where
        self.position: dict[str, int] = {}
        self.edges: list[tuple[int, int]] = []
        self.labels: list[Any] = []
        self.labeled = False

    def add(self, line: str) -> None:
        first, *rest = _SEPARATOR.split(line.strip(), maxsplit=2)
        u = self.position.setdefault(first, len(self.position))
        if not rest:
            return
        self.edges.append((u, self.position.setdefault(rest[0], len(self.position))))
        self.labeled |= len(rest) == 2
        self.labels.append(_value(rest[1]) if len(rest) == 2 else None)


@Reader
def read_edgelist(
    path: str | Path, *, strict: bool = False, progress: Progress | None = None, node_names: bool = False
) -> Reading:
    """Graphs of an edge list.

    A line is `u v` or `u v label`, with spaces, tabs or commas between, or `u` alone for a node without edges. Nodes
    have any names without spaces and commas, and are numbered as they appear. Graphs are separated by blank lines, or
    begin at lines `# graph ID`; other lines that begin with # are comments. A label that is JSON (a number,
    "text", true, null, an array) is read as such, any other as text.

    Args:
        strict: Refuse loops and repeated edges instead of dropping them with one GraphWarning.
        progress: Called with the number of lines done and of all.
        node_names: Keep the nodes' names, as node labels; they are dropped otherwise.
    """
    lines = read_lines(path)
    marked = any(line.startswith(_MARK) for line in lines)
    blocks: list[_Block] = []
    current: _Block | None = None
    for number, line in enumerate(counted(lines, progress), 1):
        where = f"{path}:{number}"
        if line.startswith(_MARK):
            current = _Block(_text(line.removeprefix(_MARK).strip(" \t")), where)
            blocks.append(current)
        elif not line.strip():
            current = current if marked else None
        elif not line.startswith("#"):
            if current is None:
                if marked:
                    raise GraphFormatError(f"{where}: an edge before the first line '{_MARK}ID'")
                current = _Block(None, where)
                blocks.append(current)
            current.add(line)
    collector = Collector(str(path))
    labeled = any(block.labeled for block in blocks)
    for block in blocks:
        collector.add(
            len(block.position),
            block.edges,
            node_labels=list(block.position) if node_names else None,
            edge_labels=block.labels if labeled else None,
            id=block.id,
            where=block.where,
        )
    return collector.reading(strict=strict, name=stem_of(path))


def write_edgelist(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """An edge list that `read_edgelist` reads as the same graphs, in the same order of nodes.

    Node labels, node attributes and targets are lost, with a GraphWarning; refused with `strict`.
    """
    check_losses(graphs, path, holds=("ids", "edge labels"), strict=strict)
    write_text("".join(f"{line}\n" for graph in graphs for line in _lines(graph)), path)


def _lines(graph: Graph) -> list[str]:
    lines = [_MARK + _said(graph.id)]
    seen = 0  # a node that would appear out of order is written alone first
    labels = graph.edge_labels or [None] * graph.num_edges
    for (u, v), value in zip(graph.edges.tolist(), labels, strict=True):
        lines += map(str, range(seen, u if v == u + 1 else v))
        seen = max(seen, v + 1)
        lines.append(f"{u} {v}" if graph.edge_labels is None else f"{u} {v} {_said(plain(value))}")
    return lines + [str(node) for node in range(seen, graph.num_nodes)]


def _value(text: str) -> Any:
    """The parsed value if the text is JSON, otherwise the text itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    try:
        return label_from_json(value, text, GraphFormatError)
    except GraphFormatError:
        return text


def _text(text: str) -> str:
    value = _value(text) if text.startswith('"') else text
    return value if isinstance(value, str) else text


def _said(value: Any) -> str:
    """Text as it is if it is unambiguous, JSON otherwise."""
    if isinstance(value, str) and value and value == value.strip() and value[0] != "," and "\n" not in value:
        return value if _value(value) == value and not value.startswith('"') else json.dumps(value)
    return json.dumps(value)
