"""Which sizes of graphs can belong to an answer, so that a database sends no others."""

from __future__ import annotations

import numpy as np

from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.search.answers import Question
from ugraphemb.search.engines.protocol import Scope
from ugraphemb.search.verification import find

_SLACK = 1e-6
_UNBOUNDED = 1 << 40


def node_range(query: GraphSet, near: Scope | None, question: Question, costs: EditCosts) -> tuple[int, int] | None:
    """The least and the greatest number of nodes of a graph that may belong to the answer; None means any.

    With `within` the limit is given. Else the shortlist is verified: no graph farther than its k-th belongs to the
    answer.

    Args:
        query: A collection of one graph.
        near: The shortlist; None with `within`.
    """
    own = int(query.num_nodes[0])
    if question.within is not None:
        return _range(own, question.within, costs, normalized=False)
    assert near is not None
    if len(near.near[0]) < question.count:
        return None
    found = find(
        query, [part.searchable for part in near.database.parts], costs=costs, count=near.count, k=question.count,
        by=question.by, near=near.near[0], only_near=True, chosen=near.chosen, budget=question.budget,
    )  # fmt: skip
    if len(found.upper) < question.count:
        return None
    mean = (near.database.sizes(found.positions) + own) / 2
    scale = np.where(mean > 0, mean, 1.0) if question.by == "normalized" else np.ones(len(mean))
    return _range(own, float((found.upper / scale).max()), costs, normalized=question.by == "normalized")


def _range(own: int, limit: float, costs: EditCosts, *, normalized: bool) -> tuple[int, int] | None:
    def possible(nodes: int) -> bool:
        least = costs.node_insert * (nodes - own) if nodes > own else costs.node_delete * (own - nodes)
        return least <= limit * ((own + nodes) / 2 if normalized else 1.0) + _SLACK

    low = own
    while low > 0 and possible(low - 1):
        low -= 1
    if not normalized:
        return low, int((limit + _SLACK) / costs.node_insert) + own if costs.node_insert > 0 else _UNBOUNDED
    growth = costs.node_insert - limit / 2
    high = (own * (costs.node_insert + limit / 2) + _SLACK) / growth if growth > 0 else _UNBOUNDED
    return low, int(min(high, _UNBOUNDED))
