"""From a shortlist, or a whole database, to proven answers, by the compiled search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ugraphemb import _core
from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.metrics import Run
from ugraphemb.search.neighbors import Flags, Floats, Ints
from ugraphemb.search.searchable import Searchable

By = Literal["normalized", "edits"]
STAGES = ("size", "labels", "degrees", "branch", "tight", "exact")

NO_CEILING = (float("inf"), np.iinfo(np.int64).max)
SLACK = 1e-9  # sums of costs that are no whole numbers


@dataclass(frozen=True)
class Found:
    """What a search of the database found.

    Attributes:
        positions: Best first, by (distance, position).
        lower: lower <= edit distance <= upper.
        upper: Likewise.
        mappings: One row per graph: the node of it (or -1) that each node of the query becomes, at the cost `upper`.
        undecided: Positions of graphs that may belong to the answer as well.
        undecided_lower: Lower bounds of their distances.
        removed: How many graphs each bound ruled out.
        asked: How many graphs each bound was computed for.
        seconds: CPU seconds of each stage, all threads together.
    """

    positions: Ints
    lower: Floats
    upper: Floats
    mappings: npt.NDArray[np.int32]
    undecided: Ints
    undecided_lower: Floats
    removed: dict[str, int]
    asked: dict[str, int]
    seconds: dict[str, float]

    @property
    def proven(self) -> Flags:
        return self.upper - self.lower <= SLACK


def find(
    query: GraphSet, parts: Sequence[Searchable], *, costs: EditCosts, count: int, k: int | None = None,
    within: float | None = None, by: By = "normalized", near: Ints, only_near: bool = False,
    chosen: Sequence[Flags | None] = (), budget: float | None = None, threads: int = 0,
    ceiling: tuple[float, int] = NO_CEILING, patience: tuple[float, float] = (-1.0, float("inf")),
    tick: Callable[[], None] = lambda: None,
) -> Found:  # fmt: skip
    """The k nearest of a database, or all within a distance.

    Args:
        query: A collection of one graph.
        parts: The graphs of the database; positions count through all of them.
        count: How many graphs count.
        near: Positions of graphs that are likely to be near: their distances rule out the others.
        only_near: No other graphs count.
        chosen: For each part which graphs count; None means all of them.
        budget: Seconds; after that the bounds so far are returned. 0 computes no exact distances.
        ceiling: The k-th (distance as `by` says, position) that is known from other graphs: only graphs not after
            it are searched for, so that fewer than k may be found.
        patience: Exact distances are tried with 0.02, 0.2, 2 and any number of seconds per graph; here only with more
            than the first and at most the second of these numbers.
        tick: Called regularly; stops the work by raising.
    """
    masks = chosen or [None] * len(parts)
    coded: list[object] = [
        (*part.coded(query, costs), None if mask is None or only_near else mask)
        for part, mask in zip(parts, masks, strict=True)
    ]
    positions, lower, upper, mappings, undecided, undecided_lower, *stages = _core.search(
        coded, k=0 if within is not None else k or 0, within=within or 0.0, normalized=by == "normalized",
        only_near=only_near, budget=float("inf") if budget is None else budget, threads=Run(threads).num_threads,
        near=near if within is None or only_near else near[:0], ceiling=ceiling[0], ceiling_position=ceiling[1],
        after=patience[0], upto=patience[1], tick=lambda done: tick(),
    )  # fmt: skip
    removed, asked, seconds = (dict(zip(STAGES, values.tolist(), strict=True)) for values in stages)
    removed["size"] = count - len(positions) - len(undecided) - sum(removed.values())
    shape = (len(positions), int(query.num_nodes[0]))
    maps = mappings.reshape(shape)
    return Found(positions, lower, upper, maps, undecided, undecided_lower, removed, asked, seconds)


def ordered(found: Found, scale: Floats) -> bool:
    """Whether no match can be nearer than one ranked before it."""
    lower, upper = found.lower / scale, found.upper / scale
    return bool(np.all(np.maximum.accumulate(upper)[:-1] <= lower[1:] + SLACK))
