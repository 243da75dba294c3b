"""Packed graphs in databases: they are read as they were written, and damage is an error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from laws.strategies import graph_sets
from search.small_index import graphs, model

from ugraphemb import GraphIndex
from ugraphemb.errors import IndexFormatError
from ugraphemb.search.engines import is_url, shown, values
from ugraphemb.search.engines.records import from_records, to_records


@given(graph_sets())
def test_a_record_holds_its_graph(graphs):
    records = to_records(graphs)
    ids = [str(i) for i in range(len(graphs))]
    again = from_records(records, ids, "test")
    bare = replace(
        graphs, ids=np.array(ids, np.str_) if ids else np.empty(0, "<U1"), targets=None, name="", metadata={}
    )
    if not len(again.edge_vocabulary) and not len(again.indices):  # no edge shows that edges would have labels
        bare = replace(bare, edge_labels=again.edge_labels, edge_vocabulary=again.edge_vocabulary)
    if not len(graphs):
        assert len(again) == 0
        return
    assert again == bare
    assert to_records(again) == records


def test_every_flipped_bit_is_noticed():
    record = to_records(graphs()[[3]])[0]
    for place in range(len(record)):
        damaged = bytearray(record)
        damaged[place] ^= 1 << (place % 8)
        with pytest.raises(IndexFormatError, match="graph 'it' is damaged"):
            from_records([bytes(damaged)], ["it"], "test")
    for end in (0, 5, len(record) - 1):
        with pytest.raises(IndexFormatError, match="damaged"):
            from_records([record[:end]], ["it"], "test")


@pytest.mark.parametrize("column", [
    pa.array([1, None, 3]), pa.array([1.5, float("nan"), float("-inf")]), pa.array([True, None, False]),
    pa.array(["a", "", None]), pa.array([b"\0\xff", None, b""]), pa.array([0, 1, None], pa.timestamp("us", "UTC")),
    pa.array([18_000, None, -3], pa.int32()).cast(pa.date32()), pa.array(["x", "y", "x"]).dictionary_encode(),
    pa.array([[1, 2], [], None], pa.list_(pa.int64())),
])  # fmt: skip
def test_metadata_as_json_come_back_with_their_types(column):
    objects = values.to_objects(pa.table({"it": column}))
    again = values.to_table(["a", "b", "c"], objects, pa.schema([pa.field("it", column.type)]))
    assert again["it"].type == column.type
    assert repr(again["it"].to_pylist()) == repr(column.to_pylist())


def test_urls_are_told_from_folders_and_shown_without_passwords():
    assert is_url("milvus://h/c")
    assert is_url("postgresql:/h/d/t")
    assert not is_url("index/")
    assert not is_url("milvus")
    assert shown("postgresql://me:secret@h:5/d/t?x=1") == "postgresql://me:***@h:5/d/t?x=1"
    with pytest.raises(ValueError, match="'embedded', a URL"):
        GraphIndex(model(), engine="mysql://h/c")
