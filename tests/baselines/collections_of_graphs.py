"""Collections that the tests of the baselines share."""

from __future__ import annotations

import networkx as nx
import numpy as np

from ugraphemb.graphs import GraphSet


def random_graphs(count: int, *, seed: int = 0, labels: str = "ABC", low: int = 4, high: int = 12) -> GraphSet:
    """Random graphs with node labels (none where `labels` is empty) and two classes: sparse and dense ones."""
    random = np.random.default_rng(seed)
    graphs = []
    for i in range(count):
        share = 0.25 if i % 2 else 0.55
        graph = nx.gnp_random_graph(int(random.integers(low, high + 1)), share, seed=int(random.integers(2**31)))
        for node in graph:
            if labels:
                graph.nodes[node]["label"] = str(random.choice(list(labels)))
        graphs.append(graph)
    answer = GraphSet.from_networkx(graphs, node_label="label" if labels else None)
    return with_classes(answer, np.arange(count) % 2)


def with_classes(graphs: GraphSet, targets: object) -> GraphSet:
    from dataclasses import replace

    return replace(graphs, targets=None if targets is None else np.asarray(targets))


def odd_graphs(labels: str = "ABC") -> GraphSet:
    """No node, one node, two nodes without an edge, one edge, a triangle and an isolated node."""
    sizes, edges = [0, 1, 2, 2, 4], [(3, 4), (5, 6), (6, 7), (5, 7)]
    names = [labels[i % len(labels)] for i in range(sum(sizes))] if labels else None
    return GraphSet.from_edges(sizes, edges, node_labels=names)


def shuffled_nodes(graphs: GraphSet, seed: int = 0) -> GraphSet:
    """The same graphs with their nodes in another order."""
    random = np.random.default_rng(seed)
    renamed = []
    for graph in graphs.to_networkx():
        order = random.permutation(len(graph)).tolist()
        copy = nx.Graph()
        for node in np.argsort(order).tolist():
            copy.add_node(order[node], **graph.nodes[node])
        copy.add_edges_from((order[u], order[v]) for u, v in graph.edges)
        renamed.append(copy)
    return GraphSet.from_networkx(renamed, node_label="label" if graphs.node_vocabulary else None)
