"""Counts of the substructures of graphs: used by kernels and by the baselines built on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ugraphemb import _core
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.alignment import packed
from ugraphemb.proximity.metrics import Run

Codes = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int32]


class Substructures:
    """Substructures that were seen in graphs, numbered: one column of a matrix of counts each.

    Another collection counted with the same object has the same columns. It can be pickled.

    Attributes:
        vocabulary: Node labels that were seen; their positions stand in the keys.
    """

    def __init__(self) -> None:
        self.vocabulary: list[Any] = []
        self._position: dict[tuple[type, Any], int] = {}
        self._core = _core.Dictionary()

    def __len__(self) -> int:
        return len(self._core)

    def key(self, column: int) -> tuple[int, ...]:
        """What a column counts."""
        offsets = self._core.offsets
        return tuple(self._core.keys[offsets[column] : offsets[column + 1]].tolist())

    def counts(self, graphs: GraphSet, *, learn: bool = False) -> csr_array:
        """How often each substructure occurs in each graph: int64, graphs × columns.

        Args:
            learn: Number what has not been seen yet, too; else it does not count.
        """
        return self.counts_within(graphs, float("inf"), learn=learn)[0]

    def counts_within(self, graphs: GraphSet, seconds: float, *, learn: bool = False) -> tuple[csr_array, Positions]:
        """`counts` with a time limit per graph in seconds, and the graphs that exceeded it: their rows are empty."""
        indptr, columns, values, unfinished = self._counted(self._packed(graphs, learn), learn, seconds)
        return csr_array((values, columns, indptr), shape=(len(graphs), len(self))), unfinished

    def _counted(self, graphs: _core.Graphs, learn: bool, seconds: float) -> tuple[Any, Any, Any, Positions]:
        raise NotImplementedError

    def _packed(self, graphs: GraphSet, learn: bool) -> _core.Graphs:
        # 1, 1.0 and True are three labels, though equal
        entries = [(type(label), label) for label in graphs.node_vocabulary or (None,)]
        if learn:
            for entry in entries:
                if self._position.setdefault(entry, len(self.vocabulary)) == len(self.vocabulary):
                    self.vocabulary.append(entry[1])
        unknown = len(self.vocabulary)
        recoding = np.array([self._position.get(entry, unknown) for entry in entries], np.int32)
        return packed(graphs, recoding[graphs.node_labels])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_core": (self._core.offsets, self._core.keys)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "_core": _core.Dictionary(*state["_core"])})


class WLColors(Substructures):
    """Colors of nodes after 0 … `iterations` rounds of Weisfeiler–Lehman refinement (Shervashidze et al. 2011).

    A key is -1 and the position of a label, or a node's color in the round before followed by those of its neighbors.
    """

    def __init__(self, iterations: int = 5) -> None:
        if iterations < 0:
            raise ValueError(f"{iterations} iterations; there can be 0 or more")
        super().__init__()
        self.iterations = iterations

    def colors(self, graphs: GraphSet, *, learn: bool = False) -> Codes:
        """Column of each node's color, shape (iterations + 1, nodes); -1 where it was never seen."""
        colors, _ = _core.wl_colors(self._packed(graphs, learn), self.iterations, self._core, learn, float("inf"))
        return colors.reshape(self.iterations + 1, -1)

    def _counted(self, graphs: _core.Graphs, learn: bool, seconds: float) -> tuple[Any, Any, Any, Positions]:
        colors, unfinished = _core.wl_colors(graphs, self.iterations, self._core, learn, seconds)
        return (*_core.color_counts(graphs, colors), unfinished)


class ShortestPaths(Substructures):
    """Unordered pairs of different nodes that a path joins, by the labels of both and the length of a shortest path.

    A key is (position of one label, of the other, edges), the smaller position first; both are 0 unless `labeled`.
    """

    def __init__(self, labeled: bool = True) -> None:
        super().__init__()
        self.labeled = labeled

    def _counted(self, graphs: _core.Graphs, learn: bool, seconds: float) -> tuple[Any, Any, Any, Positions]:
        return _core.path_counts(graphs, self.labeled, self._core, learn, seconds)

    def triples(self) -> npt.NDArray[np.int32]:
        """The key of each column, shape (columns, 3)."""
        return self._core.keys.reshape(-1, 3)

    def weights(self) -> npt.NDArray[np.float64]:
        """Weight of the product of two counts of a column in the kernel of Borgwardt and Kriegel.

        It compares ordered pairs of nodes: labels (A, B) are two columns of these, (A, A) is one with twice the count.
        """
        triples = self.triples()
        return np.where(triples[:, 0] == triples[:, 1], 4.0, 2.0)


class Graphlets:
    """Sets of `size` nodes by the graph that they induce, connected or not; labels do not matter.

    Columns are always the same: the 4, 11 or 34 graphs of 3, 4 or 5 nodes, by the number of edges.

    Args:
        size: 3, 4 or 5.
        samples: So many random sets of each graph, instead of all. All sets of 5 nodes take long in large graphs.
        seed: Seed of the samples; a graph gets the same samples at any position.
        threads: 0 uses every core.
    """

    def __init__(self, size: int = 3, samples: int | None = None, seed: int = 0, threads: int = 0) -> None:
        if size not in (3, 4, 5):
            raise ValueError(f"graphlets of {size} nodes; they have 3, 4 or 5")
        if samples is not None and samples < 1:
            raise ValueError(f"{samples} samples; there must be at least 1, or None for all sets of nodes")
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed is {seed}; it must be between 0 and 2^64 - 1")
        self.size, self.samples, self.seed, self.threads = size, samples, seed, threads

    def __len__(self) -> int:
        return len(_core.graphlet_codes(self.size))

    def edges(self, column: int) -> list[tuple[int, int]]:
        """The graph that a column counts."""
        code = int(_core.graphlet_codes(self.size)[column])
        pairs = [(i, j) for j in range(self.size) for i in range(j)]
        return [pair for bit, pair in enumerate(pairs) if code >> bit & 1]

    def connected(self) -> npt.NDArray[np.bool_]:
        """Whether the graph of each column is connected."""
        drawn = GraphSet.from_edges(
            [self.size] * len(self),
            [(i + c * self.size, j + c * self.size) for c in range(len(self)) for i, j in self.edges(c)],
        )
        return drawn.connected

    def counts(self, graphs: GraphSet, *, learn: bool = False, tick: Callable[[int], None] | None = None) -> csr_array:
        """How often each graphlet occurs in each graph: int64, graphs × columns. There is nothing to learn."""
        return self.counts_within(graphs, float("inf"), tick=tick)[0]

    def counts_within(
        self, graphs: GraphSet, seconds: float, *, learn: bool = False, tick: Callable[[int], None] | None = None
    ) -> tuple[csr_array, Positions]:
        """`counts` with a time limit per graph in seconds, and the graphs that exceeded it: their rows are empty."""
        if self.samples is None and len(graphs) and graphs.num_nodes.max() > 9000:
            raise ValueError(
                f"graph {int(graphs.num_nodes.argmax())} has {graphs.num_nodes.max()} nodes; "
                "graphlets of more than 9000 nodes are sampled: give `samples`"
            )
        hear = tick or (lambda done: None)
        threads = Run(self.threads).num_threads
        flat, unfinished = _core.graphlet_counts(
            packed(graphs, graphs.node_labels), self.size, self.samples or 0, self.seed, threads, seconds, hear
        )
        return csr_array(flat.reshape(len(graphs), len(self))), unfinished


def wl_counts(graphs: GraphSet, h: int = 5) -> tuple[csr_array, WLColors]:
    """Counts of Weisfeiler–Lehman colors over `h` rounds, and the object that counts other graphs in the same columns.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.proximity.substructures import wl_counts
        >>> graphs = ug.GraphSet.from_smiles(["CCO", "CCN"])
        >>> counts, colors = wl_counts(graphs, h=1)
        >>> counts.toarray().tolist()
        [[2, 1, 0, 1, 1, 1, 0, 0], [2, 0, 1, 1, 0, 0, 1, 1]]
    """
    seen = WLColors(h)
    return seen.counts(graphs, learn=True), seen


def shortest_path_counts(graphs: GraphSet, labeled: bool = True) -> tuple[csr_array, ShortestPaths]:
    """Counts of shortest paths, and the object that counts other graphs in the same columns.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.proximity.substructures import shortest_path_counts
        >>> graphs = ug.GraphSet.from_smiles(["CCO", "CCN"])
        >>> counts, paths = shortest_path_counts(graphs, labeled=False)
        >>> counts.toarray().tolist()
        [[2, 1], [2, 1]]
    """
    seen = ShortestPaths(labeled)
    return seen.counts(graphs, learn=True), seen


def graphlet_counts(
    graphs: GraphSet, size: Literal[3, 4, 5] = 3, samples: int | None = None, seed: int = 0
) -> tuple[csr_array, Graphlets]:
    """Counts of graphlets, and the object that counts other graphs in the same columns.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.proximity.substructures import graphlet_counts
        >>> graphs = ug.GraphSet.from_smiles(["CCO", "CCN"])
        >>> counts, graphlets = graphlet_counts(graphs, size=3)
        >>> counts.toarray().tolist()
        [[0, 0, 1, 0], [0, 0, 1, 0]]
    """
    seen = Graphlets(size, samples, seed)
    return seen.counts(graphs), seen
