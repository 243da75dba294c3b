"""Vectorized hashes of integers, used for Weisfeiler-Lehman colors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Marks = npt.NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: Marks) -> Marks:
    """A bijection whose every output bit depends on every input bit (the finalizer of SplitMix64)."""
    values = values + GOLDEN
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def sums_of_runs(values: Marks, offsets: npt.NDArray[np.int64]) -> Marks:
    """Σ values[offsets[i] : offsets[i + 1]], modulo 2⁶⁴."""
    total = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values, out=total[1:])  # overflows are modulo 2⁶⁴, and so are the differences
    return total[offsets[1:]] - total[offsets[:-1]]
