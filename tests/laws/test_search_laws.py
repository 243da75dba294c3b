"""Laws of search, on graphs that Hypothesis draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import graph_sets, letters
from proximity.oracle import shuffled
from search.small_index import model

import ugraphemb as ug
from ugraphemb import EditCosts, GraphIndex, GraphSet
from ugraphemb.graphs import concatenated
from ugraphemb.search.graph_table import from_table, to_table

small_sets = graph_sets(
    min_graphs=2, max_graphs=9, max_nodes=5, node_labels=letters, edge_labels=letters, attributes=False, targets=None
)
prices = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5])
all_costs = st.one_of(
    st.just(EditCosts(edge_relabel=0.0)),
    st.just(EditCosts(edge_relabel=1.0)),
    st.builds(EditCosts, prices, prices, prices, prices, prices, prices),
    st.builds(
        EditCosts,
        prices,
        prices,
        node_relabel=st.just(lambda a, b: 0.0 if a == b else 0.25 if "A" in (a, b) else 1.5),
        edge_relabel=st.sampled_from([0.0, 1.0, {("A", "B"): 0.5, ("A", "C"): 2.0, ("B", "C"): 0.25}]),
    ),
)


def ranked(graphs: GraphSet, costs: EditCosts, by: str, chosen: list[int]) -> list[tuple[float, int]]:
    """(value, position) of the graphs after the first one, by a plain scan with `exact`, best first."""
    table = ug.pairwise(graphs[:1], graphs[1:], method="exact", costs=costs, threads=1)
    values = (table if by == "edits" else table.normalized()).value
    return sorted((float(values[i]), i) for i in chosen)


@pytest.mark.filterwarnings("ignore::ugraphemb.errors.GraphWarning")  # the model knows other labels
@settings(max_examples=40)
@given(small_sets, all_costs, st.integers(1, 5), st.sampled_from(["edits", "normalized"]), st.integers(1, 3), st.data())
def test_complete_and_range_search_are_a_plain_scan(graphs, costs, k, by, threads, data):
    count = len(graphs) - 1
    parity = [i % 2 for i in range(count)]
    index = GraphIndex(model(), costs=costs, threads=threads)
    vectors = np.random.default_rng(0).random((count, 8), np.float32)
    first = data.draw(st.integers(0, count))
    for begin, end in ((0, first), (first, count)):  # one part, or two
        rows = np.arange(begin, end)
        index.add(
            graphs[1:][rows], ids=[f"g{i}" for i in rows], metadata={"odd": parity[begin:end]}, vectors=vectors[rows]
        )
    where = data.draw(st.sampled_from([None, {"odd": 1}]))
    chosen = [i for i in range(count) if where is None or parity[i] == 1]
    expected = ranked(graphs, costs, by, chosen)
    found = index.search(graphs[0], k, complete=True, by=by, where=where, budget=None)
    assert found.certificate.proven
    assert found.certificate.graphs == len(chosen)
    assert sum(found.certificate.removed.values()) + len(found) == len(chosen)
    assert np.allclose([m.distance if by == "edits" else m.normalized for m in found], [v for v, _ in expected[:k]])
    if all(isinstance(price, float) and price.is_integer() for price in costs.description().values()):
        assert [match.id for match in found] == [f"g{i}" for _, i in expected[:k]]
    inside = {f"g{i}" for value, i in ranked(graphs, costs, "edits", chosen) if value <= k + 1e-9}
    near = index.search(graphs[0], within=k, where=where, budget=None)
    assert {match.id for match in near} == inside
    assert near.certificate.proven
    for match in (*found, *near):
        assert np.isclose(sum(step.cost for step in match.edit_path()), match.distance)


@pytest.mark.filterwarnings("ignore::ugraphemb.errors.GraphWarning")
@settings(max_examples=25)
@given(small_sets, st.integers(0, 10_000))
def test_answers_do_not_depend_on_names_of_labels_order_of_nodes_nor_vectors(graphs: GraphSet, seed: int):
    random = np.random.default_rng(seed)
    answers = []
    for mixed in (False, True):
        few = [shuffled(graph, random) if mixed else graph for graph in graphs]
        together = concatenated([graph.graphs for graph in few]) if mixed else graphs
        index = GraphIndex(model(), costs=EditCosts(edge_relabel=1.0), threads=1)
        index.add(
            together[1:],
            ids=[str(i) for i in range(len(graphs) - 1)],
            vectors=random.random((len(graphs) - 1, 8), np.float32),
        )
        found = index.search(together[0], 4, complete=True, budget=None)
        answers.append([(match.id, match.distance) for match in found])
    assert answers[0] == answers[1]


@given(graph_sets(targets=None))
def test_graphs_survive_an_arrow_table(graphs: GraphSet):
    back = from_table(to_table(graphs))
    assert back == GraphSet(**{**graphs._fields(), "ids": back.ids})
