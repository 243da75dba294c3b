"""NetMF: DeepWalk's node vectors in closed form, averaged over each graph."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ugraphemb.baselines.averaging import Averaging, checked, node_weights
from ugraphemb.baselines.protocol import Floats, at_least
from ugraphemb.graphs import Graph, GraphsLike, graphs_of

_SPARSE = 256  # nodes from which on the powers are products with a sparse matrix
_ITERATIVE = 1500  # nodes from which on only the leading eigenvectors are computed


@dataclass
class NetMF:
    """Each graph by itself: the rank-d factor of a matrix that DeepWalk factorizes implicitly.

    Qiu et al., Network Embedding as Matrix Factorization (WSDM 2018), algorithm 3, small window:

        M = vol(G) / (b T) · Σ_{r=1..T} (D⁻¹A)ʳ D⁻¹,   log(max(M, 1)) ≈ U_d Σ_d V_dᵀ,   node vectors U_d √Σ_d

    Nothing is learned from other graphs, and axes of different graphs are only matched by the order of their singular
    values. The sign of a singular vector is arbitrary: here the one that makes the graph's average nonnegative, so that
    the vector does not depend on the order of nodes (but where singular values coincide). Isolated nodes have the
    vector 0, and so has a graph without edges. Graphs with fewer nodes than `width` are padded with zeros.
    Memory grows with the square of a graph's nodes and time with the cube up to 1,500, not counting twins (nodes with
    the same neighbors), of which one stands for all.

    Attributes:
        width: d, entries of a vector.
        window: T, longest walk.
        negatives: b, negative samples of the skip-gram that is factorized.
        averaging: "mean", "degree", "inverse_degree" or "sum".
        seed: Seed of the starting vector for graphs of over 1,500 nodes.
    """

    width: int = 256
    window: int = 10
    negatives: float = 1.0
    averaging: Averaging = "mean"
    seed: int = 0

    def __post_init__(self) -> None:
        checked(self.averaging)
        at_least(1, width=self.width, window=self.window)
        if not self.negatives > 0:
            raise ValueError(f"negatives is {self.negatives}; it must be positive")

    def fit(self, graphs: GraphsLike) -> NetMF:
        """Nothing to learn."""
        return self

    def transform(self, graphs: GraphsLike, averaging: Averaging | None = None) -> Floats:
        """(graphs, width); another averaging than the one set is taken if given."""
        graphs = graphs_of(graphs)
        weights = node_weights(graphs, averaging or self.averaging)
        vectors = np.zeros((len(graphs), self.width))
        with threadpool_limits(1):  # these matrices are small: several threads would be slower
            for row, graph in enumerate(graphs):
                nodes = slice(int(graphs.node_offsets[row]), int(graphs.node_offsets[row + 1]))
                vectors[row] = np.abs(weights[nodes] @ self.node_vectors(graph))
        return vectors

    def node_vectors(self, graph: Graph) -> Floats:
        """U_d √Σ_d of one graph, (nodes, width); the sign of each column is arbitrary."""
        answer = np.zeros((graph.num_nodes, self.width))
        joined, twin_class, matrix = _log_matrix(graph, self.window, self.negatives)
        if len(joined) == 0:
            return answer
        # Twins have equal rows, so one row per class of c twins is enough, weighted √c on both sides: the same
        # singular values, and vectors that are shared out among the twins. Hubs with many leaves become small matrices.
        weight = np.sqrt(np.bincount(twin_class))
        matrix *= weight
        matrix *= weight[:, None]
        rank = min(self.width, len(matrix))
        if len(matrix) > _ITERATIVE and 2 * rank < len(matrix):
            start = np.random.default_rng(self.seed).standard_normal(len(matrix))
            values, left = eigsh(matrix, rank, which="LM", v0=start)
        else:
            values, left = eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
        # The matrix is symmetric: its singular values are |λ|, its singular vectors the eigenvectors.
        order = np.lexsort((-values, -np.abs(values)))[:rank]
        vectors = left[:, order] * np.sqrt(np.abs(values[order])) / weight[:, None]
        answer[joined, :rank] = vectors[twin_class]
        return answer


def _log_matrix(graph: Graph, window: int, negatives: float) -> tuple[Any, Any, Floats]:
    """Nodes that have edges, their classes of equal neighbors, and log(max(M, 1)) among one node of each class."""
    packed = graph.graphs
    start, stop = packed.node_offsets[graph.position : graph.position + 2]
    pointers = packed.indptr[start : stop + 1]
    degree = np.diff(pointers)
    joined = np.flatnonzero(degree)
    place = np.cumsum(degree > 0) - 1
    degree = degree[joined].astype(np.float64)
    columns = place[packed.indices[pointers[0] : pointers[-1]]]
    rows = np.concatenate([[0], np.cumsum(degree, dtype=np.int64)])
    size = len(joined)
    classes: dict[bytes, int] = {}
    ends = rows.tolist()
    twin_class = np.array(
        [classes.setdefault(columns[a:b].tobytes(), len(classes)) for a, b in pairwise(ends)], np.int64
    )
    first = np.unique(twin_class, return_index=True)[1]
    step: Any = csr_array((np.repeat(1 / degree, np.diff(rows)), columns, rows), (size, size))  # D⁻¹A
    if size < _SPARSE:
        step = step.toarray()
    total = np.zeros((size, len(first)))
    for _ in range(window):  # Horner: P + P² + … = P (I + P (I + …)), some columns of it
        total[first, np.arange(len(first))] += 1
        total = step @ total
    matrix = total[first] * (degree.sum() / (negatives * window)) / degree[first]
    matrix = np.log(np.maximum((matrix + matrix.T) / 2, 1))  # symmetric up to rounding
    return joined, twin_class, matrix
