"""Checks of the classes that fine-tuning and classification take."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_SAVED = {"b": "booleans", "i": "integers", "u": "integers", "f": "floats", "U": "strings"}
_FEWEST = 3  # one held-out graph, and two training graphs


def class_codes(targets: npt.ArrayLike, expected: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The classes, sorted, and the class of each graph as a position among them.

    Raises:
        ValueError: The number of targets is not `expected`, a graph has no class (None, NaN, ""), or some classes are
            strings and others are numbers.
    """
    values = np.asarray(targets) if hasattr(targets, "dtype") else np.asarray(targets, dtype=object)
    if values.shape != (expected,):
        raise ValueError(f"targets of shape {values.shape}; expected ({expected},): one per graph")
    missing = np.array([_is_missing(value) for value in values.tolist()], bool)
    if missing.any():
        raise ValueError(
            f"target {int(np.flatnonzero(missing)[0])} is missing or not finite ({int(missing.sum())} of {expected} "
            "are); leave out graphs without a class"
        )
    if values.dtype == object:
        values = _of_one_type(values)
    classes, codes = np.unique(values, return_inverse=True)
    return classes, codes.reshape(-1).astype(np.int64)


def classes_to_learn(targets: npt.ArrayLike, expected: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """As `class_codes`, for classes that a model can learn and a file can keep.

    Raises:
        ValueError: As there; or too few graphs, a single class, or classes that are not strings, numbers or booleans.
    """
    classes, codes = class_codes(targets, expected)
    if classes.dtype.kind not in _SAVED:
        kinds = ", ".join(dict.fromkeys(_SAVED.values()))
        raise ValueError(f"classes of type {classes.dtype}, which a model cannot store; it stores {kinds}")
    if expected < _FEWEST:
        raise ValueError(f"fine-tuning needs at least {_FEWEST} graphs, not {expected}")
    if len(classes) < 2:
        raise ValueError(f"fine-tuning needs graphs of at least two classes; all are of class {classes[0]}")
    return classes, codes


def _is_missing(value: Any) -> bool:
    """Whether this is None, NaN, infinite, an empty string (an empty cell), or a missing value of pandas."""
    if isinstance(value, float):
        return not np.isfinite(value)
    return value is None or value == "" or type(value).__name__ in ("NAType", "NaTType")


def _of_one_type(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Python objects as an array of their own type; integers and floats may be mixed."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values.tolist()]
    kinds = {"number" if type(value) in (int, float) else type(value).__name__ for value in plain}
    if len(kinds) > 1:
        raise ValueError(f"targets of different types: {', '.join(sorted(kinds))}; expected one type")
    return np.asarray(plain)
