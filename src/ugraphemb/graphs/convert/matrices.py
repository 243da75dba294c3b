"""Adjacency matrices, dense or sparse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.collector import Collector
from ugraphemb.graphs.convert.losses import Directed, check_pairs
from ugraphemb.graphs.graphset import GraphSet


def from_matrices(
    matrices: Any,
    *,
    edge_labels: bool = False,
    targets: npt.ArrayLike | None = None,
    ids: Iterable[str] | None = None,
    directed: Directed = "refuse",
    strict: bool = False,
    name: str = "",
) -> GraphSet:
    """A collection of graphs, each given by its adjacency matrix: an edge wherever an entry is not 0.

    Args:
        matrices: One square matrix (an array of two dimensions or a SciPy sparse matrix), a list of them, or an array
            of shape (graphs, n, n).
        edge_labels: The entries are labels of edges, whole numbers. Otherwise entries other than 0 and 1 are weights,
            which are not used and reported.
        directed: A matrix is undirected if it is symmetric or triangular. "refuse" is an error for all others;
            "symmetrize" takes an edge in one direction for an edge.
        strict: Refuse entries on the diagonal and weights instead of one GraphWarning that counts them.

    Examples:
        >>> import numpy as np
        >>> import ugraphemb as ug
        >>> triangle = 1 - np.eye(3)
        >>> ug.GraphSet.from_matrices([triangle])
        GraphSet(1 graph, 3 nodes, 3 edges)
    """
    listed = [matrices] if getattr(matrices, "ndim", 0) == 2 else list(matrices)
    collector = Collector("adjacency matrices")
    for number, matrix in enumerate(listed):
        where = f"adjacency matrix {number}"
        size, pairs, values = _entries(matrix, where)
        one_way = check_pairs(pairs, directed, where)
        collector.ignore("directions of edges, from triangular matrices", one_way)
        if edge_labels:
            if not np.array_equal(values, np.round(values)):
                raise GraphFormatError(
                    f"{where}: entries such as {values[values != np.round(values)][0]} cannot be labels"
                )
            labels = [int(value) for value in values]
        else:
            collector.ignore("weights of edges", int(np.count_nonzero(values != 1)))
            labels = None
        collector.add(size, pairs, edge_labels=labels, where=where)
    return collector.graph_set(strict=strict, name=name, targets=targets, ids=ids)


def _entries(matrix: Any, where: str) -> tuple[int, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Number of nodes, positions of the entries that are not 0, and the entries."""
    if hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo(copy=True)
        sparse.sum_duplicates()
        rows, columns = sparse.coords
        shape, values = sparse.shape, sparse.data
        kept = values != 0
        rows, columns, values = rows[kept], columns[kept], values[kept]
    else:
        try:
            dense = np.asarray(matrix)
            shape = dense.shape
            rows, columns = np.nonzero(dense) if dense.ndim == 2 else (np.empty(0), np.empty(0))
            values = dense[rows, columns] if dense.ndim == 2 else dense
            values = values.astype(np.float64)
        except (ValueError, TypeError) as error:
            raise GraphFormatError(f"{where}: entries must be numbers ({error})") from error
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphFormatError(f"{where} has the shape {tuple(shape)}, expected (n, n)")
    if not np.isfinite(values).all():
        raise GraphFormatError(f"{where}: {int(np.count_nonzero(~np.isfinite(values)))} entries are not finite")
    return int(shape[0]), np.stack([rows, columns], axis=1).astype(np.int64), values.astype(np.float64)
