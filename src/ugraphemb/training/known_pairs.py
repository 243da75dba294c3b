"""Training targets: the pairs of a table with known proximity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ugraphemb.proximity.table import PairTable


def known_pairs(table: PairTable) -> PairTable:
    """Each unordered pair of two different graphs once, sorted, left < right, in single precision.

    Normalized if the metric can be normalized by sizes. A bound is set to the value if the value is proven or the bound
    is missing.
    """
    normal = table.normalized() if table.sizes else table
    some = normal.where(~np.isnan(normal.value) & (normal.left != normal.right))
    some = replace(some, left=np.minimum(some.left, some.right), right=np.maximum(some.left, some.right))
    last = np.unique(replace(some, symmetric=True).lookup.rows(some.left, some.right))  # of each pair
    known = some.where(last[np.lexsort((some.right[last], some.left[last]))])
    bounds: list[Any] = []
    for bound in (known.lower, known.upper):
        given = ~known.proven & ~np.isnan(bound)
        bounds.append(np.where(given, bound, known.value).astype(np.float32))
    return replace(known, lower=bounds[0], upper=bounds[1], symmetric=True)
