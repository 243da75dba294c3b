"""Scores of rankings, against their definitions."""

from __future__ import annotations

import time
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau, rankdata, spearmanr

from ugraphemb.tasks import rank_from_vectors, ranking

few_values = arrays(np.float64, (2, 7), elements=st.integers(0, 3).map(float))


def tau_b(x: Any, y: Any) -> float:
    """Kendall 1945, pair by pair."""
    agreement = tied_x = tied_y = 0
    pairs = list(combinations(range(len(x)), 2))
    for i, j in pairs:
        agreement += int(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]))
        tied_x += x[i] == x[j]
        tied_y += y[i] == y[j]
    scale = (len(pairs) - tied_x) * (len(pairs) - tied_y)
    return agreement / np.sqrt(scale) if scale else np.nan


def mean_over_orders(predicted: Any, hits: Any, k: int) -> float:
    """Precision of the first k, averaged over every order that sorts the prediction."""
    orders = [o for o in permutations(range(len(predicted))) if (np.diff(predicted[list(o)]) >= 0).all()]
    return float(np.mean([np.mean(hits[list(order[:k])]) for order in orders]))


@given(few_values, few_values)
def test_tau_is_the_sum_over_pairs_and_rho_the_correlation_of_mean_ranks(predicted: Any, truth: Any) -> None:
    scores = ranking(predicted, truth, k=1)
    by_hand = [tau_b(a, b) if np.ptp(a) or not np.ptp(b) else 0.0 for a, b in zip(predicted, truth, strict=True)]
    np.testing.assert_allclose(scores.tau, by_hand, atol=1e-12)
    for rho, a, b in zip(scores.rho, predicted, truth, strict=True):
        if np.ptp(a) and np.ptp(b):
            assert rho == pytest.approx(np.corrcoef(rankdata(a), rankdata(b))[0, 1], abs=1e-12)
        else:
            assert np.isnan(rho) if np.ptp(b) == 0 else rho == 0


@pytest.mark.parametrize("values", [2, 5, 50, 10**9])
def test_tau_and_rho_equal_scipy_on_long_rows_with_few_and_many_ties(values: int) -> None:
    random = np.random.default_rng(values)
    truth = random.integers(0, values, (6, 400)).astype(float)
    predicted = np.round(truth + random.normal(scale=values / 3, size=truth.shape))
    scores = ranking(predicted, truth)
    pairs = list(zip(predicted, truth, strict=True))
    np.testing.assert_allclose(scores.tau, [kendalltau(a, b).statistic for a, b in pairs], atol=1e-12)
    np.testing.assert_allclose(scores.rho, [spearmanr(a, b).statistic for a, b in pairs], atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    arrays(np.float64, (1, 6), elements=st.integers(0, 3).map(float)),
    arrays(np.float64, (1, 6), elements=st.integers(0, 3).map(float)),
    st.integers(1, 6),
)
def test_precision_is_the_mean_over_all_orders_of_predicted_ties(predicted: Any, truth: Any, k: int) -> None:
    scores = ranking(predicted, truth, k=k)
    within = truth[0] <= np.sort(truth[0])[k - 1]
    first = np.zeros(6, bool)
    first[sorted(range(6), key=lambda i: (truth[0, i], i))[:k]] = True
    assert scores.precision[k][0] == pytest.approx(mean_over_orders(predicted[0], within, k))
    assert scores.strict_precision[k][0] == pytest.approx(mean_over_orders(predicted[0], first, k))
    assert scores.strict_precision[k][0] <= scores.precision[k][0] + 1e-12


def test_lenient_precision_accepts_any_of_the_tied_and_strict_only_the_first_by_position() -> None:
    truth = [[1.0, 2.0, 2.0, 2.0, 3.0]]
    predicted = [[1.0, 5.0, 4.0, 2.0, 3.0]]  # its first two are graphs 0 and 3
    scores = ranking(predicted, truth, k=2)
    assert scores.precision[2].tolist() == [1.0]
    assert scores.strict_precision[2].tolist() == [0.5]


def test_a_perfect_ranking_gets_one_everywhere_and_a_reversed_one_minus_one() -> None:
    truth = np.random.default_rng(0).permuted(np.tile(np.arange(30.0), (4, 1)), axis=1)
    same, reverse = ranking(truth, truth), ranking(-truth, truth)
    for name, values in same.arrays().items():
        np.testing.assert_allclose(values, 0.0 if name == "mse" else 1.0)
    np.testing.assert_allclose(reverse.tau, -1.0)
    np.testing.assert_allclose(reverse.precision[10], 0.0)


def test_two_graphs_are_one_pair_in_the_right_order_or_not() -> None:
    scores = ranking([[0.1, 0.2], [0.2, 0.1], [0.3, 0.3]], [[1, 2], [1, 2], [1, 2]], k=1)
    assert scores.tau.tolist() == [1, -1, 0]


def test_similarities_rank_large_values_first_and_mse_needs_one_kind() -> None:
    random = np.random.default_rng(1)
    truth, predicted = random.random((5, 40)), random.random((5, 40))
    straight = ranking(predicted, truth, k=(3, 10))
    turned = ranking(-predicted, -truth, k=(3, 10), predicted_is="similarity", truth_is="similarity")
    mixed = ranking(-predicted, truth, k=(3, 10), predicted_is="similarity")
    for name, values in straight.arrays().items():
        np.testing.assert_array_equal(turned.arrays()[name], values)
        if name != "mse":
            np.testing.assert_array_equal(mixed.arrays()[name], values)
    np.testing.assert_allclose(straight.mse, ((predicted - truth) ** 2).mean(axis=1))
    assert np.isnan(mixed.mse).all()


def test_scores_do_not_depend_on_the_order_of_the_database_except_the_strict_cut() -> None:
    random = np.random.default_rng(2)
    truth, predicted = (random.integers(0, 4, (5, 50)).astype(float) for _ in range(2))
    order = random.permutation(50)
    before, after = ranking(predicted, truth), ranking(predicted[:, order], truth[:, order])
    for name in ("tau", "rho", "mse", "p@10"):
        np.testing.assert_allclose(before.arrays()[name], after.arrays()[name], atol=1e-12)


def test_blocks_of_rows_change_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    random = np.random.default_rng(3)
    truth, predicted = random.integers(0, 9, (7, 30)).astype(float), random.random((7, 30))
    whole = ranking(predicted, truth)
    monkeypatch.setattr(sys.modules["ugraphemb.tasks.ranking"], "_BLOCK", 60)
    for name, values in ranking(predicted, truth).arrays().items():
        np.testing.assert_array_equal(values, whole.arrays()[name])


def test_a_constant_prediction_counts_as_zero_and_a_constant_truth_is_left_out() -> None:
    truth = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [5.0, 5.0, 5.0]])
    predicted = np.array([[1.0, 2.0, 3.0], [7.0, 7.0, 7.0], [1.0, 2.0, 3.0]])
    scores = ranking(predicted, truth, k=1)
    assert scores.tau[0] == pytest.approx(1)
    assert scores.tau[1] == scores.rho[1] == 0
    assert np.isnan([scores.tau[2], scores.rho[2]]).all()
    assert scores.summary()["tau"][0] == pytest.approx(0.5)
    assert scores.constant_truth.tolist() == [False, False, True]
    assert "1 of constant truth" in str(scores)
    # a constant embedding finds the best graph as often as chance does
    assert scores.precision[1][1] == pytest.approx(1 / 3)


def test_excluding_self_drops_the_diagonal_whatever_it_holds() -> None:
    random = np.random.default_rng(4)
    truth, predicted = random.random((6, 6)), random.random((6, 6))
    np.fill_diagonal(truth, np.nan)
    kept = ~np.eye(6, dtype=bool)
    expected = ranking(predicted[kept].reshape(6, 5), truth[kept].reshape(6, 5), k=2)
    for name, values in ranking(predicted, truth, k=2, exclude_self=True).arrays().items():
        np.testing.assert_array_equal(values, expected.arrays()[name])


@pytest.mark.parametrize("head", ["l2", "squared_l2", "inner"])
def test_vectors_predict_by_their_head(head: Any) -> None:
    random = np.random.default_rng(5)
    queries, database = random.normal(size=(12, 4)), random.normal(size=(9, 4))  # more queries than graphs to rank
    gaps = np.linalg.norm(queries[:, None] - database[None], axis=2)
    truth = {"l2": gaps, "squared_l2": gaps**2, "inner": queries @ database.T}[head]
    kind: Any = "similarity" if head == "inner" else "distance"
    scores = rank_from_vectors(queries, database, truth, head, k=3, truth_is=kind)
    np.testing.assert_allclose(scores.tau, 1.0)
    np.testing.assert_allclose(scores.mse, 0.0, atol=1e-20)


@pytest.mark.parametrize(
    ("predicted", "truth", "options", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), {"k": 1}, r"shape \(2, 3\), truth \(2, 4\)"),
        (np.ones((2, 7)), np.ones((2, 7)), {"k": 8}, "p@8 of a database of 7 graphs; k goes from 1 to 7"),
        (np.ones((2, 7)), np.ones((2, 7)), {"k": 0}, "p@0"),
        (np.ones((2, 1)), np.ones((2, 1)), {"k": 1}, "needs a query and two graphs"),
        (np.ones((0, 5)), np.ones((0, 5)), {"k": 1}, "needs a query"),
        ([[1, 2], [np.nan, 1]], np.ones((2, 2)), {"k": 1}, "predicted: row 1 holds a NaN"),
        (np.ones((2, 2)), [[1, np.inf], [1, 1]], {"k": 1}, "truth: row 0"),
        (np.ones((2, 3)), np.ones((2, 3)), {"k": 1, "exclude_self": True}, "square"),
        (np.ones((2, 3)), np.ones((2, 3)), {"k": 1, "truth_is": "proximity"}, "neither"),
        (np.ones(3), np.ones(3), {"k": 1}, "two dimensions"),
    ],
)
def test_bad_matrices_are_refused(predicted: Any, truth: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking(predicted, truth, **options)


def test_bad_vectors_are_refused() -> None:
    with pytest.raises(ValueError, match="queries: row 0 holds a NaN"):
        rank_from_vectors([[np.nan, 1]], np.ones((3, 2)), np.ones((1, 3)))
    with pytest.raises(ValueError, match="queries are 3 wide, the database 2"):
        rank_from_vectors(np.ones((1, 3)), np.ones((3, 2)), np.ones((1, 3)))
    with pytest.raises(ValueError, match="l2, l1, sized_l1, squared_l2, pseudo_l2, raised_l2, inner"):
        rank_from_vectors(np.ones((1, 2)), np.ones((3, 2)), np.ones((1, 3)), "cosine")  # type: ignore[arg-type]


def test_a_test_set_of_nci109_is_ranked_in_seconds() -> None:
    random = np.random.default_rng(6)
    predicted = random.random((825, 2476))
    truth = np.round(40 * predicted + 10 * random.random(predicted.shape))
    start = time.process_time()
    scores = ranking(predicted, truth, k=(1, 10))
    assert time.process_time() - start < 15  # about 1.5 when the machine is idle
    assert scores.summary()["tau"][0] > 0.8
