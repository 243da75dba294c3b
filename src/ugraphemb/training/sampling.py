"""Sampling of the graphs and pairs of a training step."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ugraphemb.proximity.table import PairTable

Positions = npt.NDArray[np.int64]

_COMPLETE = 0.5  # share of known pairs from which on blocks of random graphs are used


class Sampler(Protocol):
    """Draws the graphs of a step, and pairs of them: first and second index in these graphs, and row of the table."""

    def draw(self, generator: np.random.Generator) -> tuple[Positions, Positions, Positions, Positions]: ...


class Pairs:
    """`batch` known pairs, drawn independently, as in the paper."""

    def __init__(self, table: PairTable, train: Positions, batch: int) -> None:
        self._table, self._batch = table, batch
        self._rows = _known(table, train)

    def draw(self, generator: np.random.Generator) -> tuple[Positions, Positions, Positions, Positions]:
        rows = self._rows[generator.integers(0, len(self._rows), self._batch)]
        graphs, places = np.unique(_pairs(self._table, rows), return_inverse=True)
        first, second = places.reshape(-1, 2).T
        return graphs, first, second, rows


class Blocks:
    """`batch` graphs and every known pair of them: one forward pass serves up to batch · (batch − 1) / 2 pairs.

    If at least half of the pairs are known, the graphs are drawn at random. Otherwise they are collected around known
    pairs: two graphs and those whose proximity to both is known, repeatedly until there are at least `batch` (at most
    twice as many).
    """

    def __init__(self, table: PairTable, train: Positions, batch: int) -> None:
        self._table, self._train, self._batch = table, train, min(batch, len(train))
        self._rows = _known(table, train)
        possible = len(train) * (len(train) - 1) / 2
        self._known: csr_array | None = None
        if len(self._rows) < _COMPLETE * possible:
            left, right = _pairs(table, self._rows).T
            ends = (np.concatenate([left, right]), np.concatenate([right, left]))
            self._known = csr_array((np.ones(2 * len(left), np.int8), ends), (table.counts[0], table.counts[0]))

    def draw(self, generator: np.random.Generator) -> tuple[Positions, Positions, Positions, Positions]:
        while True:
            graphs = self._gathered(generator)
            rows = self._table.rows(graphs, graphs)
            first, second = np.nonzero(np.triu(rows >= 0, 1))
            if len(first):
                return graphs, first, second, rows[first, second]

    def _gathered(self, generator: np.random.Generator) -> Positions:
        if self._known is None:
            return generator.choice(self._train, self._batch, replace=False, shuffle=False)
        graphs = np.empty(0, np.int64)
        for _ in range(self._batch):
            left, right = _pairs(self._table, self._rows[generator.integers(len(self._rows))])
            both = np.intersect1d(self._neighbors(left), self._neighbors(right), assume_unique=True)
            found = np.concatenate([graphs, [left, right], generator.permutation(both)])
            graphs = found[np.sort(np.unique(found, return_index=True)[1])]  # in the order in which they were found
            if len(graphs) >= self._batch:
                break
        # Truncated before sorting; otherwise the lowest positions would be in every step, the highest in none.
        return np.sort(graphs[: self._batch] if len(graphs) > 2 * self._batch else graphs)

    def _neighbors(self, graph: int) -> Positions:
        assert self._known is not None
        start, stop = self._known.indptr[graph : graph + 2]
        return np.sort(self._known.indices[start:stop]).astype(np.int64)


def _known(table: PairTable, train: Positions) -> Positions:
    """Rows of pairs of two training graphs."""
    inside = np.zeros(table.counts[0], bool)
    inside[train] = True
    rows = np.flatnonzero(inside[table.left] & inside[table.right])
    if not len(rows):
        raise ValueError("no pair of two training graphs has a known proximity")
    return rows


def _pairs(table: PairTable, rows: Positions) -> Positions:
    return np.stack([table.left[rows], table.right[rows]], axis=-1).astype(np.int64)
