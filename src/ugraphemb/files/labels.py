"""Labels as JSON: one writer and one reader. Tuples become lists, which no label can be."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ugraphemb.errors import type_of

DEEPEST = 100
"""How deep tuples may be nested."""


def label_to_json(label: Hashable, keeper: str, error: type[Exception], _depth: int = 0) -> Any:
    """The label as JSON, scalars of NumPy as Python's own; an error that names `keeper` for what JSON cannot hold."""
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or type(label) in (bool, int, float, str):
        return label
    if isinstance(label, tuple):
        if _depth == DEEPEST:
            raise error(f"a label of tuples nested more than {DEEPEST} deep; {keeper} keeps fewer")
        return [label_to_json(part, keeper, error, _depth + 1) for part in label]
    raise error(f"label {label!r} is {type_of(label)}; {keeper} keeps None, bool, int, float, str and tuples of them")


def label_from_json(value: Any, source: str, error: type[Exception], _depth: int = 0) -> Any:
    """The inverse of `label_to_json`; messages say where the value is from."""
    if isinstance(value, list):
        if _depth == DEEPEST:
            raise error(f"{source}: a label of lists nested more than {DEEPEST} deep")
        return tuple(label_from_json(item, source, error, _depth + 1) for item in value)
    if isinstance(value, dict):
        raise error(f"{source}: a label that is an object; expected text, a number, true, false, null or a list")
    return value
