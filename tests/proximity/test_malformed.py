"""Arrays that are no undirected simple graphs: every metric refuses them, and says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from ugraphemb import EditCosts, GraphSet, distance, pairwise
from ugraphemb.errors import GraphFormatError

SOUND = GraphSet.from_edges([3, 4], [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (3, 6)], node_labels="CNCCNCO")
LABELED = GraphSet.from_edges([3], [(0, 1), (1, 2)], edge_labels="-=")


def rows(*neighbors: list[int], edge_labels: list[int] | None = None) -> GraphSet:
    """One graph from its rows, as they are."""
    return GraphSet(
        node_offsets=np.array([0, len(neighbors)]),
        indptr=np.cumsum([0, *(len(row) for row in neighbors)]),
        indices=np.array([v for row in neighbors for v in row], np.int32),
        node_labels=np.zeros(len(neighbors), np.int32),
        node_vocabulary=("C",),
        edge_labels=None if edge_labels is None else np.array(edge_labels, np.int32),
        edge_vocabulary=() if edge_labels is None else ("-", "="),
    )


FAULTS = {
    r"edge \(0, 1\), but no edge \(1, 0\)": rows([1], [], []),
    r"edge \(1, 0\), but no edge \(0, 1\)": rows([], [0], []),
    "a self loop at node 1": rows([1], [0, 1], []),
    r"edge \(0, 1\) twice": rows([1, 1], [0, 0], []),
    "the neighbors of node 0 do not ascend": rows([2, 1], [0], [0]),
    r"edge \(0, 3\), but node ids go from 0 to 2": rows([3], [], []),
    r"edge \(0, -1\), but node ids go from 0 to 2": rows([-1], [], []),
}


@pytest.mark.parametrize("metric", ["ged", "mcs", "wl", "sp", "graphlet"])
@pytest.mark.parametrize("fault", FAULTS)
def test_every_metric_refuses_what_is_no_simple_graph(fault: str, metric: str):
    for pair in ((FAULTS[fault][0], SOUND[1]), (SOUND[1], FAULTS[fault][0])):
        with pytest.raises(GraphFormatError, match=f"graph 0: {fault}"):
            distance(*pair, metric=metric)
    with pytest.raises(GraphFormatError, match=fault):
        pairwise(FAULTS[fault], np.array([[0, 0]]), metric=metric)


@pytest.mark.parametrize("method", ["exact", "tight", "beam", "hed"])
def test_the_two_places_of_an_edge_must_carry_one_label(method: str):
    wrong = rows([1], [0], edge_labels=[0, 1])
    with pytest.raises(GraphFormatError, match=r"edge \(0, 1\) has another label than \(1, 0\)"):
        distance(wrong[0], LABELED[0], method=method, costs=EditCosts(edge_relabel=1))
    with pytest.raises(GraphFormatError, match="another label"):
        distance(LABELED[0], wrong[0], metric="mcs", edge_labels=True)


def test_the_graph_at_fault_is_named_by_its_position():
    both = GraphSet(
        node_offsets=np.array([0, 1, 3]),
        indptr=np.array([0, 0, 1, 1]),
        indices=np.array([1], np.int32),
        node_labels=np.zeros(3, np.int32),
        name="one-sided",
    )
    with pytest.raises(GraphFormatError, match=r"one-sided: graph 1: edge \(0, 1\), but no edge \(1, 0\)"):
        pairwise(both, metric="ged")


def test_offsets_that_do_not_fit_are_refused():
    values = {name: getattr(SOUND, name) for name in ("node_offsets", "indptr", "indices", "node_labels")}
    for name, wrong in {
        "node_offsets": [0, 3, 8],
        "indptr": [0, 1, 3, 4, 6, 8, 10, 13],
        "indices": [1, 0, 2, 1],
        "node_labels": [0, 0],
    }.items():
        broken = GraphSet(**{**values, name: np.array(wrong, values[name].dtype)})
        with pytest.raises(GraphFormatError):
            pairwise(broken, np.array([[0, 1]]), metric="ged")
