"""Weisfeiler-Lehman colors: hashes of a node and its neighborhood, the same in every process."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.hashing import edge_label_marks, label_marks
from ugraphemb.graphs import GraphSet

Colors = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

_SALTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03))


class Bags(NamedTuple):
    """The known colors of each graph, in CSR form.

    Attributes:
        color: Positions in the list of known colors, ordered by graph.
        offsets: (graphs); index of the first color of each graph.
    """

    color: Positions
    offsets: Positions

    def of(self, chosen: Positions) -> Bags:
        """The bags of the graphs at these positions, in this order."""
        ends = np.append(self.offsets[1:], len(self.color))
        lengths = (ends - self.offsets)[chosen]
        offsets = np.cumsum(lengths) - lengths
        entries = np.arange(int(lengths.sum())) + np.repeat(self.offsets[chosen] - offsets, lengths)
        return Bags(self.color[entries], offsets)

    def matrix(self, counts: npt.NDArray[np.bool_]) -> Any:
        """One sparse row of unit norm per graph: equal entries at its colors for which `counts` is true."""
        from scipy.sparse import csr_array

        ends = np.append(self.offsets, len(self.color))
        found = csr_array((counts[self.color].astype(np.float32), self.color, ends), (len(self.offsets), len(counts)))
        lengths = np.sqrt(np.add.reduceat(np.append(found.data, np.float32(0)), self.offsets))
        lengths[np.diff(ends) == 0] = 0
        return csr_array(found.multiply((1 / np.where(lengths > 0, lengths, 1)).astype(np.float32)[:, None]))


def colors(graphs: GraphSet, rounds: int, *, edge_labels: bool) -> list[tuple[Positions, Colors]]:
    """The distinct colors of each graph after 0, 1, ..., `rounds` rounds: for each round sorted pairs (graph, color).

    A color is a hash of the node's label, and in later rounds of the node's previous color and the multiset of those of
    its neighbors (Shervashidze et al., JMLR 12, 2011), combined with the labels of the edges if `edge_labels`.
    """
    degree = np.diff(graphs.indptr)
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    neighbor = graphs.indices + np.repeat(np.repeat(graphs.node_offsets[:-1], graphs.num_nodes), degree)
    color = label_marks(graphs.node_vocabulary or (None,))[graphs.node_labels]
    edge = np.zeros(1, np.uint64)
    if edge_labels and graphs.edge_labels is not None:
        edge = edge_label_marks(graphs.edge_vocabulary)[graphs.edge_labels]
    found = [_distinct(graph_of, color)]
    filled = degree > 0
    for _ in range(rounds):
        around = np.zeros(len(color), np.uint64)
        if len(neighbor):
            around[filled] = np.add.reduceat(_mixed(color[neighbor] + edge), graphs.indptr[:-1][filled])
        color = _mixed(color * _SALTS[0] + around)
        found.append(_distinct(graph_of, color))
    return found


def known_colors(found: list[tuple[Positions, Colors]], least: int = 2) -> tuple[Colors, Positions]:
    """The colors that occur in at least `least` graphs, sorted, and the round of each."""
    rounds = np.repeat(np.arange(len(found)), [len(color) for _, color in found])
    seen, first, counts = np.unique(
        np.concatenate([color for _, color in found]), return_index=True, return_counts=True
    )
    return seen[counts >= least], rounds[first[counts >= least]]


def bags(found: list[tuple[Positions, Colors]], known: Colors, graphs: int) -> Bags:
    """The known colors of each graph; `graphs` is the number of graphs."""
    graph_of, color = (np.concatenate([part[i] for part in found]) for i in (0, 1))
    place = np.searchsorted(known, color)
    is_known = place < len(known)
    is_known[is_known] = known[place[is_known]] == color[is_known]
    graph_of, place = graph_of[is_known], place[is_known]
    order = np.lexsort((place, graph_of))
    lengths = np.bincount(graph_of, minlength=graphs)
    return Bags(place[order], np.cumsum(lengths) - lengths)


def sketch(graphs: GraphSet, width: int, *, rounds: int = 3, edge_labels: bool) -> npt.NDArray[np.float32]:
    """The sets of colors as vectors of fixed length, (graphs, width): a signed random projection by the colors' hashes.

    Row = Σᵣ 2⁻ʳ sᵣ / √|Cᵣ|, where Cᵣ are the distinct colors after r rounds, and sᵣ adds ±1 at one position for each of
    them (Weinberger et al., ICML 2009). Scalar products approximate Σᵣ 4⁻ʳ times the cosine similarity of the sets.
    """
    from scipy.sparse import csr_array

    total = np.zeros((len(graphs), width), np.float32)
    for number, (graph_of, color) in enumerate(colors(graphs, rounds, edge_labels=edge_labels)):
        mixed = _mixed(color)
        position = (mixed % np.uint64(width)).astype(np.int64)
        sign = 1 - 2 * (mixed >> np.uint64(63)).astype(np.float64)
        size = np.bincount(graph_of, minlength=len(graphs))
        entries = sign * 2.0**-number / np.sqrt(size[graph_of])
        total += csr_array((entries, (graph_of, position)), total.shape).toarray()
    return total


def _distinct(graph_of: Positions, color: Colors) -> tuple[Positions, Colors]:
    order = np.lexsort((color, graph_of))
    graph_of, color = graph_of[order], color[order]
    first = np.ones(len(color), np.bool_)
    first[1:] = (graph_of[1:] != graph_of[:-1]) | (color[1:] != color[:-1])
    return graph_of[first], color[first]


def _mixed(x: Colors) -> Colors:
    """A bijection in which every bit depends on every bit (Steele, Lea and Flood's SplitMix64)."""
    x = x + _SALTS[1]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
