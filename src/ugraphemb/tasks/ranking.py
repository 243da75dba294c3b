"""How well a predicted ranking of a database agrees with the true one, query by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.heads import between
from ugraphemb.encoder.names import Head
from ugraphemb.tasks.checks import finite_matrix
from ugraphemb.training.kendall import kendall_tau

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Proximity = Literal["distance", "similarity"]

_BLOCK = 1 << 21  # entries of the matrices that are ranked at once: bounds the memory, changes no answer


@dataclass(frozen=True, eq=False)
class RankingScores:
    """One entry per query in each array.

    Attributes:
        tau: Kendall's tau-b. NaN where the truth is constant over the database; 0 where only the prediction is: it
            orders nothing, and a model must not gain by that.
        rho: Spearman's rank correlation, ties at their mean rank. NaN likewise.
        mse: Mean of (predicted - true)²; NaN where one is a distance and the other a similarity.
        precision: For each k, the share of the k predicted first whose true value is within the k-th best.
        strict_precision: For each k, the share of the k predicted first that are among the k truly first, the
            latter cut to exactly k by position in the database.
        constant_truth: Queries whose truth is one value for the whole database: there is nothing to rank.

    Examples:
        >>> from ugraphemb.tasks import ranking
        >>> print(ranking([[0.1, 0.2, 0.9], [0.3, 0.1, 0.2]], [[1, 2, 3], [3, 1, 2]], k=2))
        2 queries; mean ± standard deviation
        tau            1.0000 ± 0.0000
        rho            1.0000 ± 0.0000
        mse            3.3000 ± 0.6788
        p@2            1.0000 ± 0.0000
        strict p@2     1.0000 ± 0.0000
    """

    tau: Floats
    rho: Floats
    mse: Floats
    precision: dict[int, Floats]
    strict_precision: dict[int, Floats]
    constant_truth: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tau)

    def arrays(self) -> dict[str, Floats]:
        """Every score by name: tau, rho, mse, p@k and strict p@k, in this order."""
        named = {"tau": self.tau, "rho": self.rho, "mse": self.mse}
        for k in self.precision:
            named[f"p@{k}"] = self.precision[k]
            named[f"strict p@{k}"] = self.strict_precision[k]
        return named

    def summary(self) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation over the queries, for each score.

        tau and rho leave out queries of constant truth. With no query left the mean is NaN; with one the deviation is.
        """
        answer = {}
        for name, values in self.arrays().items():
            if name in ("tau", "rho"):
                values = values[~self.constant_truth]
            mean = float(values.mean()) if len(values) else float("nan")
            answer[name] = (mean, float(values.std(ddof=1)) if len(values) > 1 else float("nan"))
        return answer

    def __str__(self) -> str:
        lines = [f"{name:14s} {mean:.4f} ± {spread:.4f}" for name, (mean, spread) in self.summary().items()]
        dropped = int(self.constant_truth.sum())
        note = f", {dropped} of constant truth left out of tau and rho" if dropped else ""
        return "\n".join([f"{len(self)} queries{note}; mean ± standard deviation", *lines])


def ranking(
    predicted: npt.ArrayLike,
    truth: npt.ArrayLike,
    *,
    k: int | Sequence[int] = (10,),
    predicted_is: Proximity = "distance",
    truth_is: Proximity = "distance",
    exclude_self: bool = False,
) -> RankingScores:
    """Agreement of two matrices of proximities, row by row.

    Ties are equal numbers, bit for bit. Ties of the prediction at the cut of p@k count by expectation: the score is the
    mean over all orders of the tied graphs, so it never depends on the order of the database.

    Args:
        predicted: Shape (queries, database).
        truth: The same shape. `mse` is meaningful only if both have the same scale, as normalized distances have.
        k: Where to cut, each from 1 to the size of the database.
        predicted_is: "distance" ranks small values first, "similarity" large ones.
        truth_is: Likewise.
        exclude_self: The queries are the database: leave the diagonal out.

    Examples:
        >>> from ugraphemb.tasks import ranking
        >>> scores = ranking(predicted=[[0.1, 0.2, 0.9]], truth=[[1, 3, 2]], k=1)
        >>> scores.tau.round(2).tolist(), scores.precision[1].tolist()
        ([0.33], [1.0])
    """
    estimates, truths = (np.asarray(values, dtype=np.float64) for values in (predicted, truth))
    if estimates.shape != truths.shape:
        raise ValueError(f"predicted has shape {estimates.shape}, truth {truths.shape}; they must agree")
    same_kind = _check_kind(predicted_is) == _check_kind(truth_is)
    if exclude_self:
        estimates, truths = _off_diagonal(estimates), _off_diagonal(truths)
    estimates, truths = finite_matrix(estimates, "predicted"), finite_matrix(truths, "truth")
    queries, size = truths.shape
    if queries == 0 or size < 2:
        raise ValueError(f"{queries} queries and {size} graphs to rank; a ranking needs a query and two graphs")
    cuts = [int(cut) for cut in np.atleast_1d(np.asarray(k))]
    for cut in cuts:
        if not 1 <= cut <= size:
            raise ValueError(f"p@{cut} of a database of {size} graphs; k goes from 1 to {size}")
    mse = np.mean((estimates - truths) ** 2, axis=1) if same_kind else np.full(queries, np.nan)
    estimates = estimates if predicted_is == "distance" else -estimates
    truths = truths if truth_is == "distance" else -truths
    parts = [_block(estimates[rows], truths[rows], cuts) for rows in _blocks(queries, size)]
    tau, rho, lenient, strict = (np.concatenate([part[i] for part in parts], axis=-1) for i in range(4))
    return RankingScores(
        tau=tau,
        rho=rho,
        mse=mse,
        precision=dict(zip(cuts, lenient, strict=True)),
        strict_precision=dict(zip(cuts, strict, strict=True)),
        constant_truth=truths.min(axis=1) == truths.max(axis=1),
    )


def rank_from_vectors(
    queries: npt.ArrayLike, database: npt.ArrayLike, truth: npt.ArrayLike, head: Head = "l2", **options: Any
) -> RankingScores:
    """`ranking` of what vectors predict: a distance ("l2", "pseudo_l2", ...), or the similarity "inner" (product).

    Args:
        queries: Shape (queries, width).
        database: Shape (graphs, width).
        truth: Shape (queries, graphs).
        options: As for `ranking`.

    Examples:
        >>> from ugraphemb.tasks import rank_from_vectors
        >>> rank_from_vectors([[0.0]], [[1.0], [2.0], [5.0]], truth=[[1, 2, 3]], k=2).tau.tolist()
        [1.0]
    """
    kind: Proximity = "similarity" if head == "inner" else "distance"
    return ranking(predicted_proximity(queries, database, head), truth, predicted_is=kind, **options)


def predicted_proximity(queries: npt.ArrayLike, database: npt.ArrayLike, head: Head = "l2") -> Floats:
    """The proximity of each query and each graph by their vectors, shape (queries, graphs).

    Examples:
        >>> from ugraphemb.tasks import predicted_proximity
        >>> predicted_proximity([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]], "l2").tolist()
        [[5.0, 1.0]]
    """
    left, right = finite_matrix(queries, "queries"), finite_matrix(database, "database")
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"queries are {left.shape[1]} wide, the database {right.shape[1]}; they must agree")
    return between(left, right, head)


def _check_kind(kind: str) -> str:
    if kind not in get_args(Proximity):
        raise ValueError(f"{kind!r} is neither 'distance' nor 'similarity'")
    return kind


def _off_diagonal(matrix: Floats) -> Floats:
    n = len(matrix) if matrix.ndim else 0
    if matrix.shape != (n, n):
        raise ValueError(f"exclude_self needs a square matrix, not one of shape {matrix.shape}")
    if n == 0:
        return matrix
    return matrix.reshape(-1)[1:].reshape(n - 1, n + 1)[:, :-1].reshape(n, n - 1) if n > 1 else matrix[:, :0]


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK // columns)
    return (slice(start, start + step) for start in range(0, rows, step))


def _block(predicted: Floats, truth: Floats, cuts: Sequence[int]) -> tuple[Floats, Floats, Floats, Floats]:
    """tau and rho, shape (rows,), and both precisions, shape (cuts, rows). Small is first."""
    first, start, stop = _sorted_runs(predicted)
    second, true_start, true_stop = _sorted_runs(truth)
    predicted_rank = _unsorted(first, start + stop)  # twice the mean rank
    true_rank = _unsorted(second, true_start + true_stop)
    lenient, strict = np.empty((len(cuts), len(truth))), np.empty((len(cuts), len(truth)))
    ordered = np.take_along_axis(truth, second, axis=1)
    strict_rank = _unsorted(second, np.broadcast_to(np.arange(truth.shape[1]), truth.shape))  # ties: by position
    for i, k in enumerate(cuts):
        lenient[i] = _expected_precision(truth <= ordered[:, k - 1 : k], first, start, stop, k)
        strict[i] = _expected_precision(strict_rank < k, first, start, stop, k)
    return kendall_tau(predicted_rank, true_rank), _correlation(predicted_rank, true_rank), lenient, strict


def _sorted_runs(values: Floats) -> tuple[Ints, Ints, Ints]:
    """The order that sorts each row, stably, and for each sorted place where its run of ties starts and ends."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    rows, size = values.shape
    opens = np.ones((rows, size), bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=opens[:, 1:])
    place = np.arange(size)
    start = np.maximum.accumulate(np.where(opens, place, 0), axis=1)
    closes = np.ones((rows, size), bool)
    closes[:, :-1] = opens[:, 1:]
    stop = np.minimum.accumulate(np.where(closes, place, size)[:, ::-1], axis=1)[:, ::-1]
    return order, start, stop


def _unsorted(order: Ints, values: npt.NDArray[Any]) -> Ints:
    """Values in sorted order, moved back to their original places."""
    answer = np.empty_like(order)
    np.put_along_axis(answer, order, values, axis=1)
    return answer


def _correlation(left: Ints, right: Ints) -> Floats:
    """Pearson's correlation of each row; NaN where `right` is constant, 0 where only `left` is."""
    x = left - left.mean(axis=1, keepdims=True)
    y = right - right.mean(axis=1, keepdims=True)
    scale = np.sqrt((x * x).sum(axis=1)) * np.sqrt((y * y).sum(axis=1))
    varies = (right != right[:, :1]).any(axis=1)
    answer = np.divide((x * y).sum(axis=1), scale, out=np.where(varies, 0.0, np.nan), where=varies & (scale > 0))
    return np.asarray(np.clip(answer, -1.0, 1.0))


def _expected_precision(hit: npt.NDArray[np.bool_], order: Ints, start: Ints, stop: Ints, k: int) -> Floats:
    """Hits among the first k, over k; of the run of ties that the cut goes through, the expected share."""
    counts = np.zeros((len(hit), hit.shape[1] + 1), np.int64)
    np.cumsum(np.take_along_axis(hit, order, axis=1), axis=1, out=counts[:, 1:])
    opens, closes = start[:, k - 1 : k], stop[:, k - 1 : k] + 1
    before, after = (np.take_along_axis(counts, at, axis=1)[:, 0] for at in (opens, closes))
    inside = (after - before) * (k - opens[:, 0]) / (closes - opens)[:, 0]
    return np.asarray((before + inside) / k)
