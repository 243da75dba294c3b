"""The protocol of models that predict the edit distance of a pair: 4:1 split, exact distances, error in edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ugraphemb.estimator import UGraphEmb
from ugraphemb.graphs import GraphSet, GraphsLike, graphs_of
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.pairwise import pairwise
from ugraphemb.tasks.ranking import ranking
from ugraphemb.tasks.splits import Split, random_splits

Floats = npt.NDArray[np.float64]

_SHARES = (0.8, 0.0, 0.2)
_FEWEST = 3  # test graphs: each is ranked against at least two others


@dataclass(frozen=True)
class PairScores:
    """Means over all pairs (mae, mse) or over the queries (tau, rho, p@k).

    Attributes:
        pairs: How many were compared.
        proven: Share of them whose distance is proven exact; others count with their upper bound.
        mae: Mean of |predicted GED - GED|, in edits; predictions are not rounded.
        mse: Mean of (exp(-predicted nGED) - exp(-nGED))², the similarity that SimGNN introduced.
        tau, rho: Kendall's and Spearman's rank correlation.
        precision: For each k, as in `RankingScores`; NaN where fewer than k graphs are ranked.

    Examples:
        >>> from ugraphemb.tasks import PairScores
        >>> print(PairScores(pairs=1000, proven=1.0, mae=0.7, mse=0.002, tau=0.8, rho=0.9, precision={10: 0.75}))
        mae 0.7, mse 0.002, rho 0.9, tau 0.8, p@10 0.75 (1,000 pairs, 100.0 % proven)
    """

    pairs: int
    proven: float
    mae: float
    mse: float
    tau: float
    rho: float
    precision: dict[int, float]

    def as_row(self) -> dict[str, float]:
        """Every score by name."""
        cuts = {f"p@{k}": value for k, value in self.precision.items()}
        return {"mae": self.mae, "mse": self.mse, "rho": self.rho, "tau": self.tau, **cuts}

    def __str__(self) -> str:
        scores = ", ".join(f"{name} {value:.4g}" for name, value in self.as_row().items())
        return f"{scores} ({self.pairs:,} pairs, {100 * self.proven:.1f} % proven)"


def pair_split(count: int, split: int = 0) -> Split:
    """Training and test graphs, 4:1; a model holds out its own validation graphs from the training graphs.

    Examples:
        >>> from ugraphemb.tasks import pair_split
        >>> split = pair_split(50)
        >>> len(split.train), len(split.test)
        (40, 10)
    """
    return random_splits(count, split, 1, shares=_SHARES)[0]


def pair_protocol(
    graphs: GraphsLike,
    *,
    split: int = 0,
    model: UGraphEmb | None = None,
    ks: int | Sequence[int] = (10, 20),
    threads: int = 0,
    timeout: float | None = None,
    progress: bool | None = None,
) -> dict[str, PairScores]:
    """Scores of predicted against exact edit distances: "test × training" and "test × test".

    Each edit costs 1 and labels of edges do not count, as in the published figures.

    Args:
        graphs: The collection.
        split: Seed of the split.
        model: A model that was fitted on none of the test graphs (`pair_split`); None fits one to the training graphs.
        ks: Where p@k is cut.
        timeout: Seconds for the exact distance of one pair; None has no limit.

    Raises:
        ValueError: Fewer than 3 test graphs, or a model of another proximity than edit distance with costs of 1.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.tasks import pair_protocol, pair_split
        >>> graphs = ug.load_dataset("atlas")[20:70]
        >>> model = ug.UGraphEmb(steps=5, dimension=16, threads=1).fit(graphs[pair_split(50).train])
        >>> scores = pair_protocol(graphs, model=model, ks=(3,), threads=1)
        >>> {name: (score.pairs, score.proven) for name, score in scores.items()}
        {'test × training': (400, 1.0), 'test × test': (90, 1.0)}
    """
    collection = graphs_of(graphs)
    parts = pair_split(len(collection), split)
    if len(parts.test) < _FEWEST:
        raise ValueError(
            f"{len(parts.test)} of {len(collection)} graphs are test graphs; the protocol needs at least {_FEWEST}"
        )
    costs = EditCosts(edge_relabel=0)
    cuts = [int(k) for k in np.atleast_1d(np.asarray(ks))]
    if min(cuts, default=1) < 1:
        raise ValueError(f"p@{min(cuts)}; k is at least 1")
    if model is not None:
        _check_prediction(model)
    if model is None:
        model = UGraphEmb(method="exact", costs=costs, timeout=timeout, threads=threads, seed=split, progress=progress)
        model.fit(collection[parts.train])
    test, training = collection[parts.test], collection[parts.train]
    answer = {}
    for name, database in (("test × training", training), ("test × test", test)):
        table = pairwise(
            test, other=database, method="exact", costs=costs, threads=threads, timeout=timeout, progress=progress
        )
        shape = (len(test), len(database))
        order = np.lexsort((table.right, table.left))
        guesses = model.proximity(model.transform(test), model.transform(database)).astype(np.float64)
        truth, proven = table.upper[order].reshape(shape), table.proven[order].reshape(shape)
        answer[name] = _scores(
            guesses, truth, _sizes(test, database), proven, cuts, exclude_self=database is test
        )  # fmt: skip
    return answer


def _check_prediction(model: UGraphEmb) -> None:
    """Refuses a model that predicts something else than edit distance under the costs of the protocol."""
    head = model.head_  # raises an error if the model was not fitted
    metric, settings = model.about_["metric"], model.about_.get("distance_settings", {})
    if head == "inner" or metric != "ged":
        raise ValueError(f"the model predicts {metric}, but the protocol compares edit distances")
    expected = [EditCosts(edge_relabel=relabel).description() for relabel in (0.0, 1.0)]
    if "costs" in settings and settings["costs"] not in expected:
        raise ValueError("the model was trained with other costs than 1 for each edit, which the protocol needs")


def _sizes(left: GraphSet, right: GraphSet) -> Floats:
    """Mean number of nodes of each pair: what edit distance is divided by."""
    return np.maximum((left.num_nodes[:, None] + right.num_nodes[None, :]) / 2, 0.5)  # two empty graphs: 0 by anything


def _scores(
    predicted: Floats, truth: Floats, sizes: Floats, proven: npt.NDArray[np.bool_], ks: list[int], *, exclude_self: bool
) -> PairScores:
    apart = np.ones(truth.shape, np.bool_)
    if exclude_self:
        np.fill_diagonal(apart, False)
    normalized = truth / sizes
    cuts = [k for k in ks if k <= truth.shape[1] - exclude_self]
    ranks = ranking(predicted, normalized, k=cuts, exclude_self=exclude_self).summary()
    return PairScores(
        pairs=int(apart.sum()),
        proven=float(proven[apart].mean()),
        mae=float(np.abs(predicted * sizes - truth)[apart].mean()),
        mse=float(((np.exp(-predicted) - np.exp(-normalized)) ** 2)[apart].mean()),
        tau=ranks["tau"][0],
        rho=ranks["rho"][0],
        precision={k: ranks[f"p@{k}"][0] if k in cuts else float("nan") for k in ks},
    )
