"""The interface of a baseline: `fit` on graphs, then vectors, a kernel or distances of any graphs."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import GraphSet, GraphsLike, graphs_of

Floats = npt.NDArray[np.float64]
State = TypeVar("State")


@runtime_checkable
class Baseline(Protocol):
    """Every method of this package. Settings and the seed are given when it is made; they do not change.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.baselines import Baseline, baseline
        >>> graphs = ug.load_dataset("atlas")[100:130]
        >>> isinstance(baseline("majority"), Baseline)
        True
    """

    def fit(self, graphs: GraphsLike) -> Any:
        """Learns from `graphs`, at least one, and returns itself. Only MajorityClass uses class labels."""
        ...


@runtime_checkable
class Embedder(Baseline, Protocol):
    """A baseline that gives vectors.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.baselines import baseline
        >>> graphs = ug.load_dataset("atlas")[100:130]
        >>> baseline("counts").fit(graphs).transform(graphs[:5]).shape[0]
        5
    """

    def transform(self, graphs: GraphsLike) -> Any:
        """One row per graph, (graphs, width): a dense array, or a sparse CSR one where the width is a vocabulary."""
        ...


@runtime_checkable
class Kernel(Baseline, Protocol):
    """A baseline that gives similarities.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.baselines import baseline
        >>> graphs = ug.load_dataset("atlas")[100:130]
        >>> baseline("wl", iterations=2).fit(graphs).kernel(graphs[:2], graphs).shape
        (2, 30)
    """

    def kernel(self, left: GraphsLike, right: GraphsLike | None = None) -> Floats:
        """Similarity of each left to each right graph, (left, right); None means `left`."""
        ...


@runtime_checkable
class Ranker(Baseline, Protocol):
    """A baseline that gives distances to the graphs it was fitted on.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.baselines import baseline
        >>> graphs = ug.load_dataset("atlas")[100:130]
        >>> baseline("hungarian").fit(graphs).distances(graphs[:2]).shape
        (2, 30)
    """

    def distances(self, queries: GraphsLike) -> Floats:
        """Distance of each query to each fitted graph, (queries, graphs)."""
        ...


def some(graphs: GraphsLike) -> GraphSet:
    """The collection, unless it is empty."""
    found = graphs_of(graphs)
    if len(found) == 0:
        raise ValueError("no graphs to fit on")
    return found


def fitted(state: State | None, owner: object) -> State:
    """The result of `fit`."""
    if state is None:
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(owner).__name__} has not been fitted: call fit first")
    return state


def at_least(low: int, **settings: int) -> None:
    """Refuses settings below `low`, by name."""
    for name, value in settings.items():
        if value < low:
            raise ValueError(f"{name} is {value}; it must be at least {low}")
