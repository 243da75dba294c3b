"""From one vector per node to one vector per graph."""

from __future__ import annotations

from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from ugraphemb.baselines.protocol import Floats
from ugraphemb.graphs import GraphSet

Averaging = Literal["mean", "degree", "inverse_degree", "sum"]


def checked(averaging: str) -> Averaging:
    """Checks the name of an averaging."""
    if averaging not in get_args(Averaging):
        raise ValueError(f"averaging={averaging!r}; it is one of {', '.join(map(repr, get_args(Averaging)))}")
    return cast(Averaging, averaging)


def node_weights(graphs: GraphSet, averaging: Averaging) -> Floats:
    """The weight of each node in the vector of its graph.

    Weights sum to 1 in each graph, except for "sum", where each is 1. "degree" is proportional to the degree, and the
    plain mean in graphs without edges; "inverse_degree" to 1 / degree, an isolated node counting as a node of degree 1.
    """
    averaging = checked(averaging)
    ones = np.ones(len(graphs.node_labels))
    if averaging == "sum":
        return ones
    if averaging == "mean":
        raw = ones
    else:
        degree = np.diff(graphs.indptr).astype(np.float64)
        if averaging == "degree":
            raw = np.where(np.repeat(graphs.num_edges, graphs.num_nodes) > 0, degree, 1.0)
        else:
            raw = 1 / np.maximum(degree, 1)
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    answer: Floats = raw / np.bincount(graph_of, raw, minlength=len(graphs))[graph_of]
    return answer


def averaged(nodes: npt.NDArray[np.floating], graphs: GraphSet, averaging: Averaging) -> Floats:
    """Weighted sum of the node vectors of each graph, (graphs, width); zero for a graph without nodes."""
    from scipy.sparse import csr_array

    weights = node_weights(graphs, averaging)
    shape = (len(graphs), len(weights))
    answer: Floats = csr_array((weights, np.arange(len(weights)), graphs.node_offsets), shape) @ nodes
    return answer
