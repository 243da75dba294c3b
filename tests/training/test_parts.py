"""The parts of training, one by one."""

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

import ugraphemb as ug
from ugraphemb.tasks import ranking
from ugraphemb.training import truth as truth_module
from ugraphemb.training.kendall import mean_tau
from ugraphemb.training.losses import interval_error, squared_error
from ugraphemb.training.presets import settings_of
from ugraphemb.training.sampling import Blocks, Pairs
from ugraphemb.training.truth import Truth


@pytest.fixture(scope="module")
def graphs():
    return ug.load_dataset("atlas")[30:60]


@pytest.fixture(params=["dense", "sparse"])
def layout(request, monkeypatch):
    if request.param == "sparse":
        monkeypatch.setattr(truth_module, "_DENSE_LIMIT", 0)


@pytest.mark.usefixtures("layout")
def test_truth_finds_every_pair_in_both_orders_and_no_other(graphs):
    pairs = np.array([[0, 5], [7, 2], [3, 29], [4, 4]])
    table = ug.pairwise(graphs, pairs, progress=False)
    truth = Truth.of(table, len(graphs))
    everything = np.arange(len(graphs))
    rows = truth.rows(everything, everything)
    known = {(0, 5), (5, 0), (2, 7), (7, 2), (3, 29), (29, 3)}
    assert set(zip(*np.nonzero(rows >= 0), strict=True)) == known
    normal = table.normalized()
    assert truth.value[rows[7, 2]] == pytest.approx(normal.value[1])
    assert truth.value[rows[29, 3]] == pytest.approx(normal.value[2])


def test_bounds_of_proven_pairs_are_the_value(graphs):
    table = ug.pairwise(graphs, method="tight", progress=False)
    truth = Truth.of(table, len(graphs))
    proven = table.proven
    assert 0 < proven.mean() < 1
    assert np.all(truth.lower <= truth.value)
    assert np.all(truth.value <= truth.upper)
    assert np.array_equal(truth.lower[proven], truth.upper[proven])
    assert np.any(truth.lower[~proven] < truth.upper[~proven])


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
    truth = Truth.of(table, len(graphs))
    training = np.arange(0, 30, 2)
    met = set()
    draw = sampler(truth, training, 8)
    for _ in range(60):
        chosen, first, second, rows = draw.draw(generator)
        assert set(chosen) <= set(training)
        assert np.all(first != second)
        found = np.sort(np.stack([chosen[first], chosen[second]], axis=1), axis=1)
        assert np.array_equal(found, truth.pairs[rows])
        met |= set(rows.tolist())
    assert len(met) > 0.8 * len(truth.among(training))


def test_a_block_gives_every_known_pair_among_its_graphs(graphs):
    truth = Truth.of(ug.pairwise(graphs, progress=False, method="branch"), len(graphs))
    _, first, _, _ = Blocks(truth, np.arange(20), 10).draw(np.random.default_rng(1))
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
    assert [default.of(count).steps for count in (10, 1_000, 1_500, 100_000)] == [2_000, 2_000, 3_000, 6_000]
    _, chosen = settings_of("default", "distance", {"steps": 50})
    assert chosen.of(100_000).steps == 50
    _, paper = settings_of("paper", "distance", {})
    assert paper.of(100_000).steps == 20_000
