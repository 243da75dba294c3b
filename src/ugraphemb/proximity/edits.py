"""The edits of a map between two graphs, in an order in which they can be applied one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs.graphset import Graph, GraphSet
from ugraphemb.proximity.attributes import label_distance
from ugraphemb.proximity.costs import EditCosts, ResolvedCosts, resolve

Operation = Literal["delete edge", "delete node", "relabel node", "relabel edge", "insert node", "insert edge"]


@dataclass(frozen=True)
class EditOperation:
    """One edit.

    Nodes are identified by their ids in the first graph. Inserted nodes get the ids n, n + 1, ..., where n is the
    number of nodes of the first graph.

    Attributes:
        operation: The kind of edit.
        nodes: The node, or the two ends of the edge.
        old: The label before, or None.
        new: The label after, or None.
        cost: Its cost.

    Examples:
        >>> import ugraphemb as ug
        >>> edit = ug.distance("CCO", "CCN", method="exact").edit_path()[0]
        >>> edit.operation, edit.nodes, edit.old, edit.new, edit.cost
        ('relabel node', (2,), 'O', 'N', 1.0)
    """

    operation: Operation
    nodes: tuple[int, ...]
    old: Hashable = None
    new: Hashable = None
    cost: float = 0.0

    def __str__(self) -> str:
        place = "–".join(map(str, self.nodes))
        if self.operation.startswith("relabel"):
            label = f" {self.old} → {self.new}" if not _equal(self.old, self.new) else f" {self.old}, attributes"
        else:
            name = self.new if self.operation.startswith("insert") else self.old
            label = "" if name is None else f" {name}"
        return f"{self.operation} {place}{label} (cost {self.cost:g})"


def edit_path(left: Graph, right: Graph, mapping: npt.NDArray[np.int32], costs: EditCosts) -> list[EditOperation]:
    """The edits that turn `left` into `right` when node u becomes node mapping[u], or is deleted where that is -1.

    Edges are deleted before their ends and inserted after them, so that every intermediate result is a graph. The costs
    add up to the cost of the map. Labels that differ are changed even if that is free.
    """
    one, other = left.graphs[[left.position]], right.graphs[[right.position]]
    prices = resolve(costs, one, other)
    name_of = _names(mapping, right.num_nodes)
    image = [int(to) for to in mapping]
    left_labels, right_labels = left.node_labels, right.node_labels
    left_edges = _edge_table(left)
    right_edges = {
        (min(ends), max(ends)): label
        for (u, v), label in _edge_table(right).items()
        for ends in [(name_of[u], name_of[v])]
    }
    edge_cost = _edge_cost(prices)
    away, come, changed = [], [], []
    for edge, old in left_edges.items():
        if edge not in right_edges:
            away.append(EditOperation("delete edge", edge, old=old, cost=costs.edge_delete))
            continue
        new = right_edges[edge]
        cost = edge_cost(old, new)
        if cost > costs.edge_delete + costs.edge_insert:
            away.append(EditOperation("delete edge", edge, old=old, cost=costs.edge_delete))
            come.append(EditOperation("insert edge", edge, new=new, cost=costs.edge_insert))
        elif not _equal(old, new) or cost > 0:
            changed.append(EditOperation("relabel edge", edge, old, new, cost))
    come += [
        EditOperation("insert edge", edge, new=label, cost=costs.edge_insert)
        for edge, label in right_edges.items()
        if edge not in left_edges
    ]
    gone, relabeled = [], []
    for u, to in enumerate(image):
        old = left_labels[u]
        if to < 0:
            gone.append(EditOperation("delete node", (u,), old=old, cost=costs.node_delete))
            continue
        cost = prices.relabel_node(int(prices.node_codes.left[u]), int(prices.node_codes.right[to]))
        if not _equal(old, right_labels[to]) or cost > 0:
            relabeled.append(EditOperation("relabel node", (u,), old, right_labels[to], cost))
    born = [
        EditOperation("insert node", (name,), new=right_labels[x], cost=costs.node_insert)
        for x, name in enumerate(name_of)
        if name >= left.num_nodes
    ]
    return away + gone + relabeled + changed + born + come


def apply_edits(operations: Iterable[EditOperation], graph: Graph) -> Graph:
    """The graph after these edits, applied in order. Remaining nodes keep their order, inserted ones follow.

    Raises:
        ValueError: An edit that cannot be applied to the intermediate graph.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.proximity.edits import apply_edits
        >>> found = ug.distance("CCO", "CCNC", method="exact")
        >>> apply_edits(found.edit_path(), found.graphs[0]).node_labels
        ['C', 'C', 'N', 'C']
    """
    nodes = dict(enumerate(graph.node_labels))
    edges = _edge_table(graph)

    def must(holds: bool, operation: EditOperation) -> None:
        if not holds:
            raise ValueError(f"'{operation}' does not fit the graph it is applied to")

    for step in operations:
        place = step.nodes
        if step.operation == "insert node":
            must(place[0] not in nodes, step)
            nodes[place[0]] = step.new
        elif step.operation == "insert edge":
            must(place not in edges and all(end in nodes for end in place), step)
            edges[place[0], place[1]] = step.new
        elif step.operation.endswith("node"):
            must(place[0] in nodes and _equal(nodes[place[0]], step.old), step)
            if step.operation == "relabel node":
                nodes[place[0]] = step.new
            else:
                must(not any(place[0] in edge for edge in edges), step)
                del nodes[place[0]]
        else:
            edge = (place[0], place[1])
            must(edge in edges and _equal(edges[edge], step.old), step)
            if step.operation == "relabel edge":
                edges[edge] = step.new
            else:
                del edges[edge]
    position = {name: i for i, name in enumerate(sorted(nodes))}
    labeled = any(label is not None for label in nodes.values())
    edge_labeled = any(label is not None for label in edges.values())
    return GraphSet.from_edges(
        [len(nodes)],
        np.array([[position[u], position[v]] for u, v in edges], np.int64).reshape(-1, 2),
        node_labels=[nodes[name] for name in sorted(nodes)] if labeled else None,
        edge_labels=list(edges.values()) if edge_labeled else None,
    )[0]


def _names(mapping: npt.NDArray[np.int32], right_nodes: int) -> list[int]:
    """The id of each node of the right graph: the node mapped to it, or a new id after those of the left graph."""
    names = [-1] * right_nodes
    for u, to in enumerate(mapping):
        if to >= 0:
            names[to] = u
    free = iter(range(len(mapping), len(mapping) + right_nodes))
    return [next(free) if name < 0 else name for name in names]


def _edge_table(graph: Graph) -> dict[tuple[int, int], Hashable]:
    edges = [(int(u), int(v)) for u, v in graph.edges]
    return dict(zip(edges, graph.edge_labels or [None] * len(edges), strict=True))


def _edge_cost(prices: ResolvedCosts) -> Callable[[Hashable, Hashable], float]:
    if prices.edge_codes is None:
        return lambda old, new: 0.0
    if prices.edge_points is not None:
        weight, scale = prices.costs.edge_attributes, prices.costs.edge_scale
        return lambda old, new: label_distance(old, new, weight, scale)
    code = {(type(label), label): i for i, label in enumerate(prices.edge_codes.vocabulary or (None,))}
    return lambda old, new: prices.relabel_edge(code[type(old), old], code[type(new), new])


def _equal(left: Hashable, right: Hashable) -> bool:
    return type(left) is type(right) and left == right


def changes_of(operations: Iterable[EditOperation]) -> str:
    """A summary of edits in one line, with counts: relabeled, deleted and inserted nodes by label, edges."""
    relabeled: Counter[str] = Counter()
    nodes: Counter[tuple[str, str]] = Counter()
    edges: Counter[str] = Counter()
    free = 0
    for step in operations:
        if step.operation == "relabel node":
            moved = _equal(step.old, step.new)
            relabeled[f"attributes of {step.old or 'a node'}" if moved else f"{step.old} → {step.new}"] += 1
        elif step.operation == "relabel edge":
            if step.cost > 0:
                relabeled[f"{step.old} → {step.new} edge"] += 1
            else:
                free += 1
        elif step.operation.endswith("node"):
            insert = step.operation.startswith("insert")
            label = step.new if insert else step.old
            nodes["+" if insert else "−", "" if label is None else f" {label}"] += 1
        else:
            edges["+" if step.operation.startswith("insert") else "−"] += 1
    parts = [f"{count} × {text}" if count > 1 else text for text, count in relabeled.items()]
    for sign in "−+":
        parts += [
            f"{sign}{count}{label or (' node' if count == 1 else ' nodes')}"
            for (which, label), count in nodes.items()
            if which == sign
        ]
    parts += [f"{sign}{edges[sign]} edge{'' if edges[sign] == 1 else 's'}" for sign in "−+" if edges[sign]]
    same = f"only labels of {free} edge{'' if free == 1 else 's'}, free of cost" if free else "the same graph"
    return ", ".join(parts) or same
