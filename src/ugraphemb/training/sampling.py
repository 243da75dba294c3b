"""Which graphs meet in a step."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ugraphemb.training.truth import Truth

Positions = npt.NDArray[np.int64]

_COMPLETE = 0.5  # share of known pairs from which on any block of graphs will do


class Sampler(Protocol):
    """Draws one step: some graphs, and pairs among them as (first, second) places in that list, with their rows."""

    def draw(self, generator: np.random.Generator) -> tuple[Positions, Positions, Positions, Positions]: ...


class Pairs:
    """`batch` known pairs, drawn independently: the paper's way."""

    def __init__(self, truth: Truth, train: Positions, batch: int) -> None:
        self._truth, self._batch = truth, batch
        self._rows = _known(truth, train)

    def draw(self, generator: np.random.Generator) -> tuple[Positions, Positions, Positions, Positions]:
        rows = self._rows[generator.integers(0, len(self._rows), self._batch)]
        graphs, places = np.unique(self._truth.pairs[rows], return_inverse=True)
        first, second = places.reshape(-1, 2).T
        return graphs, first, second, rows


class Blocks:
    """`batch` graphs and every known pair among them: one forward pass serves up to batch · (batch − 1) / 2 pairs.

    Where most pairs are known the graphs are drawn at random. Where few are, they are gathered around known pairs:
    two graphs and those whose proximity to both is known, again and again until the batch is full.
    """

    def __init__(self, truth: Truth, train: Positions, batch: int) -> None:
        self._truth, self._train, self._batch = truth, train, min(batch, len(train))
        self._rows = _known(truth, train)
        possible = len(train) * (len(train) - 1) / 2
        self._known: csr_array | None = None
        if len(self._rows) < _COMPLETE * possible:
            left, right = truth.pairs[self._rows].T
            ends = (np.concatenate([left, right]), np.concatenate([right, left]))
            self._known = csr_array((np.ones(2 * len(left), np.int8), ends), (truth.size, truth.size))

    def draw(self, generator: np.random.Generator) -> tuple[Positions, Positions, Positions, Positions]:
        while True:
            graphs = self._gathered(generator)
            rows = self._truth.rows(graphs, graphs)
            first, second = np.nonzero(np.triu(rows >= 0, 1))
            if len(first):
                return graphs, first, second, rows[first, second]

    def _gathered(self, generator: np.random.Generator) -> Positions:
        if self._known is None:
            return generator.choice(self._train, self._batch, replace=False, shuffle=False)
        graphs = np.empty(0, np.int64)
        for _ in range(self._batch):
            left, right = self._truth.pairs[self._rows[generator.integers(len(self._rows))]]
            both = np.intersect1d(self._neighbors(left), self._neighbors(right), assume_unique=True)
            found = np.concatenate([graphs, [left, right], generator.permutation(both)])
            graphs = found[np.sort(np.unique(found, return_index=True)[1])]  # in the order in which they were found
            if len(graphs) >= self._batch:
                break
        # Cut before sorting: the lowest positions would be in every step, the highest in none.
        return np.sort(graphs[: self._batch] if len(graphs) > 2 * self._batch else graphs)

    def _neighbors(self, graph: int) -> Positions:
        assert self._known is not None
        start, stop = self._known.indptr[graph : graph + 2]
        return np.sort(self._known.indices[start:stop]).astype(np.int64)


def _known(truth: Truth, train: Positions) -> Positions:
    rows = truth.among(train)
    if not len(rows):
        raise ValueError("no pair of two training graphs has a known proximity")
    return rows
