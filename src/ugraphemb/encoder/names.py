"""The names that settings may take, and what a head makes of coordinates."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Convolution = Literal["gin", "gcn", "sage", "gat"]
Readout = Literal["msna", "attention", "supersource", "sum", "average"]
Compression = Literal["none", "log", "log_mean"]
Head = Literal["l2", "l1", "squared_l2", "pseudo_l2", "raised_l2", "inner"]

PSEUDO: tuple[Head, ...] = ("pseudo_l2", "raised_l2")
"""Heads with coordinates that count against the distance."""

FLOOR = 0.01
"""The least share of the Euclidean distance that a pseudo-Euclidean one is: zero is for equal vectors alone."""

STEP = 0.05
"""Distance at which half of the heights of "raised_l2" count."""


def parts(width: int, head: Head) -> tuple[slice, slice]:
    """The coordinates that count for and against a distance; "raised_l2" has its heights in front of them."""
    split = width - width // 4
    return slice(int(head == "raised_l2"), split), slice(split, None)


def pseudo(plus: npt.NDArray[Any], minus: npt.NDArray[Any], heights: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    """A pseudo-Euclidean head from the squared distances of its two parts; see `ugraphemb.encoder.heads`.

    Args:
        heights: Of both vectors, added; for "raised_l2" alone.
    """
    squared = plus - minus
    root = squared / (np.sqrt(np.abs(squared) + 1e-4) + 1e-2)
    value: npt.NDArray[Any] = np.maximum(root, FLOOR * np.sqrt(plus + minus))
    return value if heights is None else value + heights * value / (value + STEP)
