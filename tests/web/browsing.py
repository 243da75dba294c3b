"""A real browser, and real servers of two small collections, for the tests of the page."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.request import urlopen

import networkx as nx
import numpy as np
import pytest
import uvicorn

import ugraphemb as ug
from ugraphemb.errors import GraphWarning
from ugraphemb.web.app import STATIC, create_app
from ugraphemb.web.service import Service
from ugraphemb.web.settings import Settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run")  # fmt: skip
MOLECULES, ATLAS = 300, 150
PATIENCE = 150_000  # milliseconds that anything may take on a busy machine


def browser_path() -> str:
    """Where the browser is. Without one the test is skipped, or fails if UGRAPHEMB_BROWSER is "required"."""
    named = os.environ.get("UGRAPHEMB_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        reason = "no Chromium: apt install chromium, or name one in UGRAPHEMB_CHROMIUM"
        if os.environ.get("UGRAPHEMB_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@contextmanager
def browsing() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = browser_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


@cache
def saved(kind: str) -> Path:
    """The folder of an index, made once: 300 molecules of the National Cancer Institute, or 150 graphs of the atlas."""
    folder = Path(mkdtemp(prefix="ugraphemb-page-")) / kind
    generator = np.random.default_rng(0)
    if kind == "molecules":
        everything = ug.load_dataset("molecules")
        graphs = everything[np.sort(generator.permutation(len(everything))[:MOLECULES])]
        rings = graphs.num_edges - graphs.num_nodes + 1
        metadata: dict[str, Any] = {
            "smiles": graphs.metadata["smiles"].tolist(),
            "rings": np.maximum(rings, 0).tolist(),
            "kind": ["ring" if count > 0 else "chain" for count in rings],
        }
    else:
        atlas = [graph for graph in nx.graph_atlas_g() if len(graph) > 2]
        chosen = [atlas[i] for i in np.sort(generator.permutation(len(atlas))[:ATLAS])]
        chosen[:2] = [nx.cycle_graph(3), nx.path_graph(4)]
        graphs = ug.GraphSet.from_networkx(chosen)
        metadata = {"class": ["connected" if nx.is_connected(graph) else "in parts" for graph in chosen]}
    settings = {"layers": (8,), "scales": (0, 1), "hidden": 8}
    model = ug.UGraphEmb(dimension=8, steps=30, batch=16, settings=settings, threads=1, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)  # rare atoms that the forty do not have
        ug.GraphIndex(model.fit(graphs[:40]), threads=1).add(graphs, metadata=metadata).save(folder)
    return folder


class Server:
    """A server in a thread, which can be stopped and started again at the same address.

    It is ready when its map is; with `early` also while a provisional map is served, and no map is stored.
    """

    def __init__(self, folder: Path, *, early: bool = False) -> None:
        self._folder, self._early = folder, early
        self.port = 0
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        app = create_app(Service(self._folder, Settings(threads=1, keep_map=not self._early), self._folder.name))
        config = uvicorn.Config(app, port=self.port, log_level="warning", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 200
        while not self._server.started:
            assert time.monotonic() < deadline, "the server did not start"
            assert self._thread.is_alive(), "the server ended while it started"
            time.sleep(0.02)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]
        while not self._early and self._map_status() == "computing":
            assert time.monotonic() < deadline, "the map was not computed"
            time.sleep(0.1)

    def _map_status(self) -> str:
        with urlopen(f"{self.address}api/info", timeout=200) as answer:
            return str(json.load(answer)["map"]["status"])

    def stop(self) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._server.should_exit = True
        self._thread.join(120)
        assert not self._thread.is_alive(), "the server did not end"


@cache
def server(kind: str) -> Server:
    assert (STATIC / "index.html").exists(), "the page is not built: run  make page"
    return Server(saved(kind))


class Visit:
    """An open page, with its console errors and its requests."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.address = address
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, rest: str = "") -> Visit:
        self.page.goto(self.address + rest)
        self.page.locator(".surface[data-drawn]").wait_for()
        return self

    def close(self, *, allowed: tuple[str, ...] = ()) -> None:
        """Closes it; it must have sent no request to another host, and no console error without one of `allowed`."""
        self.context.close()
        strange = [url for url in self.requests if not url.startswith((self.address, "data:", "blob:"))]
        assert not strange, f"requests to other hosts: {strange}"
        complaints = [text for text in self.complaints if not any(part in text for part in allowed)]
        assert not complaints, f"errors in the console: {complaints}"

    # Actions of a user

    def place(self, position: int) -> tuple[float, float]:
        """Where on the screen a point of the map is."""
        x, y = self.page.evaluate(f"window.ugraphemb.place({position})")
        box = self.page.locator(".surface").bounding_box()
        return box["x"] + x, box["y"] + y

    def pin(self, position: int) -> None:
        self.page.mouse.click(*self.place(position))

    def ask(self, text: str) -> None:
        self.page.get_by_role("textbox").fill(text)
        self.page.get_by_role("button", name="Search", exact=True).click()

    def prove(self) -> str:
        """Waits until the answer is proven and nothing is at work; what the certificate says.

        Time that runs out on a busy machine is no failure: then it is tried longer, as a user would.
        """
        settled = self.page.locator(".results[aria-busy=false] .certificate:is(.proven, .open)")
        settled.wait_for()
        while "open" in (settled.get_attribute("class") or ""):
            self.page.get_by_role("button", name="Try longer").click()
            settled.wait_for()
        return str(self.page.locator(".certificate .verdict").inner_text())

    def until(self, check: Callable[[], bool], what: str) -> None:
        """Waits until something holds."""
        end = time.monotonic() + PATIENCE / 1000
        while not check():
            assert time.monotonic() < end, what
            self.page.wait_for_timeout(50)

    def settle(self) -> None:
        """Waits until every pin and card has its name."""
        from playwright.sync_api import expect

        unnamed = self.page.locator(".pin-name span, .hover-card strong").filter(has_text="…")
        expect(unnamed).to_have_count(0, timeout=PATIENCE)

    def names(self) -> list[str]:
        return list(self.page.locator(".matches .about strong").all_inner_texts())
