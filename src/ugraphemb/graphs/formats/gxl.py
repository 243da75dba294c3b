"""GXL, XML files of one or more graphs, and CXL, the list of a collection's files and classes (the IAM sets)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ugraphemb.errors import GraphFormatError
from ugraphemb.files import HIDDEN, NewFolder, storage_errors, write_folder, write_with_folder
from ugraphemb.graphs.collector import MISSING, Reading
from ugraphemb.graphs.formats.attributed import Item, reading_of
from ugraphemb.graphs.formats.markup import Element, numeric, parsed, quoted, text_of
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import check_losses, encoded, packed, stem_of, suffix_of, write_text
from ugraphemb.graphs.graphset import Graph, GraphSet
from ugraphemb.graphs.limits import limits, refusal

_KINDS: dict[str, type] = {"int": int, "float": float, "double": float, "bool": bool}
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,80}")


def _item(element: Element, path: Path) -> Item:
    values = _values(element, path)
    item = Item(
        path,
        f"{path}:{element.line}",
        id=element.attributes.get("id", ""),
        target=values.get("target", MISSING),
        directed=element.attributes.get("edgemode", "undirected") in ("directed", "defaultdirected"),
        ignored={"relations of many nodes": sum(child.tag == "rel" for child in element.children)},
    )
    for node in element.each("node"):
        item.add_node(node.attributes.get("id"), _values(node, path), lambda node=node: f"{path}:{node.line}")  # type: ignore[misc]
    for edge in element.each("edge"):
        ends = edge.attributes.get("from"), edge.attributes.get("to")
        item.add_edge(*ends, _values(edge, path), lambda edge=edge: f"{path}:{edge.line}")  # type: ignore[misc]
    return item


@Reader
def read_gxl(
    path: str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    node_label: str | None = None,
    edge_label: str | None = None,
) -> Reading:
    """Graphs of a .gxl file, of a .cxl list, or of a folder of either.

    Args:
        strict: Refuse what would be dropped or ignored: loops, repeats, direction, unsupported attributes.
        progress: Called with the number of files done and of all, then likewise of graphs.
        node_label: Which attribute is the label; "" for none. By default symbol, chem, label or type, whichever
            comes first, else the only attribute that is not a floating-point number. Others become node attributes.
        edge_label: The same for edges; by default label, valence, bond or type, or the only one.
    """
    root = Path(path)
    if root.is_dir():
        items = list(_of_folder(root, progress))
    elif suffix_of(root) == ".cxl":
        items = list(_of_list(root, progress))
    else:
        items = list(_of_file(root))
    return reading_of(items, path, node_label=node_label, edge_label=edge_label, strict=strict, progress=progress)


def write_gxl(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """One file with all graphs (.gxl), or a file for each graph and a list of them: in one folder, or the list as a
    file (.cxl) and the others in a folder beside it.

    What GXL cannot hold is reported in a GraphWarning, or refused with `strict`.
    """
    root = Path(path)
    vocabularies = (graphs.node_vocabulary, graphs.edge_vocabulary)
    also = ["labels that are all None"] if (None,) in vocabularies else []
    if any(_holds_none(label) for vocabulary in vocabularies for label in vocabulary):
        also.append("None in tuples (now text)")
    holds = ("ids", "node labels", "edge labels", "node attributes", "targets")
    check_losses(graphs, path, holds=holds, strict=strict, also=also)
    bodies = [_graph_text(graph, f"{path}: graph {graph.id!r}") for graph in graphs]
    if suffix_of(root) == ".gxl":
        write_text(_document("gxl", bodies), root)
        return
    classes = [""] * len(graphs)
    if graphs.targets is not None:
        classes = [f" class={quoted(str(target), str(path))}" for target in graphs.targets.tolist()]
    names = _file_names(graphs)
    files = {name: encoded(_document("gxl", [body]), path) for name, body in zip(names, bodies, strict=True)}

    def listing(folder: str) -> bytes:
        entries = [f'<print file="{folder}{name}"{label}/>' for name, label in zip(names, classes, strict=True)]
        lines = [f'<graphs count="{len(graphs)}">', *entries, "</graphs>"]
        return packed(encoded(_document("GraphCollection", lines), path), path)

    alone = suffix_of(root) != ".cxl"

    def fill(new: NewFolder) -> None:
        for name, data in files.items():
            new.write(name, data)
        if alone:
            new.write("graphs.cxl", listing(""))

    with storage_errors(path):
        if alone:
            write_folder(root, fill, manifest=HIDDEN)
        else:
            stem = stem_of(root) if _SAFE_NAME.fullmatch(stem_of(root)) else "graphs"
            write_with_folder(root, stem, fill, lambda folder: listing(f"{folder}/"))


def _of_file(path: Path) -> Iterator[Item]:
    root = parsed(path)
    if root.tag != "gxl":
        raise GraphFormatError(f"{path}:{root.line}: the element {root.tag!r}, expected 'gxl'")
    return (_item(element, path) for element in root.each("graph"))


def _of_list(path: Path, progress: Progress | None = None) -> Iterator[Item]:
    pending = [parsed(path)]
    listed = []
    while pending:
        element = pending.pop()
        pending += reversed(element.children)
        listed += [element] if "file" in element.attributes else []
    _check_repeats([path.parent / element.attributes["file"] for element in listed], path)
    for element in counted(listed, progress):
        name = element.attributes["file"]
        place = Path(name)
        if not name or "\0" in name or place.is_absolute() or ".." in place.parts or "\\" in name:
            raise GraphFormatError(f"{path}:{element.line}: file {name!r}, expected one in the folder of the list")
        for item in _of_file(path.parent / place):
            if item.target is MISSING:
                item.target = element.attributes.get("class", MISSING)
            yield item


def _check_repeats(files: list[Path], path: Path) -> None:
    """Refuses a list that names files so often that reading it takes much more memory than the files have bytes."""
    times = Counter(files)
    if len(times) == len(files):
        return
    sizes = {file: file.stat().st_size for file in times if file.is_file()}
    asked = sum(sizes.get(file, 0) * count for file, count in times.items())
    if asked > limits().unpacked_bytes(sum(sizes.values())):
        raise refusal(str(path), f"names files repeatedly, {asked} bytes of {sum(sizes.values())}", "ratio")


def _of_folder(folder: Path, progress: Progress | None) -> Iterator[Item]:
    lists = sorted(folder.glob("*.cxl"))
    files = sorted(folder.glob("*.gxl"))
    if not lists and not files:
        raise GraphFormatError(f"{folder}: no .cxl and no .gxl file in this folder")
    seen: set[Path] = set()  # train.cxl and all.cxl may list the same file
    for listing in lists:
        items = list(_of_list(listing, progress))
        yield from (item for item in items if item.path not in seen)
        seen.update(item.path for item in items)
    if not lists:
        for file in counted(files, progress):
            yield from _of_file(file)


def _values(element: Element, path: Path) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for attribute in element.each("attr"):
        name = attribute.attributes.get("name")
        if name is None or len(attribute.children) != 1:
            raise GraphFormatError(f"{path}:{attribute.line}: an attr needs a name and one value, as in <int>1</int>")
        values[name] = _value(attribute.children[0], path)
    return values


def _value(element: Element, path: Path) -> Any:
    if element.tag in _KINDS:
        return numeric(element.text, _KINDS[element.tag], f"{path}:{element.line}")
    if element.tag in ("tup", "seq"):
        return tuple(_value(child, path) for child in element.children)
    if element.tag in ("string", "enum"):
        kept = element.attributes.get("xml:space") == "preserve"
        return element.text if kept else element.text.strip()
    right = "string, int, float, bool, enum, tup or seq"
    raise GraphFormatError(f"{path}:{element.line}: a value of type {element.tag!r}, expected {right}")


def _file_names(graphs: GraphSet) -> list[str]:
    ids = [str(name) for name in graphs.ids]
    folded = {name.lower() for name in ids}
    if len(folded) == len(ids) and all(_SAFE_NAME.fullmatch(name) for name in ids):
        return [f"{name}.gxl" for name in ids]
    return [f"{i}.gxl" for i in range(len(ids))]


def _document(tag: str, body: Sequence[str]) -> str:
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', f"<{tag}>", *body, f"</{tag}>", ""])


def _graph_text(graph: Graph, where: str) -> str:
    own = "" if graph.graphs.targets is None else _attr_text("target", graph.target, where)
    lines = [f'<graph id={quoted(graph.id, where)} edgeids="false" edgemode="undirected">{own}']
    attributes = graph.node_attributes
    labeled = bool(graph.graphs.node_vocabulary)
    for node, label in enumerate(graph.node_labels):
        values = _attr_text("label", label, where) if labeled else ""
        if attributes is not None:
            rows = enumerate(attributes[node].tolist())
            values += "".join(_attr_text(f"attribute{i}", value, where) for i, value in rows)
        lines.append(f'<node id="_{node}">{values}</node>')
    labels = graph.edge_labels or [None] * graph.num_edges
    for (u, v), label in zip(graph.edges.tolist(), labels, strict=True):
        lines.append(f'<edge from="_{u}" to="_{v}">{_attr_text("label", label, where)}</edge>')
    return "\n".join([*lines, "</graph>"])


def _attr_text(name: str, value: Any, where: str) -> str:
    return "" if value is None else f"<attr name={quoted(name, where)}>{_value_text(value, where)}</attr>"


def _holds_none(label: Any) -> bool:
    return isinstance(label, tuple) and any(item is None or _holds_none(item) for item in label)


def _value_text(value: Any, where: str) -> str:
    if isinstance(value, tuple):
        return f"<tup>{''.join(_value_text(item, where) for item in value)}</tup>"
    if isinstance(value, bool):
        return f"<bool>{str(value).lower()}</bool>"
    if isinstance(value, int | float):
        return f"<{type(value).__name__}>{value!r}</{type(value).__name__}>"
    if value is None:
        return "<string>None</string>"
    if isinstance(value, str):
        space = "" if value == value.strip() else ' xml:space="preserve"'
        return f"<string{space}>{text_of(value, where)}</string>"
    raise GraphFormatError(f"{where}: {value!r}, expected text, a number, a truth value or a tuple of them")
