"""Labels of two collections as positions in one vocabulary, and collections as the compiled core takes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ugraphemb import _core
from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import Vocabulary

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Labels:
    """One code a node (or an entry of `indices`) of either collection.

    Codes do not depend on which collection is left: solvers compare them to choose the same direction for both orders.
    """

    left: Codes
    right: Codes
    vocabulary: Vocabulary
    order: Codes | None = None  # codes of the left vocabulary, then of what is new in the right; None: as they stand


def packed(graphs: GraphSet, labels: Codes, edge_labels: Codes | None = None) -> _core.Graphs:
    """The arrays of a collection as the compiled core takes them, with these codes for its labels.

    Raises:
        GraphFormatError: Arrays that are no undirected simple graphs: out of range, asymmetric, unsorted, with a self
            loop, or with an edge twice. Checked in O(nodes + edges), once for each collection and its own codes.
    """
    is_own = labels is graphs.node_labels and (edge_labels is None or edge_labels is graphs.edge_labels)
    # Kept with the collection, whose arrays are read-only, so that one check is enough.
    checked: dict[bool, _core.Graphs] = vars(graphs).setdefault("_checked", {}) if is_own else {}
    if (edge_labels is None) in checked:
        return checked[edge_labels is None]
    try:
        core = _core.Graphs(graphs.node_offsets, graphs.indptr, graphs.indices, labels, edge_labels)
    except ValueError as error:
        raise GraphFormatError(f"{graphs.name or 'GraphSet'}: {error}") from None
    checked[edge_labels is None] = core
    return core


def node_labels(left: GraphSet, right: GraphSet) -> Labels:
    """Node labels of both; nodes without labels carry None where the other collection has labels."""
    return _aligned(left.node_labels, left.node_vocabulary, right.node_labels, right.node_vocabulary)


def edge_labels(left: GraphSet, right: GraphSet) -> Labels | None:
    """Edge labels of both, None if neither has any."""
    if left.edge_labels is None and right.edge_labels is None:
        return None
    return _aligned(_edge_codes(left), left.edge_vocabulary, _edge_codes(right), right.edge_vocabulary)


def _edge_codes(graphs: GraphSet) -> Codes:
    return np.zeros(len(graphs.indices), np.int32) if graphs.edge_labels is None else graphs.edge_labels


def _aligned(left: Codes, left_vocabulary: Vocabulary, right: Codes, right_vocabulary: Vocabulary) -> Labels:
    if left_vocabulary is right_vocabulary or not (left_vocabulary or right_vocabulary):
        return Labels(left, right, left_vocabulary)
    # 1, 1.0 and True are three labels, though equal
    entries = [[(type(label), label) for label in words or (None,)] for words in (left_vocabulary, right_vocabulary)]
    if entries[0] == entries[1]:
        return Labels(left, right, left_vocabulary)
    union = list(dict.fromkeys(entries[0] + entries[1]))
    ordered = sorted(union, key=lambda entry: (entry[0].__name__, repr(entry[1])))
    position = {entry: i for i, entry in enumerate(ordered)}
    recoding = [np.array([position[entry] for entry in words], np.int32) for words in (*entries, union)]
    return Labels(recoding[0][left], recoding[1][right], tuple(label for _, label in ordered), recoding[2])
