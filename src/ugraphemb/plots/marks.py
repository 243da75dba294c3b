"""What changes between two graphs, as marks on the drawings of both."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph

Places = npt.NDArray[np.float64]

# Light enough for letters on them, distinguishable with color vision deficiency, and still distinct where the site
# inverts figures for the dark scheme.
GONE, CHANGED, NEW = "#FAB79A", "#F5D547", "#9CCDEF"


@dataclass(frozen=True)
class Marks:
    """Colors behind nodes and edges; the key of an edge is its two ends, the smaller id first."""

    nodes: dict[int, str] = field(default_factory=dict)
    edges: dict[tuple[int, int], str] = field(default_factory=dict)


def edit_marks(
    left: Graph, right: Graph, mapping: npt.NDArray[np.int32], *, edge_labels: bool = True
) -> tuple[Marks, Marks]:
    """Marks on both graphs when node u of `left` becomes node mapping[u] of `right`, or is removed if that is -1.

    GONE is what only the left graph has, NEW what only the right one has, CHANGED what has another label in both.

    Args:
        edge_labels: Whether labels of edges count; not if the cost `edge_relabel` is 0.
    """
    image = mapping.tolist()
    labels = (left.node_labels, right.node_labels)
    first: dict[int, str] = {u: GONE for u, to in enumerate(image) if to < 0}
    second: dict[int, str] = dict.fromkeys(set(range(right.num_nodes)) - set(image), NEW)
    for u, v in enumerate(image):
        if v >= 0 and labels[0][u] != labels[1][v]:
            first[u] = second[v] = CHANGED
    bonds = [_edges(left), _edges(right)]
    moved = {edge: (min(ends), max(ends)) for edge in bonds[0] for ends in [(image[edge[0]], image[edge[1]])]}
    first_edges = {edge: GONE for edge, to in moved.items() if to not in bonds[1]}
    second_edges = dict.fromkeys(bonds[1].keys() - set(moved.values()), NEW)
    for edge, to in moved.items():
        if edge_labels and to in bonds[1] and bonds[0][edge] != bonds[1][to]:
            first_edges[edge] = second_edges[to] = CHANGED
    return Marks(first, first_edges), Marks(second, second_edges)


def aims_of(home: Places, graph: Graph, mapping: npt.NDArray[np.int32]) -> Places:
    """Where the nodes of a graph should be: where the query draws the nodes that become them."""
    aims = np.full((graph.num_nodes, 2), np.nan)
    kept = mapping >= 0
    aims[mapping[kept]] = home[kept]
    return aims


def turned(places: Places, toward: Places) -> Places:
    """The same drawing, rotated and mirrored so that its nodes are close to where they should be (nan: anywhere)."""
    known = np.isfinite(toward).all(axis=1)
    if known.sum() < 2:
        return places
    center, aim = places[known].mean(axis=0), toward[known].mean(axis=0)
    u, _, v = np.linalg.svd((places[known] - center).T @ (toward[known] - aim))
    result: Places = (places - center) @ (u @ v)
    return result


def _edges(graph: Graph) -> dict[tuple[int, int], object]:
    edges = [(int(u), int(v)) for u, v in graph.edges]
    return dict(zip(edges, graph.edge_labels or [None] * len(edges), strict=True))
