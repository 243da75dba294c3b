"""Plans of pairs: complete, without repeats, seeded, and continued by a larger budget."""

import numpy as np
import pytest

from ugraphemb.proximity.plans import cross_pairs, planned_pairs


@pytest.mark.parametrize("plan", ["all", "random", "blocks"])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 17, 60])
def test_a_plan_without_budget_is_every_pair_once(plan, size):
    pairs = planned_pairs(size, plan, seed=3, block=7)
    expected = {(i, j) for i in range(size) for j in range(i + 1, size)}
    assert len(pairs) == len(expected)
    assert set(map(tuple, pairs.tolist())) == expected


@pytest.mark.parametrize("plan", ["all", "random", "blocks"])
def test_a_larger_budget_begins_with_the_same_pairs(plan):
    small = planned_pairs(100, plan, budget=700, seed=5, block=16)
    large = planned_pairs(100, plan, budget=1900, seed=5, block=16)
    assert len(small) == 700
    assert np.array_equal(large[:700], small)
    assert len(np.unique(large, axis=0)) == 1900


def test_random_pairs_are_spread_evenly_over_the_graphs():
    pairs = planned_pairs(2000, "random", budget=100_000, seed=1)
    counts = np.bincount(pairs.reshape(-1), minlength=2000)
    assert counts.min() > 50
    assert counts.max() < 160
    assert not np.array_equal(pairs, planned_pairs(2000, "random", budget=100_000, seed=2))


def test_blocks_hold_all_pairs_of_their_graphs():
    pairs = planned_pairs(1000, "blocks", budget=1000 // 10 * 45, seed=0, block=10)
    neighbors = [set() for _ in range(1000)]
    for i, j in pairs.tolist():
        neighbors[i].add(j)
        neighbors[j].add(i)
    assert all(len(each) == 9 for each in neighbors)
    assert all(neighbors[i] | {i} == neighbors[j] | {j} for i, j in pairs.tolist())


def test_cross_pairs_are_queries_times_database():
    assert cross_pairs(2, 3).tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    assert cross_pairs(2, 0).shape == (0, 2)


@pytest.mark.parametrize("wrong", [{"plan": "some"}, {"budget": -1}, {"plan": "blocks", "block": 1}])
def test_a_plan_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"plan|budget"):
        planned_pairs(10, **wrong)
