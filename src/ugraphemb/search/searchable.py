"""Packed graphs as the compiled search takes them: with precomputed filter data, and queries in their label codes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb import _core
from ugraphemb.errors import CostError, IndexFormatError
from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.alignment import packed
from ugraphemb.proximity.costs import EditCosts, resolve

Block = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int32]

_MOST_LABELS = 5_000  # of a matrix of costs, which has a row and a column for each label of a part


class Searchable:
    """A collection with its profiles: the data of each graph for the filters, in one block of memory.

    Args:
        profiles: The block that an earlier `Searchable` of the same graphs had; None computes it.
    """

    def __init__(self, graphs: GraphSet, profiles: Block | None = None) -> None:
        self._graphs = graphs
        self._given = profiles

    @cached_property
    def profiles(self) -> Block:
        if self._given is not None:
            return self._given
        block: Block = _core.build_profiles(self._packed)
        return block

    @cached_property
    def core(self) -> _core.Searchable:
        """Checked once: that takes a pass over all edges.

        Raises:
            IndexFormatError: Profiles that are damaged, or of other graphs.
        """
        try:
            return _core.Searchable(self._packed, self.profiles)
        except ValueError as error:
            raise IndexFormatError(f"an index whose filter data do not fit its graphs ({error})") from error

    def coded(self, query: GraphSet, costs: EditCosts) -> tuple[_core.Searchable, _core.Graphs, _core.Costs, bool]:
        """The database, a query of one graph with labels in its codes, the costs in these codes, and whether labels of
        edges count."""
        if costs.attributes_count:
            raise CostError(
                "edit costs that count attributes are for distance and pairwise: search has no bounds for them. "
                "GraphIndex.load(..., costs=EditCosts()) verifies without attributes"
            )
        if not isinstance(costs.node_relabel, float) or not isinstance(costs.edge_relabel, float):
            return self._coded_by_matrix(query, costs)
        nodes = self._node_codes.of(query.node_labels, query.node_vocabulary)
        count = costs.edge_relabel > 0 and (query.edge_labels is not None or self._graphs.edge_labels is not None)
        edges = self._edge_codes.of(_edge_labels(query), query.edge_vocabulary) if count else None
        core = _core.Costs(
            costs.node_insert, costs.node_delete, costs.node_relabel, costs.edge_insert, costs.edge_delete,
            costs.edge_relabel if count else 0.0, None, None,
        )  # fmt: skip
        return self._with_edge_labels if count else self.core, packed(query, nodes, edges), core, count

    def _coded_by_matrix(
        self, query: GraphSet, costs: EditCosts
    ) -> tuple[_core.Searchable, _core.Graphs, _core.Costs, bool]:
        """Costs that depend on labels are computed for the labels that occur, then put in the order of the codes."""
        resolved = resolve(costs, query, self._sample)
        nodes, node_matrix = _recoded(
            self._node_codes.of(query.node_labels, query.node_vocabulary), resolved.node_codes.left,
            self._sample.node_labels, resolved.node_codes.right, resolved.node_matrix,
        )  # fmt: skip
        edges, edge_matrix = None, None
        if resolved.edge_codes is not None:
            edges, edge_matrix = _recoded(
                self._edge_codes.of(_edge_labels(query), query.edge_vocabulary), resolved.edge_codes.left,
                _edge_labels(self._sample), resolved.edge_codes.right, resolved.edge_matrix,
            )  # fmt: skip
        constant = [price if isinstance(price, float) else 1.0 for price in (costs.node_relabel, costs.edge_relabel)]
        core = _core.Costs(
            costs.node_insert, costs.node_delete, constant[0], costs.edge_insert, costs.edge_delete,
            constant[1] if edges is not None else 0.0, node_matrix, edge_matrix,
        )  # fmt: skip
        database = self.core if edges is None else self._with_edge_labels
        return database, packed(query, nodes, edges), core, edges is not None

    @cached_property
    def _packed(self) -> _core.Graphs:
        return packed(self._graphs, self._graphs.node_labels, self._graphs.edge_labels)

    @cached_property
    def _with_edge_labels(self) -> _core.Searchable:
        """The same with a label for each edge: None where there are none."""
        if self._graphs.edge_labels is not None:
            return self.core
        return _core.Searchable(
            packed(self._graphs, self._graphs.node_labels, _edge_labels(self._graphs)), self.profiles
        )

    @cached_property
    def _node_codes(self) -> _Codes:
        return _Codes(self._graphs.node_vocabulary)

    @cached_property
    def _edge_codes(self) -> _Codes:
        return _Codes(self._graphs.edge_vocabulary)

    @cached_property
    def _sample(self) -> GraphSet:
        """A path that has every label of the collection, which is all that costs depend on."""
        nodes, edges = np.unique(self._graphs.node_labels), np.unique(_edge_labels(self._graphs))
        length = max(len(nodes), len(edges) + 1 if len(edges) else 0)
        if not length:
            return self._graphs[:0]
        first = np.arange(length - 1, dtype=np.int32)
        labels = np.resize(edges, length - 1) if len(edges) else np.empty(0, np.int32)
        count = len(labels)
        path = GraphSet.from_edges([length], np.stack([first, first + 1], axis=1)[:count])
        order = np.minimum(path.indices, np.repeat(np.arange(length), np.diff(path.indptr)))
        return GraphSet(
            node_offsets=path.node_offsets, indptr=path.indptr, indices=path.indices,
            node_labels=np.resize(nodes, length).astype(np.int32), node_vocabulary=self._graphs.node_vocabulary,
            edge_labels=None if self._graphs.edge_labels is None else labels[order].astype(np.int32),
            edge_vocabulary=self._graphs.edge_vocabulary, ids=path.ids,
        )  # fmt: skip


class _Codes:
    """Codes of a vocabulary for the labels of others; labels that are not in it get larger codes."""

    def __init__(self, vocabulary: Sequence[Hashable]) -> None:
        self._vocabulary = vocabulary
        # 1, 1.0 and True are three labels, though equal.
        self._code: dict[tuple[type, Any], int] = {
            (type(word), word): i for i, word in enumerate(vocabulary or (None,))
        }

    def of(self, labels: Codes, vocabulary: Sequence[Hashable]) -> Codes:
        if vocabulary is self._vocabulary:
            return labels
        known = self._code
        translation = np.full(max(len(vocabulary), 1), -1, np.int32)
        beyond = len(known)
        for code in np.unique(labels).tolist():
            word = vocabulary[code] if len(vocabulary) else None
            found = known.get((type(word), word))
            translation[code] = beyond if found is None else found
            beyond += found is None
        return translation[labels]


def _edge_labels(graphs: GraphSet) -> Codes:
    return np.zeros(len(graphs.indices), np.int32) if graphs.edge_labels is None else graphs.edge_labels


def _recoded(
    left: Codes, left_before: Codes, right: Codes, right_before: Codes, matrix: npt.NDArray[np.float64] | None
) -> tuple[Codes, npt.NDArray[np.float64] | None]:
    """Codes of a query, and a matrix over other codes of the same labels in terms of them."""
    if matrix is None:
        return left, None
    before = np.full(1 + max(left.max(initial=0), right.max(initial=0)), -1, np.int64)
    before[left], before[right] = left_before, right_before
    if len(before) > _MOST_LABELS:
        raise CostError(f"costs that depend on {len(before)} labels; an index takes at most {_MOST_LABELS}")
    square = np.zeros((len(before), len(before)))
    used = np.flatnonzero(before >= 0)
    square[np.ix_(used, used)] = matrix[np.ix_(before[used], before[used])]
    return left, square
