"""NetworkX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ugraphemb.graphs.collector import MISSING, Collector
from ugraphemb.graphs.convert.losses import Directed, Unused, check_directions
from ugraphemb.graphs.graphset import GraphSet

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(
    graphs: Iterable[nx.Graph[Any]] | nx.Graph[Any],
    *,
    node_label: str | None = "label",
    edge_label: str | None = "label",
    node_attributes: str | None = "attributes",
    targets: npt.ArrayLike | None = None,
    ids: Iterable[str] | None = None,
    directed: Directed = "refuse",
    strict: bool = False,
    name: str = "",
) -> GraphSet:
    """A collection of NetworkX graphs.

    Nodes are numbered in the order of each graph; their names are dropped. Attributes that are not used are reported
    in one GraphWarning, with counts.

    Args:
        node_label: The node attribute that is the label, None for no labels. Nodes without it, in a collection where
            others have it, get None. An attribute other than "label" that no node has is an error.
        edge_label: The same for edges.
        node_attributes: The node attribute that holds a row of numbers, if there is one.
        targets: One per graph; by default `graph.graph["target"]`, where all graphs have one.
        ids: One per graph; by default `graph.graph["id"]`, else `graph.graph["name"]`, where all graphs have one and
            all are different, else positions.
        directed: "refuse" is an error where an edge has no counterpart in the other direction; "symmetrize" drops
            directions.
        strict: Refuse parallel edges, self loops and unused attributes instead of one GraphWarning that counts them.

    Examples:
        >>> import networkx as nx
        >>> import ugraphemb as ug
        >>> ug.GraphSet.from_networkx([nx.path_graph(3), nx.cycle_graph(4)], targets=[0, 1])
        GraphSet(2 graphs, 7 nodes, 6 edges, targets)
    """
    listed: list[Any] = [graphs] if hasattr(graphs, "adj") else list(graphs)
    keys = [key for key in ("id", "name") if _tell_apart([graph.graph.get(key) for graph in listed])]
    collector = Collector("NetworkX graphs")
    used = Unused()
    for number, graph in enumerate(listed):
        position = {node: i for i, node in enumerate(graph)}
        if graph.is_directed():
            check_directions(
                sum(not graph.has_edge(v, u) for u, v in graph.edges()), directed, f"NetworkX graph {number}"
            )
        triples = list(graph.edges(data=edge_label, default=MISSING)) if edge_label else list(graph.edges(data=False))
        used.count("node attribute", (data for _, data in graph.nodes(data=True)))
        used.count("edge attribute", (data for _, _, data in graph.edges(data=True)))
        used.count("graph attribute", [graph.graph])
        collector.add(
            len(position),
            [(position[triple[0]], position[triple[1]]) for triple in triples],
            node_labels=_given([data.get(node_label, MISSING) for _, data in graph.nodes(data=True)]),
            edge_labels=_given([triple[2] for triple in triples]) if edge_label else None,
            attributes=_rows(graph.nodes(data=True), node_attributes),
            target=graph.graph.get("target", MISSING),
            id=str(graph.graph[keys[0]]) if keys else None,
        )
    used.check("node attribute", node_label, "node_label")
    used.check("edge attribute", edge_label, "edge_label")
    used.report(
        collector,
        {
            "node attribute": {node_label, node_attributes},
            "edge attribute": {edge_label},
            "graph attribute": {"id", "name", "target", "node_default", "edge_default"},
        },
    )
    return collector.graph_set(strict=strict, name=name, targets=targets, ids=ids)


def to_networkx(
    graphs: GraphSet,
    *,
    node_label: str = "label",
    edge_label: str = "label",
    node_attributes: str = "attributes",
) -> list[nx.Graph[Any]]:
    """One networkx.Graph per graph, nodes 0, 1, ...; id and target in `graph.graph`. `from_networkx` is the inverse.

    Examples:
        >>> import ugraphemb as ug
        >>> ethanol = ug.GraphSet.from_smiles("CCO").to_networkx()[0]
        >>> ethanol.nodes(data="label")
        NodeDataView({0: 'C', 1: 'C', 2: 'O'}, data='label')
    """
    import networkx as nx

    result = []
    for graph in graphs:
        converted = nx.Graph(id=graph.id)
        if graphs.targets is not None:
            converted.graph["target"] = graph.target
        converted.add_nodes_from(range(graph.num_nodes))
        data = converted.nodes
        if graphs.node_vocabulary:
            for node, label in enumerate(graph.node_labels):
                data[node][node_label] = label
        if graph.node_attributes is not None:
            for node, row in enumerate(graph.node_attributes.tolist()):
                data[node][node_attributes] = tuple(row)
        labels = graph.edge_labels
        if labels is None:
            converted.add_edges_from(graph.edges.tolist())
        else:
            pairs = zip(graph.edges.tolist(), labels, strict=True)
            converted.add_edges_from((u, v, {edge_label: label}) for (u, v), label in pairs)
        result.append(converted)
    return result


def _given(labels: list[Any]) -> list[Any] | None:
    """None where nothing carries a label."""
    if all(label is MISSING for label in labels):
        return None
    return [None if label is MISSING else label for label in labels]


def _tell_apart(names: list[Any]) -> bool:
    return None not in names and len({str(name) for name in names}) == len(names)


def _rows(nodes: Iterable[tuple[Any, Mapping[str | None, Any]]], key: str | None) -> list[Any] | None:
    return [data[key] for _, data in nodes if key in data] or None
