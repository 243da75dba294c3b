"""Responses: JSON, errors, streams of events; and work that is canceled when the client disconnects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from ugraphemb.web.refusals import RefusalError

Result = TypeVar("Result")
Events = AsyncIterator[tuple[str, dict[str, Any]]]
_ALIVE = 10.0  # seconds between comments that keep a connection open


class GoneError(Exception):
    """The client closed the connection."""


def json_bytes(content: Any) -> bytes:
    """Plain ASCII, so that text that is not Unicode passes, too."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def json_reply(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(json_bytes(content), status, headers, "application/json")


def refusal_reply(error: RefusalError) -> Response:
    headers = {"busy": {"retry-after": "1"}, "unauthorized": {"www-authenticate": "Bearer"}}.get(error.code)
    return json_reply(error.content(), error.status, headers)


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """What `work` returns; it is canceled when the client disconnects.

    Raises:
        GoneError: The client has gone.
    """
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(request.receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise GoneError
    finally:
        gone.cancel()
        await _ended(task)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(task: asyncio.Task[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()


class EventStream(Response):
    """Server-sent events; the work behind them is canceled as soon as the client disconnects."""

    def __init__(self, events: Events) -> None:
        super().__init__(None, 200, {"cache-control": "no-store", "x-accel-buffering": "no"}, "text/event-stream")
        self.events = events
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        writing = asyncio.create_task(self._write(send))
        gone = asyncio.create_task(_disconnected(receive))
        try:
            await asyncio.wait({writing, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            await _ended(writing)

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

        async def write(data: bytes, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": more})

        turn: asyncio.Task[tuple[str, dict[str, Any]]] | None = None
        try:
            while True:
                turn = turn or asyncio.ensure_future(anext(self.events))
                done, _ = await asyncio.wait({turn}, timeout=_ALIVE)
                if not done:
                    await write(b": still working\n\n")
                    continue
                try:
                    name, content = turn.result()
                except StopAsyncIteration:
                    break
                except RefusalError as error:
                    name, content = "error", error.content()
                turn = None
                await write(b"event: %s\ndata: %s\n\n" % (name.encode(), json_bytes(content)))
                if name == "error":
                    break
        finally:
            if turn is not None:
                await _ended(turn)
        await write(b"", more=False)
