"""The pairs of a table in pieces: one after the other here, or many at once on an executor's workers."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import ClusterError, needs_extra
from ugraphemb.files import storage_errors
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.callables import cloudpickle
from ugraphemb.proximity.metrics import Columns, Metric, Positions, Run

SECONDS = 3.0  # of work in a piece: what a kill can cost
_FIRST, _GROWTH, _MOST = 64, 8, 1 << 20  # pairs of the first pieces; how fast pieces grow; pairs of the largest
_GLANCE = 0.1  # seconds
_TRIES = 3

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Job:
    """What is the same for every piece."""

    metric: Metric
    left: GraphSet
    right: GraphSet
    timeout: float | None
    threads: int


class Pieces:
    """Cuts a list of pairs into pieces of equal estimated cost, whose size follows the speed that is seen.

    The cost of a pair is the product of the numbers of nodes, and something for the pair itself.
    """

    def __init__(self, job: Job, rows: Rows, left_of: Positions, right_of: Positions) -> None:
        self.rows = rows
        costs = job.left.num_nodes[left_of[rows]].astype(np.float64) * job.right.num_nodes[right_of[rows]] + 16
        self._ends = np.cumsum(costs)
        self._next = 0
        self._largest = _FIRST
        self._cost, self._seconds = 0.0, 0.0

    def take(self, workers: int) -> Rows | None:
        """The next piece, for one of so many workers; None when there is no more."""
        begin = self._next
        left = len(self.rows) - begin
        if left == 0:
            return None
        count = self._largest
        if self._seconds > 0:
            before = self._ends[begin - 1] if begin else 0.0
            target = before + self._cost / self._seconds * SECONDS
            count = min(int(np.searchsorted(self._ends, target, side="right")) - begin, self._largest)
        if workers > 1:  # near the end, something for everybody
            count = min(count, -(-left // (2 * workers)))
        self._next = begin + min(max(count, 1), left, _MOST)
        return self.rows[begin : self._next]

    def learn(self, rows: Rows, seconds: float) -> None:
        """How long a piece took."""
        first = int(np.searchsorted(self.rows, rows[0]))
        last = first + len(rows)
        self._cost += float(self._ends[last - 1] - (self._ends[first - 1] if first else 0.0))
        self._seconds += max(seconds, 1e-6)
        self._largest = max(self._largest, min(_GROWTH * len(rows), _MOST))


Piece = tuple[Rows, Columns]


def here(
    job: Job, pieces: Pieces, left_of: Positions, right_of: Positions, tick: Callable[[int], None]
) -> Iterator[Piece]:
    """Piece after piece in this process, on all its threads. When stopped, the last piece holds what was finished."""
    finished = 0
    while (rows := pieces.take(1)) is not None:
        out = Columns.empty(len(rows))
        begin = time.monotonic()
        run = Run(job.threads, job.timeout, lambda done, before=finished: tick(before + done))  # type: ignore[misc]
        try:
            job.metric.compute(job.left, job.right, left_of[rows], right_of[rows], run, out)
        except BaseException:
            yield rows, out
            raise
        pieces.learn(rows, time.monotonic() - begin)
        finished += len(rows)
        tick(finished)
        yield rows, out


def away(
    job: Job, pieces: Pieces, left_of: Positions, right_of: Positions, tick: Callable[[int], None], executor: Any
) -> Iterator[Piece]:
    """Pieces as the workers of an executor finish them.

    Raises:
        ClusterError: A worker has another version, or workers die again and again.
    """
    with ExitStack() as stack:
        crew = stack.enter_context(_Crew(executor, job))
        working: dict[Future[Any], tuple[Rows, int]] = {}
        stack.callback(lambda: [future.cancel() for future in working])
        again: list[tuple[Rows, int]] = []
        finished = 0
        death: BaseException | None = None
        while True:
            crew.count()
            while death is None and len(working) < 2 * crew.size:
                rows, tries = again.pop() if again else (pieces.take(crew.size), 0)
                if rows is None:
                    break
                try:
                    working[crew.submit(left_of[rows], right_of[rows])] = rows, tries
                except BrokenExecutor as error:
                    death = error
            if not working and death is not None:
                raise ClusterError(
                    f"workers died over the pieces of this table ({type(death).__name__}: {death}); "
                    "with a store, what was finished is safe: run the same again"
                ) from death
            if not working:
                return
            for future in wait(working, _GLANCE, FIRST_COMPLETED).done:
                rows, tries = working.pop(future)
                try:
                    seconds, lower, upper, proven = future.result()
                except (CancelledError, BrokenExecutor) as error:
                    if isinstance(error, BrokenExecutor) or tries + 1 == _TRIES:
                        death = error
                    else:  # the graphs died with their last holder
                        crew.send()
                        again.append((rows, tries + 1))
                    continue
                except Exception as error:
                    if type(error).__name__ != "KilledWorker":  # Dask's word for a piece that no worker survived
                        raise
                    death = error
                    continue
                pieces.learn(rows, seconds)
                finished += len(rows)
                yield rows, Columns(lower, upper, proven, np.ones(len(rows), np.bool_))
            tick(finished)


@dataclass
class _Crew:
    """Workers, each of which gets the graphs once: from Dask's own memory, or from a file on this machine."""

    executor: Any
    job: Job
    size: int = 1
    _client: Any = None
    _graphs: Any = None
    _file: Path | None = None
    _count_at: float = 0.0

    def __enter__(self) -> _Crew:
        if hasattr(self.executor, "get_executor"):  # a Dask Client
            self.executor = self.executor.get_executor(pure=False)
        if not isinstance(self.executor, Executor):
            raise TypeError(f"executor is a {type(self.executor).__name__}; it must be a concurrent.futures.Executor")
        self._client = getattr(self.executor, "_client", None) if _is_dask(self.executor) else None
        if self._client is not None:
            self._check_versions()
            self.count()
        else:
            self.size = max(1, getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1)
        self.send()
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.unlink(missing_ok=True)
        self._graphs = None

    def count(self) -> None:
        """Workers may come and go."""
        if self._client is not None and time.monotonic() > self._count_at:
            self.size = max(1, sum(self._client.nthreads().values()))
            self._count_at = time.monotonic() + 2

    def send(self) -> None:
        """Makes the graphs known to the workers."""
        token = f"{self.job.left.fingerprint}{self.job.right.fingerprint}{id(self)}{time.monotonic_ns()}"
        if self._client is not None:
            held = _Held(token, self.job)
            self._graphs = self._client.scatter(held, broadcast=True, hash=False)
        elif isinstance(self.executor, ThreadPoolExecutor):
            self._graphs = _Held(token, self.job)
        else:
            with storage_errors(tempfile.gettempdir()):
                handle, name = tempfile.mkstemp(prefix="ugraphemb-", suffix=".pickle")
            self._file = Path(name)
            with storage_errors(name), os.fdopen(handle, "wb") as file:
                cloudpickle.dump(self.job, file)  # costs may be functions of a script
            self._graphs = _Held(token, None, name)

    def submit(self, left_of: Positions, right_of: Positions) -> Future[Any]:
        from ugraphemb import __version__

        future: Future[Any] = self.executor.submit(_work, __version__, self._graphs, left_of, right_of)
        return future

    def _check_versions(self) -> None:
        """Workers that are there now; one that comes later finds out with its first piece."""
        from ugraphemb import __version__

        found = self._client.run(_version_there)
        if not found:
            self._client.wait_for_workers(1, timeout=60)
            found = self._client.run(_version_there)
        wrong = {worker: version for worker, version in found.items() if version != __version__}
        if wrong:
            listed = ", ".join(f"{worker} has {version}" for worker, version in sorted(wrong.items()))
            raise ClusterError(f"every worker must run ugraphemb {__version__}, but {listed}")


def _is_dask(executor: object) -> bool:
    return type(executor).__module__.partition(".")[0] == "distributed"


def _version_there() -> str:
    try:
        import ugraphemb
    except ImportError:
        return "none"
    return ugraphemb.__version__


@dataclass(frozen=True)
class _Held:
    """The job itself, or the file it is in."""

    token: str
    job: Job | None
    path: str = ""


_jobs: OrderedDict[str, Job] = OrderedDict()  # of this process, the last one used at the end


def _job_of(held: _Held) -> Job:
    if held.job is not None:
        return held.job
    if held.token not in _jobs:
        with open(held.path, "rb") as file:
            _jobs[held.token] = pickle.load(file)
        while len(_jobs) > 2:
            _jobs.popitem(last=False)
    return _jobs[held.token]


def _work(version: str, held: _Held, left_of: Positions, right_of: Positions) -> tuple[float, Any, Any, Any]:
    """Runs on a worker: seconds of work, lower, upper, proven."""
    from ugraphemb import __version__

    if version != __version__:
        host = os.uname().nodename
        raise ClusterError(f"a worker on {host} runs ugraphemb {__version__}, but {version} is asking for pairs")
    job = _job_of(held)
    out = Columns.empty(len(left_of))
    begin = time.monotonic()
    job.metric.compute(job.left, job.right, left_of, right_of, Run(job.threads, job.timeout), out)
    return time.monotonic() - begin, out.lower, out.upper, out.proven


def client_of(address: str, timeout: float = 10) -> Any:
    """A Dask client of the scheduler at this address, if it answers within so many seconds.

    Raises:
        MissingExtraError: Dask is not installed.
        ClusterError: Nobody answers.
    """
    with needs_extra("cluster"):
        from distributed import Client
    try:
        return Client(address, timeout=timeout)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ClusterError(f"{address}: no Dask scheduler answers there ({error or type(error).__name__})") from error
