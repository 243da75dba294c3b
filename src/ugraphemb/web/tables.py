"""Columns as Arrow, rows as files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugraphemb.errors import GraphFormatError, MissingExtraError
from ugraphemb.graphs.convert.smiles import to_smiles
from ugraphemb.web.collection import SMILES, Collection
from ugraphemb.web.graph_answers import graph_answer
from ugraphemb.web.refusals import RefusalError
from ugraphemb.web.summaries import CLASS, COMPUTED, column_of, type_of

ARROW = "application/vnd.apache.arrow.stream"
TYPES = {"csv": "text/csv; charset=utf-8", "smiles": "chemical/x-daylight-smiles", "jsonl": "application/x-ndjson"}
SUFFIXES = {"csv": "csv", "smiles": "smi", "jsonl": "jsonl"}


def arrow_bytes(columns: dict[str, pa.Array], about: dict[str, str] | None = None) -> bytes:
    """An Arrow IPC stream of one batch."""
    table = pa.table(columns).replace_schema_metadata(about or {}).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def map_bytes(
    collection: Collection, places: npt.NDArray[np.float32], names: Sequence[str] | None, about: dict[str, str]
) -> bytes:
    """The map: x, y and columns."""
    if names is None:
        names = ["nodes", *([CLASS] if CLASS in collection.columns else [])]
    columns = {axis: pa.array(np.ascontiguousarray(places[:, i], np.float32)) for i, axis in enumerate("xy")}
    for name in names:
        if name not in columns:
            columns[name] = colored(collection, name, few=name == CLASS)
    return arrow_bytes(columns, {"state": collection.state, **about})


def colored(collection: Collection, name: str, *, few: bool = False) -> pa.Array:
    """A column in a form that pages read easily: float64, int32, or text by codes.

    Args:
        few: Numbers of at most 32,767 different values come as text by codes, too: classes.
    """
    if name == "id":
        return collection.rows["id"].combine_chunks()
    if name not in collection.columns and name not in COMPUTED:
        known = ", ".join(("id", *collection.columns, *COMPUTED))
        raise RefusalError("not_found", f"no column {name[:100]!r}; there are {known}", "name")
    column = column_of(collection, name)
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = type_of(column.type)
    if kind in ("integer", "number") and not few:
        return column.cast(pa.int32()) if name in COMPUTED else column.cast(pa.float64(), safe=False)
    if kind == "other":
        column = pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
    encoded = column.cast(pa.string()).dictionary_encode()
    if few and len(encoded.dictionary) > 32_767:
        return column.cast(pa.float64(), safe=False) if kind != "text" else encoded
    return encoded


def export(collection: Collection, positions: npt.NDArray[np.int64], format: str) -> bytes:
    """Chosen graphs as a file: rows (csv), SMILES and ids (smiles), or whole graphs (jsonl)."""
    return {"csv": _csv, "smiles": _smiles, "jsonl": _jsonl}[format](collection, positions)


def _csv(collection: Collection, positions: npt.NDArray[np.int64]) -> bytes:
    names = collection.columns
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["id", "num_nodes", "num_edges", *names])
    for row in collection.row_answers(positions):
        about = [_cell(row["metadata"].get(name)) for name in names]
        writer.writerow([_cell(row["id"]), row["num_nodes"], row["num_edges"], *about])
    return out.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    """A value that a spreadsheet does not interpret as a formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value


def _smiles(collection: Collection, positions: npt.NDArray[np.int64]) -> bytes:
    graphs = collection.graphs(positions)
    try:
        known = graphs.metadata.get(SMILES)
        texts = [str(text) for text in known] if known is not None and all(known) else to_smiles(graphs)
    except (GraphFormatError, MissingExtraError) as error:
        raise RefusalError("invalid", f"these graphs cannot be written as SMILES: {error}", "format") from error
    lines = [f"{text}\t{' '.join(name.split())}\n" for text, name in zip(texts, graphs.ids.tolist(), strict=True)]
    return "".join(lines).encode("utf-8", "replace")


def _jsonl(collection: Collection, positions: npt.NDArray[np.int64]) -> bytes:
    graphs, about = collection.graphs(positions), collection.metadata(positions)
    lines = []
    for graph, metadata in zip(graphs, about, strict=True):
        record = graph_answer(graph, metadata=metadata)
        kept = {name: value for name, value in record.items()
                if name not in ("position", "num_edges", "coordinates") and value is not None}  # fmt: skip
        lines.append(json.dumps(kept) + "\n")
    return "".join(lines).encode()
