"""Fits the class layers of a network: selects kernels and regularization, and computes the weights α."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.classes import ROUNDS, Described, Floats, Shape, kernels_of, mixed, softmax
from ugraphemb.encoder.colors import bags, colors, known_colors
from ugraphemb.encoder.model import Network
from ugraphemb.graphs import GraphSet

Positions = npt.NDArray[np.int64]

MIXTURES = (
    (0.0, 0.0, 0.0, 1.0), (0.5, 0.0, 0.0, 0.5), (0.0, 0.5, 0.0, 0.5), (0.0, 0.0, 0.5, 0.5),
    (0.0, 0.8, 0.0, 0.2), (0.0, 0.0, 0.8, 0.2),
)  # fmt: skip
"""Candidate weights of the kernels."""

RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0)
"""Candidate values of the ridge (regularization) parameter: larger values give smoother functions."""

WIDTHS = (0.5, 1.0)
"""Candidate widths of the kernel of vectors, in units of the root mean square length of the standardized vectors."""

TEMPERATURES = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""Candidate factors of the scores in the softmax."""

FEW, FOLDS = 2_000, 4
"""Up to this many graphs, settings are selected by cross-validation with this many folds; otherwise on the held-out
graphs alone."""

MOST = 5_000
"""Maximum number of centers: graphs that new graphs are compared with. The weights of the centers are fitted to all
graphs."""


class Choice(NamedTuple):
    """Settings of class layers, ordered by their mean log-likelihood, and their accuracy on held-out graphs."""

    likelihood: float
    accuracy: float
    width: float
    mixture: tuple[float, ...]
    ridge: float
    temperature: float


def fit_classes(
    network: Network,
    graphs: GraphSet,
    vectors: npt.NDArray[np.float32],
    classes: Positions,
    held_out: Positions,
    seed: int,
    *,
    before: npt.NDArray[np.float32] | None = None,
) -> float:
    """Adds class layers to the network; returns their accuracy on graphs that they were not fitted to.

    Selects the settings that maximize the likelihood of the classes of the held-out graphs; for up to `FEW` graphs by
    cross-validation over all graphs. Then α is computed from all graphs.

    Args:
        vectors: Vectors of all graphs.
        classes: The class of each graph, from 0.
        held_out: Positions in `graphs`.
        before: The vectors before they were fine-tuned on these classes; if given, settings are selected with them.
    """
    count, size = int(classes.max()) + 1, len(graphs)
    found = colors(graphs, ROUNDS, edge_labels=network.config.edge_counts or network.config.edge_labels)
    known, rounds = known_colors(found)
    everything = bags(found, known, size)
    random = np.random.default_rng(seed)
    folds = [held_out] if size > FEW else np.array_split(random.permutation(size), FOLDS)
    centers = np.sort(random.permutation(size)[:MOST])
    plain = standardized(vectors if before is None else before)[0]
    targets = np.eye(count)[classes]
    choice = max(_choices((plain, everything), centers, rounds, targets, folds))
    standard, mean, scale = standardized(vectors)
    own, width = everything.of(centers), choice.width * _length(standard)
    kernel = mixed(kernels_of((standard, everything), (standard[centers], own), rounds, width), choice.mixture)
    alpha = solved(kernel, kernel[centers], targets, (choice.ridge,))[0]
    layers = network.add_classes(Shape(count, len(known), len(centers), len(own.color)))
    layers.set(
        mean=mean, scale=scale, width=width, vectors=standard[centers], mixture=choice.mixture, alpha=alpha,
        temperature=choice.temperature, known=known.view(np.int64), round=rounds, color=own.color, offsets=own.offsets,
    )  # fmt: skip
    return choice.accuracy


def standardized(vectors: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], Floats, Floats]:
    """Vectors of zero mean and unit variance, the mean and the scale; constant coordinates have scale 1."""
    mean, scale = vectors.mean(axis=0), vectors.std(axis=0)
    scale = np.where(scale > 1e-6 * np.abs(vectors).max(initial=0), scale, 1.0)
    return ((vectors - mean) / scale).astype(np.float32), mean, scale


def _length(vectors: npt.NDArray[np.float32]) -> float:
    """Root mean square length of the vectors; 1 if all are 0."""
    return float(np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1).mean())) or 1.0


def _choices(
    described: Described, centers: Positions, rounds: Positions, targets: Floats, folds: list[Positions]
) -> Iterator[Choice]:
    """All combinations of width, mixture and ridge with the best temperature, scored on the folds."""
    classes, everywhere = targets.argmax(axis=1), np.arange(len(targets))
    some = (described[0][centers], described[1].of(centers))
    for width in WIDTHS:
        kernels = kernels_of(described, some, rounds, width * _length(described[0]))
        for mixture in MIXTURES:
            whole = mixed(kernels, mixture)
            scores = np.zeros((len(RIDGES), *targets.shape))
            for held_out in folds:
                training, inside = np.setdiff1d(everywhere, held_out), ~np.isin(centers, held_out)
                kernel = whole[:, inside]
                found = solved(kernel[training], kernel[centers[inside]], targets[training], RIDGES)
                scores[:, held_out] = [kernel[held_out] @ alpha for alpha in found]
            tested = np.concatenate(folds)
            for ridge, given in zip(RIDGES, scores[:, tested], strict=True):
                accuracy = float((given.argmax(axis=1) == classes[tested]).mean())
                likelihood, heat = max((_likelihood(given, classes[tested], t), t) for t in TEMPERATURES)
                yield Choice(likelihood, accuracy, width, mixture, ridge, heat)


def solved(kernel: Floats, square: Floats, targets: Floats, ridges: tuple[float, ...]) -> list[Floats]:
    """α that minimizes ‖K α - targets‖² + ridge αᵀ S α for each ridge; S is the kernel matrix of the centers.

    If all graphs are centers, K = S and α = (S + ridge I)⁻¹ targets.
    """
    from scipy.linalg import cho_factor, cho_solve

    is_all = kernel.shape == square.shape
    left, right = (square, targets) if is_all else (kernel.T @ kernel, kernel.T @ targets)
    weights = np.eye(len(square)) if is_all else square + 1e-6 * np.eye(len(square))
    return [cho_solve(cho_factor(left + ridge * weights), right) for ridge in ridges]


def _likelihood(scores: Floats, classes: Positions, temperature: float) -> float:
    """Mean log-likelihood of the true classes."""
    right = softmax(scores, temperature)[np.arange(len(classes)), classes]
    return float(np.log(right.clip(min=1e-12)).mean())
