"""What is to be learned: the proximity of pairs of graphs, looked up fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ugraphemb.proximity.table import PairTable

FloatArray = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int64]

_DENSE_LIMIT = 16_000  # graphs; a dense table of three columns then takes 3 GB


@dataclass(frozen=True)
class Truth:
    """Normalized proximities of pairs among `size` graphs; nan where a pair is not known.

    Attributes:
        pairs: (p, 2) positions, each unordered pair once.
        value, lower, upper: (p,); lower and upper equal the value where it is proven or no bounds are given.
        kind: "distance" or "similarity".
    """

    size: int
    pairs: Positions
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    kind: str

    @classmethod
    def of(cls, table: PairTable, size: int) -> Truth:
        """Values of a table over `size` graphs, normalized where the metric is one that sizes normalize."""
        normal = table.normalized() if table.sizes else table
        left, right = np.asarray(table.left, np.int64), np.asarray(table.right, np.int64)
        value = np.asarray(normal.value, np.float32)
        known = ~np.isnan(value) & (left != right)
        low, high = np.minimum(left, right)[known], np.maximum(left, right)[known]
        if len(high) and high.max() >= size:
            raise ValueError(f"the table names graph {high.max()}, but there are {size} graphs")
        order = np.unique(low * size + high, return_index=True)[1]
        chosen = np.flatnonzero(known)[order]
        open_ended = np.asarray(table.proven, bool)[chosen]
        bounds = []
        for column in (normal.lower, normal.upper):
            bound = np.asarray(column, np.float32)[chosen]
            bounds.append(np.where(open_ended | np.isnan(bound), value[chosen], bound))
        pairs = np.stack([low[order], high[order]], axis=1)
        return cls(size, pairs, value[chosen], bounds[0], bounds[1], table.kind)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_keys", self.pairs[:, 0] * self.size + self.pairs[:, 1])
        dense = None
        if self.size <= _DENSE_LIMIT:
            dense = np.full((self.size, self.size), -1, np.int32)
            rows, columns = self.pairs.T
            dense[rows, columns] = dense[columns, rows] = np.arange(len(self.pairs), dtype=np.int32)
        object.__setattr__(self, "_dense", dense)

    def rows(self, left: Positions, right: Positions) -> Positions:
        """For each of left × right, the row of its pair, or −1: (left, right)."""
        dense: npt.NDArray[np.int32] | None = self._dense  # type: ignore[attr-defined]
        if dense is not None:
            return dense[np.ix_(left, right)].astype(np.int64)
        low = np.minimum(left[:, None], right[None, :])
        high = np.maximum(left[:, None], right[None, :])
        keys: Positions = self._keys  # type: ignore[attr-defined]
        wanted = low * self.size + high
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, found, -1)

    def among(self, chosen: Positions) -> Positions:
        """Rows of the pairs whose two graphs are both among these."""
        inside = np.zeros(self.size, bool)
        inside[chosen] = True
        return np.flatnonzero(inside[self.pairs].all(axis=1))
