"""Edit distance solvers as rankers: no learning, every pair of query and graph is solved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ugraphemb.baselines.protocol import Floats, fitted, some
from ugraphemb.graphs import GraphSet, GraphsLike
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.ged import EditDistance, Method
from ugraphemb.proximity.pairwise import pairwise


@dataclass
class EditDistanceRanker:
    """Graphs by their (approximate) edit distance to a query.

    "beam" (Neuhaus, Riesen and Bunke 2006), "hungarian" (Riesen and Bunke 2009) and "vj" (Fankhauser, Riesen and Bunke
    2011) are the paper's; they never go below the distance. "hed" (Fischer et al. 2015) never goes above it. "branch",
    "refine" and the other methods of `ugraphemb.pairwise` are those of this library.

    Attributes:
        method: Solver of edit distance.
        normalized: Divide by the mean number of nodes of the pair: nGED = GED / ((|G1| + |G2|) / 2).
        threads: 0 uses every core. The answer does not depend on it.
        timeout: Seconds for one pair.
        beam_width: States kept, for "beam".
        costs: Edit costs; every edit costs 1 by default.
    """

    method: Method = "tight"
    normalized: bool = True
    threads: int = 0
    timeout: float | None = None
    beam_width: int = 80
    costs: EditCosts = field(default_factory=EditCosts)
    _database: GraphSet | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._metric()  # raises for unknown methods

    def _metric(self) -> EditDistance:
        return EditDistance(self.method, self.costs, self.beam_width)

    def fit(self, graphs: GraphsLike) -> EditDistanceRanker:
        """Takes `graphs` as the database."""
        self._database = some(graphs)
        return self

    def distances(self, queries: GraphsLike) -> Floats:
        """(queries, database)."""
        database = fitted(self._database, self)
        table = pairwise(
            queries, other=database, metric=self._metric(), threads=self.threads, timeout=self.timeout, progress=False
        )
        return np.asarray((table.normalized() if self.normalized else table).matrix())
