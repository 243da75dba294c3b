"""Checks of the arrays that tasks take."""

from __future__ import annotations

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
