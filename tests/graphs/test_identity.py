"""Equal collections have equal fingerprints, and labels of every type keep their values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import graph_sets

from ugraphemb import GraphSet, pairwise
from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs import concatenated
from ugraphemb.graphs.identity import fingerprint_of_release_1

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def labeled(labels: Any) -> GraphSet:
    return GraphSet.from_edges([len(labels)], [], node_labels=labels)


@pytest.mark.parametrize("kind", INTEGERS)
@given(data=st.data())
def test_integers_of_every_type_keep_their_values(kind: type[np.integer[Any]], data: st.DataObject):
    limits = np.iinfo(kind)
    near = st.integers(limits.min, limits.max) | st.sampled_from(
        [limits.min, limits.min + 1, limits.max - 1, limits.max, limits.min // 2, limits.max // 2]
    )
    values = data.draw(st.lists(near, min_size=1, max_size=8))
    graphs = labeled(np.array(values, kind))
    assert graphs[0].node_labels == values
    assert all(type(label) is int for label in graphs.node_vocabulary)
    assert graphs == labeled(values)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_over_their_whole_range(kind: type[np.integer[Any]]):
    limits = np.iinfo(kind)
    values = [limits.min, limits.min // 2, 0, limits.max // 2, limits.max]
    dense = (
        np.arange(limits.min, limits.max + 1) if limits.bits < 32 else np.arange(limits.max - 9, limits.max, dtype=kind)
    )
    for labels in (np.array(values, kind), dense.astype(kind)):
        assert labeled(labels)[0].node_labels == labels.tolist()


def test_other_types_of_arrays_keep_their_values():
    floats = [-0.5, math.inf, -math.inf, 1e-310, 0.1]
    for kind in (np.float64, np.float32, np.float16):
        assert labeled(np.array(floats).astype(kind))[0].node_labels == np.array(floats).astype(kind).tolist()
    assert labeled(np.array([True, False, True]))[0].node_labels == [True, False, True]
    assert labeled(np.array(["b", "", "a"]))[0].node_labels == ["b", "", "a"]
    assert len(labeled(np.array([math.nan, 1.0, math.nan])).node_vocabulary) == 2
    assert len(labeled([math.nan, 1.0, float("nan"), np.float64("nan")]).node_vocabulary) == 2


def test_labels_within_tuples_are_told_apart():
    assert len(labeled([(1,), (1.0,), (True,), ("1",), (np.int64(1),)]).node_vocabulary) >= 4
    assert labeled([(1,), (2,)]) != labeled([(1.0,), (2,)])
    nested: Any = "deep"
    for _ in range(900):
        nested = (nested,)
    with pytest.raises(GraphFormatError, match="nested"):
        labeled([nested])


def shuffled(graphs: GraphSet, draw: Any) -> GraphSet:
    """The same graphs; the vocabularies are in another order and have entries that nothing carries."""
    changes: dict[str, Any] = {}
    for what in ("node", "edge"):
        codes, vocabulary = getattr(graphs, f"{what}_labels"), getattr(graphs, f"{what}_vocabulary")
        if codes is None or not vocabulary:
            continue
        words = [*vocabulary, "carried by nothing"]
        order = draw(st.permutations(range(len(words))))
        place = np.empty(len(words), np.int32)
        place[order] = np.arange(len(words))
        changes[f"{what}_labels"], changes[f"{what}_vocabulary"] = place[codes], tuple(words[i] for i in order)
    return replace(graphs, **changes)


@given(graph_sets(), st.data())
def test_equal_collections_have_equal_fingerprints(graphs: GraphSet, data: st.DataObject):
    other = shuffled(graphs, data.draw)
    assert other == graphs
    assert other.fingerprint == graphs.fingerprint


@given(graph_sets(max_graphs=2, max_nodes=3), graph_sets(max_graphs=2, max_nodes=3))
def test_fingerprints_agree_with_equality(left: GraphSet, right: GraphSet):
    right = replace(right, ids=None, targets=None)
    left = replace(left, ids=None, targets=None)
    assert (left == right) == (left.fingerprint == right.fingerprint)


@given(graph_sets(min_graphs=1), st.data())
def test_a_part_has_the_fingerprint_of_the_same_graphs_alone(graphs: GraphSet, data: st.DataObject):
    chosen = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, unique=True))
    part = graphs[chosen]
    again = concatenated([graphs[[i]] for i in chosen])
    assert part.fingerprint == again.fingerprint


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"node_labels": [0.0, 1.0]}, {"node_labels": [-0.0, 1.0]}),
        ({"node_labels": [math.nan, 1.0]}, {"node_labels": [float("nan"), 1.0]}),
        ({"node_attributes": [[0.0], [math.nan]]}, {"node_attributes": [[-0.0], [-math.nan]]}),
    ],
)
def test_zeros_and_nans_do_not_change_it(left: dict[str, Any], right: dict[str, Any]):
    a, b = (GraphSet.from_edges([2], [(0, 1)], **values) for values in (left, right))
    assert a == b
    assert a.fingerprint == b.fingerprint


def test_different_collections_have_different_fingerprints():
    sets = [
        labeled(labels)
        for labels in ([1, 2], [2, 1], [1, 1], ["1", "2"], [1.0, 2.0], [(1,), (2,)], [(1, 2), ()], [True, 2], [None, 2])
    ]
    sets += [GraphSet.from_edges([2], []), GraphSet.from_edges([2], [(0, 1)]), GraphSet.from_edges([1, 1], [])]
    sets += [GraphSet.from_edges([2], [(0, 1)], edge_labels=[label]) for label in (0, "0", None)]
    sets += [GraphSet.from_edges([2], [], node_attributes=[[0], [value]]) for value in (0, 1)]
    assert len({graphs.fingerprint for graphs in sets}) == len(sets)


@given(graph_sets(min_graphs=2, max_nodes=4, node_labels=st.sampled_from("ab"), edge_labels=None), st.data())
def test_a_table_of_one_is_accepted_by_the_other(graphs: GraphSet, data: st.DataObject):
    other = shuffled(graphs, data.draw)
    table = pairwise(graphs, method="hungarian", threads=1)
    table.check(other)
    old = replace(table, fingerprints=(fingerprint_of_release_1(graphs),))
    old.check(graphs)
