"""Fresh graphs generated from training graphs: random edits, connected subgraphs, and combinations of two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.hashing import GOLDEN, Marks, edge_label_marks, label_marks, mixed, sums_of_runs
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.packing import Coded

Positions = npt.NDArray[np.int64]

_EDITED, _CROPPED = 0.5, 0.8  # cumulative probabilities: edited, cropped; otherwise two combined
_MOST_EDITS = 0.2  # maximum number of edits, relative to the number of nodes and edges
_ROUNDS = 4  # of color refinement; graphs with equal colors after them are considered equal
_TRIES = 4  # attempts per graph, because some graphs are rejected


@dataclass
class _Draft:
    """A graph under construction: for each node the node of the collection that it copies; edges with their labels."""

    nodes: list[int]
    edges: dict[tuple[int, int], int]

    def add_edge(self, u: int, v: int, label: int) -> None:
        if u != v:
            self.edges.setdefault((min(u, v), max(u, v)), label)

    def remove_node(self, node: int) -> None:
        last = len(self.nodes) - 1
        moved = {last: node}  # the last node takes its place
        kept = {ends: label for ends, label in self.edges.items() if node not in ends}
        self.nodes[node] = self.nodes[last]
        self.nodes.pop()
        self.edges = {}
        for (u, v), label in kept.items():
            self.add_edge(moved.get(u, u), moved.get(v, v), label)

    def induced(self, nodes: list[int]) -> _Draft:
        place = {node: i for i, node in enumerate(nodes)}
        part = _Draft([self.nodes[node] for node in nodes], {})
        for (u, v), label in self.edges.items():
            if u in place and v in place:
                part.add_edge(place[u], place[v], label)
        return part


class FreshGraphs:
    """Generates graphs similar to those of a collection, with its labels and no larger than its largest graph.

    Args:
        graphs: The collection.
        avoid: Graphs that must not be generated (for example test graphs). Graphs with equal colors after four rounds
            of refinement are considered equal, so no graph that is isomorphic to one of these is generated.
    """

    def __init__(self, graphs: GraphSet, avoid: GraphSet | None = None) -> None:
        self._graphs = graphs
        self._largest = int(graphs.num_nodes.max())
        self._avoided = np.unique(graph_marks(avoid)) if avoid is not None else np.empty(0, np.uint64)

    def made(self, parents: Positions, count: int, generator: np.random.Generator) -> GraphSet:
        """`count` new graphs from the graphs at these positions; fewer if too many of them are to be avoided."""
        drafts = [self._one(parents, generator) for _ in range(count)]
        found = self._packed(drafts)
        for _ in range(_TRIES - 1):
            again = np.flatnonzero(self._is_avoided(found))
            if not len(again):
                return found
            for i in again:
                drafts[i] = self._one(parents, generator)
            found = self._packed(drafts)
        return found[~self._is_avoided(found)]

    def crops(self, parents: Positions, sizes: Positions, generator: np.random.Generator) -> GraphSet:
        """A random connected subgraph of each of these graphs, of the given size if possible, otherwise smaller."""
        both = zip(parents.tolist(), sizes.tolist(), strict=True)
        return self._packed([self._cropped(self._draft(parent), generator, size) for parent, size in both])

    def _is_avoided(self, graphs: GraphSet) -> npt.NDArray[np.bool_]:
        return np.isin(graph_marks(graphs), self._avoided)

    def _one(self, parents: Positions, generator: np.random.Generator) -> _Draft:
        kind = generator.random()
        draft = self._draft(generator.choice(parents))
        if kind < _EDITED:
            return self._edited(draft, generator)
        if kind < _CROPPED:
            return self._cropped(draft, generator)
        first, second = (self._cropped(part, generator) for part in (draft, self._draft(generator.choice(parents))))
        if len(first.nodes) + len(second.nodes) > self._largest:
            return self._edited(first, generator)
        shift = len(first.nodes)
        joined = _Draft([*first.nodes, *second.nodes], dict(first.edges))
        for (u, v), label in second.edges.items():
            joined.add_edge(u + shift, v + shift, label)
        if first.nodes and second.nodes:
            end = shift + int(generator.integers(len(second.nodes)))
            joined.add_edge(int(generator.integers(shift)), end, self._edge_label(generator))
        return joined

    def _draft(self, position: int) -> _Draft:
        graphs = self._graphs
        begin, end = graphs.node_offsets[position : position + 2].tolist()
        starts = graphs.indptr[begin : end + 1]
        node = np.repeat(np.arange(end - begin), np.diff(starts))
        neighbor = graphs.indices[starts[0] : starts[-1]]
        labels = np.zeros(len(node), np.int32)
        if graphs.edge_labels is not None:
            labels = graphs.edge_labels[starts[0] : starts[-1]]
        once = node < neighbor
        ends = zip(node[once].tolist(), neighbor[once].tolist(), strict=True)
        return _Draft(list(range(begin, end)), dict(zip(ends, labels[once].tolist(), strict=True)))

    def _cropped(self, draft: _Draft, generator: np.random.Generator, wanted: int | None = None) -> _Draft:
        """A connected subgraph grown from a random node, of `wanted` nodes or of a random third to all of the nodes."""
        size = len(draft.nodes)
        if size < 2:
            return draft
        neighbors: list[list[int]] = [[] for _ in range(size)]
        for u, v in draft.edges:
            neighbors[u].append(v)
            neighbors[v].append(u)
        if wanted is None:
            wanted = int(generator.integers(max(1, size // 3), size + 1))
        start = int(generator.integers(size))
        taken: list[int] = []
        border, seen = [start], {start}
        while border and len(taken) < wanted:
            node = border.pop(int(generator.integers(len(border))))
            taken.append(node)
            border += [other for other in neighbors[node] if other not in seen]
            seen.update(neighbors[node])
        return draft.induced(taken)

    def _edited(self, draft: _Draft, generator: np.random.Generator) -> _Draft:
        most = max(1, round(_MOST_EDITS * (len(draft.nodes) + len(draft.edges))))
        for _ in range(int(generator.integers(1, most + 1))):
            edit, size = int(generator.integers(5)), len(draft.nodes)
            node = int(generator.integers(size)) if size else 0
            if edit == 0 and size:  # a random label, drawn by its frequency in the collection
                draft.nodes[node] = self._node(generator)
            elif edit == 1 and size < self._largest:
                draft.nodes.append(self._node(generator))
                if size:
                    draft.add_edge(node, size, self._edge_label(generator))
            elif edit == 2 and size > 1:
                draft.remove_node(self._leaf(draft, node, generator))
            elif edit == 3 and size > 1:
                draft.add_edge(node, int(generator.integers(size)), self._edge_label(generator))
            elif edit == 4 and draft.edges:
                draft.edges.pop(list(draft.edges)[int(generator.integers(len(draft.edges)))])
        return draft

    @staticmethod
    def _leaf(draft: _Draft, node: int, generator: np.random.Generator) -> int:
        """A random node with one neighbor, whose removal keeps the graph connected; `node` if there is none."""
        degree = np.bincount(np.array(list(draft.edges), np.int64).reshape(-1), minlength=len(draft.nodes))
        leaves = np.flatnonzero(degree == 1)
        return int(generator.choice(leaves)) if len(leaves) else node

    def _node(self, generator: np.random.Generator) -> int:
        return int(generator.integers(len(self._graphs.node_labels)))

    def _edge_label(self, generator: np.random.Generator) -> int:
        labels = self._graphs.edge_labels
        return 0 if labels is None or not len(labels) else int(labels[generator.integers(len(labels))])

    def _packed(self, drafts: list[_Draft]) -> GraphSet:
        graphs = self._graphs
        sizes = np.array([len(draft.nodes) for draft in drafts], np.int64)
        shifts = np.cumsum(sizes) - sizes
        placed = zip(drafts, shifts.tolist(), strict=True)
        edges = [(u + shift, v + shift) for draft, shift in placed for u, v in draft.edges]
        nodes = np.array([node for draft in drafts for node in draft.nodes], np.int64)
        labels = np.array([label for draft in drafts for label in draft.edges.values()], np.int32)
        return GraphSet.from_edges(
            sizes,
            np.array(edges, np.int64).reshape(-1, 2),
            node_labels=Coded(graphs.node_labels[nodes], graphs.node_vocabulary) if graphs.node_vocabulary else None,
            edge_labels=None if graphs.edge_labels is None else Coded(labels, graphs.edge_vocabulary),
            node_attributes=None if graphs.node_attributes is None else graphs.node_attributes[nodes],
        )


def graph_marks(graphs: GraphSet) -> Marks:
    """A hash of each graph that is equal for isomorphic graphs, also of different collections."""
    shift = np.repeat(np.repeat(graphs.node_offsets[:-1], graphs.num_nodes), np.diff(graphs.indptr))
    neighbors = graphs.indices + shift
    color = label_marks(graphs.node_vocabulary or (None,))[graphs.node_labels]
    edge = np.zeros(len(neighbors), np.uint64)
    if graphs.edge_labels is not None:
        edge = edge_label_marks(graphs.edge_vocabulary)[graphs.edge_labels]
    for _ in range(_ROUNDS):
        color = mixed(color * GOLDEN + sums_of_runs(mixed(color[neighbors] + edge), graphs.indptr))
    return sums_of_runs(mixed(color), graphs.node_offsets)
