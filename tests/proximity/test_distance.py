"""distance(): small graphs against every map, NetworkX, and the edges of what it takes."""

from __future__ import annotations

import os
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from networkx.generators.atlas import graph_atlas_g
from proximity.oracle import brute_force, random_graph

import ugraphemb as ug
from ugraphemb import EditCosts, GraphSet, distance
from ugraphemb.errors import CostError
from ugraphemb.proximity import EditOperation, apply_edits
from ugraphemb.proximity.ged import METHODS

ATLAS = GraphSet.from_networkx([nx.Graph(graph) for graph in graph_atlas_g()[:209]])  # all graphs of up to 6 nodes
EMPTY = GraphSet.from_edges([0], [])[0]
DOT = GraphSet.from_edges([1], [])[0]
PATH = GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels="CNC")[0]
RING = GraphSet.from_edges([3], [(0, 1), (1, 2), (2, 0)], node_labels="CCO")[0]


def test_all_pairs_of_graphs_up_to_4_nodes_are_at_their_true_distance():
    small = ATLAS[ATLAS.num_nodes <= 4]
    assert len(small) == 19
    table = ug.pairwise(small, method="exact")
    assert table.proven.all()
    truth = [brute_force(small[i], small[j]) for i, j in zip(table.left, table.right, strict=True)]
    np.testing.assert_array_equal(table.value, truth)


def test_samples_of_graphs_of_5_and_6_nodes_are_at_their_true_distance():
    pairs = np.random.default_rng(0).integers(19, len(ATLAS), (250, 2))
    table = ug.pairwise(ATLAS, pairs, method="exact")
    truth = [brute_force(ATLAS[i], ATLAS[j]) for i, j in pairs]
    np.testing.assert_array_equal(table.value, truth)
    np.testing.assert_array_equal(table.lower, truth)


def test_a_graph_without_edges_is_at_its_true_distance_from_one_with_labeled_edges():
    graphs = GraphSet.from_edges(
        [5, 2, 2], [(5, 6), (7, 8)], node_labels=[*"aabaa", *"ab", *"ab"], edge_labels=["y", "x"]
    )
    for costs in (EditCosts(node_insert=2, node_delete=2, edge_relabel=0.5), EditCosts(edge_relabel=1)):
        for i, j in ((0, 1), (1, 0), (0, 2), (2, 0)):
            truth = brute_force(graphs[i], graphs[j], costs)
            for method in METHODS:
                answer = distance(graphs[i], graphs[j], method=method, costs=costs)
                assert not answer.lower > truth, method
                assert not answer.upper < truth, method
                assert not answer.proven or answer.lower == answer.upper == truth, method


def test_labeled_graphs_are_at_the_distance_that_networkx_finds():
    random = np.random.default_rng(1)
    costs = EditCosts(edge_relabel=1)
    for _ in range(25):
        a, b = (random_graph(random, int(n), 0.5, 3, edge_labels=2) for n in random.integers(1, 6, 2))
        same = {"node_match": _same_label, "edge_match": _same_label}
        truth = nx.graph_edit_distance(a.to_networkx(), b.to_networkx(), **same)
        assert distance(a, b, method="exact", costs=costs).value == truth


def _same_label(first: dict, second: dict) -> bool:
    return first.get("label") == second.get("label")


@pytest.mark.parametrize("method", METHODS)
def test_graphs_without_nodes_or_edges_have_plain_distances(method: str):
    def value(a, b) -> float:
        answer = distance(a, b, method=method)
        assert not answer.lower > answer.upper
        return answer.value

    assert value(EMPTY, EMPTY) == 0
    assert value(DOT, DOT) == 0
    assert value(EMPTY, DOT) == 1
    assert value(DOT, EMPTY) == 1
    assert value(EMPTY, RING) == 6
    bare = GraphSet.from_edges([3, 5], [])
    assert value(bare[0], bare[1]) == 2


@pytest.mark.parametrize("method", METHODS)
def test_graphs_of_4000_nodes_take_moments(method: str):
    random = np.random.default_rng(0)
    edges = [
        np.column_stack([(random.random(3999) ** 3 * np.arange(1, 4000)).astype(int), np.arange(1, 4000)]) for _ in "ab"
    ]
    a, b = (GraphSet.from_edges([4000], pairs)[0] for pairs in edges)
    answer = distance(a, b, method=method, timeout=0.5)
    assert not answer.lower > answer.upper
    assert answer.value >= 0


def test_ten_thousand_labels_are_no_hindrance():
    ring = [(i, (i + 1) % 50) for i in range(50)]
    graphs = GraphSet.from_edges(
        [50] * 200, np.concatenate([np.array(ring) + 50 * g for g in range(200)]), node_labels=range(10_000)
    )
    answer = distance(graphs[0], graphs[199])
    assert answer.upper == 50  # all nodes differ, all edges agree
    assert answer.proven


def test_labels_are_compared_across_collections_by_what_they_are():
    one = GraphSet.from_edges([2], [(0, 1)], node_labels=["C", "N"])[0]
    other = GraphSet.from_edges([2], [(0, 1)], node_labels=["A", "N"])[0]
    assert distance(one, other, method="exact").value == 1
    plain = GraphSet.from_edges([2], [(0, 1)])[0]
    assert distance(one, plain, method="exact").value == 2  # labels against none


def test_networkx_graphs_and_collections_of_one_graph_are_taken():
    ring, path = nx.cycle_graph(4), nx.path_graph(4)
    assert distance(ring, path, method="exact").value == 1
    assert distance(GraphSet.from_networkx([ring]), path, method="exact").value == 1
    with pytest.raises(ValueError, match="collection of 209 graphs where one graph is needed"):
        distance(ATLAS, path)
    with pytest.raises(TypeError, match="an int where graphs are needed"):
        distance(3, path)


def test_unknown_names_are_answered_with_those_that_exist():
    with pytest.raises(ValueError, match=r"unknown metric 'gde'; there are ged, mcs"):
        distance(PATH, RING, metric="gde")
    with pytest.raises(ValueError, match=r"unknown method 'fast'; there are exact, beam, hungarian"):
        distance(PATH, RING, method="fast")
    with pytest.raises(TypeError, match=r"metric 'ged' has no option 'width'; it has method, costs, beam_width"):
        distance(PATH, RING, width=3)
    with pytest.raises(TypeError, match=r"metric 'mcs' has no option 'method'"):
        distance(PATH, RING, metric="mcs", method="exact")
    with pytest.raises(ValueError, match="beam_width is 0"):
        distance(PATH, RING, method="beam", beam_width=0)
    with pytest.raises(ValueError, match="timeout is -1"):
        distance(PATH, RING, timeout=-1)
    with pytest.raises(ValueError, match="timeout is nan"):
        distance(PATH, RING, timeout=float("nan"))


def test_hed_gives_a_lower_bound_and_says_so():
    answer = distance(PATH, RING, method="hed")
    assert answer.value == answer.lower
    assert np.isnan(answer.upper)
    assert answer.mapping is None
    with pytest.raises(ValueError, match="no edits"):
        answer.edit_path()


def test_the_edit_script_reads_as_one_would_say_it():
    script = [str(step) for step in distance(PATH, RING, method="exact").edit_path()]
    assert len(script) == 2
    assert script[0].endswith("N → O (cost 1)")
    assert script[1].startswith("insert edge")
    assert str(EditOperation("delete node", (3,), old="C", cost=1)) == "delete node 3 C (cost 1)"
    assert str(EditOperation("insert edge", (3, 4), cost=0.5)) == "insert edge 3–4 (cost 0.5)"


def test_edits_that_do_not_fit_are_refused():
    for step in (
        EditOperation("delete node", (0,), old="C"),  # it has an edge
        EditOperation("delete edge", (0, 2)),
        EditOperation("insert edge", (0, 1)),
        EditOperation("insert edge", (0, 9)),
        EditOperation("insert node", (0,), new="C"),
        EditOperation("relabel node", (0,), "N", "O"),
    ):
        with pytest.raises(ValueError, match="does not fit"):
            apply_edits([step], PATH)


def test_more_time_never_loosens_bounds_and_no_time_gives_some():
    random = np.random.default_rng(5)
    a, b = (random_graph(random, 40, 0.3, 2) for _ in "ab")
    rushed = distance(a, b, method="exact", timeout=0)
    later = distance(a, b, method="exact", timeout=0.3)
    assert rushed.lower <= later.lower <= later.upper <= rushed.upper
    assert not rushed.proven


def test_common_subgraphs_are_similarities_with_a_map():
    answer = distance(PATH, RING, metric="mcs")
    assert answer.kind == "similarity"
    assert (answer.value, answer.proven) == (1, True)  # two C of the path are no neighbors, those of the ring are
    assert (answer.mapping >= 0).sum() == 1
    halves = GraphSet.from_edges([4, 4], [(0, 1), (2, 3), (4, 5), (6, 7)])
    assert distance(halves[0], halves[1], metric="mcs").value == 4
    assert distance(halves[0], halves[1], metric="mcs", connected=True).value == 2
    with pytest.raises(ValueError, match="no edits"):
        answer.edit_path()


def test_common_subgraphs_mind_edge_labels_when_asked():
    single = GraphSet.from_edges([2], [(0, 1)], edge_labels=["-"])[0]
    double = GraphSet.from_edges([2], [(0, 1)], edge_labels=["="])[0]
    assert distance(single, double, metric="mcs").value == 2
    assert distance(single, double, metric="mcs", edge_labels=True).value == 1


def test_costs_must_be_costs():
    with pytest.raises(TypeError, match="costs must be EditCosts, not dict"):
        distance(PATH, RING, costs={"node_insert": 2})
    with pytest.raises(CostError, match="node_insert is -1"):
        EditCosts(node_insert=-1)


def test_both_builds_of_the_core_give_the_same_answers():
    script = (
        "import numpy as np, ugraphemb as ug\n"
        "graphs = ug.load_dataset('atlas')\n"
        "pairs = np.random.default_rng(0).integers(0, len(graphs), (300, 2))\n"
        "for method in ('exact', 'tight', 'paper', 'branch', 'hed', 'refine'):\n"
        "    table = ug.pairwise(graphs, pairs, method=method)\n"
        "    print(method, table.lower.tolist(), table.upper.tolist())\n"
        "print(ug.pairwise(graphs, pairs, metric='mcs').value.tolist())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "UGRAPHEMB_CPU": cpu},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for cpu in ("baseline", "")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 7
