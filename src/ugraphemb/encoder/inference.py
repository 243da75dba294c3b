"""Vectors of a few graphs with NumPy only, so that a query of a saved index need not import torch.

Computes the same as `Network` (model.py) for the settings that `knows` accepts; `tests/encoder/test_inference.py`
compares the two. Other settings need torch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.config import EncoderConfig, scales_of
from ugraphemb.encoder.features import DEGREE_BINS, RESERVED, Vocabulary
from ugraphemb.encoder.heads import NODES, TINY
from ugraphemb.graphs import GraphSet

Floats = npt.NDArray[np.float32]

_READOUTS = ("sum", "average", "msna", "attention", "msna_sum")
# Settings that are supported here, or that only affect training. All others must have their default values.
_COMPUTED = {
    "layers", "aggregation", "residual", "activation", "learn_epsilon", "readout", "scales", "compression",
    "batch_norm", "running_norm", "norm_floor", "hidden", "dimension", "scaled", "head", "degree", "walks",
    "clustering", "edge_counts", "attributes", "label_scale", "label_trust", "hashed_labels", "label_counts",
    "anchored",
}  # fmt: skip


def knows(config: EncoderConfig) -> bool:
    """Whether networks with these settings are supported here."""
    others = (field for field in dataclasses.fields(config) if field.name not in _COMPUTED)
    return config.readout in _READOUTS and all(getattr(config, field.name) == field.default for field in others)


class Inference:
    """A trained network with supported settings, for few graphs.

    Raises:
        ValueError: The weights do not have the names and shapes that the settings require.
    """

    def __init__(self, config: EncoderConfig, vocabulary: Vocabulary, weights: Mapping[str, npt.NDArray[Any]]) -> None:
        if shapes_of(config, vocabulary) != {name: array.shape for name, array in weights.items()}:
            raise ValueError("other tensors, or of other shapes")
        self.config, self.vocabulary, self.weights = config, vocabulary, weights

    def vectors(self, graphs: GraphSet) -> Floats:
        """One vector per graph: (graphs, dimension)."""
        from scipy.sparse import csr_array

        config = self.config
        sizes, degrees = graphs.num_nodes, np.diff(graphs.indptr)
        nodes, ones = len(graphs.node_labels), np.ones(max(len(graphs.indices), len(graphs.node_labels)), np.float32)
        shift = np.repeat(np.repeat(graphs.node_offsets[:-1], sizes), degrees)
        neighbors = csr_array((ones[: len(graphs.indices)], graphs.indices + shift, graphs.indptr), (nodes, nodes))
        members = csr_array((ones[:nodes], np.arange(nodes), graphs.node_offsets), (len(graphs), nodes))
        layers = [self._inputs(graphs)]
        for k in range(len(config.layers)):
            layers.append(self._convolved(k, layers[-1], neighbors))
        count = np.maximum(sizes, 1).astype(np.float32)[:, None]  # (graphs, 1)
        scales = scales_of(config)
        read = np.concatenate([self._read(i, layers[k], members, count) for i, k in enumerate(scales)], axis=1)
        if config.compression != "none":
            mean = read / count
            read = np.sign(read) * np.log1p(np.abs(read))
            if config.compression == "log_mean":
                read = np.concatenate([read, mean], axis=1)
        vectors = self._dense(read)
        if config.head == "sized_l1":
            vectors = vectors[:, 1:]
        if config.scaled or config.anchored:
            ends = np.bincount(np.repeat(np.arange(len(graphs)), sizes), degrees, len(graphs))[:, None]
            mass = (1 + ends / (2 * count)).astype(np.float32)
            if config.anchored:
                mass /= np.maximum(np.abs(vectors).sum(axis=1, keepdims=True), np.float32(TINY))
            vectors = vectors * mass
        if config.head == "sized_l1":
            vectors = np.concatenate([count / np.float32(NODES), count * vectors], axis=1)
        return vectors

    def _inputs(self, graphs: GraphSet) -> Floats:
        of, features = self.weights, self.vocabulary.features(graphs, self.config)
        rows = of["inputs.label.weight"][features.slot]
        if self.config.label_trust:
            rows = rows * of["inputs.trust"][features.slot]
        if self.config.degree:
            rows = rows + of["inputs.degree.weight"][features.degree]
        if features.numbers.shape[1]:
            rows = rows + features.numbers @ of["inputs.numbers.weight"].T
        if self.config.hashed_labels:
            rows = rows + (features.codes @ of["inputs.code.weight"].T)[features.code]
        return np.asarray(rows)

    def _convolved(self, k: int, rows: Floats, neighbors: Any) -> Floats:
        of, name, before = self.weights, f"convolutions.{k}", rows
        if k > 0:
            rows = rows @ of[f"{name}.product.weight"].T
        around = neighbors @ rows
        if self.config.aggregation == "log":
            degree = np.diff(neighbors.indptr).astype(np.float32)[:, None]
            around *= np.log1p(degree) / np.maximum(degree, 1)
        sums = around + (1 + of[f"{name}.convolution.eps"]) * rows
        rows = self._activated(sums + of[f"{name}.convolution.nn.0.bias"])
        rows = rows @ of[f"{name}.convolution.nn.2.weight"].T + of[f"{name}.convolution.nn.2.bias"]
        return rows + before if self.config.residual else self._activated(rows)

    def _read(self, place: int, rows: Floats, members: Any, count: Floats) -> Floats:
        sums: Floats = members @ rows
        if self.config.readout == "average":
            return sums / count
        if self.config.readout == "sum":
            return sums
        name, both = _attention_of(self.config, place), self.config.readout == "msna_sum"
        context = np.maximum((sums / count) @ self.weights[name].T, np.float32(0))
        likeness = np.einsum("ij,ij->i", rows, np.repeat(context, np.diff(members.indptr), axis=0))
        attention = 1 / (1 + np.exp(-likeness.astype(np.float64)))
        weighted: Floats = members @ (rows * attention.astype(np.float32)[:, None])
        return np.concatenate([weighted, sums], axis=1) if both else weighted

    def _dense(self, read: Floats) -> Floats:
        of = self.weights
        if self.config.batch_norm:
            spread = np.sqrt(of["norm.running_var"] + np.float32(self.config.norm_floor))
            read = (read - of["norm.running_mean"]) / spread * of["norm.weight"] + of["norm.bias"]
        hidden = self._activated(read @ of["dense.0.weight"].T + of["dense.0.bias"])
        return np.asarray(hidden @ of["dense.2.weight"].T + of["dense.2.bias"], np.float32)

    def _activated(self, values: Floats) -> Floats:
        if self.config.activation == "relu":
            return np.asarray(np.maximum(values, np.float32(0)))
        from scipy.special import erf

        return np.asarray(np.float32(0.5) * values * (1 + erf(values * np.float32(0.5**0.5))))


def shapes_of(config: EncoderConfig, vocabulary: Vocabulary) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the tensors of a network with supported settings, without class layers."""
    widths, labels = (config.layers[0], *config.layers), RESERVED + len(vocabulary.node_labels)
    numbers = vocabulary.numbers(config)
    shapes: dict[str, tuple[int, ...]] = {"inputs.label.weight": (labels, widths[0])}
    if config.label_trust:
        shapes["inputs.trust"] = (labels, 1)
    if config.degree:
        shapes["inputs.degree.weight"] = (DEGREE_BINS, widths[0])
    if numbers:
        shapes["inputs.numbers.weight"] = (widths[0], numbers)
    if config.hashed_labels:
        shapes["inputs.code.weight"] = (widths[0], config.hashed_labels)
    for k, width in enumerate(config.layers):
        name = f"convolutions.{k}"
        if k > 0:
            shapes[f"{name}.product.weight"] = (width, widths[k])
        shapes[f"{name}.convolution.eps"] = (1,)
        shapes[f"{name}.convolution.nn.0.bias"] = shapes[f"{name}.convolution.nn.2.bias"] = (width,)
        shapes[f"{name}.convolution.nn.2.weight"] = (width, width)
    scales = scales_of(config)
    if config.readout in ("msna", "attention", "msna_sum"):
        shapes |= {_attention_of(config, i): (widths[k], widths[k]) for i, k in enumerate(scales)}
    width = sum(widths[k] for k in scales) * (2 if config.readout == "msna_sum" else 1)
    width *= 2 if config.compression == "log_mean" else 1
    if config.batch_norm:
        names = ("weight", "bias", "running_mean", "running_var")
        shapes |= {f"norm.{name}": (width,) for name in names} | {"norm.num_batches_tracked": ()}
    hidden = config.hidden or config.dimension
    shapes |= {"dense.0.weight": (hidden, width), "dense.0.bias": (hidden,)}
    last = config.dimension
    shapes |= {"dense.2.weight": (last, hidden), "dense.2.bias": (last,)}
    return shapes


def _attention_of(config: EncoderConfig, place: int) -> str:
    return f"readout.readouts.{place}.{'first.' if config.readout == 'msna_sum' else ''}transform.weight"
