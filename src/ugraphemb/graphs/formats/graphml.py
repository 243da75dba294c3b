"""GraphML, one or more graphs per file."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.collector import MISSING, Collector, Reading
from ugraphemb.graphs.formats.attributed import check_table, table_of
from ugraphemb.graphs.formats.markup import Element, numeric, parsed, quoted, text_of
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import check_losses, plain, stem_of, write_text
from ugraphemb.graphs.graphset import Graph, GraphSet
from ugraphemb.graphs.limits import limits, refusal

_KINDS: dict[str, type] = {
    "boolean": bool, "int": int, "integer": int, "long": int, "float": float, "double": float, "string": str,
}  # fmt: skip
_TYPES = {bool: "boolean", int: "long", float: "double", str: "string"}


@dataclass(frozen=True)
class _Key:
    """The declaration of the data of one id."""

    name: str
    scope: str
    kind: type
    default: Any


@Reader
def read_graphml(
    path: str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    node_label: str = "label",
    edge_label: str = "label",
) -> Reading:
    """Graphs of a GraphML file.

    Args:
        strict: Refuse what would be dropped or ignored: loops, repeats, direction, data that a GraphSet cannot hold.
        progress: Called with the number of graphs done and of all.
        node_label: The data that are labels; other numbers become node attributes, in the order of their keys.
        edge_label: The same for edges, whose other data are ignored. The target is a graph's data of that name.
    """
    root = parsed(path)
    if root.tag != "graphml":
        raise GraphFormatError(f"{path}:{root.line}: the element {root.tag!r}, expected 'graphml'")
    keys = _keys(root, path)
    columns = [key.name for key in keys.values() if _applies(key, "node") and key.kind in (int, float)]
    columns = [name for name in dict.fromkeys(columns) if name != node_label]
    labeled = {
        scope: any(_applies(key, scope) and key.name == name for key in keys.values())
        for scope, name in (("node", node_label), ("edge", edge_label))
    }
    graphs = list(root.each("graph"))
    _check_size(graphs, keys, columns, str(path))
    collector = Collector(str(path))
    for element in counted(graphs, progress):
        _add(collector, element, keys, path, columns, node_label, edge_label, labeled)
    return collector.reading(strict=strict, name=stem_of(path))


def _add(
    collector: Collector,
    element: Element,
    keys: dict[str, _Key],
    path: str | Path,
    columns: list[str],
    node_label: str,
    edge_label: str,
    labeled: dict[str, bool],
) -> None:
    defaults = [key for key in keys.values() if key.default is not MISSING]
    position: dict[str, int] = {}
    nodes: list[dict[str, Any]] = []
    for node in element.each("node"):
        name = node.attributes.get("id")
        if name is None or name in position:
            found = "a node without an id" if name is None else f"node id {name!r} for a second time"
            raise GraphFormatError(f"{path}:{node.line}: {found}; each node needs its own")
        position[name] = len(nodes)
        nodes.append(_data(node, "node", keys, defaults, path))
        collector.ignore("nested graphs", sum(child.tag == "graph" for child in node.children))
    edges, edge_data, directed = [], [], 0
    by_default = element.attributes.get("edgedefault") == "directed"
    for edge in element.each("edge"):
        try:
            edges.append((position[edge.attributes["source"]], position[edge.attributes["target"]]))
        except KeyError as error:
            where = f"{path}:{edge.line}"
            raise GraphFormatError(f"{where}: an edge whose end is {error}, which is no node's id") from error
        edge_data.append(_data(edge, "edge", keys, defaults, path))
        directed += {"true": True, "false": False}.get(edge.attributes.get("directed", ""), by_default)
    collector.ignore("directions of edges", directed)
    collector.ignore("hyperedges", sum(child.tag == "hyperedge" for child in element.children))
    used = {node_label, *columns}
    for name, count in Counter(name for data in nodes for name in data if name not in used).items():
        collector.ignore(f"node data {name[:40]!r}", count)
    for name, count in Counter(name for data in edge_data for name in data if name != edge_label).items():
        collector.ignore(f"edge data {name[:40]!r}", count)
    collector.add(
        len(nodes),
        edges,
        node_labels=[data.get(node_label) for data in nodes] if labeled["node"] else None,
        edge_labels=[data.get(edge_label) for data in edge_data] if labeled["edge"] else None,
        attributes=table_of(nodes, columns, f"{path}:{element.line}") if columns else None,
        target=_data(element, "graph", keys, defaults, path).get("target", MISSING),
        id=element.attributes.get("id"),
        where=f"{path}:{element.line}",
    )


def _check_size(graphs: list[Element], keys: dict[str, _Key], columns: list[str], where: str) -> None:
    """Refuses more attributes and default values than is plausible for a file of this size."""
    nodes = [node for graph in graphs for node in graph.each("node")]
    check_table(len(nodes), columns, ({"": entry} for node in nodes for entry in node.each("data")), where)
    defaults = sum(key.default is not MISSING for key in keys.values())
    elements = len(graphs) + sum(len(graph.children) for graph in graphs)
    if defaults * elements > limits().cells + 16 * elements:
        raise refusal(where, f"{defaults} default values for {elements} nodes and edges", "cells")


def _applies(key: _Key, scope: str) -> bool:
    return key.scope in (scope, "all")


def _keys(root: Element, path: str | Path) -> dict[str, _Key]:
    keys: dict[str, _Key] = {}
    for element in root.each("key"):
        given = element.attributes
        where = f"{path}:{element.line}"
        if "id" not in given:
            raise GraphFormatError(f"{where}: a key without an id")
        kind = _KINDS.get(given.get("attr.type", "string"))
        if kind is None:
            raise GraphFormatError(f"{where}: the type {given['attr.type']!r}, expected one of {', '.join(_KINDS)}")
        default = next(element.each("default"), None)
        value = MISSING if default is None else _parsed_value(default, kind, path)
        name = given.get("attr.name", given["id"])
        keys[given["id"]] = _Key(name, given.get("for", "all"), kind, value)
    return keys


def _parsed_value(element: Element, kind: type, path: str | Path) -> Any:
    return element.text if kind is str else numeric(element.text, kind, f"{path}:{element.line}")


def _data(
    element: Element, scope: str, keys: dict[str, _Key], defaults: list[_Key], path: str | Path
) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for entry in element.each("data"):
        key = keys.get(entry.attributes.get("key", ""))
        if key is None:
            found = entry.attributes.get("key")
            raise GraphFormatError(f"{path}:{entry.line}: data of the key {found!r}, which is not declared")
        data[key.name] = _parsed_value(entry, key.kind, path)
    for key in defaults:
        if _applies(key, scope):
            data.setdefault(key.name, key.default)
    return data


class _Writer:
    """Lines of a file, and the keys that they need: one for each name and type, as in NetworkX."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.keys: dict[tuple[str, str, type], str] = {}
        self.as_text = False

    def declare(self, scope: str, name: str, kind: type) -> str:
        return self.keys.setdefault((scope, name, kind), f"d{len(self.keys)}")

    def data(self, scope: str, name: str, value: Any) -> str:
        if value is None:
            return ""
        value = plain(value)
        if type(value) not in _TYPES:
            value, self.as_text = json.dumps(value, ensure_ascii=False), True
        key = self.declare(scope, name, type(value))
        text = value if isinstance(value, str) else repr(value)
        if isinstance(value, bool):
            text = text.lower()
        return f'<data key="{key}">{text_of(text, str(self.path))}</data>'

    def key_lines(self) -> list[str]:
        return [
            f'<key id="{key}" for="{scope}" attr.name="{name}" attr.type="{_TYPES[kind]}"/>'
            for (scope, name, kind), key in self.keys.items()
        ]


def write_graphml(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """One GraphML file with all graphs, as NetworkX reads it.

    Tuples become JSON text. That is reported in a GraphWarning, or refused with `strict`.
    """
    writer = _Writer(path)
    for scope, vocabulary in (("node", graphs.node_vocabulary), ("edge", graphs.edge_vocabulary)):
        if vocabulary == (None,):  # else nothing would say that there are labels
            writer.declare(scope, "label", str)
    for column in range(0 if graphs.node_attributes is None else graphs.node_attributes.shape[1]):
        writer.declare("node", f"attribute{column}", float)
    body = [line for graph in graphs for line in _graph_lines(graph, writer)]
    also = ["the kind of labels that are tuples"] if writer.as_text else []
    holds = ("ids", "node labels", "edge labels", "node attributes", "targets")
    check_losses(graphs, path, holds=holds, strict=strict, also=also)
    opening = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    head = ['<?xml version="1.0" encoding="UTF-8"?>', opening]
    write_text("\n".join([*head, *writer.key_lines(), *body, "</graphml>", ""]), path)


def _graph_lines(graph: Graph, writer: _Writer) -> list[str]:
    lines = [f'<graph id={quoted(graph.id, str(writer.path))} edgedefault="undirected">']
    if graph.graphs.targets is not None:
        lines.append(writer.data("graph", "target", graph.target))
    attributes = graph.node_attributes
    for node, label in enumerate(graph.node_labels):
        data = writer.data("node", "label", label)
        if attributes is not None:
            row = enumerate(attributes[node].tolist())
            data += "".join(writer.data("node", f"attribute{i}", value) for i, value in row)
        lines.append(f'<node id="n{node}">{data}</node>')
    labels = graph.edge_labels or [None] * graph.num_edges
    for (u, v), label in zip(graph.edges.tolist(), labels, strict=True):
        lines.append(f'<edge source="n{u}" target="n{v}">{writer.data("edge", "label", label)}</edge>')
    return [*lines, "</graph>"]
