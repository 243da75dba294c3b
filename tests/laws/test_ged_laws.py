"""Laws of edit distance, over random graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import graph_sets, letters, small_graphs
from proximity.oracle import brute_force, cost_of, edge_table, random_graph, shuffled

from ugraphemb import EditCosts, Graph, GraphSet, PairTable, distance, pairwise
from ugraphemb.proximity import apply_edits
from ugraphemb.proximity.ged import METHODS

MAPPED = [method for method in METHODS if method != "hed"]
prices = st.sampled_from([0.0, 0.5, 1.0, 1.75, 2.0, 3.0])


def exact(a: Graph, b: Graph, costs: EditCosts | None = None) -> float:
    answer = distance(a, b, method="exact", costs=costs)
    assert answer.proven
    assert answer.lower == pytest.approx(answer.upper)
    return answer.value


@st.composite
def edit_costs(draw) -> EditCosts:
    relabel = draw(st.one_of(prices, st.integers(0, 5).map(lambda seed: _Table(seed))))
    edge_relabel = draw(st.one_of(prices, st.integers(0, 5).map(lambda seed: _Table(seed))))
    return EditCosts(draw(prices), draw(prices), relabel, draw(prices), draw(prices), edge_relabel)


class _Table:
    """A price for each pair of labels, symmetric or not, equal labels not always free."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, old: object, new: object) -> float:
        random = np.random.default_rng([self.seed, *(ord(str(label)[0]) for label in (old, new))])
        return float(random.integers(0, 9)) / 4

    def __repr__(self) -> str:
        return f"_Table({self.seed})"


@given(small_graphs(), small_graphs())
def test_bounds_of_every_method_hold_the_exact_distance(a: Graph, b: Graph):
    truth = exact(a, b)
    branch = distance(a, b, method="branch")
    assert distance(a, b, method="hed").lower <= branch.lower <= truth
    for method in METHODS:
        answer = distance(a, b, method=method)
        assert not answer.lower > truth, method
        assert not answer.upper < truth, method
        assert not answer.proven or answer.value == truth, method


@given(small_graphs(max_nodes=5), small_graphs(max_nodes=5))
def test_the_exact_distance_is_that_of_the_best_map(a: Graph, b: Graph):
    assert exact(a, b) == brute_force(a, b)


@given(
    small_graphs(max_nodes=4, edge_labels=letters), small_graphs(max_nodes=4, edge_labels=letters), edit_costs(),
    st.sampled_from(METHODS),
)  # fmt: skip
def test_any_costs_are_bounded_by_every_method(a: Graph, b: Graph, costs: EditCosts, method: str):
    truth = brute_force(a, b, costs)
    answer = distance(a, b, method=method, costs=costs)
    assert not answer.lower > truth + 1e-9
    assert not answer.upper < truth - 1e-9
    assert not answer.proven or answer.value == pytest.approx(truth)
    if method == "exact":
        assert answer.proven


@given(
    small_graphs(edge_labels=letters), small_graphs(edge_labels=letters), edit_costs(), st.sampled_from(MAPPED),
)  # fmt: skip
def test_edits_applied_one_by_one_give_the_second_graph_at_the_cost_of_the_map(a, b, costs, method):
    answer = distance(a, b, method=method, costs=costs)
    operations = answer.edit_path()
    assert sum(step.cost for step in operations) == pytest.approx(answer.upper)
    assert cost_of(a, b, answer.mapping, costs) == pytest.approx(answer.upper)
    made = apply_edits(operations, a)
    # Nodes that stay keep their order, inserted ones follow in the order of the second graph.
    kept = [int(to) for to in answer.mapping if to >= 0]
    place = kept + [x for x in range(b.num_nodes) if x not in kept]
    assert made.num_nodes == b.num_nodes
    assert made.node_labels == [b.node_labels[x] for x in place]
    moved = {tuple(sorted((place[u], place[v]))): label for (u, v), label in edge_table(made).items()}
    assert moved == edge_table(b)


@given(small_graphs(), small_graphs(), st.sampled_from(METHODS))
def test_the_order_of_two_graphs_makes_no_difference(a: Graph, b: Graph, method: str):
    there, back = distance(a, b, method=method), distance(b, a, method=method)
    np.testing.assert_equal((there.lower, there.upper, there.proven), (back.lower, back.upper, back.proven))


@given(small_graphs(edge_labels=letters), small_graphs(edge_labels=letters), edit_costs(), st.sampled_from(METHODS))
def test_the_way_back_costs_the_same_under_costs_turned_round(a, b, costs: EditCosts, method: str):
    def turned(cost):
        return (lambda old, new: cost(new, old)) if callable(cost) else cost

    back = EditCosts(
        costs.node_delete, costs.node_insert, turned(costs.node_relabel),
        costs.edge_delete, costs.edge_insert, turned(costs.edge_relabel),
    )  # fmt: skip
    there, again = distance(a, b, method=method, costs=costs), distance(b, a, method=method, costs=back)
    assert there.value == pytest.approx(again.value)
    assert there.upper == pytest.approx(again.upper, nan_ok=True)
    assert there.lower == pytest.approx(again.lower, nan_ok=True)


def test_the_way_back_costs_the_same_where_each_graph_has_a_label_the_other_lacks():
    edges = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 4)]
    a, b = (GraphSet.from_edges([5], edges, node_labels=list(word))[0] for word in ("BAAAA", "CAAAA"))
    there = distance(a, b, method="beam", costs=EditCosts(0, 0, 0, 0, 0.5, 0))
    back = distance(b, a, method="beam", costs=EditCosts(0, 0, 0, 0.5, 0, 0))
    assert there.value == back.value


@given(small_graphs(max_nodes=5), small_graphs(max_nodes=5), small_graphs(max_nodes=5))
def test_the_exact_distance_obeys_the_triangle_inequality(a: Graph, b: Graph, c: Graph):
    assert exact(a, c) <= exact(a, b) + exact(b, c)


@given(small_graphs(edge_labels=letters), st.integers(0, 2**32))
def test_a_graph_with_its_nodes_in_another_order_is_at_distance_0(a: Graph, seed: int):
    copy = shuffled(a, np.random.default_rng(seed))
    assert exact(a, copy) == 0
    assert exact(a, copy, EditCosts(edge_relabel=1)) == 0


@given(small_graphs(max_nodes=3), small_graphs(max_nodes=3))
def test_graphs_are_at_distance_0_when_and_only_when_they_are_isomorphic(a: Graph, b: Graph):
    same = nx.vf2pp_is_isomorphic(a.to_networkx(), b.to_networkx(), node_label="label") if a.num_nodes else False
    assert (exact(a, b) == 0) == (same or a.num_nodes == b.num_nodes == 0)


@given(small_graphs(), small_graphs(), st.integers(0, 2**32))
def test_the_order_of_nodes_changes_no_exact_distance(a: Graph, b: Graph, seed: int):
    random = np.random.default_rng(seed)
    assert exact(a, b) == exact(shuffled(a, random), shuffled(b, random))


@given(
    graph_sets(
        min_graphs=2, max_graphs=4, max_nodes=4, node_labels=letters, edge_labels=letters,
        attributes=False, targets=None, ids=False,
    ),
    edit_costs(), st.sampled_from(METHODS), st.integers(0, 2**32),
)  # fmt: skip
def test_a_pair_has_one_answer_alone_or_in_a_batch_in_any_order_on_any_number_of_threads(graphs, costs, method, seed):
    table = pairwise(graphs, method=method, costs=costs, threads=1)
    answers = dict(zip(zip(table.left.tolist(), table.right.tolist(), strict=True), _rows(table), strict=True))
    order = np.random.default_rng(seed).permutation(len(table))
    again = pairwise(graphs, np.column_stack([table.left, table.right])[order], method=method, costs=costs, threads=3)
    for pair, row in zip(zip(again.left.tolist(), again.right.tolist(), strict=True), _rows(again), strict=True):
        np.testing.assert_equal(row, answers[pair])
    for (i, j), row in answers.items():
        alone = distance(graphs[i], graphs[j], method=method, costs=costs)
        np.testing.assert_equal((alone.lower, alone.upper, alone.proven), row)


def _rows(table: PairTable) -> list[tuple[float, float, bool]]:
    return list(zip(table.lower.tolist(), table.upper.tolist(), table.proven.tolist(), strict=True))


@given(
    small_graphs(max_nodes=4, edge_labels=letters), small_graphs(max_nodes=4, edge_labels=letters),
    st.permutations("ABC"), prices, prices,
)  # fmt: skip
def test_names_of_labels_change_no_exact_distance(a: Graph, b: Graph, names: list[str], relabel: float, edge: float):
    costs = EditCosts(node_relabel=relabel, edge_relabel=edge)
    other = dict(zip("ABC", names, strict=True))

    def renamed(graph: Graph) -> Graph:
        return GraphSet.from_edges(
            [graph.num_nodes], graph.edges, node_labels=[other[label] for label in graph.node_labels],
            edge_labels=[other[label] for label in graph.edge_labels or []],
        )[0]  # fmt: skip

    assert exact(renamed(a), renamed(b), costs) == pytest.approx(exact(a, b, costs))


def test_larger_graphs_keep_the_chain_of_bounds():
    random = np.random.default_rng(3)
    for _ in range(60):
        sizes = random.integers(5, 12, 2)
        a, b = (random_graph(random, int(size), random.uniform(0.1, 0.5), 3) for size in sizes)
        truth = exact(a, b)
        lowest = distance(a, b, method="hed").lower
        middle = distance(a, b, method="branch").lower
        assert lowest <= middle <= truth
        for method in MAPPED:
            answer = distance(a, b, method=method)
            assert answer.upper >= truth, method
            assert cost_of(a, b, answer.mapping) == answer.upper, method
