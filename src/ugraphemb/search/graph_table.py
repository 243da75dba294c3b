"""A GraphSet as an Arrow table, one row per graph, whose buffers are the packed arrays themselves.

    node_labels  large_list<int32>               offsets: node_offsets
    neighbors    large_list<large_list<int32>>   offsets: node_offsets, indptr; values: indices
    edge_labels  large_list<large_list<int32>>   beside `neighbors`; absent where edges carry no labels
    attributes   large_list<fixed_size_list<double>>  absent where nodes carry none

Read from a memory-mapped file, the graphs take no memory of their own. The vocabularies are JSON in the schema.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugraphemb.errors import IndexFormatError
from ugraphemb.files import label_from_json, label_to_json, parsed_json
from ugraphemb.graphs import GraphSet

_KEY = b"ugraphemb"


def to_table(graphs: GraphSet) -> pa.Table:
    """The graphs and their labels; ids, targets and the name are kept elsewhere."""
    nodes, rows = pa.array(graphs.node_offsets), pa.array(graphs.indptr)

    def by_node(values: npt.NDArray[np.int32]) -> pa.Array:
        return pa.LargeListArray.from_arrays(nodes, pa.LargeListArray.from_arrays(rows, pa.array(values)))

    columns = {
        "node_labels": pa.LargeListArray.from_arrays(nodes, pa.array(graphs.node_labels)),
        "neighbors": by_node(graphs.indices),
    }
    if graphs.edge_labels is not None:
        columns["edge_labels"] = by_node(graphs.edge_labels)
    if graphs.node_attributes is not None and graphs.node_attributes.shape[1]:
        flat = pa.array(np.ascontiguousarray(graphs.node_attributes).reshape(-1))
        rows_of_numbers = pa.FixedSizeListArray.from_arrays(flat, graphs.node_attributes.shape[1])
        columns["attributes"] = pa.LargeListArray.from_arrays(nodes, rows_of_numbers)
    vocabularies = {
        "node_vocabulary": [label_to_json(word, "an index", IndexFormatError) for word in graphs.node_vocabulary],
        "edge_vocabulary": [label_to_json(word, "an index", IndexFormatError) for word in graphs.edge_vocabulary],
    }
    return pa.table(columns).replace_schema_metadata({_KEY: json.dumps(vocabularies).encode()})


def from_table(table: pa.Table, source: str = "a table of graphs") -> GraphSet:
    """The graphs of a table of one chunk, without copying. All ids are empty: see `blank_ids`.

    Raises:
        IndexFormatError: A table of another form, or whose numbers do not describe graphs.
    """
    try:
        graphs = _graphs(table, source)
    except (KeyError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        if isinstance(error, IndexFormatError):
            raise
        raise IndexFormatError(f"{source}: not a table of graphs ({error})") from error
    wrong = _mistake(graphs)
    if wrong:
        raise IndexFormatError(f"{source}: {wrong}")
    return graphs


def _graphs(table: pa.Table, source: str) -> GraphSet:
    vocabularies = parsed_json((table.schema.metadata or {})[_KEY], source, IndexFormatError)
    labels, neighbors = (_chunk(table, name) for name in ("node_labels", "neighbors"))
    edge_labels = attributes = None
    columns = [neighbors]
    if "edge_labels" in table.column_names:
        columns.append(_chunk(table, "edge_labels"))
        edge_labels = _numpy(columns[-1].values.values, np.int32)
        if not columns[-1].values.offsets.equals(neighbors.values.offsets):
            raise ValueError("labels of edges at other offsets than the edges")
    if "attributes" in table.column_names:
        columns.append(_chunk(table, "attributes"))
        inner = columns[-1].values
        attributes = _numpy(inner.values, np.float64).reshape(-1, inner.type.list_size)
    if not all(column.offsets.equals(labels.offsets) for column in columns):
        raise ValueError("columns of different numbers of nodes")
    return GraphSet(
        node_offsets=_numpy(labels.offsets, np.int64),
        indptr=_numpy(neighbors.values.offsets, np.int64),
        indices=_numpy(neighbors.values.values, np.int32),
        node_labels=_numpy(labels.values, np.int32),
        node_vocabulary=_labels(vocabularies["node_vocabulary"], source),
        edge_labels=edge_labels,
        edge_vocabulary=_labels(vocabularies["edge_vocabulary"], source),
        node_attributes=attributes,
        ids=blank_ids(table.num_rows),
    )


def _labels(values: list[Any], source: str) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise ValueError("a vocabulary that is not a list")
    return tuple(label_from_json(value, source, IndexFormatError) for value in values)


def _mistake(graphs: GraphSet) -> str | None:
    """What is out of range in packed arrays, in words. The compiled core checks that edges are symmetric."""
    offsets, indptr, indices = graphs.node_offsets, graphs.indptr, graphs.indices
    nodes = len(graphs.node_labels)
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != nodes or (offsets[1:] < offsets[:-1]).any():
        return "offsets of nodes that do not fit"
    if len(indptr) != nodes + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        return "offsets of neighbors that do not fit"
    begins, ends = indptr[offsets[:-1]], indptr[offsets[1:]]
    filled = np.flatnonzero(ends > begins)
    if len(indices) and (
        indices.min() < 0 or (np.maximum.reduceat(indices, begins[filled]) >= graphs.num_nodes[filled]).any()
    ):
        return "neighbors that are not nodes of their graph"
    for labels, vocabulary in (
        (graphs.node_labels, graphs.node_vocabulary),
        (graphs.edge_labels, graphs.edge_vocabulary),
    ):
        if labels is not None and len(labels) and not 0 <= labels.min() <= labels.max() < max(1, len(vocabulary)):
            return "labels that the vocabulary does not have"
    if graphs.edge_labels is not None and len(graphs.edge_labels) != len(indices):
        return "labels of other edges"
    if graphs.node_attributes is not None and len(graphs.node_attributes) != nodes:
        return "attributes of other nodes"
    return None


def blank_ids(count: int) -> npt.NDArray[np.str_]:
    """Ids that take no memory, for graphs whose ids are in the table of rows."""
    return np.broadcast_to(np.array("", np.str_), (count,))


def _chunk(table: pa.Table, name: str) -> Any:
    column = table[name]
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _numpy(array: Any, dtype: type[np.generic]) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = array.to_numpy(zero_copy_only=True)
    if values.dtype != dtype:
        raise ValueError(f"a column of {values.dtype}; expected {np.dtype(dtype)}")
    return values
