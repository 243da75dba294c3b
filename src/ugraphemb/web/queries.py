"""From a request to graphs. Text of a request is never interpreted as a path, and no file that it names is opened."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ugraphemb.errors import GraphFormatError, MissingExtraError
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.collector import Reading
from ugraphemb.graphs.convert.chemistry import BONDS
from ugraphemb.graphs.formats import FORMATS
from ugraphemb.web.bodies import FileBody, GraphBody, ParseBody, Query
from ugraphemb.web.collection import Collection
from ugraphemb.web.refusals import RefusalError
from ugraphemb.web.settings import Limits

# Not .cxl, which names other files, and no archives.
_SUFFIXES = {
    suffix: format.name
    for format in FORMATS.values()
    for suffix in format.suffixes
    if suffix not in (".cxl", ".zip", ".sd")
}


def graphs_of_query(query: Query, collection: Collection, limits: Limits, where: str = "query") -> Reading:
    """The one graph of a query, and what was dropped while reading it."""
    collection.check_state(query.state)
    if query.id is not None or query.position is not None:
        position = (
            collection.position_of(query.id)
            if query.id is not None
            else int(collection.check_positions([query.position or 0])[0])
        )
        return Reading(collection.graphs(np.array([position])), [])
    reading = graphs_of_input(
        ParseBody(smiles=query.smiles, graph=query.graph, file=query.file), collection, limits, where
    )
    if query.index >= len(reading.graphs):
        raise RefusalError("not_found", f"graph {query.index} of a file of {len(reading.graphs)}", f"{where}.index")
    one = reading.graphs[[query.index]]
    check_graphs(one, limits, where)
    return Reading(one, reading.notes)


def graphs_of_input(body: ParseBody, collection: Collection, limits: Limits, where: str = "query") -> Reading:
    """The graphs of SMILES, of a JSON graph, or of a file."""
    if body.smiles is not None:
        found = _of_smiles([body.smiles], collection, f"{where}.smiles")
    elif body.graph is not None:
        found = graphs_of_json([body.graph], limits, f"{where}.graph")
    else:
        assert body.file is not None
        found = graphs_of_file(body.file, f"{where}.file")
    return Reading(_in_words_of(found.graphs, collection), found.notes)


def position_of_query(query: Query, collection: Collection, where: str) -> int:
    """The position of a graph of the collection."""
    collection.check_state(query.state)
    if query.id is not None:
        return collection.position_of(query.id)
    if query.position is not None:
        return int(collection.check_positions([query.position])[0])
    raise RefusalError("invalid", "a graph of the collection is needed: give its id or position", where)


def check_graphs(graphs: GraphSet, limits: Limits, where: str) -> None:
    """Refuses graphs that are too large to be searched for in bounded time."""
    for name, most in (("nodes", limits.query_nodes), ("edges", limits.query_edges)):
        largest = int(getattr(graphs, f"num_{name}").max(initial=0))
        if largest > most:
            raise RefusalError("too_large", f"a graph of {largest} {name}; at most {most} are taken", where)


def smiles_graphs(smiles: Sequence[str], collection: Collection, where: str) -> Reading:
    found = _of_smiles(smiles, collection, where)
    return Reading(_in_words_of(found.graphs, collection), found.notes)


def _of_smiles(smiles: Sequence[str], collection: Collection, where: str) -> Reading:
    for text in smiles:
        if not text.strip() or re.search(r"\s", text.strip()):
            raise RefusalError("bad_graph", "SMILES of one molecule is needed, without spaces", where)
    try:
        return Reading(GraphSet.from_smiles([text.strip() for text in smiles], **collection.smiles_options), [])
    except MissingExtraError as error:
        raise RefusalError("bad_graph", f"this server cannot read SMILES: {error}", where) from error
    except (GraphFormatError, ValueError) as error:
        raise RefusalError("bad_graph", _sentence(error), where) from error


def graphs_of_json(bodies: Sequence[GraphBody], limits: Limits, where: str) -> Reading:
    """Graphs as JSON describes them, each checked before arrays of its size are made."""
    for body in bodies:
        if body.num_nodes > limits.query_nodes or len(body.edges) > limits.query_edges:
            raise RefusalError(
                "too_large", f"a graph of {body.num_nodes} nodes and {len(body.edges)} edges; at most "
                f"{limits.query_nodes} and {limits.query_edges} are taken", where,
            )  # fmt: skip
    notes: list[str] = []
    parts = []
    try:
        for i, body in enumerate(bodies):
            parts.append(
                GraphSet.from_edges(
                    [body.num_nodes], np.array(body.edges, np.int64).reshape(-1, 2),
                    node_labels=None if body.node_labels is None else [_label(label) for label in body.node_labels],
                    edge_labels=None if body.edge_labels is None else [_label(label) for label in body.edge_labels],
                    node_attributes=body.node_attributes, ids=[str(i) if body.id is None else body.id], source="graph",
                    notes=notes,
                )
            )  # fmt: skip
            if body.metadata.get("smiles") is not None:
                parts[-1] = replace(parts[-1], metadata={"smiles": np.array([str(body.metadata["smiles"])])})
        from ugraphemb.graphs import concatenated

        return Reading(parts[0] if len(parts) == 1 else concatenated(parts), notes)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise RefusalError("bad_graph", _sentence(error), where) from error


def graphs_of_file(body: FileBody, where: str) -> Reading:
    """The graphs of an uploaded file, read from a temporary folder, under a fixed name."""
    suffix = Path(body.name.replace("\\", "/").rpartition("/")[2]).suffix.lower()
    if suffix not in _SUFFIXES:
        raise RefusalError(
            "bad_graph", f"a file whose name ends in {suffix[:20]!r}; expected one of {' '.join(_SUFFIXES)}", where
        )
    format = _SUFFIXES[suffix]
    if suffix == ".json" and '"num_nodes"' in body.content[:10_000]:
        format = "jsonl"
    with tempfile.TemporaryDirectory(prefix="ugraphemb-") as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(body.content.encode("utf-8", "surrogatepass"))
        try:
            reading = FORMATS[format].reader().reading(path)
        except (GraphFormatError, ValueError, ImportError) as error:
            message = _sentence(error).replace(str(path), "the file").replace(folder, "")
            raise RefusalError("bad_graph", message, where) from error
        notes = [note.replace(str(path), "the file") for note in reading.notes]
    if not len(reading.graphs):
        raise RefusalError("bad_graph", "the file holds no graphs", where)
    return Reading(reading.graphs, notes)


def _in_words_of(graphs: GraphSet, collection: Collection) -> GraphSet:
    """The same molecules, with bonds called as the collection calls them: 1 or "-" instead of "single"."""
    wanted = collection.bonds
    if not wanted or graphs.edge_labels is None:
        return graphs
    words = [BONDS.get(str(word).lower()) for word in graphs.edge_vocabulary]
    if not all(words) or len(set(words)) < len(words):
        return graphs
    renamed = tuple(
        wanted.get(kind, word) if kind is not None else word
        for kind, word in zip(words, graphs.edge_vocabulary, strict=True)
    )
    return graphs if renamed == graphs.edge_vocabulary else replace(graphs, edge_vocabulary=renamed)


def _label(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _sentence(error: BaseException) -> str:
    text = re.sub(r"^SMILES 0: | \(on_error='skip' leaves it out\)", "", " ".join(str(error).split()))
    return text[:500] or type(error).__name__
