"""NetMF: DeepWalk's node vectors in closed form, averaged over each graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from ugraphemb.baselines.averaging import Averaging, checked, node_weights
from ugraphemb.baselines.protocol import Floats, at_least
from ugraphemb.graphs import Graph, GraphSet

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
    Memory and time grow with the square of a graph's nodes and the cube up to 1,500 of them.

    Attributes:
        width: d, entries of a vector.
        window: T, longest walk.
        negatives: b, negative samples of the skip-gram that is factorized.
        averaging: "mean", "degree", "inverse_degree" or "sum".
        seed: Of the starting vector for graphs of over 1,500 nodes.
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

    def fit(self, graphs: GraphSet) -> NetMF:
        """Nothing to learn."""
        return self

    def transform(self, graphs: GraphSet, averaging: Averaging | None = None) -> Floats:
        """(graphs, width); another averaging than the one set is taken if given."""
        weights = node_weights(graphs, averaging or self.averaging)
        vectors = np.zeros((len(graphs), self.width))
        for row, graph in enumerate(graphs):
            nodes = slice(int(graphs.node_offsets[row]), int(graphs.node_offsets[row + 1]))
            vectors[row] = np.abs(weights[nodes] @ self.node_vectors(graph))
        return vectors

    def node_vectors(self, graph: Graph) -> Floats:
        """U_d √Σ_d of one graph, (nodes, width); the sign of each column is arbitrary."""
        answer = np.zeros((graph.num_nodes, self.width))
        joined, matrix = _log_matrix(graph, self.window, self.negatives)
        if len(joined):
            rank = min(self.width, len(joined))
            if len(joined) > _ITERATIVE and 2 * rank < len(joined):
                start = np.random.default_rng(self.seed).standard_normal(len(joined))
                values, left = eigsh(matrix, rank, which="LM", v0=start)
            else:
                values, left = eigh(matrix, overwrite_a=True, check_finite=False)
            # The matrix is symmetric: its singular values are |λ|, its singular vectors the eigenvectors.
            order = np.lexsort((-values, -np.abs(values)))[:rank]
            answer[joined, :rank] = left[:, order] * np.sqrt(np.abs(values[order]))
        return answer


def _log_matrix(graph: Graph, window: int, negatives: float) -> tuple[Any, Floats]:
    """Nodes that have edges, and log(max(M, 1)) among them."""
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
    step: Any = csr_array((np.repeat(1 / degree, np.diff(rows)), columns, rows), (size, size))  # D⁻¹A
    if size < _SPARSE:
        step = step.toarray()
    total = np.zeros((size, size))
    for _ in range(window):  # Horner: P + P² + … = P (I + P (I + …))
        total[np.diag_indices(size)] += 1
        total = step @ total
    matrix = total * (degree.sum() / (negatives * window)) / degree
    matrix = np.log(np.maximum((matrix + matrix.T) / 2, 1))  # symmetric but for rounding
    return joined, matrix
