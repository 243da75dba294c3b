"""Kendall's τ: one definition for validation, `UGraphEmb.score` and the ranking task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt


def kendall_tau(predicted: Iterable[Any], truth: Iterable[Any]) -> npt.NDArray[np.float64]:
    """τ-b of each row: shape (rows,).

    NaN if the truth is constant, because there is nothing to order; 0 if only the prediction is constant, so that a
    model does not benefit from giving no order.
    """
    from scipy.stats import kendalltau  # inversions are counted in O(n log n)

    def row(guess: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> float:
        if _is_constant(right):
            return float("nan")
        if _is_constant(guess):
            return 0.0
        if len(guess) == 2:  # a single pair: SciPy would divide by 0
            return 1.0 if (guess[0] < guess[1]) == (right[0] < right[1]) else -1.0
        return float(kendalltau(guess, right, method="asymptotic").statistic)

    return np.array([row(np.asarray(a), np.asarray(b)) for a, b in zip(predicted, truth, strict=True)])


def mean_tau(predicted: npt.ArrayLike, truth: npt.ArrayLike, known: npt.ArrayLike) -> float:
    """Mean τ of the rows over their known entries, without rows of constant truth; NaN if no row remains."""
    rows = zip(np.asarray(predicted), np.asarray(truth), np.asarray(known), strict=True)
    pairs = [(guess[there], right[there]) for guess, right, there in rows]
    found = kendall_tau([guess for guess, _ in pairs], [right for _, right in pairs])
    defined = found[~np.isnan(found)]
    return float(defined.mean()) if len(defined) else float("nan")


def _is_constant(values: npt.NDArray[np.float64]) -> bool:
    return len(values) == 0 or bool((values == values[0]).all())
