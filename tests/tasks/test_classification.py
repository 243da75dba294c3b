"""Classification: honest, deterministic, and compared fairly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from ugraphemb.tasks import (
    ClassificationScores,
    classify,
    classify_kernel,
    classify_svm,
    compare,
    random_splits,
    stratified_folds,
)


def clouds(n: int = 60, width: int = 5, gap: float = 6.0, seed: int = 0) -> tuple[Any, Any]:
    """Three classes, each around a center of its own."""
    random = np.random.default_rng(seed)
    targets = np.arange(n) % 3
    centers = gap * np.eye(3, width)
    return random.normal(size=(n, width)) + centers[targets], np.array(["a", "b", "c"])[targets]


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_clear_classes_are_told_apart_whatever_the_scale_of_vectors_and_kernels(scale: float) -> None:
    vectors, targets = clouds()
    splits = random_splits(60, 0, 2, targets)
    assert classify(scale * vectors, targets, splits).mean == 1.0
    assert classify_svm(scale * vectors, targets, splits).mean == 1.0
    assert classify_kernel(scale * (vectors @ vectors.T), targets, splits).mean == 1.0


def test_a_machine_on_vectors_tells_a_ring_from_its_center_and_sees_no_test_graph() -> None:
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 80)
    targets = np.arange(80) % 2
    vectors = (0.1 + 2 * targets[:, None]) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    splits = random_splits(80, 0, 2, targets)
    assert classify_svm(vectors, targets, splits).mean == 1.0
    assert classify(vectors, targets, splits).mean < 0.8  # no plane does
    moved = vectors.copy()
    moved[splits[0].test] = 50
    assert classify_svm(moved, targets, splits[:1]).strength == classify_svm(vectors, targets, splits[:1]).strength


def test_labels_at_random_are_predicted_no_better_than_chance() -> None:
    random = np.random.default_rng(0)
    vectors, targets = random.normal(size=(200, 40)), random.integers(0, 2, 200)
    scores = classify(vectors, targets, random_splits(200, 0, 8, targets), strengths=(0.01, 1.0), folds=3)
    assert 0.4 < scores.mean < 0.6


def test_nothing_of_the_test_graphs_enters_the_fit() -> None:
    vectors, targets = clouds(gap=1.5)
    split = random_splits(60, 0, 1, targets)
    test = split[0].test
    honest = classify(vectors, targets, split)
    shuffled = targets.copy()
    shuffled[test] = np.roll(targets[test], 1)
    spoiled = classify(vectors, shuffled, split)
    assert spoiled.strength.tolist() == honest.strength.tolist()
    # moving one test graph changes the prediction of that graph at most
    moved = vectors.copy()
    moved[test[0]] = 1e6
    change = classify(moved, targets, split).accuracy - honest.accuracy
    assert abs(change[0]) <= 1 / len(test) + 1e-12


def test_the_same_seed_gives_the_same_scores_and_jobs_do_not_matter() -> None:
    vectors, targets = clouds(gap=1.5)
    splits = stratified_folds(targets, 0, 3)
    one = classify(vectors, targets, splits, strengths=(0.1, 1.0), folds=2)
    two = classify(vectors, targets, splits, strengths=(1.0, 0.1), folds=2, jobs=2)
    np.testing.assert_array_equal(one.accuracy, two.accuracy)
    np.testing.assert_array_equal(one.strength, two.strength)


def test_a_constant_embedding_gets_the_majority_class_right_and_no_more() -> None:
    targets = np.array([0] * 40 + [1] * 20)
    splits = random_splits(60, 0, 3, targets)
    for scores in (classify(np.ones((60, 3)), targets, splits), classify_kernel(np.ones((60, 60)), targets, splits)):
        np.testing.assert_array_equal(scores.accuracy, scores.majority)
        assert scores.mean == pytest.approx(2 / 3, abs=0.03)
    assert classify_kernel(np.zeros((60, 60)), targets, splits).mean == pytest.approx(2 / 3, abs=0.03)


def test_a_class_with_one_member_is_missed_when_tested_and_harms_nothing_else() -> None:
    vectors, targets = clouds(61)
    targets[60] = "z"
    splits = stratified_folds(targets, 0, 4)
    scores = classify(vectors, targets, splits, strengths=(0.1, 1.0), folds=2)
    sizes = [len(split.test) for split in splits]
    assert scores.accuracy @ sizes == pytest.approx(60)


def test_a_split_whose_fitting_graphs_are_of_one_class_predicts_it() -> None:
    targets = np.array([0] * 9 + [1])
    splits = stratified_folds(targets, 0, 10)
    for method in (classify, classify_kernel):
        scores = method(np.eye(10), targets, splits, strengths=(0.1, 1.0), folds=2)
        assert scores.accuracy[[1 in targets[split.test] for split in splits]].tolist() == [0.0]


@pytest.mark.parametrize(
    ("vectors", "targets", "message"),
    [
        (np.ones((20, 2)), np.zeros(20, int), "every graph is of class 0"),
        (np.where(np.arange(40).reshape(20, 2) == 7, np.nan, 1.0), np.arange(20) % 2, "row 3 holds a NaN"),
        (np.ones((20, 2)), np.arange(19) % 2, r"targets of shape \(19,\); expected \(20,\)"),
        (np.ones((10, 2)), np.arange(10) % 2, "larger collection than these 10"),
        (np.ones(20), np.arange(20) % 2, "two dimensions"),
        (np.ones((20, 2)), np.where(np.arange(20) == 4, np.nan, 1.0), "target 4 is missing or not finite"),
        (np.ones((20, 2)), [1 if i % 2 else "a" for i in range(20)], "targets of different types: number, str"),
    ],
)
def test_bad_input_is_refused(vectors: Any, targets: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        classify(vectors, targets, random_splits(20))


def test_bad_kernels_and_settings_are_refused() -> None:
    targets, splits = np.arange(20) % 2, random_splits(20)
    with pytest.raises(ValueError, match="not symmetric"):
        classify_kernel(np.triu(np.ones((20, 20))), targets, splits)
    with pytest.raises(ValueError, match="square"):
        classify_kernel(np.ones((20, 19)), targets, splits)
    with pytest.raises(ValueError, match="no splits"):
        classify(np.ones((20, 2)), targets, [])
    with pytest.raises(ValueError, match="positive values of C"):
        classify(np.ones((20, 2)), targets, splits, strengths=(0.0, 1.0))
    with pytest.raises(ValueError, match="1 inner folds"):
        classify(np.ones((20, 2)), targets, splits, folds=1)


def scores_of(accuracy: Any, ratio: float = 0.25, splits: str = "same") -> ClassificationScores:
    values = np.array(accuracy)
    return ClassificationScores(values, np.zeros_like(values), np.ones_like(values), ratio, splits)


def test_the_corrected_test_is_students_when_nothing_overlaps_and_more_careful_when_it_does() -> None:
    random = np.random.default_rng(0)
    first, second = random.random(10), random.random(10)
    plain = compare(scores_of(first, 0.0), scores_of(second, 0.0))
    oracle = ttest_1samp(first - second, 0.0)
    interval = oracle.confidence_interval(0.95)
    assert plain.p == pytest.approx(oracle.pvalue)
    assert (plain.low, plain.high) == pytest.approx((interval.low, interval.high))
    careful = compare(scores_of(first), scores_of(second))
    # Nadeau and Bengio: the standard error grows by sqrt((1/10 + 1/4) / (1/10))
    assert careful.high - careful.low == pytest.approx((plain.high - plain.low) * np.sqrt(3.5))
    assert careful.p > plain.p
    turned = compare(scores_of(second), scores_of(first))
    assert (turned.difference, turned.low, turned.wins) == pytest.approx(
        (-careful.difference, -careful.high, careful.losses)
    )


def test_equal_methods_differ_by_nothing_and_a_steady_lead_is_certain() -> None:
    accuracy = np.array([0.5, 0.75, 0.625])
    same, ahead = (
        compare(scores_of(accuracy), scores_of(accuracy)),
        compare(scores_of(accuracy + 0.25), scores_of(accuracy)),
    )
    assert (same.difference, same.p, same.ties) == (0.0, 1.0, 3)
    assert (ahead.difference, ahead.p, ahead.wins) == (0.25, 0.0, 3)


def test_scores_on_different_splits_are_not_compared() -> None:
    vectors, targets = clouds()
    one, two = (classify(vectors, targets, random_splits(60, s, 2, targets), strengths=(1.0,)) for s in (0, 1))
    with pytest.raises(ValueError, match="different splits"):
        compare(one, two)
    with pytest.raises(ValueError, match="at least two"):
        compare(scores_of([0.5]), scores_of([0.5]))
