"""Threads of the server: queries that arrive together form one batch, and proofs wait for one of few slots."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from ugraphemb.web.refusals import RefusalError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Places:
    """A few threads, and a bounded number of requests that wait for one."""

    def __init__(self, threads: int, waiting: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most = threads + waiting
        self._taken = 0

    async def run(self, work: Callable[[], Result], cancel: Callable[[], None] = lambda: None) -> Result:
        """What `work` returns. If the caller is canceled, `cancel` is called, and the place is free when work ends.

        Raises:
            RefusalError: Too many wait already.
        """
        if self._taken >= self._most:
            raise RefusalError("busy", "too many requests at once; try again in a moment")
        self._taken += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        future.add_done_callback(self._left)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            cancel()
            if not future.cancel():
                future.add_done_callback(_ignored)
            raise

    def _left(self, future: asyncio.Future[Result]) -> None:
        self._taken -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _ignored(future: asyncio.Future[Result]) -> None:
    if not future.cancelled():
        future.exception()


class Batches(Generic[Item, Result]):
    """Calls that arrive while a batch is being processed form the next one.

    Args:
        work: From the items of a batch to one result each, or an exception in its place; called on the given places.
        most: Items of one batch.
        waiting: Items that may wait for the next ones.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        places: Places,
        most: int,
        waiting: int,
    ) -> None:
        self._work, self._places, self._most, self._room = work, places, most, waiting
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._running: asyncio.Task[None] | None = None

    async def one(self, item: Item) -> Result:
        if len(self._waiting) >= self._room:
            raise RefusalError("busy", "too many requests at once; try again in a moment")
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            await asyncio.sleep(0)  # requests of the same moment join the batch
            while self._waiting:
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                batch = [entry for entry in batch if not entry[1].cancelled()]
                if batch:
                    await self._answer(batch)
        finally:
            self._running = None

    async def _answer(self, batch: Sequence[tuple[Item, asyncio.Future[Result]]]) -> None:
        items = [item for item, _ in batch]
        try:
            results: Sequence[Result | BaseException] = await self._places.run(lambda: self._work(items))
        except BaseException as error:
            results = [error] * len(batch)
            if isinstance(error, asyncio.CancelledError):
                for _, future in batch:
                    future.cancel()
                raise
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)


class Kept(Generic[Result]):
    """The results that were used last, for threads to share."""

    def __init__(self, most: int) -> None:
        self._most, self._found, self._lock = most, OrderedDict[str, Result](), threading.Lock()

    def get(self, key: str) -> Result | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: str, result: Result) -> None:
        with self._lock:
            self._found[key] = result
            while len(self._found) > self._most:
                self._found.popitem(last=False)
