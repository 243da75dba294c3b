"""Running a server: the address, signals, and the bundled molecules."""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from ugraphemb.errors import needs_extra
from ugraphemb.web.settings import Settings

with needs_extra("web"):
    import uvicorn
    from threadpoolctl import threadpool_limits  # type: ignore[import-not-found,import-untyped,unused-ignore]

    from ugraphemb.web.app import create_app
    from ugraphemb.web.service import Service

log = logging.getLogger("ugraphemb.web")
_GRACE = 2  # seconds for requests that are being processed when the server ends
MOLECULES = "molecules"


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    return secrets.token_urlsafe(24)


class _Server(uvicorn.Server):
    """Prints the address once the server listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def run(
    folder: Path, settings: Settings, *, host: str = "127.0.0.1", port: int = 8000, name: str | None = None,
    open_page: bool = False, say: Callable[[str], None] = print,
) -> None:  # fmt: skip
    """Serves an index until SIGTERM or Ctrl-C.

    Args:
        port: 0 takes a free one.
        say: Called with a line that names the address, once the server listens.

    Raises:
        ValueError: An address beyond this machine without a token.
        OSError: The port is taken.
    """
    if not is_local(host) and settings.token is None:
        raise ValueError(f"{host} is an address beyond this machine; others could read the index. Give a --token")
    bound = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    with bound:
        service = Service(folder, settings, name)
        address = f"http://{'[' + host + ']' if ':' in host else host}:{bound.getsockname()[1]}/"
        address += "" if settings.token is None else f"?token={settings.token}"

        def ready() -> None:
            say(f"serving {len(service.collection):,} graphs of {service.name} at {address}  (Ctrl-C ends)")
            threading.Thread(target=_warm_up, args=[service], daemon=True).start()
            if open_page:
                threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

        config = uvicorn.Config(
            create_app(service), log_level="warning", access_log=False, server_header=False,
            limit_concurrency=settings.limits.connections, timeout_graceful_shutdown=_GRACE, timeout_keep_alive=30,
            backlog=1024, ws="none",
        )  # fmt: skip
        log.setLevel(logging.INFO)
        # Requests share the cores; threads of one matrix product would only wait for each other.
        # Also, the thread that answers must not wait five milliseconds for the one that computes.
        sys.setswitchinterval(0.0005)
        # Objects of the libraries and of the index stay. To scan them for garbage takes a quarter of a second,
        # in which every request waits.
        gc.collect()
        gc.freeze()
        with threadpool_limits(1, "blas"):
            _Server(config, ready).run(sockets=[bound])


def _warm_up(service: Service) -> None:
    """One search, so that no client waits for the libraries that the first one imports."""
    try:
        service.searches.warm_up(service.collection)
    except Exception:
        log.exception("a first search failed")
    gc.freeze()  # what was imported stays, too


def bundled_molecules(say: Callable[[str], None] = print) -> Path:
    """The folder of an index of the molecules that come with RDKit; made in some seconds on first use.

    It is in the user's cache folder ($XDG_CACHE_HOME, or ~/.cache).
    """
    import ugraphemb as ug
    from ugraphemb.search.storage import MANIFEST

    folder = cache_folder() / f"molecules-index-{ug.__version__}"
    if (folder / MANIFEST).exists():
        return folder
    say("first start: the pre-trained model embeds 4,999 molecules (some seconds, once)")
    ug.GraphIndex().add(ug.load_dataset(MOLECULES)).save(folder)
    return folder


def cache_folder() -> Path:
    """The folder for files that can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ugraphemb"
