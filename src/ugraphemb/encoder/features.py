"""Node features, the input of the network: a few numbers per node, independent of the size of the vocabulary."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.hashing import label_digest
from ugraphemb.graphs import GraphSet

UNSEEN, SUPERSOURCE, RESERVED = 0, 1, 2
_WALK_STEP = 0.02  # to which probabilities are rounded
_WALK_SHIFT = 0.0817  # so that no common fraction is halfway between two steps, where rounding errors would decide
_MOST_EDGE_COLUMNS = 16  # maximum number of edge labels with their own column
TRIANGLE_FEATURES, LABEL_FEATURES = 3, 2
DEGREE_BINS = 48  # one bin for each degree from 0 to 31, then four bins per doubling

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class NodeFeatures:
    """Node features of one collection, one row per node.

    Attributes:
        slot: Row of the label table; 0 for a label not seen in training.
        degree: Row of the degree table.
        numbers: Real-valued features, (nodes, width).
        code: Row of `codes`, or empty.
        codes: Fixed random code of each label of the collection, (labels, hashed_labels).
        edge_slot: Row of the edge label table for each entry of `indices`, or empty.
    """

    slot: npt.NDArray[np.int64]
    degree: npt.NDArray[np.int64]
    numbers: FloatArray
    code: npt.NDArray[np.int64]
    codes: FloatArray
    edge_slot: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Vocabulary:
    """Labels of the training graphs in the order of their rows, and mean and scale of the attributes."""

    node_labels: tuple[Hashable, ...] = ()
    edge_labels: tuple[Hashable, ...] = ()
    attribute_mean: tuple[float, ...] = ()
    attribute_scale: tuple[float, ...] = ()

    @classmethod
    def of(cls, graphs: GraphSet, config: EncoderConfig) -> Vocabulary:
        """Labels that occur in `graphs` (its vocabulary may have more); mean and standard deviation of attributes."""
        mean: tuple[float, ...] = ()
        scale: tuple[float, ...] = ()
        if config.attributes:
            if graphs.node_attributes is None:
                raise ValueError("attributes=True, but the graphs have no node attributes")
            mean = tuple(graphs.node_attributes.mean(0).tolist())
            scale = tuple((graphs.node_attributes.std(0) + 1e-9).tolist())
        return cls(
            node_labels=_occurring(graphs.node_labels, graphs.node_vocabulary),
            edge_labels=() if graphs.edge_labels is None else _occurring(graphs.edge_labels, graphs.edge_vocabulary),
            attribute_mean=mean,
            attribute_scale=scale,
        )

    def features(self, graphs: GraphSet, config: EncoderConfig) -> NodeFeatures:
        """Features of any graphs, not only of training graphs."""
        total = len(graphs.node_labels)
        labels = graphs.node_vocabulary or (None,)
        slot = slots_of(labels, self.node_labels)[graphs.node_labels]
        degree = np.diff(graphs.indptr)
        numbers = [np.empty((total, 0), np.float32)]
        if config.walks:
            numbers.append(_return_probabilities(graphs, config.walks))
        if config.clustering:
            numbers.append(_triangle_features(graphs))
        if config.label_counts:
            numbers.append(_label_counts(graphs))
        if config.edge_counts:
            numbers.append(self._edge_counts(graphs))
        if config.attributes:
            numbers.append(self._attributes(graphs))
        hashed = config.hashed_labels
        edge_slot = np.empty(0, np.int64)
        if config.edge_labels:
            edges = np.zeros(len(graphs.indices), np.int32) if graphs.edge_labels is None else graphs.edge_labels
            edge_slot = slots_of(graphs.edge_vocabulary or (None,), self.edge_labels)[edges]
        return NodeFeatures(
            slot=slot,
            degree=_degree_bins(degree),
            numbers=np.concatenate(numbers, axis=1),
            code=graphs.node_labels.astype(np.int64) if hashed else np.empty(0, np.int64),
            codes=np.stack([_signs(label, hashed) for label in labels]) if hashed else np.empty((0, 0), np.float32),
            edge_slot=edge_slot,
        )

    def unseen(self, graphs: GraphSet) -> str | None:
        """A message about node labels that did not occur in training; None if there are none."""
        labels = graphs.node_vocabulary or (None,)
        strange = slots_of(labels, self.node_labels) == UNSEEN
        return _unseen("nodes", labels, graphs.node_labels, strange, self.node_labels)

    def unseen_edges(self, graphs: GraphSet) -> str | None:
        """A message about several edge labels that did not occur in training and therefore count as one.

        None if there are fewer than two, or if the model does not distinguish edge labels.
        """
        if graphs.edge_labels is None or not self.edge_labels:
            return None
        labels = graphs.edge_vocabulary
        strange = (slots_of(labels, self.edge_labels) == UNSEEN) & np.array(
            [label is not None for label in labels], bool
        )
        if np.count_nonzero(strange) < 2:
            return None
        node = np.repeat(np.arange(len(graphs.node_labels)), np.diff(graphs.indptr))
        once = node < _neighbors(graphs)  # each edge is stored in both directions
        return _unseen("edges", labels, graphs.edge_labels[once], strange, self.edge_labels, least=2)

    def label_shares(self, graphs: GraphSet) -> FloatArray:
        """For each label, the share of `graphs` that contain it."""
        slot = slots_of(graphs.node_vocabulary or (None,), self.node_labels)[graphs.node_labels]
        graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
        once = np.unique(np.stack([graph_of, slot]), axis=1)[1]
        counts = np.bincount(once, minlength=RESERVED + len(self.node_labels))
        return np.asarray(counts[RESERVED:] / max(1, len(graphs)), np.float32)

    def numbers(self, config: EncoderConfig) -> int:
        """Number of real-valued features of a node."""
        width = config.walks + TRIANGLE_FEATURES * config.clustering + LABEL_FEATURES * config.label_counts
        return width + (self.edge_columns if config.edge_counts else 0) + len(self.attribute_mean)

    @property
    def edge_columns(self) -> int:
        """Number of columns for counts of edge labels: one for each of the first 16 labels, one for all others."""
        return min(len(self.edge_labels), _MOST_EDGE_COLUMNS) + 1

    def _edge_counts(self, graphs: GraphSet) -> FloatArray:
        """Number of edges of each label at each node, (nodes, edge_columns)."""
        width, total = self.edge_columns, len(graphs.node_labels)
        codes = np.zeros(len(graphs.indices), np.int32) if graphs.edge_labels is None else graphs.edge_labels
        slots = slots_of(graphs.edge_vocabulary or (None,), self.edge_labels) - RESERVED
        columns = np.where((slots < 0) | (slots >= width - 1), width - 1, slots)[codes]
        nodes = np.repeat(np.arange(total), np.diff(graphs.indptr))
        counts = np.bincount(nodes * width + columns, minlength=total * width).reshape(total, width)
        return np.asarray(counts, np.float32)

    def _attributes(self, graphs: GraphSet) -> FloatArray:
        values = graphs.node_attributes
        width = len(self.attribute_mean)
        if values is None or values.shape[1] != width:
            found = "none" if values is None else str(values.shape[1])
            raise ValueError(f"the model was trained on {width} attributes a node, these graphs have {found}")
        standard = (values - np.array(self.attribute_mean)) / np.array(self.attribute_scale)
        return np.asarray(standard, np.float32)


def _occurring(codes: npt.NDArray[np.int32], vocabulary: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple(vocabulary[code] for code in np.unique(codes)) if vocabulary else (None,)


def slots_of(labels: tuple[Hashable, ...], seen: tuple[Hashable, ...]) -> npt.NDArray[np.int64]:
    """The row of each label in the label table: RESERVED + its position, or UNSEEN. 1, True and "1" are different."""
    position = {(type(label), label): RESERVED + i for i, label in enumerate(seen)}
    return np.array([position.get((type(label), label), UNSEEN) for label in labels], np.int64)


def _unseen(
    things: str, labels: tuple[Hashable, ...], codes: npt.NDArray[np.int32], strange: npt.NDArray[np.bool_],
    known: tuple[Hashable, ...], least: int = 1,
) -> str | None:  # fmt: skip
    """A message about nodes or edges with strange labels; None if there are fewer than `least` such labels."""
    used = [labels[code] for code in np.unique(codes[strange[codes]])]
    if len(used) < least:
        return None
    count = int(np.count_nonzero(strange[codes]))
    names, others = (", ".join(map(repr, some[:5])) + (", ..." if len(some) > 5 else "") for some in (used, known))
    return (
        f"{count} of {len(codes)} {things} ({count / len(codes):.1%}) have labels that the model has never seen "
        f"({names}); it knows {others if known != (None,) else 'graphs without labels'}"
    )


def _degree_bins(degree: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    beyond = 32 + (4 * np.log2(np.maximum(degree, 32) / 32)).astype(np.int64)
    return np.where(degree < 32, degree, np.minimum(beyond, DEGREE_BINS - 1))


def _signs(label: Hashable, width: int) -> FloatArray:
    """A code of ±1/√width derived from a hash of the label, the same in every process."""
    bits = np.random.Generator(np.random.PCG64(int.from_bytes(label_digest(label), "little"))).integers(0, 2, width)
    return np.asarray((2 * bits - 1) / np.sqrt(width), np.float32)


def _label_counts(graphs: GraphSet) -> FloatArray:
    """log(1 + n), n the nodes of the graph with the same label, and their share: (nodes, LABEL_FEATURES)."""
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    place = graph_of * max(1, len(graphs.node_vocabulary)) + graphs.node_labels
    _, position, counts = np.unique(place, return_inverse=True, return_counts=True)
    alike = counts[position]
    share = np.round(alike / graphs.num_nodes[graph_of] / _WALK_STEP) * _WALK_STEP  # rounded so that nodes fold
    return np.stack([np.log1p(alike), share], axis=1).astype(np.float32)


def _triangle_features(graphs: GraphSet) -> FloatArray:
    """log(1 + degree), log(1 + triangles) and clustering coefficient of each node."""
    from scipy.sparse import csr_array

    total = len(graphs.node_labels)
    ones = np.ones(len(graphs.indices), np.float64)
    matrix = csr_array((ones, _neighbors(graphs), graphs.indptr), (total, total))
    degree = np.diff(graphs.indptr).astype(np.float64)
    triangles = np.asarray((matrix @ matrix).multiply(matrix).sum(axis=1)).reshape(-1) / 2
    clustering = triangles / np.maximum(degree * (degree - 1) / 2, 1)
    return np.stack([np.log1p(degree), np.log1p(triangles), clustering], axis=1).astype(np.float32)


def _return_probabilities(graphs: GraphSet, count: int) -> FloatArray:
    """Probability that a random walk from a node returns to it after 2, ..., count + 1 steps: (nodes, count).

    These are the diagonals of Sᵏ with S = D^(-1/2) A D^(-1/2). S is symmetric, so (Sᵃ⁺ᵇ)ᵢᵢ = Σⱼ (Sᵃ)ᵢⱼ (Sᵇ)ᵢⱼ, and
    powers up to about k / 2 suffice. Rounded to `_WALK_STEP`, so that more nodes have equal features and are folded.
    """
    from scipy.sparse import csr_array

    total = len(graphs.node_labels)
    degree = np.diff(graphs.indptr)
    small = np.int32 if len(graphs.indices) < 1 << 31 else np.int64  # 32-bit indices are twice as fast
    neighbor, root = _neighbors(graphs).astype(small), np.sqrt(1 / np.maximum(degree, 1)).astype(np.float32)
    weight = np.repeat(root, degree) * root[neighbor]
    powers = [csr_array((weight, neighbor, graphs.indptr.astype(small)), (total, total))]
    while 2 * len(powers) < count + 1:
        powers.append(powers[-1] @ powers[0])
    back = []
    for k in range(2, count + 2):
        left, right = powers[k // 2 - 1], powers[(k + 1) // 2 - 1]
        product = left.multiply(right) if k % 2 else left
        back.append(_row_sums(product.data if k % 2 else left.data**2, product.indptr))
    return np.asarray(np.round(np.stack(back, axis=1) / _WALK_STEP + _WALK_SHIFT) * _WALK_STEP, np.float32)


def _row_sums(values: FloatArray, offsets: npt.NDArray[np.int64]) -> FloatArray:
    """Σ values[offsets[i] : offsets[i + 1]]; unlike with cumulative sums, rounding depends on these values only."""
    sums = np.zeros(len(offsets) - 1, np.float32)
    filled = np.diff(offsets) > 0
    if len(values):
        sums[filled] = np.add.reduceat(values, offsets[:-1][filled])
    return sums


def _neighbors(graphs: GraphSet) -> npt.NDArray[np.int64]:
    """`indices` as node ids of the whole collection."""
    shift = np.repeat(np.repeat(graphs.node_offsets[:-1], graphs.num_nodes), np.diff(graphs.indptr))
    return graphs.indices + shift
