"""The network's representation of graphs: rows of node vectors, and the rows that each sum uses.

A row may represent many nodes: nodes that the convolutions cannot distinguish are folded into one row, which gives the
same vectors with fewer computations. After k convolutions the vector of a node depends only on its Weisfeiler-Lehman
color, which describes the features of the nodes up to k steps away. Molecules have most of their colors in common.
Without folding, each node has its own row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array

from ugraphemb.encoder.batches import Batch, run_positions
from ugraphemb.encoder.hashing import GOLDEN, Marks, mixed, sums_of_runs
from ugraphemb.encoder.incidence import Incidence

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Input of the network for some graphs.

    Attributes:
        batch: Features of the input rows; sizes of the graphs.
        own: For each convolution, the input row of each output row's own node; None if they are the same rows.
        neighbors: For each convolution, the input rows of the neighbors of each output row.
        graphs: For the input and after each convolution, the rows of each graph that the readouts use.
    """

    batch: Batch
    own: list[Incidence | None]
    neighbors: list[Incidence]
    graphs: list[Incidence]

    @classmethod
    def of_nodes(cls, batch: Batch, depth: int, *, last: bool = False) -> Rows:
        """One row per node, for `depth` convolutions; with `last`, readouts use only the last node of each graph."""
        neighbors = Incidence.of_neighbors(batch.indptr, batch.indices)
        if last:
            graphs = Incidence.of_single_rows(batch.offsets[1:] - 1, len(batch.slot))
        else:
            graphs = Incidence.of_runs(batch.offsets, batch.graph_of)
        return cls(batch, [None] * depth, [neighbors] * depth, [graphs] * (depth + 1))

    def to(self, device: torch.device) -> Rows:
        parts = (*self.own, *self.neighbors, *self.graphs)
        moved = {id(part): part.to(device) for part in {id(part): part for part in parts if part is not None}.values()}
        own = [None if part is None else moved[id(part)] for part in self.own]
        neighbors, graphs = ([moved[id(part)] for part in some] for some in (self.neighbors, self.graphs))
        return Rows(self.batch.to(device), own, neighbors, graphs)


class Folding:
    """The graphs of a collection with equivalent nodes folded; gives batches of some of them.

    Attributes:
        row_of: For the input and after each convolution, the row of each node.
    """

    def __init__(self, graphs: Batch, depth: int, *, degree: bool, counted: bool) -> None:
        """Folds a batch on the CPU for `depth` convolutions; `degree` says whether degrees are used as features.

        With `counted`, lists contain each row once, with its count: they are smaller, but need sorting.

        Two nodes are folded if their 64-bit hashes are equal. The probability of any collision among a million
        different colors is below 10⁻⁷.
        """
        indptr, indices = graphs.indptr.numpy(), graphs.indices.numpy()
        offsets = graphs.offsets.numpy()
        nodes, row_of = _rows(_marks(graphs, degree))
        self._graphs = graphs.of_nodes(nodes)
        self._own: list[csr_array] = []
        self._neighbors: list[csr_array] = []
        self._counted = counted
        self.row_of = [row_of]
        self._in_graphs = [_lists(row_of, offsets, len(nodes), counted)]
        for _ in range(depth):
            mark = mixed(row_of.astype(np.uint64))
            around = sums_of_runs(mark[indices], indptr)
            like, after = _rows(mixed(mark * GOLDEN + around))
            ends, of_neighbors = run_positions(indptr[like], indptr[like + 1] - indptr[like])
            rows = self._in_graphs[-1].shape[1]
            self._own.append(_lists(row_of[like], np.arange(len(like) + 1), rows, False))
            self._neighbors.append(_lists(row_of[indices[ends]], of_neighbors, rows, counted))
            self._in_graphs.append(_lists(after, offsets, len(like), counted))
            row_of = after
            self.row_of.append(row_of)
        self._places = [np.empty(lists.shape[1], np.int64) for lists in self._in_graphs]

    @property
    def rows_a_node(self) -> float:
        """Mean number of rows per node over all layers; 1 means that nothing was folded."""
        return float(sum(held.shape[1] for held in self._in_graphs) / max(1, sum(map(len, self.row_of))))

    def batch(self, chosen: Positions | None = None, *, gradients: bool = True) -> Rows:
        """The graphs at these positions, or all of them. Without `gradients` the result is for inference only."""
        graphs, own, around, held = self._graphs, self._own, self._neighbors, self._in_graphs
        if chosen is not None:
            places = self._places
            held = [lists[chosen] for lists in held]
            rows = [_present(lists.indices, place) for lists, place in zip(held, places, strict=True)]
            graphs = graphs.of_sizes(np.diff(graphs.offsets.numpy())[chosen]).of_nodes(rows[0])
            held = [_renamed(lists, place, len(row)) for lists, place, row in zip(held, places, rows, strict=True)]
            depths = range(len(own))
            own, around = (
                [_renamed(links[k][rows[k + 1]], places[k], len(rows[k])) for k in depths] for links in (own, around)
            )

        def incidences(matrices: list[csr_array], counted: bool) -> list[Incidence]:
            return [Incidence.of(matrix, counted=counted, gradients=gradients) for matrix in matrices]

        counted = self._counted
        return Rows(graphs, [*incidences(own, False)], incidences(around, counted), incidences(held, counted))


def _lists(rows: Positions, offsets: Positions, width: int, counted: bool) -> csr_array:
    """Number of occurrences of each row in each list: (lists, width)."""
    ones = np.ones(len(rows), np.float32)
    lists = csr_array((ones, rows, offsets), (len(offsets) - 1, width), copy=counted)
    if counted:
        lists.sum_duplicates()
    return lists


def _present(occurring: Positions, place: Positions) -> Positions:
    """The distinct rows; stores the index of each in `place`. The time does not depend on the length of `place`."""
    numbers = np.arange(len(occurring))
    place[occurring] = numbers
    rows: Positions = occurring[place[occurring] == numbers]
    place[rows] = np.arange(len(rows))
    return rows


def _renamed(lists: csr_array, place: Positions, count: int) -> csr_array:
    """The same lists with rows renumbered by `place`, which keeps `count` rows."""
    return csr_array((lists.data, place[lists.indices], lists.indptr), (lists.shape[0], count))


def _marks(batch: Batch, degree: bool) -> Marks:
    """A hash of each node's features."""
    numbers = batch.numbers.numpy().view(np.uint32)
    mark = batch.slot.numpy().astype(np.uint64)
    columns = [*([batch.degree.numpy()] if degree else []), *([batch.code.numpy()] if len(batch.code) else [])]
    for column in (*columns, *numbers.T):
        mark = mixed(mark * GOLDEN + column.astype(np.uint64))
    return mark


def _rows(marks: Marks) -> tuple[Positions, Positions]:
    """One node for each distinct mark, and the index of each node's mark among them. Faster than np.unique."""
    order = np.argsort(marks)
    ordered = marks[order]
    is_new = np.empty(len(marks), bool)
    is_new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    row_of = np.empty(len(marks), np.int64)
    row_of[order] = np.cumsum(is_new) - 1
    return order[is_new], row_of
