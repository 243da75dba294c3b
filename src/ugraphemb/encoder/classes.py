"""Class scores from the vector and the Weisfeiler-Lehman colors of a graph, by kernel ridge regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ugraphemb.encoder.colors import Bags, bags, colors
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.graphs import GraphSet

Floats = npt.NDArray[np.float64]

ROUNDS = 3
"""Rounds of Weisfeiler-Lehman refinement: a color describes the neighborhood up to this many edges away."""

KERNELS = 4
"""Number of kernels (see `kernels_of`)."""

_AT_ONCE = 1_000  # graphs whose kernels are computed at once
_SHARPNESS = 2.0  # of the second kernel: exp(2 (share - 1))


class Shape(NamedTuple):
    """Sizes of the class layers: classes, known colors, graphs that new graphs are compared with, and their entries."""

    classes: int
    known: int
    graphs: int
    entries: int


class ClassLayers(nn.Module):
    """scores = K(x, x₁..ₘ) α, for m of the graphs with known classes; `training.class_fitting` computes α.

    The vectors are trained on distances, which rare labels and rare neighborhoods hardly change, but classes may depend
    on them. Therefore K is a weighted sum of kernels of vectors and of Weisfeiler-Lehman colors (see `kernels_of`).
    """

    def __init__(self, config: EncoderConfig, shape: Shape) -> None:
        super().__init__()
        count, known, graphs, entries = shape
        self.edge_labels = config.edge_counts or config.edge_labels
        sizes: dict[str, tuple[int, ...]] = {
            "mean": (config.dimension,), "scale": (config.dimension,), "width": (),
            "vectors": (graphs, config.dimension),
            "mixture": (KERNELS,), "alpha": (graphs, count), "temperature": (),
        }  # fmt: skip
        for name, size in sizes.items():
            self.register_buffer(name, torch.ones(size))
        for name, length in {"known": known, "round": known, "color": entries, "offsets": graphs}.items():
            self.register_buffer(name, torch.zeros(length, dtype=torch.int64))
        self.register_buffer("rounds", torch.tensor(ROUNDS))

    def set(self, **values: npt.ArrayLike) -> None:
        """Copies arrays into the buffers of these names."""
        for name, value in values.items():
            getattr(self, name).copy_(torch.from_numpy(np.array(value)))

    def bags(self, graphs: GraphSet) -> Bags:
        """The known colors of these graphs."""
        found = colors(graphs, int(self._array("rounds")), edge_labels=self.edge_labels)
        return bags(found, self._array("known").view(np.uint64), len(graphs))

    def check(self) -> None:
        """Raises ValueError if color positions or offsets are out of range, as in a damaged file."""
        color, offsets, known = self._array("color"), self._array("offsets"), self._array("known")
        ends = np.append(offsets, len(color))
        if len(offsets) == 0 or offsets[0] != 0 or (np.diff(ends) < 0).any():
            raise ValueError("class layers: offsets of colors are not in order")
        if len(color) and not (color.min() >= 0 and color.max() < len(known)):
            raise ValueError("class layers: a color that is not known")

    def probabilities(self, vectors: npt.NDArray[Any], found: Bags) -> Floats:
        """Probability of each class for each graph, (graphs, classes)."""
        own = (self._array("vectors"), Bags(self._array("color"), self._array("offsets")))
        alpha, mixture = self._array("alpha"), self._array("mixture")
        scores = np.empty((len(vectors), alpha.shape[1]))
        for begin in range(0, len(vectors), _AT_ONCE):
            some = np.arange(begin, min(begin + _AT_ONCE, len(vectors)))
            described = (self._standard(vectors[some]), found.of(some))
            kernels = kernels_of(described, own, self._array("round"), float(self._array("width")))
            scores[some] = mixed(kernels, mixture) @ alpha
        return softmax(scores, float(self._array("temperature")))

    def _standard(self, vectors: npt.NDArray[Any]) -> Floats:
        return np.asarray((vectors - self._array("mean")) / self._array("scale"))

    def _array(self, name: str) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = getattr(self, name).cpu().numpy()
        return array


Described = tuple[npt.NDArray[Any], Bags]
"""Standardized vectors and colors of some graphs."""


def kernels_of(left: Described, right: Described, rounds: npt.NDArray[np.int64], width: float) -> list[Floats]:
    """The four kernels of all pairs of a left and a right graph, each (left, right).

    With s the cosine similarity of the sets of known colors: s; exp(2 (s - 1)); the mean of s over the colors of round
    0 and of round 1; and exp(-‖a - b‖² / (2 width²)) of the vectors. `rounds` gives the round of each known color.
    """

    def common(counts: npt.NDArray[np.bool_]) -> Floats:
        first, second = (part[1].matrix(counts) for part in (left, right))
        return np.asarray((first @ second.T).toarray(), np.float64)

    whole = common(rounds >= 0)
    near = (common(rounds == 0) + common(rounds == 1)) / 2
    first, second = (np.asarray(part[0], np.float64) for part in (left, right))
    squared = (first**2).sum(1)[:, None] + (second**2).sum(1) - 2 * first @ second.T
    return [whole, np.exp(_SHARPNESS * (whole - 1)), near, np.exp(-squared.clip(min=0) / (2 * width**2))]


def mixed(kernels: Sequence[Floats], mixture: npt.ArrayLike) -> Floats:
    """Σₖ mixture[k] kernels[k]."""
    return np.asarray(
        sum(weight * kernel for weight, kernel in zip(np.asarray(mixture).tolist(), kernels, strict=True) if weight)
    )


def softmax(scores: Floats, temperature: float) -> Floats:
    """exp(temperature · score), divided by the sum over the classes."""
    raised = np.exp(temperature * (scores - scores.max(axis=1, keepdims=True)))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
