"""A GraphSet as an Arrow table, one row a graph, whose buffers are the packed arrays themselves.

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
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.formats.text import label
from ugraphemb.graphs.label_json import label_to_json

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


def from_table(table: pa.Table) -> GraphSet:
    """The graphs of a table of one chunk, without copying. All ids are empty: see `blank_ids`."""
    vocabularies = json.loads(table.schema.metadata[_KEY])
    labels, neighbors = (_chunk(table, name) for name in ("node_labels", "neighbors"))
    edge_labels = _chunk(table, "edge_labels") if "edge_labels" in table.column_names else None
    attributes = None
    if "attributes" in table.column_names:
        inner = _chunk(table, "attributes").values
        attributes = _numpy(inner.values).reshape(-1, inner.type.list_size)
    return GraphSet(
        node_offsets=_numpy(labels.offsets),
        indptr=_numpy(neighbors.values.offsets),
        indices=_numpy(neighbors.values.values),
        node_labels=_numpy(labels.values),
        node_vocabulary=tuple(map(label, vocabularies["node_vocabulary"])),
        edge_labels=None if edge_labels is None else _numpy(edge_labels.values.values),
        edge_vocabulary=tuple(map(label, vocabularies["edge_vocabulary"])),
        node_attributes=attributes,
        ids=blank_ids(table.num_rows),
    )


def blank_ids(count: int) -> npt.NDArray[np.str_]:
    """Ids that take no memory, for graphs whose ids are in the table of rows."""
    return np.broadcast_to(np.array("", np.str_), (count,))


def _chunk(table: pa.Table, name: str) -> Any:
    column = table[name]
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _numpy(array: Any) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = array.to_numpy(zero_copy_only=True)
    return values
