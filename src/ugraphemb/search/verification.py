"""From a shortlist, or a whole database, to answers that are proven: the compiled search, asked."""

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
from ugraphemb.search.parts import Database

By = Literal["normalized", "edits"]
STAGES = ("size", "labels", "degrees", "branch", "tight", "exact")

_SLACK = 1e-9  # sums of costs that are no whole numbers


@dataclass(frozen=True)
class Found:
    """What a search of the database found.

    Attributes:
        positions: Best first, by (distance, position).
        lower: lower <= edit distance <= upper.
        upper: Likewise.
        mappings: One row per graph: the node of it (or -1) that each node of the query becomes, at the cost `upper`.
        undecided: Positions of graphs that may belong to the answer as well.
        removed: How many graphs each bound ruled out.
        asked: How many graphs each bound was computed for.
        seconds: Of CPU that each stage took, all threads together.
    """

    positions: Ints
    lower: Floats
    upper: Floats
    mappings: npt.NDArray[np.int32]
    undecided: Ints
    removed: dict[str, int]
    asked: dict[str, int]
    seconds: dict[str, float]

    @property
    def proven(self) -> Flags:
        return self.upper - self.lower <= _SLACK


def find(
    query: GraphSet, database: Database, *, costs: EditCosts, count: int, k: int | None = None,
    within: float | None = None, by: By = "normalized", near: Ints, only_near: bool = False,
    chosen: Sequence[Flags | None] = (), budget: float | None = None, threads: int = 0,
    tick: Callable[[], None] = lambda: None,
) -> Found:  # fmt: skip
    """The k nearest of the database, or all within a distance.

    Args:
        query: A collection of one graph.
        count: How many graphs count.
        near: Positions of graphs that are likely to be near: their distances rule out the others.
        only_near: No other graphs count.
        chosen: For each part which graphs count; None is all of them.
        budget: Seconds; past it bounds are what they are. 0 computes no exact distances.
        tick: Called now and then; stops the work by raising.
    """
    masks = chosen or [None] * len(database.parts)
    parts: list[object] = [
        (*part.searchable.coded(query, costs), None if mask is None or only_near else mask)
        for part, mask in zip(database.parts, masks, strict=True)
    ]
    positions, lower, upper, mappings, undecided, *stages = _core.search(
        parts, k=0 if within is not None else k or 0, within=within or 0.0, normalized=by == "normalized",
        only_near=only_near, budget=float("inf") if budget is None else budget, threads=Run(threads).num_threads,
        near=near if within is None else near[:0], tick=lambda done: tick(),
    )  # fmt: skip
    removed, asked, seconds = (dict(zip(STAGES, values.tolist(), strict=True)) for values in stages)
    removed["size"] = count - len(positions) - len(undecided) - sum(removed.values())
    shape = (len(positions), int(query.num_nodes[0]))
    return Found(positions, lower, upper, mappings.reshape(shape), undecided, removed, asked, seconds)


def ordered(found: Found, scale: Floats) -> bool:
    """Whether no match can be nearer than one ranked before it."""
    lower, upper = found.lower / scale, found.upper / scale
    return bool(np.all(np.maximum.accumulate(upper)[:-1] <= lower[1:] + _SLACK))
