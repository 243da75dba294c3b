"""The row of a pair in a list of pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer]

_DENSE_LIMIT = 16_000 * 16_000  # entries of a dense table, which then takes 1 GB


class Lookup:
    """Finds the row of a pair; of several rows of one pair the last.

    Args:
        left, right: The pairs.
        counts: How many graphs there are to the left and to the right.
        symmetric: Whether (i, j) and (j, i) are the same pair.
    """

    def __init__(self, left: Integers, right: Integers, counts: tuple[int, int], *, symmetric: bool) -> None:
        self._counts, self._symmetric = counts, symmetric
        self._left, self._right = left, right
        self._dense: npt.NDArray[np.int32] | None = None
        self._sorted: tuple[Rows, Rows] | None = None

    def matrix(self, left: Integers, right: Integers) -> Rows:
        """For each of left × right, the row of its pair, or −1: (left, right). For many lookups."""
        if self._dense is None and self._counts[0] * self._counts[1] <= _DENSE_LIMIT:
            self._dense = np.full(self._counts, -1, np.int32)
            first, second = self._ordered(self._left, self._right)
            self._dense[first, second] = np.arange(len(first), dtype=np.int32)
            if self._symmetric:
                self._dense[second, first] = self._dense[first, second]
        if self._dense is not None:
            found: Rows = self._dense[np.ix_(left, right)].astype(np.int64)
            return found
        first, second = np.broadcast_arrays(np.asarray(left)[:, None], np.asarray(right)[None, :])
        return self.rows(first.ravel(), second.ravel()).reshape(first.shape)

    def rows(self, left: Integers, right: Integers) -> Rows:
        """For each pair (left[i], right[i]) its row, or −1."""
        if self._sorted is None:
            keys = self._keys(self._left, self._right)
            order = np.argsort(keys, kind="stable").astype(np.int64)
            self._sorted = keys[order], order
        keys, order = self._sorted
        if not len(keys):
            return np.full(len(left), -1, np.int64)
        wanted = self._keys(left, right)
        found = np.searchsorted(keys, wanted, side="right") - 1
        return np.where(keys[found] == wanted, order[found], -1)

    def _keys(self, left: Integers, right: Integers) -> Rows:
        first, second = self._ordered(left, right)
        return first.astype(np.int64) * max(self._counts) + second

    def _ordered(self, left: Integers, right: Integers) -> tuple[Integers, Integers]:
        if self._symmetric:
            return np.minimum(left, right), np.maximum(left, right)
        return np.asarray(left), np.asarray(right)
