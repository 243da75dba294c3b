"""The application: API, page, errors."""

from __future__ import annotations

import logging
import mimetypes
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse

from ugraphemb import __version__
from ugraphemb.errors import GraphWarning
from ugraphemb.web.refusals import RefusalError, content
from ugraphemb.web.replies import GoneError, json_reply, refusal_reply
from ugraphemb.web.routes import api
from ugraphemb.web.safety import Safety
from ugraphemb.web.service import Service

log = logging.getLogger("ugraphemb.web")
STATIC = Path(__file__).parent / "static"
_ABSENT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>ugraphemb</title>
<h1>ugraphemb</h1><p>The server runs, but the page has not been built: run <code>make page</code>.
The API is described at <a href="/api/openapi.json">/api/openapi.json</a>.</p></html>"""


def create_app(service: Service, static: Path = STATIC) -> Safety:
    """The application for one service.

    Args:
        static: Folder of the built page. Its files are listed once; only these are served.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Answers say what was ignored; and filters are for all threads, so that they cannot be set for one request.
        warnings.filterwarnings("ignore", category=GraphWarning)
        await service.start()
        yield
        await service.stop()

    app = FastAPI(
        title="ugraphemb", version=__version__, lifespan=lifespan, openapi_url="/api/openapi.json", docs_url=None,
        redoc_url=None, description="Search a collection of graphs by vectors, with proof; see docs/web.md.",
    )  # fmt: skip
    app.router.routes.extend(api(service).routes)  # not included: FastAPI would look through all of them twice
    app.add_exception_handler(RefusalError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(GoneError, _gone)
    app.add_exception_handler(Exception, _failed)
    _add_page(app, static)
    return Safety(app, service.settings)


def _add_page(app: FastAPI, static: Path) -> None:
    files = {path.relative_to(static).as_posix(): path for path in sorted(static.rglob("*")) if path.is_file()}

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        if "index.html" not in files:
            return HTMLResponse(_ABSENT, headers={"cache-control": "no-cache"})
        return FileResponse(files["index.html"], headers={"cache-control": "no-cache"}, media_type="text/html")

    @app.get("/{name:path}", include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in files:
            raise RefusalError("not_found", "there is nothing at this address")
        kept = "public, max-age=31536000, immutable" if name.startswith("assets/") else "no-cache"
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return FileResponse(
            files[name], headers={"cache-control": kept}, media_type=_TYPES.get(Path(name).suffix, kind)
        )


_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}


async def _refused(request: Request, error: Any) -> Response:
    return refusal_reply(error)


async def _invalid(request: Request, error: Any) -> Response:
    """The first thing that is wrong, and where."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query"))[:200]
    message = str(first["msg"]).removeprefix("Value error, ")
    return refusal_reply(RefusalError("invalid", f"{where}: {message}" if where else message, where or None))


async def _http(request: Request, error: Any) -> Response:
    code = {404: "not_found", 405: "method"}.get(error.status_code, "invalid")
    return json_reply(content(code, str(error.detail)), error.status_code, error.headers)  # type: ignore[arg-type]


async def _gone(request: Request, error: Any) -> Response:
    return Response(status_code=499)  # the client has disconnected


async def _failed(request: Request, error: Exception) -> Response:
    log.exception("%s %s", request.method, request.url.path, exc_info=error)
    return json_reply(content("internal", "an error of the server; its log says more"), 500)
