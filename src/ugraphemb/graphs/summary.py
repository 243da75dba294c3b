"""Statistics of a collection, and a summary of a few lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs.graphset import GraphSet


def statistics(graphs: GraphSet) -> dict[str, Any]:
    """Counts and shapes, ready for JSON. `std` is the population standard deviation; missing values are None."""
    return {
        "name": graphs.name,
        "graphs": len(graphs),
        "nodes": _spread(graphs.num_nodes),
        "edges": _spread(graphs.num_edges),
        "node_labels": len(graphs.node_vocabulary) or None,
        "edge_labels": None if graphs.edge_labels is None else len(graphs.edge_vocabulary),
        "node_attributes": None if graphs.node_attributes is None else graphs.node_attributes.shape[1],
        "targets": _targets(graphs.targets),
        "disconnected": int(np.count_nonzero(~graphs.connected)),
    }


def summary(graphs: GraphSet) -> str:
    """Graphs, nodes (min, max, mean, population std), edges, labels, classes, connectedness."""
    found = statistics(graphs)
    rows = {"graphs": str(len(graphs))}
    if len(graphs):
        rows["nodes"] = "{min} to {max}, mean {mean:.2f}, std {std:.2f}".format_map(found["nodes"])
        rows["edges"] = "{min} to {max}, mean {mean:.2f}".format_map(found["edges"])
        rows["node labels"] = str(found["node_labels"] or "none")
        rows["edge labels"] = "none" if found["edge_labels"] is None else str(found["edge_labels"])
        if found["node_attributes"] is not None:
            rows["attributes"] = f"{found['node_attributes']} a node"
        rows["targets"] = _targets_text(found["targets"])
        apart = found["disconnected"]
        rows["connected"] = "all" if apart == 0 else "none" if apart == len(graphs) else f"all but {apart}"
    title = [graphs.name] if graphs.name else []
    return "\n".join(title + [f"{key:<12} {value}" for key, value in rows.items()])


def _spread(values: npt.NDArray[Any]) -> dict[str, float] | None:
    if len(values) == 0:
        return None
    low, high, mean, std = values.min(), values.max(), values.mean(), values.std()
    return {"min": low.item(), "max": high.item(), "mean": float(mean), "std": float(std)}


def _targets(targets: npt.NDArray[Any] | None) -> dict[str, Any] | None:
    if targets is None:
        return None
    if np.issubdtype(targets.dtype, np.floating):
        return {"values": _spread(targets[np.isfinite(targets)])}
    classes, counts = np.unique(targets, return_counts=True)
    return {"classes": dict(zip(map(str, classes), counts.tolist(), strict=True))}


def _targets_text(found: dict[str, Any] | None) -> str:
    if found is None:
        return "none"
    if "values" in found:
        return "{min:g} to {max:g}, mean {mean:g}".format_map(found["values"]) if found["values"] else "no numbers"
    classes = found["classes"]
    shown = ", ".join(f"{name}: {count}" for name, count in list(classes.items())[:6])
    return f"{len(classes)} classes ({shown}{', ...' if len(classes) > 6 else ''})"
