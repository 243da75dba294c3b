"""Collections put together, and compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import Vocabulary


def concatenated(parts: Sequence[GraphSet]) -> GraphSet:
    """All graphs of all parts, in order, with one vocabulary of node labels and one of edge labels.

    Where only some parts carry labels, nodes of the others get the label None. Attributes must be of one
    width, or absent everywhere; targets are kept where every part has them. If ids repeat, each gets the
    position of its part before it.
    """
    if not parts:
        raise ValueError("no collections to concatenate")
    node_codes, node_vocabulary = _merged([part.node_labels for part in parts], [p.node_vocabulary for p in parts])
    edge_codes: npt.NDArray[np.int32] | None = None
    edge_vocabulary: Vocabulary = ()
    if any(part.edge_labels is not None for part in parts):
        edge_codes, edge_vocabulary = _merged(
            [np.zeros(len(p.indices), np.int32) if p.edge_labels is None else p.edge_labels for p in parts],
            [p.edge_vocabulary for p in parts],
        )
    widths = {None if part.node_attributes is None else part.node_attributes.shape[1] for part in parts}
    if len(widths) > 1:
        raise GraphFormatError(
            f"collections with node attributes of widths {sorted(map(str, widths))} do not fit together"
        )
    rows = [part.node_attributes for part in parts if part.node_attributes is not None]
    attributes = np.concatenate(rows) if rows else None
    ids = np.concatenate([part.ids for part in parts])
    if len(np.unique(ids)) < len(ids):
        ids = np.concatenate([np.char.add(f"{i}:", part.ids) for i, part in enumerate(parts)])
    return GraphSet(
        node_offsets=_chained([part.node_offsets for part in parts]),
        indptr=_chained([part.indptr for part in parts]),
        indices=np.concatenate([part.indices for part in parts]),
        node_labels=node_codes,
        node_vocabulary=node_vocabulary,
        edge_labels=edge_codes,
        edge_vocabulary=edge_vocabulary,
        node_attributes=attributes,
        targets=_joined_targets(parts),
        ids=ids,
        name=" + ".join(dict.fromkeys(part.name for part in parts if part.name)),
    )  # fmt: skip


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


def _chained(offsets: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    shifts = np.cumsum([0] + [array[-1] for array in offsets])
    return np.concatenate([[0], *(array[1:] + shift for array, shift in zip(offsets, shifts, strict=False))]).astype(
        np.int64
    )


def _merged(
    codes: Sequence[npt.NDArray[np.int32]], vocabularies: Sequence[Vocabulary]
) -> tuple[npt.NDArray[np.int32], Vocabulary]:
    if not any(vocabularies):
        return np.concatenate(codes), ()
    entries = [[(type(label), label) for label in vocabulary or (None,)] for vocabulary in vocabularies]
    position = {entry: i for i, entry in enumerate(dict.fromkeys(entry for part in entries for entry in part))}
    recoded = [
        np.array([position[entry] for entry in part], np.int32)[code] for code, part in zip(codes, entries, strict=True)
    ]
    return np.concatenate(recoded), tuple(label for _, label in position)


def _joined_targets(parts: Sequence[GraphSet]) -> npt.NDArray[np.generic] | None:
    targets = [part.targets for part in parts if part.targets is not None]
    return np.concatenate(targets) if len(targets) == len(parts) else None


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
    position = {(type(label), label): i for i, label in enumerate(left_vocabulary)}
    recoding = [position.get((type(label), label), -1) for label in right_vocabulary]
    return bool(left_vocabulary and recoding) and np.array_equal(left, np.array(recoding, np.int32)[right])
