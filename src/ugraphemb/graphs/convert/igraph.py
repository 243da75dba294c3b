"""igraph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy.typing as npt

from ugraphemb.errors import needs_extra
from ugraphemb.graphs.collector import MISSING, Collector
from ugraphemb.graphs.convert.losses import Directed, Unused, check_directions
from ugraphemb.graphs.graphset import GraphSet


def from_igraph(
    graphs: Iterable[Any],
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
    """A collection of igraph graphs.

    Args:
        node_label: The vertex attribute that is the label; None for no labels.
        edge_label: The same for edges.
        node_attributes: The vertex attribute that holds a row of numbers, if there is one.
        targets: One per graph; by default the graphs' attribute "target", where all have one.
        ids: One per graph; by default the graphs' attribute "id", where all have one, else positions.
        directed: "refuse" is an error where an edge has no counterpart in the other direction; "symmetrize" drops
            directions.
        strict: Refuse parallel edges, self loops and unused attributes instead of one GraphWarning that counts them.

    Examples:
        >>> import igraph
        >>> import ugraphemb as ug
        >>> ug.GraphSet.from_igraph([igraph.Graph.Ring(5), igraph.Graph.Star(4)])
        GraphSet(2 graphs, 9 nodes, 8 edges)
    """
    collector = Collector("igraph graphs")
    used = Unused()
    listed: Iterable[Any] = [graphs] if hasattr(graphs, "get_edgelist") else graphs
    for number, graph in enumerate(listed):
        own = graph.attributes()
        pairs = graph.get_edgelist()
        if graph.is_directed():
            present = set(pairs)
            check_directions(sum((v, u) not in present for u, v in pairs), directed, f"igraph graph {number}")
        used.add("node attribute", dict.fromkeys(graph.vs.attributes(), graph.vcount()))
        used.add("edge attribute", dict.fromkeys(graph.es.attributes(), graph.ecount()))
        used.add("graph attribute", dict.fromkeys(own, 1))
        collector.add(
            graph.vcount(),
            pairs,
            node_labels=_column(graph.vs, node_label),
            edge_labels=_column(graph.es, edge_label),
            attributes=_column(graph.vs, node_attributes),
            target=graph["target"] if "target" in own else MISSING,
            id=str(graph["id"]) if "id" in own else None,
        )
    used.check("node attribute", node_label, "node_label")
    used.check("edge attribute", edge_label, "edge_label")
    used.report(
        collector,
        {
            "node attribute": {node_label, node_attributes},
            "edge attribute": {edge_label},
            "graph attribute": {"id", "name", "target"},
        },
    )
    return collector.graph_set(strict=strict, name=name, targets=targets, ids=ids)


def to_igraph(graphs: GraphSet) -> list[Any]:
    """One igraph.Graph per graph, with attributes "label", "attributes", "id" and "target"; see `from_igraph`.

    Examples:
        >>> import ugraphemb as ug
        >>> ethanol = ug.GraphSet.from_smiles("CCO").to_igraph()[0]
        >>> ethanol.vs["label"], ethanol.get_edgelist()
        (['C', 'C', 'O'], [(0, 1), (1, 2)])
    """
    with needs_extra("igraph"):
        import igraph

    result = []
    for graph in graphs:
        converted = igraph.Graph(n=graph.num_nodes, edges=graph.edges.tolist())
        converted["id"] = graph.id
        if graphs.targets is not None:
            converted["target"] = graph.target
        if graphs.node_vocabulary:
            converted.vs["label"] = graph.node_labels
        if graph.node_attributes is not None:
            converted.vs["attributes"] = graph.node_attributes.tolist()
        if graph.edge_labels is not None:
            converted.es["label"] = graph.edge_labels
        result.append(converted)
    return result


def _column(sequence: Any, name: str | None) -> list[Any] | None:
    return sequence[name] if name in sequence.attributes() else None
