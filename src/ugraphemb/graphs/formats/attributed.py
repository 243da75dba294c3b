"""Graphs whose nodes and edges carry values by name (GXL, GML, node-link JSON): labels, attributes, and the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.collector import MISSING, Collector, Reading
from ugraphemb.graphs.formats.reader import Progress, counted
from ugraphemb.graphs.formats.text import stem_of
from ugraphemb.graphs.limits import limits, refusal

NODE_LABELS = ("symbol", "chem", "label", "type")
EDGE_LABELS = ("label", "valence", "bond", "type")
Values = dict[str, Any]


@dataclass
class Item:
    """One graph as described in its file.

    Attributes:
        where: Its place, for messages.
        id: Its own id; empty if it has none.
        nodes: The values of each node.
        edges: Positions in `nodes`.
        edge_values: The values of each edge.
        directed: Whether its edges have directions, which are ignored.
        ignored: Other data that a GraphSet cannot hold, with counts.
    """

    path: Path
    where: str
    id: str = ""
    nodes: list[Values] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    edge_values: list[Values] = field(default_factory=list)
    target: Any = MISSING
    directed: bool = False
    ignored: dict[str, int] = field(default_factory=dict)
    _position: dict[Any, int] = field(default_factory=dict)

    def add_node(self, name: Any, values: Values, where: Callable[[], str]) -> None:
        if name is None or name in self._position:
            found = "a node without an id" if name is None else f"node id {name!r:.60} for a second time"
            raise GraphFormatError(f"{where()}: {found}; each node needs its own")
        self._position[name] = len(self.nodes)
        self.nodes.append(values)

    def add_edge(self, source: Any, target: Any, values: Values, where: Callable[[], str]) -> None:
        for end in (source, target):
            if end not in self._position:
                raise GraphFormatError(f"{where()}: an edge whose end is {end!r:.60}, which is no node's id")
        self.edges.append((self._position[source], self._position[target]))
        self.edge_values.append(values)


def reading_of(
    items: Sequence[Item],
    path: str | Path,
    *,
    node_label: str | None,
    edge_label: str | None,
    strict: bool,
    progress: Progress | None,
    node_labels: Sequence[str] = NODE_LABELS,
) -> Reading:
    """The graphs of all items.

    Args:
        node_label: Which value is the label; "" for none; None for the first of `node_labels` that occurs, else the
            only value that is not a floating-point number. Other numbers become node attributes, the rest is ignored.
        edge_label: The same for edges, with `EDGE_LABELS`; all other values are ignored and noted.
    """
    node_names, edge_names = _names(item.nodes for item in items), _names(item.edge_values for item in items)
    node_label = _chosen(node_label, node_names, node_labels, f"{path}: node_label")
    edge_label = _chosen(edge_label, edge_names, EDGE_LABELS, f"{path}: edge_label")
    columns = [name for name, kinds in node_names.items() if name != node_label and kinds <= {int, float}]
    check_table(sum(len(item.nodes) for item in items), columns, (n for item in items for n in item.nodes), str(path))
    collector = Collector(str(path))
    for name, count in Counter(name for item in items for values in item.nodes for name in values).items():
        if name != node_label and not node_names[name] <= {int, float}:
            collector.ignore(f"node attributes {name[:40]!r}", count)
    for name, count in Counter(name for item in items for values in item.edge_values for name in values).items():
        if name != edge_label:
            collector.ignore(f"edge attributes {name[:40]!r}", count)
    for item, name in zip(counted(items, progress), _ids(items), strict=True):
        collector.ignore("directions of edges", len(item.edges) if item.directed else 0)
        for what, count in item.ignored.items():
            collector.ignore(what, count)
        collector.add(
            len(item.nodes),
            item.edges,
            node_labels=[values.get(node_label) for values in item.nodes] if node_label else None,
            edge_labels=[values.get(edge_label) for values in item.edge_values] if edge_label else None,
            attributes=table_of(item.nodes, columns, item.where) if columns else None,
            target=item.target,
            id=name,
            where=item.where,
        )
    return collector.reading(strict=strict, name=stem_of(path))


def check_table(nodes: int, columns: Sequence[str], values: Iterable[Values], where: str) -> None:
    """Refuses a table of node attributes that is large and nearly empty: for example one name per node."""
    most = limits()
    if len(columns) > most.columns:
        raise refusal(where, f"{len(columns)} different attributes of nodes", "columns")
    cells = nodes * len(columns)
    if cells > most.cells and cells > most.cells + 16 * sum(map(len, values)):
        raise refusal(where, f"a table of {nodes} nodes and {len(columns)} attributes, most of them missing", "cells")


def table_of(rows: Sequence[Values], columns: Sequence[str], where: str) -> npt.NDArray[np.float64]:
    """The numbers of those names, one row for each node; nan where a node lacks one."""
    table = np.full((len(rows), len(columns)), np.nan)
    position = {name: i for i, name in enumerate(columns)}
    for row, values in zip(table, rows, strict=True):
        for name, value in values.items():
            if name in position:
                try:
                    row[position[name]] = value
                except OverflowError as error:
                    raise GraphFormatError(f"{where}: {name}={str(value)[:40]}..., too large for a float") from error
    return table


def _names(parts: Iterable[Iterable[Values]]) -> dict[str, set[type]]:
    """The names of all values, in order of appearance, with their types."""
    names: dict[str, set[type]] = {}
    for part in parts:
        for values in part:
            for name, value in values.items():
                names.setdefault(name, set()).add(type(value))
    return names


def _chosen(asked: str | None, names: dict[str, set[type]], usual: Sequence[str], where: str) -> str | None:
    if asked:
        if names and asked not in names:
            raise GraphFormatError(f"{where}={asked!r}, but there are {', '.join(map(repr, [*names][:20]))}")
        return asked if asked in names else None
    if asked == "":
        return None
    for name in usual:
        if name in names:
            return name
    fit = [name for name, kinds in names.items() if float not in kinds]
    return fit[0] if len(fit) == 1 else None


def _ids(items: Sequence[Item]) -> list[str]:
    """The graphs' own ids where they tell graphs apart, else the names of their files."""
    own = [item.id for item in items]
    if "" not in own and len(set(own)) == len(own):
        return own
    files = [stem_of(item.path) for item in items]
    return files if len(set(files)) == len(files) else [str(i) for i in range(len(items))]
