"""Laws of search, on graphs that Hypothesis draws."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import graph_sets, letters
from proximity.oracle import random_graph, shuffled
from search.small_index import model

import ugraphemb as ug
from ugraphemb import EditCosts, GraphIndex, GraphSet
from ugraphemb.proximity.filters import Filters, Profiles
from ugraphemb.search.graph_table import from_table, to_table

small_sets = graph_sets(
    min_graphs=2, max_graphs=7, max_nodes=5, node_labels=letters, edge_labels=None, attributes=False, targets=None
)
prices = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5])
all_costs = st.builds(EditCosts, prices, prices, prices, prices, prices)


@given(small_sets, st.one_of(st.just(EditCosts()), all_costs))
def test_filters_never_exceed_the_distance_and_each_is_at_least_the_one_before(graphs: GraphSet, costs: EditCosts):
    query, others = graphs[:1], graphs[1:]
    exact = ug.pairwise(query, others, method="exact", costs=costs, threads=1).value
    filters, every = Filters(query, Profiles(others), costs), np.arange(len(others))
    size, labels, degrees = filters.size(every), filters.labels(every), filters.degrees(every)
    assert (size <= labels + 1e-9).all()
    assert (labels <= degrees + 1e-9).all()
    assert (degrees <= exact + 1e-9).all()


@given(small_sets)
def test_filters_hold_for_costs_that_depend_on_labels(graphs: GraphSet):
    costs = EditCosts(node_relabel=lambda a, b: 0.25 if a != b else 0.0)
    exact = ug.pairwise(graphs[:1], graphs[1:], method="exact", costs=costs, threads=1).value
    filters = Filters(graphs[:1], Profiles(graphs[1:]), costs)
    assert (filters.degrees(np.arange(len(graphs) - 1)) <= exact + 1e-9).all()


@given(st.integers(0, 10_000))
def test_filters_do_not_depend_on_the_order_of_nodes_nor_on_which_graphs_are_asked_for(seed: int):
    random = np.random.default_rng(seed)
    graphs = [random_graph(random, int(random.integers(0, 8)), 0.4, 3) for _ in range(5)]
    mixed = [shuffled(graph, random) for graph in graphs]
    chosen = random.permutation(4)[:3]
    bounds = []
    for few in (graphs, mixed):
        together = few[1].graphs + few[2].graphs + few[3].graphs + few[4].graphs
        filters = Filters(few[0].graphs, Profiles(together), EditCosts())
        bounds.append(np.stack([filters.size(chosen), filters.labels(chosen), filters.degrees(chosen)]))
        every = filters.degrees(np.arange(4))
        assert np.array_equal(bounds[-1][2], every[chosen])
    assert np.array_equal(*bounds)


@settings(max_examples=25)
@given(small_sets, st.integers(1, 4), st.sampled_from(["edits", "normalized"]))
def test_complete_and_range_search_are_brute_force(graphs: GraphSet, k: int, by: str):
    index = GraphIndex(model(), threads=1).add(graphs[1:])
    table = ug.pairwise(graphs[:1], graphs[1:], method="exact", threads=1)
    values = (table if by == "edits" else table.normalized()).value
    found = index.search(graphs[0], k, complete=True, by=by, budget=None)
    assert found.certificate.proven
    assert np.allclose([m.distance if by == "edits" else m.normalized for m in found], np.sort(values)[:k])
    near = index.search(graphs[0], within=k, budget=None)
    assert sorted(match.id for match in near) == sorted(graphs.ids[1:][table.value <= k].tolist())


@given(graph_sets(targets=None))
def test_graphs_survive_an_arrow_table(graphs: GraphSet):
    back = from_table(to_table(graphs))
    assert back == GraphSet(**{**graphs._fields(), "ids": back.ids})
