"""PyTorch Geometric. Imported when called: reading graphs must not wait for torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError, no_deprecations, type_of
from ugraphemb.graphs.collector import MISSING, Collector, target_array
from ugraphemb.graphs.convert.losses import Directed, Unused, check_pairs
from ugraphemb.graphs.graphset import GraphSet

_READ = {"edge_index", "x", "y", "node_label", "node_vocabulary", "edge_label", "edge_vocabulary", "id", "num_nodes"}


def from_pyg(
    data: Any,
    *,
    labels_from: str | None = "auto",
    edge_labels_from: str | None = "auto",
    targets: npt.ArrayLike | None = None,
    ids: Iterable[str] | None = None,
    directed: Directed = "refuse",
    strict: bool = False,
    name: str = "",
) -> GraphSet:
    """A collection of PyTorch Geometric graphs. Edges may be stored in one direction or in both.

    What `to_pyg` writes is read as it was: `node_label` and `edge_label` with their vocabularies, `x` as node
    attributes, `y` as target, `id`. Tensors that are not used are reported in one GraphWarning, with counts.

    Args:
        data: A Data, a list of them, a dataset, a Batch, or a DataLoader, whose graphs are taken in the order of its
            dataset: batches and shuffling make no difference.
        labels_from: The tensor that holds the node labels, one-hot or as one whole number per node. "auto" is
            `node_label` where there is one, else `x` where it is one-hot in every graph or a column of integers, as in
            the labeled TU sets and in ZINC. A tensor `x` that is not taken for labels becomes node attributes.
        edge_labels_from: The same for edges, with `edge_label` and `edge_attr`.
        targets: One per graph; by default `y`, where every graph has just one.
        directed: "refuse" is an error for graphs where some edges are stored in both directions and some in one only;
            "symmetrize" drops directions.
        strict: Refuse self loops, repeated edges, unused tensors, and a `y` that is not one value per graph.

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> import ugraphemb as ug
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> ug.GraphSet.from_pyg([path])
        GraphSet(1 graph, 3 nodes, 2 edges)
    """
    items = _items(data)
    nodes = _source(items, labels_from, "node_label", "x")
    edges = _source(items, edge_labels_from, "edge_label", "edge_attr")
    collector = Collector("PyTorch Geometric graphs")
    used = Unused()
    for number, item in enumerate(items):
        where = f"PyTorch Geometric graph {number}"
        pairs = np.empty((0, 2), np.int64) if item.edge_index is None else _array(item.edge_index).T
        collector.ignore("directions of edges, each stored once", check_pairs(pairs, directed, where))
        y = _array(item.y) if hasattr(item.y, "numpy") else item.y
        if isinstance(y, np.ndarray) and y.size != 1:
            collector.ignore("y of several values")
            y = None
        x = _array(item.x) if nodes != "x" and item.x is not None else None
        used.add("tensor", {key: _rows(value) for key, value in item.to_dict().items()})
        collector.add(
            int(item.num_nodes or 0),
            pairs,
            node_labels=_labels(item, nodes, "node_label", "node_vocabulary"),
            edge_labels=_labels(item, edges, "edge_label", "edge_vocabulary"),
            attributes=x[:, None] if x is not None and x.ndim == 1 else x,
            target=MISSING if y is None else y.item() if isinstance(y, np.ndarray) else y,
            id=None if getattr(item, "id", None) is None else str(item.id),
            where=where,
        )
    used.report(collector, {"tensor": {*_READ, nodes, edges}})
    return collector.graph_set(strict=strict, name=name, targets=targets, ids=ids)


def to_pyg(graphs: GraphSet) -> list[Any]:
    """One torch_geometric Data per graph.

    `edge_index` holds both directions of each edge; `x` the node attributes and `y` the target, as float32 where they
    are floating-point numbers; `node_label` and `edge_label` the labels as whole numbers, positions in the tuples
    `node_vocabulary` and `edge_vocabulary`; `id` the id.

    Examples:
        >>> import ugraphemb as ug
        >>> ethanol = ug.GraphSet.from_smiles("CCO").to_pyg()[0]
        >>> ethanol.edge_index.tolist(), ethanol.node_vocabulary
        ([[0, 1, 1, 2], [1, 0, 2, 1]], ('C', 'O'))
    """
    torch: Any = import_module("torch")
    with no_deprecations():
        new: Any = import_module("torch_geometric.data").Data
    values = None if graphs.targets is None else target_array(graphs.targets.tolist())
    result = []
    for graph in graphs:
        first, last = graphs.node_offsets[graph.position : graph.position + 2]
        pointers = graphs.indptr[first : last + 1]
        ends = slice(int(pointers[0]), int(pointers[-1]))
        sources = np.repeat(np.arange(graph.num_nodes), np.diff(pointers))
        pairs = np.stack([sources, graphs.indices[ends]]).astype(np.int64)
        item = new(edge_index=torch.from_numpy(pairs), num_nodes=graph.num_nodes, id=graph.id)
        if graph.node_attributes is not None:
            item.x = torch.from_numpy(graph.node_attributes.astype(np.float32))
        if graphs.node_vocabulary:
            item.node_label = torch.from_numpy(graphs.node_labels[first:last].astype(np.int64))
            item.node_vocabulary = graphs.node_vocabulary
        if graphs.edge_labels is not None:
            item.edge_label = torch.from_numpy(graphs.edge_labels[ends].astype(np.int64))
            item.edge_vocabulary = graphs.edge_vocabulary
        if values is not None:
            value = values[graph.position]
            kind = {"f": torch.float32, "i": torch.int64, "b": torch.bool}.get(values.dtype.kind)
            item.y = torch.tensor([value], dtype=kind) if kind else value
        result.append(item)
    return result


def _items(data: Any) -> list[Any]:
    """One Data per graph, whatever holds them."""
    if _is(data, "DataLoader"):
        data = data.dataset
    if _is(data, "Dataset"):
        return [data[i] for i in range(len(data))]
    if _is(data, "Batch"):
        return list(data.to_data_list())
    if _is(data, "Data"):
        return [data]
    items: list[Any] = []
    for number, item in enumerate(data):
        if not _is(item, "Data"):
            raise GraphFormatError(f"PyTorch Geometric graph {number}: {type_of(item)}, expected a Data")
        items += item.to_data_list() if _is(item, "Batch") else [item]
    return items


def _is(thing: Any, name: str) -> bool:
    """Whether it is an instance of that class of torch or PyTorch Geometric, without importing either."""
    return any(
        kind.__name__ == name and kind.__module__.startswith(("torch.", "torch_geometric"))
        for kind in type(thing).__mro__
    )


def _source(items: Sequence[Any], asked: str | None, own: str, usual: str) -> str | None:
    """The name of the tensor that holds labels; None for the one that `to_pyg` writes, or for no labels."""
    if asked != "auto":
        return asked
    if any(getattr(item, own, None) is not None for item in items):
        return None
    tensors = [getattr(item, usual, None) for item in items]
    if not tensors or any(tensor is None for tensor in tensors):
        return None
    return usual if all(_holds_labels(_array(tensor)) for tensor in tensors) else None


def _holds_labels(values: npt.NDArray[Any]) -> bool:
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return np.issubdtype(values.dtype, np.integer)
    return values.ndim == 2 and bool(np.isin(values, (0, 1)).all() and (values.sum(1) == 1).all())


def _rows(value: Any) -> int:
    return int(value.shape[0]) if getattr(value, "ndim", 0) else 1


def _array(tensor: Any) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = tensor.detach().cpu().numpy()
    return array


def _labels(item: Any, source: str | None, key: str, vocabulary_key: str) -> list[Any] | None:
    if source is not None:
        tensor = getattr(item, source, None)
        if tensor is None:
            raise GraphFormatError(
                f"PyTorch Geometric graphs: no tensor {source!r}; there are {', '.join(item.to_dict())}"
            )
        return _decoded(_array(tensor), source)
    codes = getattr(item, key, None)
    vocabulary = getattr(item, vocabulary_key, None)
    if codes is None:
        return None
    values = _array(codes).tolist()
    return values if vocabulary is None else [vocabulary[code] for code in values]


def _decoded(values: npt.NDArray[Any], source: str) -> list[int]:
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        if not (np.isin(values, (0, 1)).all() and (values.sum(1) == 1).all()):
            raise GraphFormatError(f"PyTorch Geometric graphs: {source!r} is not one-hot, so it cannot be a label")
        return [int(code) for code in values.argmax(1)]
    if values.ndim != 1 or not np.array_equal(values, np.floor(values)):
        raise GraphFormatError(f"PyTorch Geometric graphs: {source!r} must be one-hot or one whole number per row")
    return [int(value) for value in values]
