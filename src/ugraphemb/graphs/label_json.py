"""Labels as JSON: tuples become lists, which no label can be. `formats.text.label` is the inverse."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


def label_to_json(label: Hashable, keeper: str, error: type[Exception]) -> Any:
    """The label as JSON; what JSON cannot hold is refused in the name of `keeper`, with `error`."""
    if label is None or type(label) in (bool, int, float, str):
        return label
    if isinstance(label, tuple):
        return [label_to_json(part, keeper, error) for part in label]
    raise error(
        f"label {label!r} is a {type(label).__name__}; {keeper} keeps None, bool, int, float, str and tuples of them"
    )
