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
    """The distance (or similarity, see `kind`) of two graphs, with bounds: lower <= true value <= upper.

    Attributes:
        value: The upper bound; for "hed" and for similarities the lower bound.
        lower: Lower bound; nan if the method does not compute one.
        upper: Upper bound; nan if the method does not compute one.
        proven: Whether the value is known to be the true one.
        mapping: For each node of the first graph its image in the second, -1 if it is deleted; None if the method
            computes no map. The cost of the map is the value.
        metric: Name of the metric.
        kind: "distance" or "similarity".

    Examples:
        >>> import ugraphemb as ug
        >>> found = ug.distance("CCO", "CCN", method="exact")
        >>> found.value, found.lower, found.upper, found.proven
        (1.0, 1.0, 1.0, True)
        >>> [str(edit) for edit in found.edit_path()]
        ['relabel node 2 O → N (cost 1)']
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
            ValueError: The metric is not an edit distance, or the method ("hed") computes no map.
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
        a: A graph in any form that `ugraphemb.graphs.graphs_of` takes.
        b: Another graph.
        metric: "ged", "mcs", or another name or object; see `pairwise`.
        method: Solver of edit distance: "tight" (the default), "exact", or another one; see `pairwise`.
        costs: Edit costs; every edit costs 1 by default. `EditCosts(edge_relabel=0)` ignores edge labels.
        limit: For edit distance. If the distance is at most `limit`, the answer is the same as without a limit.
            Otherwise the solver stops as soon as `lower > limit` is proven, and `upper` is any upper bound.
        timeout: Seconds; after that the best bounds so far are returned, with proven=False.
        options: Options of the metric: `beam_width=80` for "ged", `connected=False` and `edge_labels=False` for "mcs".

    Raises:
        CostError: Costs that are invalid for these graphs, or that the method does not support.

    Examples:
        >>> import networkx as nx
        >>> import ugraphemb as ug
        >>> answer = ug.distance(nx.cycle_graph(4), nx.path_graph(4), method="exact")
        >>> answer.value, answer.proven
        (1.0, True)
        >>> print(*answer.edit_path())
        delete edge 0–3 (cost 1)
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
