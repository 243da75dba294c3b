"""Collections put together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import Vocabulary, label_key


def concatenated(parts: Sequence[GraphSet]) -> GraphSet:
    """All graphs of all parts, in order, with one vocabulary of node labels and one of edge labels.

    If only some parts have labels, nodes of the others get the label None. Attributes must be of one
    width, or absent everywhere; targets are kept where every part has them, metadata where any has them. If ids
    repeat, each gets the position of its part before it.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.graphs import concatenated
        >>> atlas = ug.load_dataset("atlas")
        >>> concatenated([atlas[5:7], atlas[50:53]])
        GraphSet(atlas: 5 graphs, 21 nodes, 30 edges)
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
        metadata=_joined_metadata(parts),
    )  # fmt: skip


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
    position: dict[Hashable, int] = {}
    labels: list[Hashable] = []
    recoded = []
    for code, vocabulary in zip(codes, vocabularies, strict=True):
        for label in vocabulary or (None,):
            if position.setdefault(label_key(label), len(labels)) == len(labels):
                labels.append(label)
        table = np.array([position[label_key(label)] for label in vocabulary or (None,)], np.int32)
        recoded.append(table[code])
    return np.concatenate(recoded), tuple(labels)


def _joined_targets(parts: Sequence[GraphSet]) -> npt.NDArray[np.generic] | None:
    targets = [part.targets for part in parts if part.targets is not None]
    return np.concatenate(targets) if len(targets) == len(parts) else None


def _joined_metadata(parts: Sequence[GraphSet]) -> dict[str, npt.NDArray[Any]]:
    """All columns of all parts; None where a part lacks one."""
    names = dict.fromkeys(name for part in parts for name in part.metadata)
    return {
        name: np.concatenate([part.metadata.get(name, np.full(len(part), None, object)) for part in parts])
        for name in names
    }
