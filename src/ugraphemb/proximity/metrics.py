"""The interface of a metric, and the metrics by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ugraphemb.cores import available_cores
from ugraphemb.errors import type_of
from ugraphemb.graphs.graphset import Graph, GraphSet

Kind = Literal["distance", "similarity"]
Positions = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Columns:
    """Results of a list of pairs, filled in place; `done` marks the finished ones if the work was stopped."""

    lower: Floats
    upper: Floats
    proven: Flags
    done: Flags

    @classmethod
    def empty(cls, count: int) -> Columns:
        # Memory pages that were not written to are not allocated, so memory grows with the finished work.
        return cls(np.empty(count), np.empty(count), np.zeros(count, np.bool_), np.zeros(count, np.bool_))


@dataclass(frozen=True)
class Run:
    """How to run: `tick` is called regularly with the number of finished pairs, and may raise to stop the work."""

    threads: int = 0
    timeout: float | None = None
    tick: Callable[[int], None] = lambda done: None

    @property
    def num_threads(self) -> int:
        if self.threads > 0:
            return self.threads
        return available_cores()

    @property
    def seconds(self) -> float:
        return float("inf") if self.timeout is None else self.timeout


@dataclass(frozen=True)
class Answer:
    """One pair: bounds, and the node of the right graph (or -1) for each node of the left one where there is a map."""

    lower: float
    upper: float
    proven: bool
    mapping: npt.NDArray[np.int32] | None = None


class Metric(Protocol):
    """A proximity of two graphs with all its settings.

    Attributes:
        name: As in `metric=`.
        kind: "distance" or "similarity".
        value: Which bound is the value: the one that a solution was found for.
        sized: Whether dividing by the mean number of nodes makes sense.
        uses_targets: Whether the numbers depend on the targets of the graphs.
    """

    name: str
    kind: Kind
    value: Literal["lower", "upper"]
    sized: bool
    uses_targets: bool = False

    def settings(self) -> dict[str, Any]:
        """Everything that the numbers depend on, as JSON."""
        ...

    def symmetric(self, left: GraphSet, right: GraphSet) -> bool:
        """Whether the order of the two graphs makes no difference."""
        return True

    def compute(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns
    ) -> None:
        """Fills `out`: entry k is graph left_of[k] of `left` against graph right_of[k] of `right`."""
        ...

    def one(self, left: GraphSet, right: GraphSet, run: Run) -> Answer:
        """Two collections of one graph each."""
        out = Columns.empty(1)
        first = np.zeros(1, np.int32)
        self.compute(left, right, first, first, run, out)
        return Answer(float(out.lower[0]), float(out.upper[0]), bool(out.proven[0]))


class MappedMetric(Metric, Protocol):
    """A metric whose solver also finds a map between the nodes."""

    def solve(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns,
        mapping: npt.NDArray[np.int32] | None,
    ) -> None:  # fmt: skip
        """Like `compute`; of a single pair also the map, where `mapping` is given."""
        ...

    def compute(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns
    ) -> None:
        self.solve(left, right, left_of, right_of, run, out, None)

    def one(self, left: GraphSet, right: GraphSet, run: Run) -> Answer:
        out, first = Columns.empty(1), np.zeros(1, np.int32)
        mapping = np.full(int(left.num_nodes[0]), -1, np.int32)
        self.solve(left, right, first, first, run, out, mapping)
        return Answer(float(out.lower[0]), float(out.upper[0]), bool(out.proven[0]), mapping)


# The module of each named metric. Calling it with the options of `distance` or `pairwise` gives a Metric.
_HOMES = {
    "ged": "ugraphemb.proximity.ged:EditDistance",
    "mcs": "ugraphemb.proximity.mcs:CommonSubgraph",
    "wl": "ugraphemb.proximity.kernels:WLKernel",
    "sp": "ugraphemb.proximity.kernels:PathKernel",
    "graphlet": "ugraphemb.proximity.kernels:GraphletKernel",
    "labels": "ugraphemb.proximity.labels:SameClass",
}


def metric_names() -> list[str]:
    """What `metric=` takes."""
    return list(_HOMES)


def metric_of(metric: str | Metric | Callable[[Graph, Graph], float], **options: Any) -> Metric:
    """The metric of this name with these options; options that are None are left at their default.

    A function of two graphs becomes a metric, with `kind` ("distance" or "similarity"), and `name`, `ordered` and
    `version` if need be.

    Raises:
        ValueError: An unknown name.
        TypeError: An option that the metric does not have.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if not isinstance(metric, str):
        return _own(metric, given)
    if metric not in _HOMES:
        raise ValueError(f"unknown metric {metric!r}; there are {', '.join(_HOMES)}")
    module, _, name = _HOMES[metric].partition(":")
    factory: Callable[..., Metric] = getattr(import_module(module), name)
    valid = [name for name in inspect.signature(factory).parameters if name not in ("name", "kind")]
    unknown = [name for name in given if name not in valid]
    if unknown:
        raise TypeError(f"metric {metric!r} has no option {unknown[0]!r}; it has {', '.join(valid) or 'none'}")
    return factory(**given)


def _own(metric: Any, options: dict[str, Any]) -> Metric:
    """A metric as it is, or one around a function."""
    if hasattr(metric, "compute"):
        if options:
            raise TypeError(f"a metric with its own settings takes no further option, but got {', '.join(options)}")
        found: Metric = metric
        return found
    if not callable(metric):
        raise TypeError(f"metric is {type_of(metric)}; it must be a name, a Metric or a function")
    from ugraphemb.proximity.callables import OwnMetric

    unknown = [name for name in options if name not in ("kind", "name", "ordered", "version")]
    if unknown:
        raise TypeError(f"a function has no option {unknown[0]!r}; it has kind, name, ordered, version")
    if "kind" not in options:
        raise TypeError("give the kind of the function: kind='distance' or kind='similarity'")
    return OwnMetric(metric, **options)
