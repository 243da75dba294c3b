"""Sends tasks to workers and yields results as they are finished. A task of a worker that died is given to another."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from ugraphemb.errors import ClusterError
from ugraphemb.workers.naming import checked, client_of, drop_pool, host, pool_of
from ugraphemb.workers.shared import Handle, Shared

_GLANCE = 0.1  # seconds
_TRIES = 3
_COUNT_EVERY = 2.0  # seconds

T = TypeVar("T")


@contextmanager
def crew_of(executor: object) -> Iterator[Crew]:
    """The workers that `executor=` names, for one job.

    Raises:
        ClusterError: No scheduler answers, or a worker has another version of this package.
    """
    chosen = checked(executor)
    client = None
    if isinstance(chosen, str):
        chosen = client = client_of(chosen)
    crew = Crew(chosen)
    try:
        yield crew
    except BaseException:
        crew.abandon()
        raise
    finally:
        crew.close()
        if client is not None:
            client.close()


class Crew:
    """Workers of one job; see `crew_of`.

    Attributes:
        size: Number of tasks that run at once. Dask workers may join and leave.
    """

    def __init__(self, executor: Any) -> None:
        self._number = executor if isinstance(executor, int) else 0  # number of processes that were started here
        self._client: Any = None
        if self._number:
            executor = pool_of(self._number)
        elif hasattr(executor, "get_executor"):  # a Dask client
            self._client = executor
            executor = executor.get_executor(pure=False)
        elif type(executor).__module__.partition(".")[0] == "distributed":
            self._client = getattr(executor, "_client", None)
        self._executor = executor
        self._shared: list[Shared] = []
        self._working: dict[Future[Any], tuple[Any, int, Any]] = {}
        self._count_at = 0.0
        self.size = self._number or max(1, getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
        if self._client is not None:
            self._check_versions()
            self._count()

    @property
    def in_memory(self) -> bool:
        """Whether the workers are threads of this process."""
        return isinstance(self._executor, ThreadPoolExecutor)

    def share(self, value: object, *, everywhere: bool = True) -> Shared:
        """Makes a value known to the workers; each gets it once.

        Args:
            everywhere: Send it to all workers of Dask now; else to one, from which others get it when they need it.
        """
        self._shared.append(Shared(value, self._client, self.in_memory, everywhere))
        return self._shared[-1]

    def forget(self, shared: Shared) -> None:
        """Takes a shared value back before the job ends."""
        self._shared.remove(shared)
        shared.close()

    def results(
        self,
        function: Callable[..., Any],
        shared: Shared,
        take: Callable[[], T | None],
        arguments: Callable[[T], tuple[Any, ...]],
        *,
        place: Callable[[T], str] | None = None,
        ahead: int = 2,
        glance: Callable[[], None] = lambda: None,
        advice: str = "",
    ) -> Iterator[tuple[T, Any]]:
        """function(value, *arguments) for every task, as they are finished.

        Args:
            function: A function of a module that workers can import. If a worker dies it may be called twice.
            shared: Its first argument. Handles of other shared values may be among the arguments.
            take: Gives the next task whenever a worker is free; None when there are no more.
            arguments: Gives the arguments of a task; called when it is sent, so that they can include earlier results.
            place: A key: tasks with the same key are sent to the same worker while it is connected (Dask only).
            ahead: Number of tasks that are sent to each worker in advance. They start without a delay, but with the
                arguments of the time when they were sent.
            glance: Called every tenth of a second; stops the work by raising.
            advice: What to do if workers die repeatedly, for the message.

        Raises:
            ClusterError: A worker has another version, or workers die repeatedly.
        """
        again: list[tuple[T, int]] = []
        death: BaseException | None = None
        while True:
            self._count()
            while death is None and len(self._working) < ahead * self.size:
                item, tries = again.pop() if again else (take(), 0)
                if item is None:
                    break
                try:
                    executor = self._executor_at(None if place is None else place(item))
                    future = executor.submit(_work, _version(), function, shared.handle, *arguments(item))
                    self._working[future] = item, tries, self._executor
                except BrokenExecutor as error:
                    if self._number and tries < _TRIES:
                        self._renew(self._executor)
                        again.append((item, tries + 1))
                    else:
                        death = error
            if not self._working and not (again and death is None):
                if death is None:
                    return
                raise ClusterError(
                    f"workers died ({type(death).__name__}: {death}){advice and '; '}{advice}"
                ) from death
            for future in wait(self._working, _GLANCE, FIRST_COMPLETED).done:
                item, tries, pool = self._working.pop(future)
                try:
                    result = future.result()
                except (CancelledError, BrokenExecutor) as error:
                    lasting = isinstance(error, BrokenExecutor) and not self._number
                    if lasting or tries + 1 == _TRIES:
                        death = error
                        continue
                    if isinstance(error, CancelledError):  # the last worker with the shared value died
                        for lost in self._shared:
                            lost.send()
                    else:
                        self._renew(pool)
                    again.append((item, tries + 1))
                except Exception as error:
                    if type(error).__name__ != "KilledWorker":  # Dask's exception for a task whose workers all died
                        raise
                    death = error
                else:
                    yield item, result
            glance()

    def abandon(self) -> None:
        """Cancels the running tasks."""
        for future in self._working:
            future.cancel()
        if self._number and any(not future.done() for future in self._working):
            drop_pool(self._number, self._executor)
        self._working.clear()

    def close(self) -> None:
        for shared in self._shared:
            shared.close()
        self._shared.clear()

    def _renew(self, broken: Any) -> None:
        """New processes in place of those of a pool that broke."""
        if broken is self._executor:
            drop_pool(self._number, broken)
            self._executor = pool_of(self._number)

    def _count(self) -> None:
        if self._client is not None and time.monotonic() > self._count_at:
            self._addresses: list[str] = sorted(self._client.nthreads())
            self.size = max(1, sum(self._client.nthreads().values()))
            self._count_at = time.monotonic() + _COUNT_EVERY

    def _executor_at(self, key: str | None) -> Any:
        """The worker for tasks of a key: the one with the highest hash of both, so that few keys move when one dies."""
        if key is None or self._client is None or not self._addresses:
            return self._executor
        best = max(self._addresses, key=lambda address: hashlib.blake2b(f"{key} {address}".encode()).digest())
        return self._client.get_executor(pure=False, workers=[best], allow_other_workers=True)

    def _check_versions(self) -> None:
        """Checks the workers that are connected now; one that joins later is checked with its first task."""
        found = self._versions()
        if not found:
            self._client.wait_for_workers(1, timeout=60)
            found = self._versions()
        wrong = {worker: version for worker, version in found.items() if version != _version()}
        if wrong:
            listed = ", ".join(f"{worker} has {version}" for worker, version in sorted(wrong.items()))
            raise ClusterError(f"every worker must run ugraphemb {_version()}, but {listed}")

    def _versions(self) -> dict[str, Any]:
        """By worker, without those that died meanwhile."""
        found = self._client.run(_version_there, on_error="return")
        failed = [answer for answer in found.values() if isinstance(answer, BaseException)]
        for error in failed:
            if not isinstance(error, OSError):
                raise error
        return {worker: answer for worker, answer in found.items() if not isinstance(answer, OSError)}


def _version() -> str:
    from ugraphemb import __version__

    return __version__


def _version_there() -> str:
    try:
        import ugraphemb
    except ImportError:
        return "none"
    return ugraphemb.__version__


def _work(version: str, function: Callable[..., Any], handle: Any, *arguments: Any) -> Any:
    """Runs on a worker."""
    if version != _version():
        raise ClusterError(f"a worker on {host()} runs ugraphemb {_version()}, but {version} is asking for work")
    return function(handle.get(), *(value.get() if isinstance(value, Handle) else value for value in arguments))


def canceled() -> bool:
    """Whether the current task of this worker was canceled; only Dask reports it."""
    import sys

    if "distributed" not in sys.modules:
        return False
    from distributed.worker import thread_state  # type: ignore[attr-defined]

    worker, key = getattr(thread_state, "execution_state", {}).get("worker"), getattr(thread_state, "key", None)
    task = None if worker is None else worker.state.tasks.get(key)
    return worker is not None and (task is None or task.state == "cancelled")
