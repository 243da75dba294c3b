"""GML, as NetworkX, igraph, Gephi and yEd write it: one graph or many in a file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from html.entities import name2codepoint
from pathlib import Path
from typing import Any

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.collector import MISSING, Reading
from ugraphemb.graphs.formats.attributed import NODE_LABELS, Item, reading_of
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import check_losses, decoded_lines, plain, read_bytes, write_text
from ugraphemb.graphs.graphset import Graph, GraphSet

_TOKEN = re.compile(r'\s+|(?P<open>\[)|(?P<close>\])|"(?P<text>[^"]*)"|(?P<word>[^\s\[\]"]+)')
_NUMBERS = {"nan": math.nan, "inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{1,31});")
_DEEPEST = 50
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
_Pairs = list[tuple[str, Any, int]]


@Reader
def read_gml(
    path: str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    node_label: str | None = None,
    edge_label: str | None = None,
) -> Reading:
    """Graphs of a GML file.

    Args:
        strict: Refuse what would be dropped or ignored: loops, repeats, direction, values that a GraphSet cannot hold.
        progress: Called with the number of graphs done and of all.
        node_label: Which value is the label; "" for none. By default symbol, chem or type, whichever comes first; else
            "label", unless all labels of each graph are different: then they are names of nodes. Other numbers
            become node attributes.
        edge_label: The same for edges; by default label, valence, bond or type, or the only one.
    """
    lines = decoded_lines(read_bytes(path), path)
    text = "\n".join("" if line.startswith("#") else line for line in lines)
    document = _parsed(text, path)
    graphs = [(value, line) for key, value, line in document if key == "graph" and isinstance(value, list)]
    if not graphs:
        raise GraphFormatError(f"{path}: no 'graph [ ... ]' in this file; expected GML")
    items = [_item(values, line, Path(path)) for values, line in counted(graphs, progress)]
    usual = [name for name in NODE_LABELS if name != "label"] + ["label"]
    if node_label is None and _are_names(items):
        usual.remove("label")
        for item in items:
            for values in item.nodes:
                values.pop("label", None)
    return reading_of(
        items, path, node_label=node_label, edge_label=edge_label, strict=strict, progress=None, node_labels=usual
    )


def write_gml(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """One GML file with all graphs. Node labels are the value "type", for "label" is the name of a node in GML.

    Labels other than text and numbers become JSON text. That is reported in a GraphWarning, or refused with `strict`.
    """
    labels = [*graphs.node_vocabulary, *graphs.edge_vocabulary]
    odd = any(type(plain(label)) not in (str, int, float) for label in labels)
    if graphs.targets is not None:
        odd |= any(type(plain(value)) not in (str, int, float) for value in set(graphs.targets.tolist()))
    also = ["the kind of labels and targets that are neither text nor numbers"] if odd else []
    holds = ("ids", "node labels", "edge labels", "node attributes", "targets")
    check_losses(graphs, path, holds=holds, strict=strict, also=also)
    write_text("".join(f"{line}\n" for graph in graphs for line in _lines(graph)), path)


def _parsed(text: str, path: str | Path) -> _Pairs:
    """Keys and values of the whole file, each with its line; a list of them is a value, too."""
    document: _Pairs = []
    stack = [document]
    key: str | None = None
    for kind, token, line in _tokens(text, path):
        if kind == "close":
            if key is not None or len(stack) == 1:
                raise GraphFormatError(f"{path}:{line}: a ']' without its '[', or a key without a value")
            stack.pop()
        elif key is None:
            if kind != "word" or not _KEY.fullmatch(token):
                raise GraphFormatError(f"{path}:{line}: {token[:40]!r}, expected a key such as graph, node or id")
            key = token
        else:
            value: Any = _number(token, path, line) if kind == "word" else _unescaped(token) if kind == "text" else []
            stack[-1].append((key, value, line))
            key = None
            if kind == "open":
                if len(stack) > _DEEPEST:
                    raise GraphFormatError(f"{path}:{line}: lists nested deeper than {_DEEPEST}")
                stack.append(value)
    if key is not None or len(stack) > 1:
        raise GraphFormatError(f"{path}: ends within a list; expected ']'")
    return document


def _tokens(text: str, path: str | Path) -> Iterator[tuple[str, str, int]]:
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise GraphFormatError(f"{path}:{line}: text that does not end; expected a quotation mark")
        if match.lastgroup is not None:
            yield match.lastgroup, match[match.lastgroup], line
        line += match[0].count("\n")
        position = match.end()


def _number(text: str, path: str | Path, line: int) -> float:
    try:
        if text.lower() in _NUMBERS:
            return _NUMBERS[text.lower()]
        return int(text) if re.fullmatch(r"[+-]?[0-9]{1,300}", text) else float(text)
    except ValueError as error:
        raise GraphFormatError(f'{path}:{line}: {text[:40]!r}, expected a number, "text" or a list') from error


def _item(values: _Pairs, line: int, path: Path) -> Item:
    own = {key: value for key, value, _ in values if key not in ("node", "edge")}
    name = own.get("name", own.get("label", own.get("id", "")))
    target = own.get("target", MISSING)
    item = Item(
        path,
        f"{path}:{line}",
        id="" if isinstance(name, list) else str(name),
        target=MISSING if isinstance(target, list) else target,
        directed=own.get("directed") == 1,
    )
    for what in ("node", "edge"):  # an edge may stand before its nodes
        for key, value, at in values:
            if key == what and isinstance(value, list):
                _add(item, what, {name: entry for name, entry, _ in value}, lambda at=at: f"{path}:{at}")  # type: ignore[misc]
    return item


def _add(item: Item, what: str, values: dict[str, Any], where: Callable[[], str]) -> None:
    plain_values = {name: () if isinstance(value, list) else value for name, value in values.items()}
    if what == "node":
        item.add_node(plain_values.pop("id", None), plain_values, where)
    else:
        ends = plain_values.pop("source", None), plain_values.pop("target", None)
        item.add_edge(*ends, plain_values, where)


def _are_names(items: list[Item]) -> bool:
    """Whether "label" names nodes: no two nodes of a graph have the same."""
    return all(
        len({values.get("label", i) for i, values in enumerate(item.nodes)}) == len(item.nodes) for item in items
    )


def _lines(graph: Graph) -> Iterator[str]:
    yield "graph ["
    yield f"  name {_said(graph.id)}"
    if graph.graphs.targets is not None and graph.target is not None:
        yield f"  target {_said(graph.target)}"
    attributes = graph.node_attributes
    for node, label in enumerate(graph.node_labels):
        yield f'  node [\n    id {node}\n    label "{node}"'
        if label is not None:
            yield f"    type {_said(label)}"
        for i, value in enumerate([] if attributes is None else attributes[node].tolist()):
            yield f"    attribute{i} {_said(value)}"
        yield "  ]"
    labels = graph.edge_labels or [None] * graph.num_edges
    for (u, v), label in zip(graph.edges.tolist(), labels, strict=True):
        yield f"  edge [\n    source {u}\n    target {v}"
        if label is not None:
            yield f"    label {_said(label)}"
        yield "  ]"
    yield "]"


def _said(value: Any) -> str:
    value = plain(value)
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return "NAN" if math.isnan(value) else f"{value:+}".upper() if math.isinf(value) else repr(value)
    text = value if isinstance(value, str) else json.dumps(value)
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Text with non-ASCII characters as entities; GML is ASCII."""
    return re.sub('[^ -~]|["&]', lambda found: f"&#{ord(found[0])};", text)


def _unescaped(text: str) -> str:
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    """Of an entity; what is none stays as it is. The numbers are those of Unicode, unlike in HTML."""
    name = entity[1]
    if not name.startswith("#"):
        return chr(name2codepoint[name]) if name in name2codepoint else entity[0]
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if code < 0x110000 else entity[0]
