"""Search on many workers gives what one machine gives, on graphs that Hypothesis draws."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import graph_sets, letters
from laws.test_search_laws import all_costs
from search.small_index import model

from ugraphemb import GraphIndex
from ugraphemb.search import distributed

databases = graph_sets(
    min_graphs=2, max_graphs=14, max_nodes=5, node_labels=letters, edge_labels=letters, attributes=False, targets=None
)


def answers(found, exact_ids: bool) -> tuple:
    certificate = found.certificate
    total = sum(certificate.removed.values()) + certificate.found + len(certificate.undecided)
    values = [round(match.normalized, 9) for match in found]
    ids = [match.id for match in found] if exact_ids else None
    return ids, values, certificate.proven, certificate.ordered, certificate.graphs, certificate.found, total


@pytest.mark.filterwarnings("ignore::ugraphemb.errors.GraphWarning")  # the model knows other labels
@settings(max_examples=25)
@given(databases, all_costs, st.integers(1, 5), st.sampled_from(["edits", "normalized"]), st.data())
def test_slices_on_workers_give_the_answer_and_the_totals_of_one_machine(graphs, costs, k, by, data):
    count = len(graphs) - 1
    index = GraphIndex(model(), costs=costs, threads=1)
    vectors = np.random.default_rng(0).random((count, 8), np.float32)
    first = data.draw(st.integers(0, count))
    for begin, end in ((0, first), (first, count)):
        rows = np.arange(begin, end)
        index.add(graphs[1:][rows], [f"g{i}" for i in rows], {"odd": rows % 2}, vectors=vectors[rows])
    index.remove(data.draw(st.lists(st.sampled_from(index.ids), unique=True, max_size=count - 1)))
    options = {
        "by": by,
        "where": data.draw(st.sampled_from([None, {"odd": 1}])),
        "shortlist": data.draw(st.sampled_from([1, 3])),
        "budget": None,
    }
    integral = all(isinstance(price, float) and price.is_integer() for price in costs.description().values())
    size = data.draw(st.integers(1, 6))
    patient = data.draw(st.booleans())
    rounds = distributed._ROUNDS if patient else (float("inf"),)  # all in one round
    with (
        ThreadPoolExecutor(2) as pool,
        mock.patch.multiple(distributed, _LEAST=size, _MOST=size, _ROUNDS=rounds, _INSTANT=0.0),
    ):
        for question in ({"k": k, "complete": True}, {"within": k}, {"k": 2, "within": k}):
            alone = index.search(graphs[0], **question, **options)
            together = index.search(graphs[0], **question, **options, executor=pool)
            assert answers(together, integral) == answers(alone, integral)
            assert together.certificate.proven
            for match in together:
                assert match.proven
                assert np.isclose(sum(step.cost for step in match.edit_path()), match.distance)


@pytest.mark.filterwarnings("ignore::ugraphemb.errors.GraphWarning")
@settings(max_examples=15)
@given(databases, st.integers(1, 4), st.sampled_from([0, 1e-9]))
def test_without_time_nothing_is_claimed_that_is_not_so(graphs, k, budget):
    index = GraphIndex(model(), threads=1).add(graphs[1:], [f"g{i}" for i in range(len(graphs) - 1)])
    true = {match.id: match.distance for match in index.search(graphs[0], len(graphs), complete=True, budget=None)}
    with ThreadPoolExecutor(2) as pool, mock.patch.multiple(distributed, _LEAST=2, _MOST=2):
        found = index.search(graphs[0], k, complete=True, by="edits", budget=budget, executor=pool)
    certificate = found.certificate
    assert sum(certificate.removed.values()) + len(found) + len(certificate.undecided) == len(index)
    for match in found:
        assert match.lower - 1e-9 <= true[match.id] <= match.upper + 1e-9
    if certificate.proven:
        best = sorted(true.values())[: len(found)]
        assert max((match.upper for match in found), default=0) >= max(best, default=0) - 1e-9
        worst = max((match.upper for match in found), default=0)
        assert all(value >= worst - 1e-9 for name, value in true.items() if name not in {match.id for match in found})
