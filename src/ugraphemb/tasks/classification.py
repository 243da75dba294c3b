"""Classes from vectors or kernels: accuracy over shared splits, and whether two methods differ."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.tasks.checks import finite_matrix
from ugraphemb.tasks.splits import Split, fold_numbers
from ugraphemb.training.targets import class_codes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""The values of C to choose from, for logistic regression."""

KERNEL_STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Likewise for support vector machines, whose training time grows with C."""


@dataclass(frozen=True, eq=False)
class ClassificationScores:
    """One entry per split in each array.

    Attributes:
        accuracy: Share of the test graphs whose class is predicted.
        majority: Share that the most frequent class of the training graphs gets right: the floor.
        strength: The C that was chosen.
        ratio: Test graphs over fitting graphs, a mean over the splits; the corrected test needs it.
        splits: Fingerprint of the splits, so that only scores on the same ones are compared.

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.tasks import classify, random_splits
        >>> classes = np.repeat(["chain", "ring"], 20)
        >>> vectors = np.where(classes == "ring", 1.0, -1.0)[:, None]
        >>> scores = classify(vectors, classes, random_splits(40, repeats=3, targets=classes))
        >>> len(scores), scores.mean, scores.std
        (3, 1.0, 0.0)
    """

    accuracy: Floats
    majority: Floats
    strength: Floats
    ratio: float
    splits: str

    def __len__(self) -> int:
        return len(self.accuracy)

    @property
    def mean(self) -> float:
        return float(self.accuracy.mean())

    @property
    def std(self) -> float:
        """Standard deviation over the splits (n - 1); NaN for a single split."""
        return float(self.accuracy.std(ddof=1)) if len(self) > 1 else float("nan")

    def __str__(self) -> str:
        floor = f"majority class {100 * self.majority.mean():.1f} %"
        return f"accuracy {100 * self.mean:.1f} ± {100 * self.std:.1f} % over {len(self)} splits ({floor})"


@dataclass(frozen=True)
class Comparison:
    """First method minus second, on the same splits.

    Attributes:
        difference: Mean difference of accuracy.
        low, high: Confidence interval of it.
        p: Probability of a difference this large or larger if the methods were equally good, two-sided.
        wins, ties, losses: Splits where the first is better, equal, worse.

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.tasks import classify, compare, random_splits
        >>> classes = np.repeat(["chain", "ring"], 20)
        >>> vectors = np.where(classes == "ring", 1.0, -1.0)[:, None]
        >>> splits = random_splits(40, repeats=3, targets=classes)
        >>> difference = compare(classify(vectors, classes, splits), classify(0 * vectors, classes, splits))
        >>> difference.difference, difference.wins, difference.losses
        (0.5, 3, 0)
    """

    difference: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        low, high = 100 * self.low, 100 * self.high
        return (
            f"difference {100 * self.difference:+.1f} points, interval [{low:+.1f}, {high:+.1f}], p = {self.p:.3f}; "
            f"better, equal, worse on {self.wins}, {self.ties}, {self.losses} splits"
        )


def classify(
    vectors: npt.ArrayLike,
    targets: npt.ArrayLike,
    splits: Sequence[Split],
    *,
    strengths: Sequence[float] = STRENGTHS,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
) -> ClassificationScores:
    """Accuracy of logistic regression on vectors.

    For each split: training and validation graphs fit, test graphs are only predicted. Features are scaled to zero
    mean and unit variance of the fitting graphs; C is the one that is best in cross-validation within the fitting
    graphs, the smallest of those that tie; then one fit on all of them. Nothing is chosen on test graphs. A constant
    embedding predicts the majority class; a class without a fitting graph is never predicted.

    Args:
        vectors: Shape (graphs, width).
        targets: One class per graph.
        splits: From `random_splits` or `stratified_folds`.
        strengths: Values of C to choose from.
        folds: Number of folds of the inner cross-validation.
        seed: Seed of the inner folds.
        jobs: Splits evaluated at once; the answer does not depend on it.

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.tasks import classify, random_splits
        >>> classes = np.repeat(["chain", "ring"], 20)
        >>> vectors = np.where(classes == "ring", 1.0, -1.0)[:, None]
        >>> print(classify(vectors, classes, random_splits(40, repeats=3, targets=classes)))
        accuracy 100.0 ± 0.0 % over 3 splits (majority class 50.0 %)
    """
    features = finite_matrix(vectors, "vectors")

    def predictions(codes: Ints, fit: Ints, test: Ints, path: Sequence[float]) -> Ints:
        return _logistic(features[fit], codes, features[test], path)

    return _evaluate(predictions, len(features), targets, splits, strengths, folds, seed, jobs)


def classify_svm(
    vectors: npt.ArrayLike,
    targets: npt.ArrayLike,
    splits: Sequence[Split],
    *,
    strengths: Sequence[float] = KERNEL_STRENGTHS,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
) -> ClassificationScores:
    """Accuracy of a support vector machine on vectors, kernel exp(-‖a - b‖² / width); as `classify` in all else.

    Features are scaled as there, and the width is the number of features, so that it fits vectors of any length.

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.tasks import classify_svm, random_splits
        >>> inside = np.repeat([True, False], 20)
        >>> vectors = np.where(inside, 0.1, np.resize([-1.0, 1.0], 40))[:, None]  # no line separates them
        >>> print(classify_svm(vectors, inside, random_splits(40, repeats=3, targets=inside)))
        accuracy 100.0 ± 0.0 % over 3 splits (majority class 50.0 %)
    """
    features = finite_matrix(vectors, "vectors")

    def predictions(codes: Ints, fit: Ints, test: Ints, path: Sequence[float]) -> Ints:
        from sklearn.metrics.pairwise import rbf_kernel
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(features[fit])
        inside, outside = scaler.transform(features[fit]), scaler.transform(features[test])
        return _machine(rbf_kernel(inside), codes, rbf_kernel(outside, inside), path)

    return _evaluate(predictions, len(features), targets, splits, strengths, folds, seed, jobs)


def classify_kernel(
    kernel: npt.ArrayLike,
    targets: npt.ArrayLike,
    splits: Sequence[Split],
    *,
    strengths: Sequence[float] = KERNEL_STRENGTHS,
    folds: int = 5,
    seed: int = 0,
    jobs: int = 1,
) -> ClassificationScores:
    """Accuracy of a support vector machine on a kernel matrix, shape (graphs, graphs); as `classify` in all else.

    The kernel is divided by the mean of its diagonal over the fitting graphs: C then means the same for every kernel.

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.tasks import classify_kernel, random_splits
        >>> classes = np.repeat(["chain", "ring"], 20)
        >>> vectors = np.where(classes == "ring", 1.0, -1.0)[:, None]
        >>> print(classify_kernel(vectors @ vectors.T, classes, random_splits(40, repeats=3, targets=classes)))
        accuracy 100.0 ± 0.0 % over 3 splits (majority class 50.0 %)
    """
    matrix = finite_matrix(kernel, "kernel")
    if matrix.shape != (len(matrix), len(matrix)):
        raise ValueError(f"kernel of shape {matrix.shape}; expected a square one")
    if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-9 * float(np.abs(matrix).max(initial=0.0))):
        raise ValueError("kernel is not symmetric")

    def predictions(codes: Ints, fit: Ints, test: Ints, path: Sequence[float]) -> Ints:
        scale = float(np.diagonal(matrix)[fit].mean()) or 1.0
        return _machine(matrix[np.ix_(fit, fit)] / scale, codes, matrix[np.ix_(test, fit)] / scale, path)

    return _evaluate(predictions, len(matrix), targets, splits, strengths, folds, seed, jobs)


def compare(first: ClassificationScores, second: ClassificationScores, *, confidence: float = 0.95) -> Comparison:
    """Whether two methods differ by more than the variation between splits.

    The corrected resampled t-test (Nadeau and Bengio, Machine Learning 52, 2003): splits of one collection overlap, so
    the variance of the mean difference is (1 / splits + test / fitting) times that of the differences, not 1 / splits.
    A difference that is the same on every split has p 0, or 1 if it is none.

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.tasks import classify, compare, random_splits
        >>> classes = np.repeat(["chain", "ring"], 20)
        >>> vectors = np.where(classes == "ring", 1.0, -1.0)[:, None]
        >>> splits = random_splits(40, repeats=3, targets=classes)
        >>> difference = compare(classify(vectors, classes, splits), classify(0 * vectors, classes, splits))
        >>> print(difference)
        difference +50.0 points, interval [+50.0, +50.0], p = 0.000; better, equal, worse on 3, 0, 0 splits
    """
    from scipy.stats import t

    if first.splits != second.splits:
        raise ValueError("the two scores come from different splits; evaluate both on the same list")
    if len(first) < 2:
        raise ValueError("one split gives no standard deviation; a comparison needs at least two")
    gaps = first.accuracy - second.accuracy
    difference = float(gaps.mean())
    error = float(np.sqrt((1 / len(gaps) + first.ratio) * gaps.var(ddof=1)))
    reach = float(t.ppf((1 + confidence) / 2, len(gaps) - 1)) * error
    p = float(2 * t.sf(abs(difference) / error, len(gaps) - 1)) if error > 0 else float(difference == 0)
    counts = [int(np.count_nonzero(side)) for side in (gaps > 0, gaps == 0, gaps < 0)]
    return Comparison(difference, difference - reach, difference + reach, p, *counts)


Predictions = Callable[[Ints, Ints, Ints, Sequence[float]], Ints]
"""(classes of the fitting graphs, fitting graphs, test graphs, values of C) -> predicted classes (values, tests)."""


def _evaluate(
    predictions: Predictions,
    n: int,
    targets: npt.ArrayLike,
    splits: Sequence[Split],
    strengths: Sequence[float],
    folds: int,
    seed: int,
    jobs: int,
) -> ClassificationScores:
    classes, codes = class_codes(targets, n)
    if len(classes) < 2:
        raise ValueError(f"every graph is of class {classes.tolist()[0] if n else None!r}; at least two are needed")
    if not splits:
        raise ValueError("no splits")
    if max(int(split.test.max(initial=-1)) for split in splits) >= n or max(int(s.fit.max()) for s in splits) >= n:
        raise ValueError(f"the splits are of a larger collection than these {n} graphs")
    if folds < 2:
        raise ValueError(f"{folds} inner folds; at least two are needed")
    if not strengths or min(strengths) <= 0:
        raise ValueError(f"strengths {tuple(strengths)}; expected positive values of C")
    path = sorted(float(value) for value in strengths)

    def one(number: int, split: Split) -> tuple[float, float, float]:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        random = np.random.default_rng([seed, number])
        with threadpool_limits(1):  # these fits are small: threads would wait for each other; use `jobs`
            strength = _chosen(predictions, codes, split.fit, path, folds, random)
            guessed = predictions(codes[split.fit], split.fit, split.test, [strength])[0]
        majority = int(np.bincount(codes[split.fit]).argmax())
        truth = codes[split.test]
        return float((guessed == truth).mean()), float((truth == majority).mean()), strength

    if jobs == 1:
        rows = [one(number, split) for number, split in enumerate(splits)]
    else:
        from joblib import Parallel, delayed  # type: ignore[import-untyped]

        rows = Parallel(n_jobs=jobs or -1)(delayed(one)(number, split) for number, split in enumerate(splits))
    table = np.array(rows)
    ratio = float(np.mean([len(split.test) / len(split.fit) for split in splits]))
    return ClassificationScores(table[:, 0], table[:, 1], table[:, 2], ratio, _fingerprint(splits))


def _chosen(
    predictions: Predictions, codes: Ints, fit: Ints, path: Sequence[float], folds: int, random: np.random.Generator
) -> float:
    """The C with most correct predictions in cross-validation; ties go to the smallest."""
    if len(path) == 1 or len(fit) < 2:
        return path[0]
    fold_of = fold_numbers(codes[fit], min(folds, len(fit)), random)
    correct = np.zeros(len(path), np.int64)
    for fold in range(int(fold_of.max()) + 1):
        inside, outside = fit[fold_of != fold], fit[fold_of == fold]
        correct += (predictions(codes[inside], inside, outside, path) == codes[outside]).sum(axis=1)
    return path[int(correct.argmax())]


def _logistic(features: Floats, codes: Ints, unseen: Floats, path: Sequence[float]) -> Ints:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    if (codes == codes[0]).all():
        return np.full((len(path), len(unseen)), codes[0])
    scaler = StandardScaler().fit(features)
    model = LogisticRegression(max_iter=2000, tol=1e-3, warm_start=True)
    features, unseen = scaler.transform(features), scaler.transform(unseen)
    return np.stack([model.set_params(C=c).fit(features, codes).predict(unseen) for c in path])


def _machine(kernel: Floats, codes: Ints, unseen: Floats, path: Sequence[float]) -> Ints:
    from sklearn.svm import SVC

    if (codes == codes[0]).all():
        return np.full((len(path), len(unseen)), codes[0])
    return np.stack([SVC(C=c, kernel="precomputed", cache_size=500).fit(kernel, codes).predict(unseen) for c in path])


def _fingerprint(splits: Sequence[Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for split in splits:
        digest.update(split.fit.tobytes() + b"|" + split.test.tobytes() + b"\n")
    return digest.hexdigest()
