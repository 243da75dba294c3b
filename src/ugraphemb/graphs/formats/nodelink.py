"""Node-link JSON, as NetworkX and D3 write it: one graph, or an array of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ugraphemb.errors import GraphFormatError
from ugraphemb.files.labels import label_from_json
from ugraphemb.graphs.collector import MISSING, Reading
from ugraphemb.graphs.formats.attributed import Item, reading_of
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import check_losses, parsed_json, plain, read_bytes, write_text
from ugraphemb.graphs.graphset import Graph, GraphSet

_ROWS = "attributes"


@Reader
def read_nodelink(
    path: str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    node_label: str | None = None,
    edge_label: str | None = None,
) -> Reading:
    """Graphs of a JSON file {"nodes": [{"id": 0}, ...], "links": [{"source": 0, "target": 1}, ...]}, or an array.

    "edges" stands for "links". The id and target of a graph are those of its object "graph".

    Args:
        strict: Refuse what would be dropped or ignored: loops, repeats, direction, values that a GraphSet cannot hold.
        progress: Called with the number of graphs done and of all.
        node_label: Which value is the label; "" for none. By default symbol, chem, label or type, whichever comes
            first, else the only value that is not a floating-point number. Other numbers become node attributes.
        edge_label: The same for edges; by default label, valence, bond or type, or the only one.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GraphFormatError(f"{path}: byte {error.start} is not UTF-8 text") from error
    document = parsed_json(text, str(path))
    listed = document if isinstance(document, list) else [document]
    items = [_item(entry, f"{path}: graph {i}", Path(path)) for i, entry in enumerate(counted(listed, progress))]
    return reading_of(items, path, node_label=node_label, edge_label=edge_label, strict=strict, progress=None)


def write_nodelink(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """A JSON array of graphs, each as NetworkX's `node_link_graph` takes it. Tuples become arrays. Nothing is lost."""
    check_losses(graphs, path, holds=("ids", "node labels", "edge labels", "node attributes", "targets"), strict=strict)
    lines = (json.dumps(_document(graph), ensure_ascii=False) for graph in graphs)
    write_text("[" + ",\n ".join(lines) + "]\n", path)


def _item(document: Any, where: str, path: Path) -> Item:
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
        raise GraphFormatError(
            f'{where}: no array "nodes"; expected node-link JSON, {{"nodes": [...], "links": [...]}}'
        )
    links = document.get("links", document.get("edges", []))
    if not isinstance(links, list):
        raise GraphFormatError(f'{where}: "links" is no array; expected [{{"source": ..., "target": ...}}]')
    own = document["graph"] if isinstance(document.get("graph"), dict) else {}
    name = own.get("id", own.get("name", document.get("id", "")))
    target = own.get("target", MISSING)
    if isinstance(target, list | dict):
        raise GraphFormatError(f"{where}: a target that is an array or object, expected text, a number, true or false")
    directed = document.get("directed") is True
    item = Item(path, where, str(name) if isinstance(name, str | int) else "", target=target, directed=directed)
    for number, node in enumerate(document["nodes"]):
        values = _values(node, f"{where}, node {number}")
        item.add_node(values.pop("id", number), values, lambda number=number: f"{where}, node {number}")  # type: ignore[misc]
    for number, link in enumerate(links):
        values = _values(link, f"{where}, link {number}")
        ends = values.pop("source", None), values.pop("target", None)
        values.pop("key", None)  # of parallel edges, in NetworkX's multigraphs
        item.add_edge(*ends, values, lambda number=number: f"{where}, link {number}")  # type: ignore[misc]
    return item


def _values(entry: Any, where: str) -> dict[str, Any]:
    """The values of a node or link; nested objects are ignored, and a row of numbers becomes one value per number."""
    if not isinstance(entry, dict):
        raise GraphFormatError(f"{where}: expected an object")
    values: dict[str, Any] = {}
    for name, value in entry.items():
        if isinstance(value, dict):
            values[name] = Ellipsis  # of a type that is neither label nor number: ignored and noted
        elif name == _ROWS and isinstance(value, list) and all(type(number) in (int, float) for number in value):
            values |= {f"{_ROWS}[{i}]": number for i, number in enumerate(value)}
        else:
            values[name] = label_from_json(value, where, GraphFormatError)
    return values


def _document(graph: Graph) -> dict[str, Any]:
    about: dict[str, Any] = {"id": graph.id}
    if graph.graphs.targets is not None:
        about["target"] = plain(graph.graphs.targets[graph.position])
    nodes: list[dict[str, Any]] = [{"id": node} for node in range(graph.num_nodes)]
    if graph.graphs.node_vocabulary:
        for node, label in zip(nodes, graph.node_labels, strict=True):
            node["label"] = plain(label)
    if graph.node_attributes is not None:
        for node, row in zip(nodes, graph.node_attributes.tolist(), strict=True):
            node[_ROWS] = row
    links: list[dict[str, Any]] = [{"source": u, "target": v} for u, v in graph.edges.tolist()]
    for link, label in zip(links, graph.edge_labels or [], strict=graph.edge_labels is not None):
        link["label"] = plain(label)
    return {"directed": False, "multigraph": False, "graph": about, "nodes": nodes, "edges": links}
