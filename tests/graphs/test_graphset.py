"""GraphSet: graphs are returned as they were given, also after slicing and concatenation."""

from __future__ import annotations

import dataclasses
import pickle
import warnings
from typing import Any
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import graph_sets

from ugraphemb import Graph, GraphSet
from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import concatenated, packing


def contents(graph: Graph) -> tuple[Any, ...]:
    """Everything about one graph, in plain Python."""
    attributes = graph.node_attributes
    return (
        graph.id,
        graph.target,
        graph.edges.tolist(),
        [(type(label), label) for label in graph.node_labels],
        graph.edge_labels,
        None if attributes is None else attributes.tolist(),
    )


def triangle_and_edge(**options: Any) -> GraphSet:
    return GraphSet.from_edges([3, 2], [(0, 1), (1, 2), (2, 0), (3, 4)], **options)


@st.composite
def rough_edges(draw: Any) -> tuple[int, list[tuple[int, int]], list[str]]:
    """Edges in any order and direction, with loops, repeats and labels that disagree."""
    nodes = draw(st.integers(1, 5))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=12))
    return nodes, edges, draw(st.lists(st.sampled_from("xyz"), min_size=len(edges), max_size=len(edges)))


@given(rough_edges())
def test_edges_become_the_simple_graph_that_a_dictionary_gives(rough: tuple[int, list[tuple[int, int]], list[str]]):
    nodes, edges, labels = rough
    truth: dict[tuple[int, int], str] = {}
    for (u, v), label in zip(edges, labels, strict=True):
        if u != v:
            truth.setdefault((min(u, v), max(u, v)), label)  # the first label of an edge wins
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = GraphSet.from_edges([nodes], edges, edge_labels=labels)[0]
    assert graph.edges.tolist() == [list(edge) for edge in sorted(truth)]
    assert graph.edge_labels == [truth[edge] for edge in sorted(truth)]
    degrees = [sum(node in edge for edge in truth) for node in range(nodes)]
    assert [len(graph.neighbors(node)) for node in range(nodes)] == degrees


@given(rough_edges())
def test_few_edges_are_sorted_and_many_are_counted_with_the_same_result(
    rough: tuple[int, list[tuple[int, int]], list[str]],
):
    nodes, edges, labels = rough
    codes = np.array(["xyz".index(label) for label in labels], np.int32)
    pairs, offsets = np.array(edges, np.int64).reshape(-1, 2), np.array([0, nodes])
    for given_codes in (codes, None):
        few = packing.adjacency(pairs, offsets, given_codes, "here", False)
        with mock.patch.object(packing, "_FEW_ENTRIES", -1):
            many = packing.adjacency(pairs, offsets, given_codes, "here", False)
        for left, right in zip(few[:3], many[:3], strict=True):
            assert left.tolist() == right.tolist()
            assert left.dtype == right.dtype
        assert few.dropped == many.dropped


@given(rough_edges())
def test_strict_refuses_exactly_what_would_be_dropped(rough: tuple[int, list[tuple[int, int]], list[str]]):
    nodes, edges, labels = rough
    first: dict[tuple[int, int], str] = {}
    agree = all(first.setdefault((min(e), max(e)), label) == label for e, label in zip(edges, labels, strict=True))
    clean = agree and len(set(edges)) == len(edges) and all(u != v for u, v in edges)
    if clean:
        GraphSet.from_edges([nodes], edges, edge_labels=labels, strict=True)
    else:
        with pytest.raises(GraphFormatError, match=r"loop|repeated|second label"):
            GraphSet.from_edges([nodes], edges, edge_labels=labels, strict=True)


def test_what_is_dropped_is_counted_and_told_once():
    edges = [(0, 0), (0, 1), (0, 1), (1, 0), (2, 2)]
    with pytest.warns(GraphWarning, match="dropped 2 self loops and 1 repeated edge") as record:
        graphs = GraphSet.from_edges([3], edges, source="here")
    assert len(record) == 1
    assert graphs.num_edges.tolist() == [1]


@given(graph_sets(), st.data())
def test_any_choice_of_graphs_keeps_each_graph_as_it_was(graphs: GraphSet, data: st.DataObject):
    each = [contents(graph) for graph in graphs]
    positions = st.lists(st.integers(-len(graphs), len(graphs) - 1), max_size=5) if len(graphs) else st.just([])
    chosen = data.draw(positions)
    assert [contents(graph) for graph in graphs[chosen]] == [each[i] for i in chosen]
    cut = data.draw(st.slices(len(graphs)))
    assert [contents(graph) for graph in graphs[cut]] == each[cut]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(graphs), max_size=len(graphs))), bool)
    assert [contents(graph) for graph in graphs[mask]] == [
        entry for entry, kept in zip(each, mask, strict=True) if kept
    ]


@given(graph_sets(attributes=False, targets=None), graph_sets(attributes=False, targets=None))
def test_putting_together_merges_vocabularies_and_keeps_graphs(left: GraphSet, right: GraphSet):
    both = left + right
    assert len(both) == len(left) + len(right)
    for graph, old in zip(both, [*left, *right], strict=True):
        assert graph.edges.tolist() == old.edges.tolist()
        assert [(type(label), label) for label in graph.node_labels] == [(type(x), x) for x in old.node_labels]
        if old.edge_labels is not None:
            assert graph.edge_labels == old.edge_labels
    assert len(set(both.ids)) == len(both)
    assert len({(type(label), label) for label in both.node_vocabulary}) == len(both.node_vocabulary)


@given(graph_sets())
def test_cutting_and_putting_together_gives_the_same_collection(graphs: GraphSet):
    for cut in range(len(graphs) + 1):
        assert graphs[:cut] + graphs[cut:] == graphs
    assert concatenated([graphs[[i]] for i in range(len(graphs))] or [graphs]) == graphs


@given(graph_sets())
def test_a_pickle_comes_back_equal_and_immutable(graphs: GraphSet):
    again = pickle.loads(pickle.dumps(graphs))
    assert again == graphs
    assert again.fingerprint == graphs.fingerprint
    assert again.name == graphs.name
    arrays = [value for value in vars(again).values() if isinstance(value, np.ndarray)]
    assert len(arrays) >= 5
    assert not any(array.flags.writeable for array in arrays)


def test_nothing_can_be_changed():
    graphs = triangle_and_edge(node_labels="aabbb", targets=[1, 2])
    for array in (graphs.indices, graphs.node_labels, graphs.targets, graphs.ids, graphs.num_nodes, graphs.connected):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        graphs.name = "other"  # type: ignore[misc]


def test_the_callers_arrays_stay_theirs():
    targets, attributes = np.array([1, 2]), np.zeros((5, 1))
    graphs = triangle_and_edge(targets=targets, node_attributes=attributes)
    targets[0], attributes[0] = 7, 7.0
    assert graphs.targets.tolist() == [1, 2]
    assert graphs.node_attributes.sum() == 0


def test_equality_looks_at_everything_but_name_and_order_of_the_vocabulary():
    graphs = triangle_and_edge(node_labels="aabbc", targets=[0, 1], ids=["x", "y"], name="one")
    turned = dataclasses.replace(
        graphs, node_labels=2 - graphs.node_labels, node_vocabulary=graphs.node_vocabulary[::-1], name="two"
    )
    assert graphs == turned
    for change in (
        {"node_labels": "aabba"}, {"node_labels": None}, {"targets": [0, 2]}, {"targets": None},
        {"ids": ["x", "z"]}, {"node_attributes": np.zeros(5)}, {"edge_labels": "ssss"},
    ):  # fmt: skip
        options = {"node_labels": "aabbc", "targets": [0, 1], "ids": ["x", "y"], **change}
        assert graphs != triangle_and_edge(**options)
    assert graphs != GraphSet.from_edges([2, 3], [(0, 1), (2, 3)])
    assert graphs != "graphs"


def test_labels_that_python_calls_equal_stay_apart():
    graphs = GraphSet.from_edges([4], [], node_labels=[1, True, 1.0, "1"])
    assert [type(label) for label in graphs[0].node_labels] == [int, bool, float, str]
    assert GraphSet.from_edges([1], [], node_labels=[1]) != GraphSet.from_edges([1], [], node_labels=[True])


def test_numpy_labels_are_the_same_as_pythons():
    listed = [3, 1, 3, -2]
    for given_labels in (
        np.array(listed),
        np.array(listed, np.int8),
        [np.int64(x) for x in listed],
        np.array(listed, object),
    ):
        graphs = GraphSet.from_edges([4], [], node_labels=given_labels)
        assert graphs == GraphSet.from_edges([4], [], node_labels=listed)
        assert {type(label) for label in graphs.node_vocabulary} == {int}
    far = [10**12, 0, 10**12, 5]
    assert GraphSet.from_edges([4], [], node_labels=np.array(far))[0].node_labels == far


@given(graph_sets(max_nodes=5, node_labels=None, edge_labels=None))
def test_connected_agrees_with_networkx(graphs: GraphSet):
    def connected(graph: Graph) -> bool:
        other = nx.Graph()
        other.add_nodes_from(range(graph.num_nodes))
        other.add_edges_from(graph.edges.tolist())
        return graph.num_nodes == 0 or nx.is_connected(other)

    assert graphs.connected.tolist() == [connected(graph) for graph in graphs]


@given(graph_sets())
def test_the_fingerprint_ignores_ids_and_targets_and_sees_the_order(graphs: GraphSet):
    renamed = dataclasses.replace(graphs, ids=np.array([f"g{i}" for i in range(len(graphs))], str), targets=None)
    assert renamed.fingerprint == graphs.fingerprint
    if len(graphs) > 1 and graphs.num_nodes[0] != graphs.num_nodes[-1]:
        assert graphs[::-1].fingerprint != graphs.fingerprint


@pytest.mark.parametrize(
    ("sizes", "edges", "options", "message"),
    [
        ([2, -1], [], {}, "graph 1 has -1 nodes"),
        ([2.5], [], {}, "whole number"),
        ([2], [(0, 2)], {}, r"edge 0 is \(0, 2\), but node ids go from 0 to 1"),
        ([2], [(0, 1), (-1, 0)], {}, r"edge 1 is \(-1, 0\)"),
        ([], [(0, 0)], {}, "there are no nodes"),
        ([2, 2], [(0, 1), (1, 2)], {}, r"edge 1 is \(1, 2\), which joins graph 0 and graph 1"),
        ([2], [(0, 1, 1)], {}, r"shape \(1, 3\), expected \(edges, 2\)"),
        ([2], [[0, 1], [1]], {}, "pairs of node ids"),
        ([2], [(0.5, 1.0)], {}, "whole numbers"),
        ([2], [], {"node_labels": "abc"}, "node labels: 3 of them, expected 2"),
        ([2], [(0, 1)], {"edge_labels": []}, "edge labels: 0 of them, expected 1"),
        ([1], [], {"node_labels": [[]]}, "hashable"),
        ([2], [], {"node_attributes": np.zeros((3, 1))}, r"shape \(3, 1\), expected \(2, width\)"),
        ([2], [], {"node_attributes": ["a", "b"]}, "must be numbers"),
        ([2], [], {"targets": [1, 2]}, r"targets of shape \(2,\), expected \(1,\)"),
        ([1, 1], [], {"ids": ["a", "a"]}, "'a' stands for more than one graph"),
        ([1, 1], [], {"ids": ["a"]}, "1 ids for 2 graphs"),
    ],
)
def test_bad_input_is_refused_with_what_was_found(sizes, edges, options, message):
    with pytest.raises(GraphFormatError, match=message):
        GraphSet.from_edges(sizes, edges, **options)


@pytest.mark.parametrize(
    ("key", "error"),
    [(2, IndexError), (-3, IndexError), ([0, 2], IndexError), ([[0]], TypeError), ([0.5], TypeError),
     (np.array([True]), IndexError)],
)  # fmt: skip
def test_positions_that_are_not_there_are_refused(key, error):
    with pytest.raises(error):
        triangle_and_edge()[key]


def test_attributes_of_other_widths_do_not_go_together():
    wide, narrow = (GraphSet.from_edges([1], [], node_attributes=np.zeros((1, width))) for width in (2, 1))
    with pytest.raises(GraphFormatError, match="widths"):
        wide + narrow


def test_the_summary_says_what_is_there():
    text = triangle_and_edge(node_labels="aabbc", targets=[0, 1], name="two graphs").summary()
    assert text.startswith("two graphs\n")
    for line in ("graphs       2", "nodes        2 to 3, mean 2.50, std 0.50", "node labels  3", "connected    all"):
        assert line in text.splitlines()
    assert GraphSet.from_edges([], []).summary() == "graphs       0"
