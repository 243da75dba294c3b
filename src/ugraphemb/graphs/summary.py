"""A collection in a few lines of text."""

from __future__ import annotations

import numpy as np

from ugraphemb.graphs.graphset import GraphSet


def summary(graphs: GraphSet) -> str:
    """Graphs, nodes (min, max, mean, population std), edges, labels, classes, connectedness."""
    rows = [("graphs", str(len(graphs)))]
    if len(graphs):
        nodes, edges = graphs.num_nodes, graphs.num_edges
        rows += [
            ("nodes", f"{nodes.min()} to {nodes.max()}, mean {nodes.mean():.2f}, std {nodes.std():.2f}"),
            ("edges", f"{edges.min()} to {edges.max()}, mean {edges.mean():.2f}"),
            ("node labels", str(len(graphs.node_vocabulary)) if graphs.node_vocabulary else "none"),
            ("edge labels", "none" if graphs.edge_labels is None else str(len(graphs.edge_vocabulary))),
        ]
        if graphs.node_attributes is not None:
            rows.append(("attributes", f"{graphs.node_attributes.shape[1]} a node"))
        rows.append(("targets", _targets(graphs)))
        apart = int(np.count_nonzero(~graphs.connected))
        rows.append(("connected", "all" if apart == 0 else f"all but {apart}"))
    title = [graphs.name] if graphs.name else []
    return "\n".join(title + [f"{key:<12} {value}" for key, value in rows])


def _targets(graphs: GraphSet) -> str:
    if graphs.targets is None:
        return "none"
    if np.issubdtype(graphs.targets.dtype, np.floating):
        values = graphs.targets[np.isfinite(graphs.targets)]
        return f"{values.min():g} to {values.max():g}, mean {values.mean():g}" if len(values) else "no numbers"
    classes, counts = np.unique(graphs.targets, return_counts=True)
    shown = ", ".join(f"{name}: {count}" for name, count in zip(classes[:6], counts[:6], strict=True))
    return f"{len(classes)} classes ({shown}{', ...' if len(classes) > 6 else ''})"
