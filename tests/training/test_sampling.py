"""Which graphs a step draws."""

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.proximity.plans import planned_pairs
from ugraphemb.training.known_pairs import known_pairs
from ugraphemb.training.sampling import Blocks


def table_of(size, pairs):
    graphs = ug.GraphSet.from_edges(np.ones(size, np.int64), [])
    return known_pairs(ug.PairTable.from_values(graphs, pairs, np.zeros(len(pairs)), kind="distance"))


def times_drawn(table, training, steps):
    sampler, generator = Blocks(table, training, 128), np.random.default_rng(0)
    drawn = np.zeros(table.counts[0], np.int64)
    for _ in range(steps):
        graphs, *_ = sampler.draw(generator)
        assert len(np.unique(graphs)) == len(graphs)
        drawn[graphs] += 1
    return drawn


def assert_even(drawn):
    """Counts of independent draws: none far below or above the mean, and none favored by its position."""
    mean = drawn.mean()
    assert drawn.min() > 0.15 * mean
    assert drawn.max() < 2.5 * mean
    halves = drawn[: len(drawn) // 2].mean(), drawn[len(drawn) // 2 :].mean()
    assert halves[0] == pytest.approx(halves[1], rel=0.1)


@pytest.mark.parametrize("plan", ["random", "blocks"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.45])
def test_every_training_graph_is_drawn_about_equally_often(share, plan):
    size = 1_500
    pairs = planned_pairs(size, plan, budget=int(share * size * (size - 1) / 2), seed=1)
    training = np.arange(size)
    assert_even(times_drawn(table_of(size, pairs), training, (60 if share < 0.2 else 20) * size // 128))


def test_the_default_plan_of_four_thousand_graphs_starves_no_training_graph():
    size = 4_127  # NCI109
    pairs = planned_pairs(size, "blocks", budget=3_000_000, seed=0)
    held_out = np.random.default_rng(0).permutation(size)[: size // 4]
    training = np.setdiff1d(np.arange(size), held_out)
    drawn = times_drawn(table_of(size, pairs), training, 400)
    assert not drawn[held_out].any()
    assert_even(drawn[training])
