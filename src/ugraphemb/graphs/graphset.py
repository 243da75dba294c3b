"""GraphSet: many graphs in one set of packed arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError, amount, warned
from ugraphemb.graphs.graph import Graph as Graph
from ugraphemb.graphs.packing import (
    Coded,
    Vocabulary,
    adjacency,
    attribute_matrix,
    edge_array,
    encoded,
    id_array,
    metadata_columns,
    offsets_of,
    ranges,
    target_array,
)

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """An immutable collection of undirected simple graphs, packed.

    Node k of graph g is row `node_offsets[g] + k` of all arrays with one row per node. Each edge is stored in the rows
    of both its ends; rows of `indices` are sorted and contain node ids within the graph.

    Build one with `from_edges`, `from_networkx` and the like, or read one with `ugraphemb.read_graphs`.

    Attributes:
        node_offsets: int64 (graphs + 1); where each graph's nodes begin.
        indptr: int64 (nodes + 1); where each node's row of `indices` begins.
        indices: int32 (2 * edges); neighbors, as ids within the graph.
        node_labels: int32 (nodes); positions in `node_vocabulary`, all 0 if nodes have no labels.
        node_vocabulary: The labels; empty if nodes have none.
        edge_labels: int32, parallel to `indices`; positions in `edge_vocabulary`. None if edges have no labels.
        node_attributes: float64 (nodes, width), or None.
        targets: One class or value per graph, or None.
        ids: One string per graph; by default its position.
        name: Name of the collection.
        metadata: Further columns, one value per graph: {"smiles": array, ...}. They do not affect distances.

    Examples:
        >>> import ugraphemb as ug
        >>> graphs = ug.GraphSet.from_edges([3, 2], [(0, 1), (1, 2), (3, 4)], node_labels=list("CCOCN"))
        >>> graphs
        GraphSet(2 graphs, 5 nodes, 3 edges, 3 node labels)
        >>> graphs.num_nodes.tolist(), graphs[1].node_labels, len(graphs[[0]])
        ([3, 2], ['C', 'N'], 1)
    """

    node_offsets: npt.NDArray[np.int64]
    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    node_labels: npt.NDArray[np.int32]
    node_vocabulary: Vocabulary = ()
    edge_labels: npt.NDArray[np.int32] | None = None
    edge_vocabulary: Vocabulary = ()
    node_attributes: npt.NDArray[np.float64] | None = None
    targets: npt.NDArray[Any] | None = None
    ids: npt.NDArray[np.str_] = None  # type: ignore[assignment]  # filled in below
    name: str = ""
    metadata: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.ids is None:
            object.__setattr__(self, "ids", np.arange(len(self.node_offsets) - 1).astype(np.str_))
        object.__setattr__(self, "metadata", metadata_columns(self.metadata, len(self)))
        for array in self._fields().values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self._fields(),)  # through __post_init__: unpickled arrays are writable

    @classmethod
    def from_edges(
        cls,
        num_nodes: Iterable[int],
        edges: npt.ArrayLike,
        *,
        node_labels: Iterable[Hashable] | Coded | None = None,
        edge_labels: Iterable[Hashable] | Coded | None = None,
        node_attributes: npt.ArrayLike | None = None,
        targets: npt.ArrayLike | None = None,
        ids: Iterable[str] | None = None,
        name: str = "",
        metadata: Mapping[str, npt.ArrayLike] | None = None,
        strict: bool = False,
        source: str = "edges",
        notes: list[str] | None = None,
    ) -> GraphSet:
        """Graphs from one list of edges over all their nodes.

        Args:
            num_nodes: Nodes of each graph.
            edges: Shape (e, 2). Nodes are numbered across all graphs: the id of the first node of the second graph is
                the number of nodes of the first graph. Direction does not matter; an edge may occur in both.
            node_labels: Any hashable values, one per node.
            edge_labels: Any hashable values, one per row of `edges`.
            node_attributes: Shape (nodes, width).
            targets: One per graph.
            ids: One per graph, all different; by default positions.
            metadata: Further columns, one value per graph.
            strict: Refuse self loops and repeated edges instead of dropping them with one GraphWarning.
            source: What messages call the input.
            notes: A list that gets what was dropped, in words, instead of a GraphWarning.
        """
        sizes = _sizes(num_nodes, source)
        offsets = offsets_of(sizes)
        total = int(offsets[-1])
        codes, vocabulary = encoded(node_labels, total, f"{source}: node labels")
        pairs = edge_array(edges, source)
        edge_codes: npt.NDArray[np.int32] | None = None
        edge_vocabulary: Vocabulary = ()
        if edge_labels is not None:
            edge_codes, edge_vocabulary = encoded(edge_labels, len(pairs), f"{source}: edge labels")
        indptr, indices, kept, dropped = adjacency(pairs, offsets, edge_codes, source, strict)
        graphs = cls(
            node_offsets=offsets,
            indptr=indptr,
            indices=indices,
            node_labels=codes,
            node_vocabulary=vocabulary,
            edge_labels=None if edge_codes is None else edge_codes[kept],
            edge_vocabulary=edge_vocabulary,
            node_attributes=attribute_matrix(node_attributes, total, source),
            targets=target_array(targets, len(sizes), source),
            ids=id_array(ids, len(sizes), source),  # type: ignore[arg-type]
            name=name,
            metadata=metadata or {},  # type: ignore[arg-type]
        )
        if dropped and notes is not None:
            notes.append(f"dropped {dropped}")
        elif dropped:
            warned(f"{source}: dropped {dropped}")
        return graphs

    @classmethod
    def of(cls, graphs: Any, **options: Any) -> GraphSet:
        """Graphs of any kind: what every function here accepts; see `ugraphemb.graphs.convert.graphs_of`."""
        return _convert("graphs_of", graphs, options)

    @classmethod
    def from_networkx(cls, graphs: Iterable[nx.Graph[Any]] | nx.Graph[Any], **options: Any) -> GraphSet:
        """See `ugraphemb.graphs.convert.from_networkx`."""
        return _convert("from_networkx", graphs, options)

    @classmethod
    def from_pyg(cls, data: Any, **options: Any) -> GraphSet:
        """See `ugraphemb.graphs.convert.from_pyg`."""
        return _convert("from_pyg", data, options)

    @classmethod
    def from_igraph(cls, graphs: Any, **options: Any) -> GraphSet:
        """See `ugraphemb.graphs.convert.from_igraph`."""
        return _convert("from_igraph", graphs, options)

    @classmethod
    def from_smiles(cls, smiles: str | Iterable[str | None], **options: Any) -> GraphSet:
        """See `ugraphemb.graphs.convert.from_smiles`."""
        return _convert("from_smiles", smiles, options)

    @classmethod
    def from_rdkit(cls, molecules: Any, **options: Any) -> GraphSet:
        """See `ugraphemb.graphs.convert.from_rdkit`."""
        return _convert("from_rdkit", molecules, options)

    @classmethod
    def from_matrices(cls, matrices: Any, **options: Any) -> GraphSet:
        """See `ugraphemb.graphs.convert.from_matrices`."""
        return _convert("from_matrices", matrices, options)

    def to_networkx(self, **options: Any) -> list[nx.Graph[Any]]:
        """One networkx.Graph per graph; see `ugraphemb.graphs.convert.to_networkx`."""
        return _others("to_networkx", self, options)

    def to_pyg(self) -> list[Any]:
        """One torch_geometric Data per graph; see `ugraphemb.graphs.convert.to_pyg`."""
        return _others("to_pyg", self, {})

    def to_igraph(self) -> list[Any]:
        """One igraph.Graph per graph; see `ugraphemb.graphs.convert.to_igraph`."""
        return _others("to_igraph", self, {})

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __iter__(self) -> Iterator[Graph]:
        return (Graph(self, i) for i in range(len(self)))

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> Graph: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | npt.NDArray[Any]) -> GraphSet: ...
    def __getitem__(self, key: Any) -> Graph | GraphSet:
        """A view of one graph, or the collection that a slice, a mask or a list of positions names."""
        if isinstance(key, int | np.integer):
            position = int(key) + (len(self) if key < 0 else 0)
            if not 0 <= position < len(self):
                raise IndexError(f"graph {key} of a collection of {len(self)}")
            return Graph(self, position)
        return self._take(self._positions(key))

    def _positions(self, key: Any) -> npt.NDArray[np.int64]:
        if isinstance(key, slice):
            return np.arange(len(self))[key]
        chosen = np.asarray(key)
        if chosen.dtype == np.bool_:
            if chosen.shape != (len(self),):
                raise IndexError(f"a mask of shape {chosen.shape} for a collection of {len(self)} graphs")
            return np.flatnonzero(chosen)
        if chosen.size == 0:
            return np.empty(0, np.int64)
        if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer):
            raise TypeError("graphs are chosen by a position, a slice, a mask or a list of positions")
        if chosen.min() < -len(self) or chosen.max() >= len(self):
            raise IndexError(f"positions from {chosen.min()} to {chosen.max()} in a collection of {len(self)} graphs")
        return np.where(chosen < 0, chosen + len(self), chosen).astype(np.int64)

    def _take(self, chosen: npt.NDArray[np.int64]) -> GraphSet:
        nodes: Any
        ends: Any
        copied: Any
        if len(chosen) and (len(chosen) == 1 or (np.diff(chosen) == 1).all()):  # neighbors: copies of slices are faster
            first, stop = int(chosen[0]), int(chosen[-1]) + 1
            nodes = slice(int(self.node_offsets[first]), int(self.node_offsets[stop]))
            ends = slice(int(self.indptr[nodes.start]), int(self.indptr[nodes.stop]))
            offsets = self.node_offsets[first : stop + 1] - nodes.start
            indptr = self.indptr[nodes.start : nodes.stop + 1] - ends.start
            copied = np.copy
        else:
            nodes = ranges(self.node_offsets[chosen], self.node_offsets[chosen + 1])
            ends = ranges(self.indptr[self.node_offsets[chosen]], self.indptr[self.node_offsets[chosen + 1]])
            offsets = offsets_of(self.num_nodes[chosen])
            indptr = offsets_of(self.indptr[nodes + 1] - self.indptr[nodes])
            copied = np.asarray  # the positions have copied it
        return GraphSet(
            node_offsets=offsets,
            indptr=indptr,
            indices=copied(self.indices[ends]),
            node_labels=copied(self.node_labels[nodes]),
            node_vocabulary=self.node_vocabulary,
            edge_labels=None if self.edge_labels is None else copied(self.edge_labels[ends]),
            edge_vocabulary=self.edge_vocabulary,
            node_attributes=None if self.node_attributes is None else copied(self.node_attributes[nodes]),
            targets=None if self.targets is None else self.targets[chosen],
            ids=self.ids[chosen],
            name=self.name,
            metadata={name: column[chosen] for name, column in self.metadata.items()},
        )

    def __add__(self, other: GraphSet) -> GraphSet:
        """Both collections in one; see `ugraphemb.graphs.concatenated`."""
        from ugraphemb.graphs.merge import concatenated

        return concatenated([self, other])

    def __eq__(self, other: object) -> bool:
        """Equal graphs, labels, attributes, targets and ids, in the same order; the name does not count."""
        if not isinstance(other, GraphSet):
            return NotImplemented
        from ugraphemb.graphs.identity import equal

        return equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def num_nodes(self) -> npt.NDArray[np.int64]:
        """Nodes of each graph."""
        return _frozen(np.diff(self.node_offsets))

    @cached_property
    def num_edges(self) -> npt.NDArray[np.int64]:
        """Edges of each graph."""
        return _frozen(np.diff(self.indptr[self.node_offsets]) // 2)

    @cached_property
    def connected(self) -> npt.NDArray[np.bool_]:
        """Whether each graph is connected; the empty graph is."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        total = len(self.node_labels)
        graph_of = np.repeat(np.arange(len(self)), self.num_nodes)
        shift = np.repeat(self.node_offsets[graph_of], np.diff(self.indptr)) if total else 0
        matrix = csr_array((np.ones(len(self.indices), np.int8), self.indices + shift, self.indptr), (total, total))
        _, component = connected_components(matrix, directed=False)
        first = np.unique(component, return_index=True)[1]
        return _frozen(np.bincount(graph_of[first], minlength=len(self)) <= 1)

    @cached_property
    def fingerprint(self) -> str:
        """Changes with any graph, its labels and the order of graphs; not with ids, targets or the name.

        Equal collections have the same one, whatever the order of their vocabularies.
        """
        from ugraphemb.graphs.identity import fingerprint

        return fingerprint(self)

    def has_fingerprint(self, text: str) -> bool:
        """Whether `text` is the fingerprint of this collection, by this release or by 0.1."""
        from ugraphemb.graphs.identity import fingerprint_of_release_1

        return text == self.fingerprint or text == fingerprint_of_release_1(self)

    def _repr_html_(self) -> str:
        """The first graphs drawn, for notebooks; see `Graph._repr_html_`."""
        drawn: str = import_module("ugraphemb.plots.notebook").graphs_html(self)
        return drawn

    def __repr__(self) -> str:
        parts = [
            amount(len(self), "graph"),
            amount(len(self.node_labels), "node"),
            amount(len(self.indices) // 2, "edge"),
        ]
        if self.node_vocabulary:
            parts.append(amount(len(self.node_vocabulary), "node label"))
        if self.edge_labels is not None:
            parts.append(amount(len(self.edge_vocabulary), "edge label"))
        if self.node_attributes is not None:
            parts.append(amount(self.node_attributes.shape[1], "attribute"))
        if self.targets is not None:
            parts.append("targets")
        return f"GraphSet({self.name + ': ' if self.name else ''}{', '.join(parts)})"

    def summary(self) -> str:
        """Counts of graphs, nodes, edges, labels and classes, one per line."""
        from ugraphemb.graphs.summary import summary

        return summary(self)


def _convert(name: str, graphs: Any, options: dict[str, Any]) -> GraphSet:
    from ugraphemb.graphs import convert

    found: GraphSet = getattr(convert, name)(graphs, **options)
    return found


def _others(name: str, graphs: GraphSet, options: dict[str, Any]) -> list[Any]:
    from ugraphemb.graphs import convert

    found: list[Any] = getattr(convert, name)(graphs, **options)
    return found


def _rebuilt(values: dict[str, Any]) -> GraphSet:
    return GraphSet(**values)


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


def _sizes(num_nodes: Iterable[int], source: str) -> npt.NDArray[np.int64]:
    listed = num_nodes if isinstance(num_nodes, np.ndarray) else list(num_nodes)
    sizes = np.asarray(listed) if len(listed) else np.empty(0, np.int64)
    if sizes.ndim != 1 or not np.issubdtype(sizes.dtype, np.integer):
        raise GraphFormatError(f"{source}: the number of nodes must be one whole number for each graph")
    if sizes.size and sizes.min() < 0:
        raise GraphFormatError(f"{source}: graph {int(sizes.argmin())} has {sizes.min()} nodes")
    return sizes.astype(np.int64)
