"""The parts of training, one by one."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

import ugraphemb as ug
from ugraphemb.tasks import ranking
from ugraphemb.training.kendall import mean_tau
from ugraphemb.training.known_pairs import known_pairs
from ugraphemb.training.losses import interval_error, squared_error
from ugraphemb.training.presets import settings_of
from ugraphemb.training.sampling import Blocks, Pairs


@pytest.fixture(scope="module")
def graphs():
    return ug.load_dataset("atlas")[30:60]


def test_known_pairs_are_found_in_both_orders_and_no_others(graphs):
    pairs = np.array([[0, 5], [7, 2], [3, 29], [4, 4], [2, 7]])
    table = ug.pairwise(graphs, pairs, progress=False)
    table = dataclasses.replace(table, upper=table.upper + np.arange(5))
    known = known_pairs(table)
    everything = np.arange(len(graphs))
    rows = known.rows(everything, everything)
    expected = {(0, 5), (5, 0), (2, 7), (7, 2), (3, 29), (29, 3)}
    assert set(zip(*np.nonzero(rows >= 0), strict=True)) == expected
    assert list(zip(known.left, known.right, strict=True)) == [(0, 5), (2, 7), (3, 29)]
    normal = table.normalized()
    assert known.value[rows[7, 2]] == pytest.approx(normal.value[4]), "the later one"
    assert known.value[rows[29, 3]] == pytest.approx(normal.value[2])
    assert known.value.dtype == known.lower.dtype == np.float32


def test_pairs_that_are_nan_are_not_known(graphs):
    table = ug.PairTable.from_values(graphs, [[0, 1], [1, 2], [2, 1]], [1.0, 2.0, np.nan], kind="similarity")
    assert list(zip(known_pairs(table).left, known_pairs(table).right, strict=True)) == [(0, 1), (1, 2)]


def test_bounds_of_proven_pairs_are_the_value(graphs):
    table = ug.pairwise(graphs, method="tight", progress=False)
    known = known_pairs(table)
    proven = table.proven
    assert 0 < proven.mean() < 1
    assert np.all(known.lower <= known.value)
    assert np.all(known.value <= known.upper)
    assert np.array_equal(known.lower[proven], known.upper[proven])
    assert np.any(known.lower[~proven] < known.upper[~proven])


def test_the_interval_loss_is_zero_between_the_bounds_only():
    predicted = torch.tensor([0.5, 1.0, 2.0, 3.5])
    value, lower, upper = torch.full((4,), 3.0), torch.full((4,), 1.0), torch.full((4,), 3.0)
    assert interval_error(predicted, value, lower, upper).tolist() == [0.25, 0.0, 0.0, 0.25]
    assert squared_error(predicted, value, lower, upper).tolist() == [6.25, 4.0, 1.0, 0.25]


@pytest.mark.parametrize("sampler", [Pairs, Blocks])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_samplers_give_known_pairs_of_training_graphs(graphs, sampler, share):
    generator = np.random.default_rng(0)
    table = ug.pairwise(graphs, progress=False, method="branch")
    table = table.where(generator.random(len(table)) < share)
    known = known_pairs(table)
    training = np.arange(0, 30, 2)
    met = set()
    draw = sampler(known, training, 8)
    for _ in range(60):
        chosen, first, second, rows = draw.draw(generator)
        assert set(chosen) <= set(training)
        assert np.all(first != second)
        found = np.sort(np.stack([chosen[first], chosen[second]], axis=1), axis=1)
        assert np.array_equal(found.T, [known.left[rows], known.right[rows]])
        met |= set(rows.tolist())
    assert len(met) > 0.8 * len(known.among(training))


def test_a_block_gives_every_known_pair_among_its_graphs(graphs):
    known = known_pairs(ug.pairwise(graphs, progress=False, method="branch"))
    _, first, _, _ = Blocks(known, np.arange(20), 10).draw(np.random.default_rng(1))
    assert len(first) == 10 * 9 // 2


def test_tau_is_scipy_s_over_known_entries():
    generator = np.random.default_rng(0)
    predicted, value = generator.integers(0, 6, (4, 30)).astype(float), generator.integers(0, 6, (4, 30)).astype(float)
    known = generator.random((4, 30)) < 0.7
    expected = np.mean([kendalltau(p[k], v[k]).statistic for p, v, k in zip(predicted, value, known, strict=True)])
    assert mean_tau(predicted, value, known) == pytest.approx(expected)


def test_a_constant_prediction_has_a_tau_of_zero_in_validation_and_in_ranking():
    truth = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [5.0, 5.0, 5.0]])
    predicted = np.array([[1.0, 2.0, 3.0], [7.0, 7.0, 7.0], [1.0, 2.0, 3.0]])
    everything = np.ones((3, 3), bool)
    assert mean_tau(predicted, truth, everything) == pytest.approx(0.5)
    assert ranking(predicted, truth, k=1).summary()["tau"][0] == pytest.approx(0.5)
    assert np.isnan(mean_tau(predicted[2:], truth[2:], everything[2:]))
    assert np.isnan(mean_tau(predicted, truth, ~everything))


def test_many_graphs_get_more_steps_unless_steps_are_chosen():
    _, default = settings_of("default", "distance", {})
    assert [default.of(count).steps for count in (10, 1_000, 2_500, 100_000)] == [4_000, 4_000, 5_000, 12_000]
    _, chosen = settings_of("default", "distance", {"steps": 50})
    assert chosen.of(100_000).steps == 50
    _, paper = settings_of("paper", "distance", {})
    assert paper.of(100_000).steps == 20_000


def test_other_convolutions_and_widths_are_not_residual_unless_asked_for():
    assert settings_of("default", "distance", {})[0].residual
    assert not settings_of("default", "distance", {"convolution": "gcn"})[0].residual
    assert not settings_of("default", "distance", {"layers": (8, 4, 4)})[0].residual
    with pytest.raises(ValueError, match="layers of one width"):
        settings_of("default", "distance", {"layers": (8, 4, 4), "residual": True})
