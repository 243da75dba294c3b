"""Checks of the arrays that tasks take."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def finite_matrix(values: npt.ArrayLike, what: str) -> npt.NDArray[np.float64]:
    """`values` as a float64 matrix; a ValueError names the first row that holds a NaN or an infinity."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"{what} of shape {matrix.shape}; expected two dimensions")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        raise ValueError(f"{what}: row {bad[0]} holds a NaN or an infinity ({len(bad)} rows of {len(matrix)} do)")
    return matrix


def class_codes(targets: npt.ArrayLike, expected: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The classes, sorted, and the class of each graph as a position among them."""
    values = np.asarray(targets)
    if values.shape != (expected,):
        raise ValueError(f"targets of shape {values.shape}; expected ({expected},): one per graph")
    if np.issubdtype(values.dtype, np.floating) and not np.isfinite(values).all():
        raise ValueError(f"target {int(np.flatnonzero(~np.isfinite(values))[0])} is not a number")
    classes, codes = np.unique(values, return_inverse=True)
    return classes, codes.reshape(-1).astype(np.int64)
