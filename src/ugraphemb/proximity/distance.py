"""The distance of two graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph, GraphLike, graph_of
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.edits import EditOperation, edit_path
from ugraphemb.proximity.ged import EditDistance
from ugraphemb.proximity.metrics import Kind, Metric, Run, metric_of


@dataclass(frozen=True)
class Distance:
    """How far apart two graphs are (or how alike, see `kind`), and how sure that is: lower <= truth <= upper.

    Attributes:
        value: The best answer: the upper bound, or the lower bound where there is no other ("hed", similarities).
        lower: nan where the method gives no such bound.
        upper: Likewise.
        proven: The value is the truth.
        mapping: For each node of the first graph the node of the second that it becomes, -1 where it goes; None where
            the method gives no map. Its true cost is the value.
        metric: As asked for.
        kind: "distance" or "similarity".
    """

    value: float
    lower: float
    upper: float
    proven: bool
    mapping: npt.NDArray[np.int32] | None
    metric: str
    kind: Kind
    settings: dict[str, Any] = field(repr=False)
    graphs: tuple[Graph, Graph] = field(repr=False)
    costs: EditCosts | None = field(default=None, repr=False)

    def edit_path(self) -> list[EditOperation]:
        """The edits that turn the first graph into the second, in an order in which they can be applied.

        Raises:
            ValueError: The metric is no edit distance, or the method ("hed") gives no map.
        """
        if self.costs is None or self.mapping is None:
            raise ValueError(f"metric {self.metric!r} {self.settings.get('method', '')} gives a bound, but no edits")
        return edit_path(*self.graphs, self.mapping, self.costs)


def distance(
    a: GraphLike,
    b: GraphLike,
    *,
    metric: str | Metric = "ged",
    method: str | None = None,
    costs: EditCosts | None = None,
    limit: float | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Distance:
    """The distance (or similarity) of two graphs.

    Args:
        a: One graph of any kind: see `ugraphemb.graphs.graphs_of`.
        b: Likewise.
        metric: "ged", "mcs", or another name or object; see `pairwise`.
        method: Of edit distance: "tight" (the default), "exact", or another solver; see `pairwise`.
        costs: Of edits; every edit costs 1 by default. `EditCosts(edge_relabel=0)` lets labels of edges not count.
        limit: Of edit distance: whether it is more is all that is asked. Up to it the answer is that without a limit;
            beyond, the work stops as soon as `lower > limit` is shown, and `upper` is some upper bound.
        timeout: Seconds; past it the best bounds so far are returned, unproven.
        options: Of the metric: `beam_width=80` for "ged", `connected=False` and `edge_labels=False` for "mcs".

    Raises:
        CostError: Costs that make no sense for these graphs, or that the method cannot handle.
    """
    left, right = graph_of(a), graph_of(b)
    chosen = metric_of(metric, method=method, costs=costs, limit=limit, **options)
    answer = chosen.one(left.graphs[[left.position]], right.graphs[[right.position]], Run(1, checked_timeout(timeout)))
    return Distance(
        value=answer.lower if chosen.value == "lower" else answer.upper,
        lower=answer.lower,
        upper=answer.upper,
        proven=answer.proven,
        mapping=answer.mapping,
        metric=chosen.name,
        kind=chosen.kind,
        settings=chosen.settings(),
        graphs=(left, right),
        costs=chosen.costs if isinstance(chosen, EditDistance) else None,
    )


def checked_timeout(timeout: float | None) -> float | None:
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"timeout is {timeout}; it must be at least 0 seconds, or None for no limit")
    return timeout
