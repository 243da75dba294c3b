"""limit=: up to it the answer is that without one, beyond it is shown to be exceeded."""

from __future__ import annotations

import numpy as np
import pytest
from proximity.oracle import random_graph

import ugraphemb as ug
from ugraphemb import EditCosts, GraphSet, PairTable
from ugraphemb.errors import TableError
from ugraphemb.proximity.ged import METHODS

MOLECULES = ug.load_dataset("molecules")[:60]


@pytest.fixture(scope="module")
def truth() -> PairTable:
    table = ug.pairwise(MOLECULES, method="exact", timeout=1)
    return table.where(table.proven)


def pairs_of(table: PairTable) -> np.ndarray:
    return np.column_stack([table.left, table.right])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", [0, 3, 7.5, 12])
def test_every_solver_agrees_with_itself_up_to_the_limit(truth: PairTable, method: str, limit: float):
    near = truth.where(truth.value <= limit)
    plain = ug.pairwise(MOLECULES, pairs_of(near), method=method)
    limited = ug.pairwise(MOLECULES, pairs_of(near), method=method, limit=limit)
    for name in ("lower", "upper", "proven"):
        np.testing.assert_array_equal(getattr(limited, name), getattr(plain, name))


@pytest.mark.parametrize("limit", [0, 3, 7.5, 12])
def test_exact_decides_every_pair(truth: PairTable, limit: float):
    limited = ug.pairwise(MOLECULES, pairs_of(truth), method="exact", limit=limit)
    far = truth.value > limit
    assert far.any()
    np.testing.assert_array_equal(limited.lower > limit, far)
    np.testing.assert_array_equal(limited.value[~far], truth.value[~far])
    assert limited.proven[~far].all()
    assert (limited.lower <= truth.value).all()
    assert (limited.upper >= truth.value).all()


def test_methods_stop_when_their_lower_bound_passes_the_limit(truth: PairTable):
    branch = ug.pairwise(MOLECULES, pairs_of(truth), method="branch")
    for method in ("tight", "beam", "refine", "paper"):
        limited = ug.pairwise(MOLECULES, pairs_of(truth), method=method, limit=2)
        np.testing.assert_array_equal(limited.lower > 2, branch.lower > 2)


def test_one_pair_with_any_costs():
    random = np.random.default_rng(0)
    a, b = (random_graph(random, 5, 0.5, 3, edge_labels=2) for _ in range(2))
    for costs in (EditCosts(), EditCosts(edge_relabel=1), EditCosts(node_insert=0.3, edge_relabel=0.7)):
        free = ug.distance(a, b, method="exact", costs=costs)
        assert free.value > 0
        near = ug.distance(a, b, method="exact", costs=costs, limit=free.value)
        assert (near.value, near.proven) == (free.value, True)
        far = ug.distance(a, b, method="exact", costs=costs, limit=free.value - 0.1)
        assert free.value - 0.1 < far.lower <= free.value <= far.upper


def test_a_limit_below_zero_and_a_metric_without_limits_are_refused():
    a = GraphSet.from_edges([2], [(0, 1)])[0]
    for limit in (-1, float("nan")):
        with pytest.raises(ValueError, match="limit is"):
            ug.distance(a, a, limit=limit)
    with pytest.raises(TypeError, match="no option 'limit'"):
        ug.distance(a, a, metric="mcs", limit=2)


def test_a_store_of_another_limit_is_not_continued(tmp_path):
    few = [(0, 1), (2, 3)]
    ug.pairwise(MOLECULES, few, limit=3, store=tmp_path / "pairs")
    with pytest.raises(TableError):
        ug.pairwise(MOLECULES, few, limit=4, store=tmp_path / "pairs")
