"""Edit distance: the cheapest way to edit one graph into the other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from ugraphemb import _core
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.alignment import packed
from ugraphemb.proximity.costs import EditCosts, resolve
from ugraphemb.proximity.metrics import Answer, Columns, Kind, MappedMetric, Positions, Run

Method = Literal["exact", "beam", "hungarian", "vj", "hed", "branch", "refine", "paper", "tight"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class EditDistance(MappedMetric):
    """Graph edit distance by one of several solvers.

    Args:
        method: "exact" is exact; "beam", "hungarian", "vj", "refine", "paper" and "tight" never go below it, "hed"
            never above; "branch" and "tight" give both bounds.
        costs: Every edit costs 1 by default.
        beam_width: Partial maps that "beam" and "paper" keep.
        limit: Distances above it need not be known: work on a pair stops as soon as `lower > limit` is shown.
    """

    method: Method = "tight"
    costs: EditCosts = field(default_factory=EditCosts)
    beam_width: int = 80
    limit: float = float("inf")

    name: ClassVar[str] = "ged"  # type: ignore[misc]
    kind: ClassVar[Kind] = "distance"  # type: ignore[misc]
    sized: ClassVar[bool] = True  # type: ignore[misc]

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}; there are {', '.join(METHODS)}")
        if not isinstance(self.costs, EditCosts):
            raise TypeError(f"costs must be EditCosts, not {type(self.costs).__name__}")
        if not 1 <= self.beam_width <= 1_000_000:
            raise ValueError(f"beam_width is {self.beam_width}; it must be between 1 and 1,000,000")
        if not self.limit >= 0:
            raise ValueError(f"limit is {self.limit}; it must be at least 0")

    @property
    def value(self) -> Literal["lower", "upper"]:  # type: ignore[override]
        return "lower" if self.method == "hed" else "upper"

    def settings(self) -> dict[str, Any]:
        width = {"beam_width": self.beam_width} if self.method in ("beam", "paper", "tight") else {}
        limit = {"limit": float(self.limit)} if self.limit < float("inf") else {}
        return {"method": self.method, "costs": self.costs.description(), **width, **limit}

    def symmetric(self, left: GraphSet, right: GraphSet) -> bool:
        return resolve(self.costs, left, right).symmetric

    def one(self, left: GraphSet, right: GraphSet, run: Run) -> Answer:
        answer = super().one(left, right, run)
        return replace(answer, mapping=None) if self.method == "hed" else answer

    def solve(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns,
        mapping: npt.NDArray[np.int32] | None,
    ) -> None:  # fmt: skip
        costs = resolve(self.costs, left, right)
        edges = costs.edge_codes
        _core.ged_pairs(
            packed(left, costs.node_codes.left, None if edges is None else edges.left),
            packed(right, costs.node_codes.right, None if edges is None else edges.right),
            left_of,
            right_of,
            costs=costs.core,
            method=getattr(_core.Method, self.method),
            beam_width=self.beam_width,
            limit=self.limit,
            threads=run.num_threads,
            timeout=run.seconds,
            lower=out.lower,
            upper=out.upper,
            proven=out.proven,
            done=out.done,
            mapping=mapping,
            tick=run.tick,
            node_points=None if costs.node_points is None else costs.node_points.core,
            edge_points=None if costs.edge_points is None else costs.edge_points.core,
        )
