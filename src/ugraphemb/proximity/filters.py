"""Lower bounds of edit distance so cheap that a whole database is filtered by them: sizes, labels, degrees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import ranges
from ugraphemb.proximity.costs import EditCosts

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Profiles:
    """What the bounds need to know about the nodes of a collection, computed once and packed like the collection."""

    graphs: GraphSet

    @cached_property
    def occurrence(self) -> npt.NDArray[np.int32]:
        """How many earlier nodes of the same graph carry the same label, for each node."""
        graph_of, labels = self._graph_of, self.graphs.node_labels
        order = np.lexsort((labels, graph_of))
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(graph_of[order]) != 0) | (np.diff(labels[order]) != 0)
        start = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
        occurrence = np.empty(len(order), np.int32)
        occurrence[order] = np.arange(len(order)) - start
        return occurrence

    @cached_property
    def degrees(self) -> npt.NDArray[np.int32]:
        """Degrees of each graph's nodes, largest first, in the place of its nodes."""
        degrees = np.diff(self.graphs.indptr).astype(np.int32)
        return degrees[np.lexsort((-degrees, self._graph_of))]

    @property
    def _graph_of(self) -> Ints:
        return np.repeat(np.arange(len(self.graphs)), self.graphs.num_nodes)


class Filters:
    """Lower bounds of the edit distance from one graph to those of a collection.

    Each is at least the one before it: `size` takes microseconds for thousands of graphs, `labels` and `degrees` go
    over their nodes once.

    Args:
        query: A collection of one graph.
        profiles: Of the collection.
        costs: Where relabeling costs depend on the labels, the bounds take it to be free.
    """

    def __init__(self, query: GraphSet, profiles: Profiles, costs: EditCosts) -> None:
        self.graphs, self.profiles, self.costs = profiles.graphs, profiles, costs
        self.nodes, self.edges = int(query.num_nodes[0]), int(query.num_edges[0])
        self.sequence = np.sort(np.diff(query.indptr))[::-1]
        wanted: dict[tuple[type, object], int] = {}
        for label in query[0].node_labels:
            wanted[type(label), label] = wanted.get((type(label), label), 0) + 1
        vocabulary = self.graphs.node_vocabulary or (None,)
        self.wanted = np.array([wanted.get((type(label), label), 0) for label in vocabulary], np.int32)
        relabel = costs.node_relabel if isinstance(costs.node_relabel, float) else 0.0
        self.relabel = min(relabel, costs.node_delete + costs.node_insert)

    def size(self, chosen: Ints) -> Floats:
        """Nodes and edges too many or too few, for each of the chosen graphs."""
        sizes = self.graphs.num_nodes[chosen]
        return self._nodes(sizes, np.minimum(sizes, self.nodes)) + self._edges(chosen)

    def labels(self, chosen: Ints) -> Floats:
        """Nodes that find no partner of the same label, and edges too many or too few."""
        return self._labels(chosen) + self._edges(chosen)

    def degrees(self, chosen: Ints) -> Floats:
        """As `labels`, with at least the edges that make one sorted sequence of degrees the other."""
        rows, graph_of, sizes = self._rows(chosen)
        own = self.profiles.degrees[rows].astype(np.int64)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        padded = np.zeros(max(int(sizes.max(initial=0)), self.nodes) + 1, np.int64)
        padded[: self.nodes] = self.sequence
        difference = own - padded[place]
        gained = np.bincount(graph_of, np.maximum(difference, 0), len(chosen))
        lost = np.bincount(graph_of, np.maximum(-difference, 0), len(chosen))
        beyond = np.concatenate([padded[::-1].cumsum()[::-1], [0]])  # degrees of the query's nodes from this place on
        lost += beyond[np.minimum(sizes, len(padded))]
        # An edge that comes or goes changes two degrees.
        edges = self.costs.edge_insert * np.ceil(gained / 2) + self.costs.edge_delete * np.ceil(lost / 2)
        bound: Floats = self._labels(chosen) + edges
        return bound

    def _labels(self, chosen: Ints) -> Floats:
        rows, graph_of, sizes = self._rows(chosen)
        paired = self.profiles.occurrence[rows] < self.wanted[self.graphs.node_labels[rows]]
        return self._nodes(sizes, np.bincount(graph_of[paired], minlength=len(chosen)))

    def _nodes(self, sizes: Ints, paired: Ints) -> Floats:
        """Cost of nodes where so many keep their label: the others are relabeled as far as possible."""
        here, there = self.nodes - paired, sizes - paired
        changed = np.minimum(here, there)
        bound: Floats = (
            changed * self.relabel
            + (here - changed) * self.costs.node_delete
            + (there - changed) * self.costs.node_insert
        )
        return bound

    def _edges(self, chosen: Ints) -> Floats:
        more = self.graphs.num_edges[chosen] - self.edges
        bound: Floats = np.maximum(more, 0) * self.costs.edge_insert + np.maximum(-more, 0) * self.costs.edge_delete
        return bound

    def _rows(self, chosen: Ints) -> tuple[Ints, Ints, Ints]:
        """Rows of the nodes of the chosen graphs, which of these graphs each belongs to, and their sizes."""
        sizes = self.graphs.num_nodes[chosen]
        rows = ranges(self.graphs.node_offsets[chosen], self.graphs.node_offsets[chosen + 1])
        return rows, np.repeat(np.arange(len(chosen)), sizes), sizes
