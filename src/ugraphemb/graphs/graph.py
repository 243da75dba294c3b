"""Graph: a view of one graph of a GraphSet."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import amount

if TYPE_CHECKING:
    import networkx as nx

    from ugraphemb.graphs.graphset import GraphSet


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A view of one graph of a GraphSet; nothing is copied.

    Examples:
        >>> import ugraphemb as ug
        >>> ethanol = ug.GraphSet.from_smiles("CCO")[0]
        >>> ethanol
        Graph('0', 3 nodes, 2 edges)
        >>> ethanol.node_labels, ethanol.edges.tolist(), ethanol.neighbors(1).tolist()
        (['C', 'C', 'O'], [[0, 1], [1, 2]], [0, 2])
        >>> ethanol.smiles
        'CCO'
    """

    graphs: GraphSet
    position: int

    @property
    def _nodes(self) -> slice:
        return slice(int(self.graphs.node_offsets[self.position]), int(self.graphs.node_offsets[self.position + 1]))

    @property
    def num_nodes(self) -> int:
        return int(self.graphs.num_nodes[self.position])

    @property
    def num_edges(self) -> int:
        return int(self.graphs.num_edges[self.position])

    @property
    def id(self) -> str:
        return str(self.graphs.ids[self.position])

    @property
    def target(self) -> Any:
        """The class or value of this graph, or None."""
        return None if self.graphs.targets is None else self.graphs.targets[self.position].item()

    @property
    def metadata(self) -> dict[str, Any]:
        """What else is known of this graph, such as the SMILES it was read from."""
        return {name: column[self.position] for name, column in self.graphs.metadata.items()}

    @property
    def smiles(self) -> str | None:
        """The SMILES string that a molecule was read from, or None."""
        text = self.metadata.get("smiles")
        return None if text is None else str(text)

    @property
    def node_labels(self) -> list[Any]:
        """One label per node, as in the input; None if nodes have no labels."""
        vocabulary = self.graphs.node_vocabulary
        codes = self.graphs.node_labels[self._nodes]
        return [vocabulary[code] for code in codes] if vocabulary else [None] * len(codes)

    @property
    def node_attributes(self) -> npt.NDArray[np.float64] | None:
        attributes = self.graphs.node_attributes
        return None if attributes is None else attributes[self._nodes]

    def neighbors(self, node: int) -> npt.NDArray[np.int32]:
        """Ids of the neighbors, ascending."""
        if not 0 <= node < self.num_nodes:
            raise IndexError(f"node {node} of a graph of {self.num_nodes}")
        row = self._nodes.start + node
        return self.graphs.indices[self.graphs.indptr[row] : self.graphs.indptr[row + 1]]

    @property
    def _ends(self) -> tuple[slice, npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Rows of `indices`, the node each belongs to, and which of the two places of an edge comes first."""
        nodes = self._nodes
        pointers = self.graphs.indptr[nodes.start : nodes.stop + 1]
        rows = slice(int(pointers[0]), int(pointers[-1]))
        sources = np.repeat(np.arange(self.num_nodes), np.diff(pointers))
        return rows, sources, sources < self.graphs.indices[rows]

    @property
    def edges(self) -> npt.NDArray[np.int64]:
        """Each edge once, shape (edges, 2), the smaller id first, sorted."""
        rows, sources, once = self._ends
        return np.stack([sources[once], self.graphs.indices[rows][once]], axis=1)

    @property
    def edge_labels(self) -> list[Any] | None:
        """One label per row of `edges`; None if edges have no labels."""
        codes = self.graphs.edge_labels
        if codes is None:
            return None
        rows, _, once = self._ends
        return [self.graphs.edge_vocabulary[code] for code in codes[rows][once]]

    def to_networkx(self) -> nx.Graph[Any]:
        return self.graphs[[self.position]].to_networkx()[0]

    def _repr_html_(self) -> str:
        """A drawing of the graph, for notebooks. The drawing package is imported by name: it depends on this one."""
        drawn: str = import_module("ugraphemb.plots.notebook").graph_html(self)
        return drawn

    def __repr__(self) -> str:
        return f"Graph({self.id!r}, {amount(self.num_nodes, 'node')}, {amount(self.num_edges, 'edge')})"
