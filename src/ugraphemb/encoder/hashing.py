"""Hashes of labels, the same in every process, and of integers, used for Weisfeiler-Lehman colors."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any

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


def label_digest(label: Hashable) -> bytes:
    """Eight bytes that depend on the type and the value of a label."""
    text = repr((type(label).__name__, _plain(label)))
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def label_marks(labels: Sequence[Hashable]) -> Marks:
    """A 64-bit hash of each label."""
    return np.array([int.from_bytes(label_digest(label), "little") for label in labels], np.uint64)


def edge_label_marks(labels: Sequence[Hashable]) -> Marks:
    """As `label_marks`, but 0 for None: edges without labels are the same beside labeled ones as among themselves."""
    return np.where([label is None for label in labels], np.uint64(0), label_marks(labels))


def _plain(label: Hashable) -> Any:
    """The label in a form whose `repr` is the same in every process and for equal labels of one type."""
    if isinstance(label, np.generic):
        return label.item()
    if type(label) is tuple:
        return tuple(map(_plain, label))
    if isinstance(label, frozenset):
        return sorted(repr(_plain(part)) for part in label)
    return label
