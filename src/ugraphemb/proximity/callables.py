"""A proximity of the user's own: any function of two graphs."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import MetricError, type_of
from ugraphemb.graphs.graphset import Graph, GraphSet
from ugraphemb.proximity.function_keys import function_key
from ugraphemb.proximity.metrics import Columns, Kind, Metric, Positions, Run
from ugraphemb.workers.shared import cloudpickle

Function = Callable[[Graph, Graph], float]
_GLANCE = 0.1  # seconds


@dataclass(frozen=True)
class OwnMetric(Metric):
    """A function of two graphs, called once per pair.

    With more than one thread it runs in as many processes; functions of a script or a notebook work, too.

    Args:
        function: Takes two `Graph`s, gives a finite number; one that is not negative for a distance.
        kind: "distance" or "similarity".
        name: What tables call it; the name of the function by default.
        ordered: The order of the two graphs makes a difference.
        version: Identifies this function in a store of distances; by default its code and what it refers to do.
    """

    function: Function
    kind: Kind
    name: str = ""
    ordered: bool = False
    version: str | None = None

    value: ClassVar[Literal["lower", "upper"]] = "upper"  # type: ignore[misc]
    sized: ClassVar[bool] = True  # type: ignore[misc]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"{type_of(self.function)} where a function of two graphs is needed")
        if self.kind not in ("distance", "similarity"):
            raise ValueError(f"kind is {self.kind!r}; it must be 'distance' or 'similarity'")
        if not self.name:
            object.__setattr__(self, "name", getattr(self.function, "__name__", type(self.function).__name__))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (cloudpickle.dumps(self.function), self.kind, self.name, self.ordered, self.version)

    def settings(self) -> dict[str, Any]:
        return {"ordered": self.ordered, **function_key(self.function, self.version)}

    def symmetric(self, left: GraphSet, right: GraphSet) -> bool:
        return not self.ordered

    def compute(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns
    ) -> None:
        if run.timeout is not None:
            raise ValueError("a function of the user's has no timeout")
        if run.num_threads == 1 or len(left_of) < 2:
            for row, (i, j) in enumerate(zip(left_of.tolist(), right_of.tolist(), strict=True)):
                _put(out, slice(row, row + 1), _called(self, left, right, i, j))
                run.tick(row + 1)
        else:
            self._in_processes(left, right, left_of, right_of, run, out)

    def _in_processes(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns
    ) -> None:
        # Its processes are spawned (no fork of a program with threads) and need no guard around a script's main part.
        from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

        pool = ProcessPoolExecutor(run.num_threads, initializer=_prepare, initargs=(self, left, right))
        try:
            step = max(1, min(1024, len(left_of) // (8 * run.num_threads)))
            starts = iter(range(0, len(left_of), step))
            working: dict[Future[npt.NDArray[np.float64]], slice] = {}
            done = 0
            while True:
                while len(working) < 2 * run.num_threads and (start := next(starts, None)) is not None:
                    rows = slice(start, start + step)
                    working[pool.submit(_work, left_of[rows], right_of[rows])] = rows
                if not working:
                    break
                for future in wait(working, _GLANCE, FIRST_COMPLETED).done:
                    rows = working.pop(future)
                    _put(out, rows, future.result())
                    done += len(left_of[rows])
                run.tick(done)
        except BaseException:
            pool.shutdown(wait=True, kill_workers=True)
            raise
        pool.shutdown(wait=True)


_task: tuple[OwnMetric, GraphSet, GraphSet]  # of a process


def _prepare(metric: OwnMetric, left: GraphSet, right: GraphSet) -> None:
    import signal

    global _task
    _task = (metric, left, right)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends its processes


def _work(left_of: Positions, right_of: Positions) -> npt.NDArray[np.float64]:
    return np.array([_called(*_task, i, j) for i, j in zip(left_of.tolist(), right_of.tolist(), strict=True)])


def _called(metric: OwnMetric, left: GraphSet, right: GraphSet, i: int, j: int) -> float:
    pair = f"metric {metric.name!r} of graphs {i} ({left.ids[i]}) and {j} ({right.ids[j]})"
    try:
        answer = metric.function(left[i], right[j])
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename}:{where.lineno}"
        raise MetricError(f"{pair}: {type(error).__name__}: {error} ({place})") from error
    try:
        value = float(answer)
    except (TypeError, ValueError):
        raise MetricError(f"{pair} is {answer!r}; it must be a number") from None
    if not math.isfinite(value) or (metric.kind == "distance" and value < 0):
        raise MetricError(f"{pair} is {value}; it must be finite, and a distance at least 0")
    return value


def _put(out: Columns, rows: slice, values: float | npt.NDArray[np.float64]) -> None:
    out.lower[rows] = out.upper[rows] = values
    out.proven[rows] = out.done[rows] = True


def _restored(function: bytes, kind: Kind, name: str, ordered: bool, version: str | None) -> OwnMetric:
    return OwnMetric(cloudpickle.loads(function), kind, name, ordered, version)
