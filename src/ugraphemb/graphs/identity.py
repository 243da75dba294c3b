"""Equality of collections, and a fingerprint that equal collections share."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs.packing import Vocabulary, label_key

if TYPE_CHECKING:
    from ugraphemb.graphs.graphset import GraphSet


def equal(left: GraphSet, right: GraphSet) -> bool:
    """Whether two collections hold the same graphs, whatever the order of their vocabularies."""
    return (
        np.array_equal(left.node_offsets, right.node_offsets)
        and np.array_equal(left.indptr, right.indptr)
        and np.array_equal(left.indices, right.indices)
        and np.array_equal(left.ids, right.ids)
        and _same_optional(left.node_attributes, right.node_attributes)
        and _same_optional(left.targets, right.targets)
        and _same_labels(left.node_labels, left.node_vocabulary, right.node_labels, right.node_vocabulary)
        and _same_labels(left.edge_labels, left.edge_vocabulary, right.edge_labels, right.edge_vocabulary)
    )


def fingerprint(graphs: GraphSet) -> str:
    """A digest of structure, labels and attributes: the same for all collections that are equal.

    Labels are numbered by where they first appear, so that neither the order of a vocabulary nor labels that nothing
    carries change it.
    """
    digest = hashlib.blake2b(digest_size=16, person=b"graphs 2")
    for array in (graphs.node_offsets, graphs.indptr, graphs.indices):
        _add(digest, np.ascontiguousarray(array))
    for codes, vocabulary in (
        (graphs.node_labels if graphs.node_vocabulary else None, graphs.node_vocabulary),
        (graphs.edge_labels, graphs.edge_vocabulary),
    ):
        if codes is None or codes.size == 0:
            digest.update(b"unlabeled")
        else:
            numbers, words = by_appearance(codes, vocabulary)
            _add(digest, numbers)
            digest.update("\n".join(map(label_text, words)).encode("utf-8", "surrogatepass"))
    attributes = graphs.node_attributes
    if attributes is not None and attributes.size:
        # Adding 0 turns -0.0 into 0.0. Every nan is the same nan.
        _add(digest, np.where(np.isnan(attributes), np.nan, attributes + 0.0))
    return digest.hexdigest()


def fingerprint_of_release_1(graphs: GraphSet) -> str:
    """What tables of release 0.1 hold: it changed with the order of vocabularies."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (graphs.node_offsets, graphs.indptr, graphs.indices, graphs.node_labels, graphs.edge_labels):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        digest.update(b"|")
    digest.update(repr((graphs.node_vocabulary, graphs.edge_vocabulary)).encode("utf-8", "backslashreplace"))
    if graphs.node_attributes is not None:
        digest.update(np.ascontiguousarray(graphs.node_attributes).tobytes())
    return digest.hexdigest()


def by_appearance(
    codes: npt.NDArray[np.int32], vocabulary: Vocabulary
) -> tuple[npt.NDArray[np.int32], list[Hashable | None]]:
    """Codes by the order in which labels appear, and the labels in that order. Linear in nodes.

    A label that stands in the vocabulary more than once is one label.
    """
    words: tuple[Hashable | None, ...] = vocabulary or (None,)
    keys = [label_key(word) for word in words]
    first = {key: i for i, key in reversed([*enumerate(keys)])}
    if len(first) < len(keys):
        codes = np.array([first[key] for key in keys], np.int32)[codes]
    place = np.full(len(words), len(codes), np.int64)
    place[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last assignment counts: the first place
    order = np.argsort(place, kind="stable")[: np.count_nonzero(place < len(codes))]
    number = np.empty(len(words), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return number[codes], [words[i] for i in order]


def label_text(label: Any) -> str:
    """Text that is the same for equal labels and different for others."""
    if isinstance(label, tuple):
        return f"({','.join(map(label_text, label))})"
    if isinstance(label, float):
        label += 0.0  # -0.0 is 0.0
    return f"{type(label).__name__}:{label!r}"


def _add(digest: Any, array: npt.NDArray[Any]) -> None:
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    digest.update(array.data)


def _same_optional(left: npt.NDArray[np.generic] | None, right: npt.NDArray[np.generic] | None) -> bool:
    if left is None or right is None:
        return left is right or (left if right is None else right).size == 0  # type: ignore[union-attr]
    if left.size == right.size == 0:
        return len(left) == len(right)
    floating = np.issubdtype(left.dtype, np.floating) and np.issubdtype(right.dtype, np.floating)
    return np.array_equal(left, right, equal_nan=floating)


def _same_labels(
    left: npt.NDArray[np.int32] | None,
    left_vocabulary: Vocabulary,
    right: npt.NDArray[np.int32] | None,
    right_vocabulary: Vocabulary,
) -> bool:
    """The same label everywhere. Where there is nothing to label, labels or no labels are the same."""
    if left is None or right is None:
        return left is right or (left if right is None else right).size == 0  # type: ignore[union-attr]
    if left.size == 0 or not (left_vocabulary or right_vocabulary):
        return left.size == right.size
    if not (left_vocabulary and right_vocabulary):
        return False
    a, left_words = by_appearance(left, left_vocabulary)
    b, right_words = by_appearance(right, right_vocabulary)
    return [*map(label_key, left_words)] == [*map(label_key, right_words)] and np.array_equal(a, b)
