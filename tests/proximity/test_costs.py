"""EditCosts: what is refused, what is understood, and what it does to distances."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import numpy as np
import pytest
from proximity.oracle import brute_force, cost_of, random_graph

from ugraphemb import EditCosts, GraphSet, _core, distance, pairwise
from ugraphemb.errors import CostError
from ugraphemb.proximity.ged import METHODS

ATOMS = GraphSet.from_edges([2, 2, 1], [(0, 1), (2, 3)], node_labels=["C", "N", "C", "O", "H"], edge_labels=["-", "="])


def exact(a, b, **costs) -> float:
    return distance(a, b, method="exact", costs=EditCosts(**costs)).value


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), -0.001, 1e308, 1.1e6, 1e-7, 5e-324])
@pytest.mark.parametrize(
    "name", ["node_insert", "node_delete", "node_relabel", "edge_insert", "edge_delete", "edge_relabel"]
)
def test_costs_that_are_no_costs_are_refused_by_name(name: str, bad: float):
    with pytest.raises(CostError, match=rf"^{name} is {re.escape(str(float(bad)))}; a cost is 0 or from 1e-6 to 1e6$"):
        EditCosts(**{name: bad})


@pytest.mark.parametrize("bad", [1e308, 1e-300])
def test_costs_out_of_range_are_refused_wherever_they_come_from(bad: float):
    with pytest.raises(CostError, match=r"edge_relabel\[1, 0\] is .*; a cost is 0 or from 1e-6 to 1e6"):
        EditCosts(edge_relabel=[[0, 1], [bad, 0]])
    for relabel in (lambda a, b: bad, {("C", "N"): bad, ("C", "O"): bad, ("N", "O"): bad}):
        with pytest.raises(CostError, match="a cost is 0 or from 1e-6 to 1e6"):
            exact(ATOMS[0], ATOMS[1], node_relabel=relabel)
    with pytest.raises(ValueError, match="0 or from 1e-6 to 1e6"):
        _core.Costs(1, 1, 1, 1, bad, 0, None, None)


@pytest.mark.parametrize("method", METHODS)
def test_costs_at_the_ends_of_their_range_are_bounded_by_every_method(method: str):
    random = np.random.default_rng(8)
    for _ in range(30):
        a, b = (random_graph(random, int(n), 0.5, 3, edge_labels=2) for n in random.integers(0, 6, 2))
        costs = EditCosts(*random.choice([0, _core.least_cost, 1, 999_999.9, _core.most_cost], 6).tolist())
        truth = brute_force(a, b, costs)
        answer = distance(a, b, method=method, costs=costs)
        rounding = 1e-12 * cost_of(a, b, np.full(a.num_nodes, -1, np.int32), costs)
        assert not answer.lower > truth + rounding
        assert not answer.upper < truth - rounding
        assert not answer.proven or answer.value == pytest.approx(truth, abs=rounding)


def test_wrong_kinds_and_shapes_are_refused():
    with pytest.raises(CostError, match="node_insert is 'one'; it must be a number"):
        EditCosts(node_insert="one")
    with pytest.raises(
        CostError, match=r"node_relabel is an array of shape \(2, 3\); a matrix of costs must be square"
    ):
        EditCosts(node_relabel=np.ones((2, 3)))
    with pytest.raises(CostError, match=r"edge_relabel\[1, 0\] is -2"):
        EditCosts(edge_relabel=[[0, 1], [-2, 0]])
    with pytest.raises(CostError, match="node_relabel is 'x'; it must be a number, a function"):
        EditCosts(node_relabel="x")


def test_a_matrix_must_fit_the_vocabulary():
    with pytest.raises(CostError, match=r"matrix of shape \(3, 3\), but there are 4 labels"):
        exact(ATOMS[0], ATOMS[1], node_relabel=np.ones((3, 3)))
    with pytest.raises(CostError, match=r"edge_relabel is a matrix of shape \(1, 1\), but there are 2 labels"):
        exact(ATOMS[0], ATOMS[1], edge_relabel=[[0]])


def test_functions_and_mappings_must_answer_for_every_pair_of_labels_that_occurs():
    with pytest.raises(CostError, match=r"node_relabel of 'N' to 'O' is -1\.0"):
        exact(ATOMS[0], ATOMS[1], node_relabel=lambda a, b: -1 if (a, b) == ("N", "O") else 0)
    with pytest.raises(CostError, match=r"node_relabel of 'C' to 'C' is None; it must be a number"):
        exact(ATOMS[0], ATOMS[1], node_relabel=lambda a, b: None)
    with pytest.raises(CostError, match=r"node_relabel has no entry for \('C', 'O'\)"):
        exact(ATOMS[0], ATOMS[1], node_relabel={("O", "N"): 0.5})
    many = GraphSet.from_edges([6000], [], node_labels=range(6000))
    with pytest.raises(CostError, match="at most 5000"):
        distance(many, many, costs=EditCosts(node_relabel=lambda a, b: 1.0))


def test_number_function_mapping_and_matrix_say_the_same_in_four_ways():
    near = {("N", "O"): 0.25}
    order = ATOMS.node_vocabulary
    matrix = [[0 if a == b else 0.25 if {a, b} == {"N", "O"} else 1 for b in order] for a in order]
    ways = [
        lambda a, b: 0.0 if a == b else 0.25 if {a, b} == {"N", "O"} else 1.0,
        defaultdict(lambda: 1.0, near),
        {**near, ("C", "O"): 1, ("C", "N"): 1},
        np.array(matrix),
    ]
    assert [exact(ATOMS[0], ATOMS[1], node_relabel=way, edge_relabel=0) for way in ways] == [0.25] * 4
    assert exact(ATOMS[0], ATOMS[1], edge_relabel=0) == 1


def test_a_matrix_of_two_collections_has_the_labels_of_the_left_one_first():
    left = GraphSet.from_edges([1], [], node_labels=["O"])
    one = GraphSet.from_edges([1], [], node_labels=["C"])
    assert exact(left, one, node_relabel=[[0, 0.25], [2, 0]]) == 0.25
    assert exact(one, left, node_relabel=[[0, 0.25], [2, 0]]) == 0.25


def test_edge_labels_count_where_the_graphs_have_them_unless_they_are_free():
    assert exact(ATOMS[0], ATOMS[1], node_relabel=0) == 1
    assert exact(ATOMS[0], ATOMS[1], node_relabel=0, edge_relabel=0) == 0
    bare = GraphSet.from_edges([2, 2], [(0, 1), (2, 3)])
    assert exact(bare[0], bare[1]) == 0


def test_benzene_and_cyclohexane_differ_in_six_bonds():
    pytest.importorskip("rdkit")
    rings = GraphSet.from_smiles(["c1ccccc1", "C1CCCCC1"])
    for method in ("exact", "tight", "beam", "branch", "paper"):
        assert distance(rings[0], rings[1], method=method).value == 6
    assert pairwise(rings, threads=1).value.tolist() == [6]
    assert distance(*rings, costs=EditCosts(edge_relabel=0)).value == 0


def test_the_paper_preset_has_no_edge_labels():
    pytest.importorskip("rdkit")
    from ugraphemb import UGraphEmb

    rings = GraphSet.from_smiles(["c1ccccc1", "C1CCCCC1", "CCO", "CCN", "CC=O"])
    model = UGraphEmb(preset="paper", layers=(4,), dimension=4, steps=2, batch=4, threads=1, progress=False).fit(rings)
    assert model.about_["distance_settings"]["costs"]["edge_relabel"] == 0
    model = UGraphEmb(layers=(4,), settings={"scales": None}, dimension=4, steps=2, batch=4, threads=1, progress=False)
    assert model.fit(rings).about_["distance_settings"]["costs"]["edge_relabel"] == 1
    assert exact(ATOMS[0], ATOMS[1], node_relabel=0, edge_relabel=0.75) == 0.75
    assert exact(ATOMS[0], ATOMS[1], node_relabel=0, edge_relabel=5) == 2  # deleted and inserted instead
    assert exact(ATOMS[0], ATOMS[1], node_relabel=0, edge_relabel={("-", "="): 0.5}) == 0.5


def test_deleting_and_inserting_beats_a_dear_relabeling():
    one = GraphSet.from_edges([1, 1], [], node_labels=["a", "b"])
    assert exact(one[0], one[1], node_relabel=9) == 2
    assert exact(one[0], one[1], node_relabel=9, node_insert=0.5) == 1.5


@pytest.mark.parametrize("method", METHODS)
def test_every_method_bounds_distances_under_odd_costs(method: str):
    random = np.random.default_rng(7)
    for _ in range(25):
        a, b = (random_graph(random, int(n), 0.5, 3, edge_labels=2) for n in random.integers(0, 6, 2))
        plain = random.integers(0, 12, 4) / 4
        table, edge_table = random.random((3, 3)) * 3, random.random((2, 2)) * 3
        costs = EditCosts(
            plain[0], plain[1], lambda x, y, table=table: table[x, y],
            plain[2], plain[3], lambda x, y, table=edge_table: table[x, y],
        )  # fmt: skip
        truth = brute_force(a, b, costs)
        answer = distance(a, b, method=method, costs=costs)
        assert not answer.lower > truth + 1e-9
        assert not answer.upper < truth - 1e-9


def test_descriptions_are_json_and_tell_costs_apart():
    kinds = [
        EditCosts(),
        EditCosts(node_relabel=2),
        EditCosts(node_relabel=[[0, 1], [1, 0]]),
        EditCosts(node_relabel=[[0, 2], [2, 0]]),
        EditCosts(node_relabel={("a", "b"): 1.0}),
        EditCosts(node_relabel=exact),
    ]
    texts = [json.dumps(costs.description()) for costs in kinds]
    assert len(set(texts)) == len(kinds)
    assert EditCosts(node_relabel=[[0, 1], [1, 0]]) == kinds[2]
    assert kinds[2] != kinds[3]
    assert hash(EditCosts()) == hash(kinds[0])


def test_a_table_under_one_way_costs_is_not_symmetric():
    table = pairwise(ATOMS, method="exact", costs=EditCosts(node_insert=3))
    assert not table.symmetric
    assert np.ma.is_masked(table.matrix())
    both = pairwise(
        ATOMS, np.array([(i, j) for i in range(3) for j in range(3)]), method="exact", costs=EditCosts(node_insert=3)
    )
    matrix = both.matrix()
    assert matrix[0, 2] != matrix[2, 0]
