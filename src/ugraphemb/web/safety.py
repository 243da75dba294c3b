"""Checks before the application: who may send requests, how much they may send, and security headers for browsers."""

from __future__ import annotations

import asyncio
import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ugraphemb.web.refusals import RefusalError
from ugraphemb.web.replies import refusal_reply
from ugraphemb.web.settings import Settings

COOKIE = "ugraphemb_token"
LOCAL = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_RAW_HEADERS = {name.encode(): value.encode() for name, value in HEADERS.items()}  # names are in lower case
_PATIENCE = 30.0  # seconds for a body to arrive
_OPEN = ("/api/health",)


class Safety:
    """Refuses what should not reach the application; adds headers to everything that leaves it."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [entry for entry in message.get("headers", ()) if entry[0] not in _RAW_HEADERS]
                kept += _RAW_HEADERS.items()
                if all(name != b"cache-control" for name, _ in kept):
                    kept.append((b"cache-control", b"no-store"))
                message["headers"] = kept
            await send(message)

        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            if self._check_token(scope, headers):
                await _without_token(scope, self.settings.token or "")(scope, receive, with_headers)
                return
            receive = await self._whole_body(headers, receive)
        except RefusalError as error:
            await refusal_reply(error)(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _check_host(self, headers: Headers) -> None:
        """Against other sites whose name was pointed to this server, and pages of other sites that send requests."""
        host = headers.get("host", "")
        allowed = (*LOCAL, *self.settings.hosts)
        if "*" not in allowed and _name(host) not in allowed:
            raise RefusalError("bad_host", f"this server is not {host[:100]!r}; it answers to {', '.join(allowed)}")
        origin = headers.get("origin")
        foreign = origin is not None and urlsplit(origin).netloc != host
        if foreign or headers.get("sec-fetch-site") == "cross-site":
            raise RefusalError("cross_site", "requests from pages of other sites are refused")

    def _check_token(self, scope: Scope, headers: Headers) -> bool:
        """Whether the token came in the address, and belongs into a cookie."""
        token = self.settings.token
        if token is None or scope["path"] in _OPEN:
            return False
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _equal(given.strip(), token):
            return False
        if _equal(_cookie(headers.get("cookie", "")), token):
            return False
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        if scope["path"] == "/" and scope["method"] == "GET" and _equal(asked[0], token):
            return True
        raise RefusalError("unauthorized", "this server needs a token: open /?token=..., or send Authorization: Bearer")

    async def _whole_body(self, headers: Headers, receive: Receive) -> Receive:
        """The body, read and bounded before anything looks at it."""
        most = self.settings.limits.body_bytes
        refused = RefusalError("too_large", f"a body of more than {most} bytes")
        stated = headers.get("content-length", "0")
        if not (stated.isascii() and stated.isdigit()):
            raise RefusalError("invalid", "a Content-Length that is not a number")
        if int(stated) > most:
            raise refused
        chunks: list[bytes] = []
        size, more = 0, stated != "0" or "transfer-encoding" in headers
        end = asyncio.get_running_loop().time() + _PATIENCE
        while more:
            try:
                message = await asyncio.wait_for(receive(), max(0.01, end - asyncio.get_running_loop().time()))
            except TimeoutError:
                raise RefusalError("slow", f"the body did not arrive within {_PATIENCE:g} s") from None
            if message["type"] == "http.disconnect":
                return _once(message, receive)
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            more = message.get("more_body", False)
            if size > most:
                raise refused
        return _once({"type": "http.request", "body": b"".join(chunks), "more_body": False}, receive)


def _once(first: Message, receive: Receive) -> Receive:
    """A `receive` that returns this message first, and then what the client sends."""
    waiting = [first]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _without_token(scope: Scope, token: str) -> RedirectResponse:
    """To the same address without the token, which is a cookie from now on."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    query.pop("token", None)
    response = RedirectResponse("/" + (f"?{urlencode(query, doseq=True)}" if query else ""), status_code=303)
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
    return response


def _name(host: str) -> str:
    """The name of a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _cookie(text: str) -> str:
    try:
        found = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _equal(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())
