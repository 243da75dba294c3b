"""Splits: disjoint, complete, stratified, reproducible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugraphemb.tasks import random_splits, stratified_folds


@given(st.lists(st.integers(0, 3), min_size=5, max_size=60), st.integers(0, 5), st.booleans())
def test_random_splits_are_a_partition_in_the_shares_asked_for(targets: Any, seed: int, stratified: bool) -> None:
    n = len(targets)
    for split in random_splits(n, seed, 3, targets if stratified else None):
        together = np.concatenate([split.train, split.validation, split.test])
        assert sorted(together.tolist()) == list(range(n))
        assert (len(split.validation), len(split.test)) == (round(0.2 * n), round(0.2 * n))
        assert split.fit.tolist() == sorted([*split.train, *split.validation])
        if stratified:
            for label in set(targets):
                members = targets.count(label)
                tested = sum(targets[i] == label for i in split.test)
                assert abs(tested - members * len(split.test) / n) < 1


@given(st.lists(st.integers(0, 3), min_size=3, max_size=60), st.integers(2, 10), st.integers(0, 5))
def test_every_graph_is_tested_once_a_round_and_every_class_is_spread_evenly(
    targets: Any, folds: int, seed: int
) -> None:
    folds = min(folds, len(targets))
    splits = stratified_folds(targets, seed, folds, repeats=2)
    assert len(splits) == 2 * folds
    for part in (splits[:folds], splits[folds:]):
        assert sorted(np.concatenate([split.test for split in part]).tolist()) == list(range(len(targets)))
        for label in set(targets):
            counts = [sum(targets[i] == label for i in split.test) for split in part]
            assert max(counts) - min(counts) <= 1
    for split in splits:
        assert set(split.train.tolist()) == set(range(len(targets))) - set(split.test.tolist())


def test_a_seed_always_gives_the_same_splits_however_many_are_asked_for() -> None:
    few, many, other = random_splits(50, 1, 2), random_splits(50, 1, 5), random_splits(50, 2, 2)
    assert all((a.test == b.test).all() and (a.train == b.train).all() for a, b in zip(few, many, strict=False))
    assert (few[0].test != other[0].test).any()
    assert (few[0].test != few[1].test).any()


def test_impossible_splits_are_refused() -> None:
    with pytest.raises(ValueError, match="2 graphs can't be split"):
        random_splits(2)
    with pytest.raises(ValueError, match="add up to 1"):
        random_splits(10, shares=(0.6, 0.2, 0.3))
    with pytest.raises(ValueError, match="0 repeats"):
        random_splits(10, repeats=0)
    with pytest.raises(ValueError, match="10 folds of 3 graphs"):
        stratified_folds([0, 1, 0])
    with pytest.raises(ValueError, match=r"targets of shape \(3,\)"):
        random_splits(10, targets=[0, 1, 0])
