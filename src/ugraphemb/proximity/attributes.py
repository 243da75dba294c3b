"""Attributes that count in edit distance: rows of numbers of nodes, and numbers as labels of edges."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb import _core
from ugraphemb.errors import CostError
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.alignment import Codes, Labels

Floats = npt.NDArray[np.float64]
Scale = tuple[float, ...] | None

# A matrix over the nodes (or different edges) of two graphs is filled for each pair, on each thread.
_MOST = 5_000


@dataclass(frozen=True)
class Points:
    """The meaning of the codes of nodes or edges: a label, and a row of numbers, weighted and scaled."""

    label_of: Codes
    rows: Floats

    def apart(self, left: int, right: int) -> float:
        """Euclidean distance of the rows of two codes, as the compiled core has it."""
        found = float(np.linalg.norm(self.rows[left] - self.rows[right]))
        return found if found >= _core.least_cost else 0.0

    @property
    def core(self) -> tuple[Codes, Floats]:
        return self.label_of, self.rows


def node_points(left: GraphSet, right: GraphSet, labels: Labels, weight: float, scale: Scale) -> tuple[Labels, Points]:
    """Codes of the nodes of both by label and attributes.

    Raises:
        CostError: Nodes without attributes, of other widths, or not finite.
    """
    parts = []
    for graphs in (left, right):
        values = graphs.node_attributes
        if values is None and len(graphs.node_labels):
            raise CostError(f"node_attributes={weight:g}, but the nodes of {graphs.name or 'the graphs'} have none")
        parts.append(values)
    widths = {part.shape[1] for part in parts if part is not None and len(part)}
    if len(widths) > 1:
        raise CostError(f"node_attributes={weight:g}, but nodes have {' and '.join(map(str, sorted(widths)))} of them")
    width = widths.pop() if widths else 0
    rows = [np.empty((0, width)) if part is None or not len(part) else part for part in parts]
    _check_size("node_attributes", int(max(left.num_nodes, default=0)) + int(max(right.num_nodes, default=0)), "nodes")
    return _points(labels.left, labels.right, np.concatenate(rows), weight, scale, "node")


def edge_points(left: GraphSet, right: GraphSet, labels: Labels, weight: float, scale: Scale) -> tuple[Labels, Points]:
    """Codes of the edges of both by the numbers that are their labels.

    Raises:
        CostError: Labels that are not numbers, or have different widths.
    """
    for graphs in (left, right):
        if graphs.edge_labels is None and len(graphs.indices):
            raise CostError(
                f"edge_attributes={weight:g}, but the edges of {graphs.name or 'the graphs'} have no numbers as "
                'labels: see from_networkx(..., edge_label="weight")'
            )
    most = [int(max(np.diff(g.indptr[g.node_offsets]), default=0)) // 2 for g in (left, right)]
    _check_size("edge_attributes", sum(most), "edges")
    used, codes = np.unique(np.concatenate([labels.left, labels.right]), return_inverse=True)
    table = _table([labels.vocabulary[code] for code in used], weight)
    same = np.zeros(len(codes), np.int32)
    return _points(same[: len(labels.left)], same[len(labels.left) :], table[codes], weight, scale, "edge")


def row_of(label: Hashable) -> tuple[float, ...] | None:
    """A number or a tuple of numbers, as a row; None for other labels."""
    parts = label if isinstance(label, tuple) else (label,)
    if not all(isinstance(part, numbers.Real) and not isinstance(part, bool) for part in parts):
        return None
    row = tuple(float(part) for part in parts)
    return row if all(map(math.isfinite, row)) else None


def label_distance(old: Hashable, new: Hashable, weight: float, scale: Scale) -> float:
    """Cost of substituting an edge with one row of numbers by an edge with another."""
    rows = [np.array(row_of(label)) * (weight / np.array(1.0 if scale is None else scale)) for label in (old, new)]
    return Points(np.zeros(2, np.int32), np.stack(rows)).apart(0, 1)


def checked_scale(value: Any, name: str) -> Scale:
    """One positive number per column.

    Raises:
        CostError: Something else.
    """
    if value is None:
        return None
    given: Sequence[Any] = (value,) if isinstance(value, numbers.Real) else tuple(value)
    try:
        scale = tuple(float(number) for number in given)
    except (TypeError, ValueError):
        raise CostError(f"{name} is {value!r}; it must be one positive number per column") from None
    if not scale or not all(math.isfinite(number) and number > 0 for number in scale):
        raise CostError(f"{name} is {value!r}; it must be one positive number per column")
    return scale


def _table(vocabulary: Sequence[Hashable], weight: float) -> Floats:
    rows = [row_of(label) for label in vocabulary]
    wrong = [label for label, row in zip(vocabulary, rows, strict=True) if row is None]
    if wrong:
        raise CostError(f"edge_attributes={weight:g}, but the label {wrong[0]!r} of an edge is not a number")
    widths = sorted({len(row) for row in rows if row is not None})
    if len(widths) > 1:
        raise CostError(f"edge_attributes={weight:g}, but edges have {' and '.join(map(str, widths))} numbers")
    return np.array(rows, np.float64).reshape(len(rows), widths[0] if widths else 0)


def _points(left: Codes, right: Codes, values: Floats, weight: float, scale: Scale, what: str) -> tuple[Labels, Points]:
    if scale is not None and len(values) and len(scale) != values.shape[1]:
        raise CostError(f"{what}_scale has {len(scale)} numbers for {values.shape[1]} columns")
    if not np.isfinite(values).all():
        raise CostError(f"{what}_attributes={weight:g}, but some attributes are not finite")
    with np.errstate(over="ignore"):
        rows = values * (weight / np.array(scale if scale is not None and len(values) else 1.0)) + 0.0  # no -0.0
        span = float(np.linalg.norm(np.ptp(rows, axis=0))) if len(rows) else 0.0
    if not span <= _core.most_cost / 2:
        raise CostError(f"{what}_attributes={weight:g} makes attributes differ by {span:g}; costs go up to 1e6")
    both = np.concatenate([left, right])
    # Sorted rows: codes do not depend on which collection is left, and equal points are one code.
    table, codes = np.unique(np.column_stack([both, rows]), axis=0, return_inverse=True)
    of_both: Codes = codes.reshape(-1).astype(np.int32)
    points = Points(table[:, 0].astype(np.int32), np.ascontiguousarray(table[:, 1:]))
    return Labels(of_both[: len(left)], of_both[len(left) :], ()), points


def _check_size(name: str, size: int, what: str) -> None:
    if size > _MOST:
        raise CostError(f"{name} counts for two graphs of together at most {_MOST:,} {what}; these have {size:,}")
