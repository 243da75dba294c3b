"""What a collection holds, in numbers: for the page's legends and filters."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ugraphemb.plots.drawing import LabelColors
from ugraphemb.web.collection import Collection, plain
from ugraphemb.web.drawings import label_color
from ugraphemb.web.graph_answers import label_answer

_MOST_LABELS, _MOST_VALUES = 200, 50
COMPUTED = ("nodes", "edges")
CLASS = "class"


def summary(collection: Collection) -> dict[str, Any]:
    """The part of /api/info that depends on the collection alone."""
    about = collection.index.model.about_
    trained = about.get("graphs", {})
    tau = about.get("validation", {}).get("tau")
    columns = [column_summary(collection, name) for name in (*collection.columns, *COMPUTED)]
    return {
        "name": collection.name,
        "graphs": len(collection),
        "state": collection.state,
        "molecules": collection.molecules,
        "nodes": _spread(collection.num_nodes),
        "edges": _spread(collection.num_edges),
        "node_labels": _labels(collection, "node"),
        "edge_labels": _labels(collection, "edge"),
        "class_column": CLASS if CLASS in collection.columns else None,
        "columns": columns,
        "model": {
            "metric": str(about.get("metric", "")),
            "dimension": collection.index.model.dimension_,
            "head": collection.index.head,
            "trained_on": {"name": str(trained.get("name", "")), "graphs": int(trained.get("count", 0)),
                           "pairs": int(about.get("pairs", 0))},
            "validation_tau": float(tau) if isinstance(tau, float) and math.isfinite(tau) else None,
        },
        "costs": None if collection.index._costs is None else plain(collection.index._costs.description()),
    }  # fmt: skip


def label_colors(collection: Collection) -> LabelColors:
    """Colors of node labels, the same in every drawing of the collection."""
    if not collection.database.parts:
        return LabelColors({}, 0)
    return LabelColors.of(max((part.graphs for part in collection.database.parts), key=len))


def column_of(collection: Collection, name: str) -> pa.ChunkedArray | pa.Array:
    """A metadata column, or one of `COMPUTED`, by position."""
    if name in collection.columns:
        return collection.rows[name]
    return pa.array(collection.num_nodes if name == "nodes" else collection.num_edges)


def column_summary(collection: Collection, name: str) -> dict[str, Any]:
    """See `answers.Column`."""
    column = column_of(collection, name)
    kind = type_of(column.type)
    found: dict[str, Any] = {"name": name, "type": kind, "missing": column.null_count, "distinct": None,
                             "values": None, "min": None, "max": None}  # fmt: skip
    if kind == "other" or not len(column):
        return found
    counts = pc.value_counts(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    found["distinct"] = sum(value.is_valid for value in counts.field("values"))
    if kind in ("integer", "number"):
        range_of = pc.min_max(column)
        found["min"], found["max"] = (plain(range_of[end].as_py()) for end in ("min", "max"))
    if found["distinct"] <= _MOST_VALUES:
        pairs = [
            (plain(entry["values"]), entry["counts"]) for entry in counts.to_pylist() if entry["values"] is not None
        ]
        found["values"] = [{"value": value, "count": count} for value, count in sorted(pairs, key=_order)]
    return found


def type_of(kind: pa.DataType) -> str:
    """What clients call a column of this type."""
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind):
        return "number"
    return "text" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else "other"


def _order(pair: tuple[Any, int]) -> tuple[int, Any]:
    return (0, pair[0]) if isinstance(pair[0], int | float) else (1, str(pair[0]))


def _spread(counts: npt.NDArray[np.int64]) -> dict[str, float]:
    if not len(counts):
        return {"min": 0, "mean": 0.0, "max": 0}
    return {"min": int(counts.min()), "mean": float(counts.mean()), "max": int(counts.max())}


def _labels(collection: Collection, what: str) -> list[dict[str, Any]] | None:
    total: Counter[Any] = Counter()
    for part in collection.database.parts:
        codes, vocabulary = getattr(part.graphs, f"{what}_labels"), getattr(part.graphs, f"{what}_vocabulary")
        if codes is None or not vocabulary:
            continue
        counts = np.bincount(codes, minlength=len(vocabulary)) // (2 if what == "edge" else 1)
        total.update({label: int(count) for label, count in zip(vocabulary, counts, strict=True) if count})
    if not total:
        return None
    colors = label_colors(collection)
    return [
        {"value": label_answer(label), "count": count, "color": label_color(label, colors) if what == "node" else None}
        for label, count in total.most_common(_MOST_LABELS)
    ]
