"""Cheap lower bounds, on graphs small enough to count by hand."""

from __future__ import annotations

import numpy as np

from ugraphemb import EditCosts, GraphSet
from ugraphemb.proximity.filters import Filters, Profiles

# A path a-b-c, a star of four with center a, and an empty graph.
GRAPHS = GraphSet.from_edges(
    [3, 4, 0], [(0, 1), (1, 2), (3, 4), (3, 5), (3, 6)], node_labels=["a", "b", "c", "a", "a", "a", "b"]
)
EVERY = np.arange(3)


def test_bounds_are_what_one_counts_by_hand():
    filters = Filters(GRAPHS[:1], Profiles(GRAPHS), EditCosts())
    assert filters.size(EVERY).tolist() == [0, 1 + 1, 3 + 2]
    # of a, b, c only a and b find partners among a, a, a, b; the star has two nodes more than that
    assert filters.labels(EVERY).tolist() == [0, 2 + 1, 3 + 2]
    # degrees 2 1 1 0 become 3 1 1 1: one edge
    assert filters.degrees(EVERY).tolist() == [0, 2 + 1, 3 + 2]


def test_degrees_see_what_labels_and_counts_do_not():
    path, star = [(0, 1), (1, 2), (2, 3)], [(4, 5), (4, 6), (4, 7)]
    graphs = GraphSet.from_edges([4, 4], path + star)
    filters = Filters(graphs[:1], Profiles(graphs), EditCosts())
    assert filters.labels(EVERY[:2]).tolist() == [0, 0]
    # degrees 2 2 1 1 become 3 1 1 1: one edge goes, one comes
    assert filters.degrees(EVERY[:2]).tolist() == [0, 2]


def test_bounds_go_by_the_costs():
    costs = EditCosts(node_insert=5, node_delete=7, node_relabel=2, edge_insert=0.5, edge_delete=0.25)
    assert Filters(GRAPHS[:1], Profiles(GRAPHS), costs).labels(EVERY).tolist() == [0, 2 + 5 + 0.5, 3 * 7 + 2 * 0.25]
    back = Filters(GRAPHS[1:2], Profiles(GRAPHS), costs)
    assert back.labels(EVERY).tolist() == [2 + 7 + 0.25, 0, 4 * 7 + 3 * 0.25]


def test_labels_of_other_kinds_are_other_labels():
    numbers = GraphSet.from_edges([1, 1, 1], [], node_labels=[1, True, 1.0])
    filters = Filters(numbers[:1], Profiles(numbers), EditCosts())
    assert filters.labels(EVERY).tolist() == [0, 1, 1]
    bare = GraphSet.from_edges([2], [])
    assert Filters(bare, Profiles(GRAPHS), EditCosts()).labels(EVERY).tolist() == [3 + 2, 4 + 3, 2]
    assert Filters(GRAPHS[:1], Profiles(bare), EditCosts()).labels(EVERY[:1]).tolist() == [3 + 2]
