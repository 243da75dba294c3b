"""Seeded splits of a collection, shared by every method that is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.training.targets import class_codes

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of graphs, ascending, no graph in two of them.

    Examples:
        >>> from ugraphemb.tasks import random_splits
        >>> split = random_splits(10)[0]
        >>> len(split.fit) == len(split.train) + len(split.validation)
        True
    """

    train: Ints
    validation: Ints
    test: Ints

    @property
    def fit(self) -> Ints:
        """Training and validation together: what a classifier is fitted on once nothing is left to choose."""
        return np.sort(np.concatenate([self.train, self.validation]))


def random_splits(
    n: int,
    seed: int = 0,
    repeats: int = 10,
    targets: npt.ArrayLike | None = None,
    *,
    shares: tuple[float, float, float] = (0.6, 0.2, 0.2),
) -> list[Split]:
    """Repeated random splits into training, validation and test, 6:2:2 as in the paper.

    Split i is the same whatever `repeats` is.

    Args:
        n: Number of graphs.
        targets: One class per graph; if given, the splits are stratified: every part has its share of every
            class, up to one graph. A class of one member falls into any one of them.
        shares: Shares of training, validation and test; validation and test are rounded to whole graphs.

    Examples:
        >>> from ugraphemb.tasks import random_splits
        >>> splits = random_splits(10, repeats=5)
        >>> len(splits), [len(part) for part in (splits[0].train, splits[0].validation, splits[0].test)]
        (5, [6, 2, 2])
    """
    if abs(sum(shares) - 1) > 1e-9 or min(shares) < 0:
        raise ValueError(f"shares {shares}; expected three that add up to 1")
    test, validation = round(shares[2] * n), round(shares[1] * n)
    if n - test - validation < 1 or test < 1:
        raise ValueError(f"{n} graphs can't be split {shares}: training and test would not both have one")
    codes = None if targets is None else class_codes(targets, n)[1]
    splits = []
    for repeat in range(_positive(repeats, "repeats")):
        random = np.random.default_rng([seed, repeat])
        order = _by_class(n, codes, random)
        tested = _spread(n, test, random)
        rest = order[~tested]
        validated = _spread(len(rest), validation, random)
        splits.append(Split(np.sort(rest[~validated]), np.sort(rest[validated]), np.sort(order[tested])))
    return splits


def stratified_folds(targets: npt.ArrayLike, seed: int = 0, folds: int = 10, repeats: int = 1) -> list[Split]:
    """Cross-validation: each fold is the test set once, the others are training; validation is empty.

    Every class is spread over the folds to within one graph. Fold f of repeat r is split r * folds + f.

    Examples:
        >>> from ugraphemb.tasks import stratified_folds
        >>> [fold.test.tolist() for fold in stratified_folds([0, 0, 0, 1, 1, 1], folds=3)]
        [[2, 3], [0, 5], [1, 4]]
    """
    n = len(np.asarray(targets))
    if not 2 <= folds <= n:
        raise ValueError(f"{folds} folds of {n} graphs; folds go from 2 to the number of graphs")
    codes = class_codes(targets, n)[1]
    splits = []
    for repeat in range(_positive(repeats, "repeats")):
        fold_of = fold_numbers(codes, folds, np.random.default_rng([seed, repeat]))
        for fold in range(folds):
            rest = np.flatnonzero(fold_of != fold)
            splits.append(Split(rest, np.empty(0, np.int64), np.flatnonzero(fold_of == fold)))
    return splits


def fold_numbers(codes: Ints, folds: int, random: np.random.Generator) -> Ints:
    """The fold of each graph: sizes differ by at most one, and so do those of every class."""
    order = _by_class(len(codes), codes, random)
    answer = np.empty(len(codes), np.int64)
    answer[order] = (np.arange(len(codes)) + random.integers(folds)) % folds
    return answer


def _by_class(n: int, codes: Ints | None, random: np.random.Generator) -> Ints:
    """Graphs in random order, or class after class and random within each."""
    order = random.permutation(n)
    return order if codes is None else order[np.argsort(codes[order], kind="stable")]


def _spread(n: int, chosen: int, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Exactly `chosen` of n places, evenly spaced from a random start (systematic sampling)."""
    if n == 0:
        return np.zeros(0, bool)
    steps = np.arange(n + 1) * chosen + random.integers(n)
    return np.asarray(np.diff(steps // n) > 0)


def _positive(value: Any, what: str) -> int:
    if value < 1:
        raise ValueError(f"{value} {what}; expected at least one")
    return int(value)
