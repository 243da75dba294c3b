"""A server from start to end: real sockets, clients that disconnect, an index that changes, signals."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pytest
from web.small_server import copied, molecules, saved, served

from ugraphemb import GraphIndex, GraphSet
from ugraphemb.web import searches
from ugraphemb.web import server as running_server
from ugraphemb.web.map_files import MAP, map_of, map_table, read_map, write_map
from ugraphemb.web.refusals import RefusalError
from ugraphemb.web.service import Service
from ugraphemb.web.settings import Limits, Settings
from ugraphemb.web.work import Batches, Places


def waited(check: object, seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


@contextmanager
def process(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`ugraphemb serve` with its address."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "ugraphemb.cli.main", "serve", str(folder), "--port", "0", *options]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stderr is not None
        said = ""
        while (found := re.search(r"http://\S+", said)) is None:
            line = server.stderr.readline()
            assert line, f"the server ended before it had an address: {said}"
            said += line
        yield server, found[0]
    finally:
        server.kill()
        server.wait()
        if server.stderr is not None:
            server.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_at_once_even_with_open_connections(number: signal.Signals):
    with process(saved("molecules")) as (server, address):
        with httpx.Client(base_url=address) as client:
            assert client.get("/api/health").json() == {"status": "ok"}
            with socket.create_connection(("127.0.0.1", int(address.rstrip("/").rpartition(":")[2]))) as silent:
                silent.sendall(b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n")
                server.send_signal(number)
                server.wait(timeout=120)
        assert server.returncode in (0, 130, -number)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the libraries of a process")
def test_a_server_answers_without_torch_and_its_memory():
    """Its import takes seconds, in which the first page would wait, and its objects make garbage collection slow."""
    started = process(saved("molecules"), "--name", "forty molecules")
    with started as (server, address), httpx.Client(base_url=address, timeout=120) as client:
        info = client.get("/api/info").json()
        assert (info["name"], info["model"]["dimension"]) == ("forty molecules", 8)
        assert len(client.post("/api/search", json={"query": {"smiles": "CCO"}, "k": 3}).json()["matches"]) == 3
        assert client.get("/api/map").status_code == 200
        assert "libtorch" not in Path(f"/proc/{server.pid}/maps").read_text()


def test_the_first_search_finds_everything_imported(monkeypatch: pytest.MonkeyPatch):
    frozen: list[bool] = []
    monkeypatch.setattr(running_server.gc, "freeze", lambda: frozen.append(True))
    with served(saved("molecules")) as client:
        running_server._warm_up(client.service)  # type: ignore[attr-defined]
        monkeypatch.setattr(searches, "answered", lambda *given: 1 / 0)
        running_server._warm_up(client.service)  # type: ignore[attr-defined]
    assert frozen == [True, True]  # a failed one does not end the server


def test_a_changed_index_is_picked_up(tmp_path: Path):
    folder = copied("molecules", tmp_path)
    with served(folder, keep_map=False) as client:
        before = client.get("/api/info").json()
        GraphIndex.load(folder, threads=1).add(GraphSet.from_smiles(["CCOCC"], ids=["new"])).save()
        assert waited(lambda: client.get("/api/info").json()["graphs"] == 43)
        assert client.get("/api/graph", params={"id": "new"}).status_code == 200
        assert client.get("/api/info").json()["state"] != before["state"]


def test_an_empty_index_is_served_and_graphs_that_are_added_appear(tmp_path: Path):
    full = GraphIndex.load(saved("molecules"), threads=1)
    GraphIndex(full.model, threads=1).save(tmp_path)
    with served(tmp_path, keep_map=False) as client:
        assert client.get("/api/info").json()["graphs"] == 0
        assert client.get("/api/map").status_code == 200
        for body in ({"query": {"smiles": "CCO"}}, {"query": {"smiles": "CCO"}, "mode": "complete"}):
            assert client.post("/api/search", json={**body, "k": 3}).json()["matches"] == []
        assert client.get("/api/clusters").status_code < 500
        assert client.post("/api/embed", json={"queries": [{"smiles": "CCO"}]}).status_code == 200
        GraphIndex.load(tmp_path, threads=1).add(GraphSet.from_smiles(["CCOCC"], ids=["new"])).save()
        assert waited(lambda: client.get("/api/info").json()["graphs"] == 1)
        assert client.post("/api/search", json={"query": {"smiles": "CCO"}, "k": 3}).json()["matches"][0]["id"] == "new"


def test_an_index_that_became_unreadable_leaves_the_old_state_served(tmp_path: Path):
    folder = copied("molecules", tmp_path)
    with served(folder, keep_map=False) as client:
        (folder / "index.json").write_text("{}")
        looked(client)
        assert client.get("/api/info").json()["graphs"] == 42
        (folder / "index.json").unlink()
        looked(client)
        assert client.post("/api/search", json={"query": {"id": "m1"}, "k": 1}).json()["matches"][0]["id"] == "m1"


def looked(client: object) -> None:
    """Waits until the server has looked at its folder twice, and once more while it reads what it found."""
    service, looks = client.service, []  # type: ignore[attr-defined]
    look = type(service)._look
    service._look = lambda: looks.append(1) or look(service)
    assert waited(lambda: len(looks) >= 3)


class Slow:
    """Replaces a search by one that takes long and checks for cancellation every 10 ms (the compiled one: 50 ms)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started, self.stopped, self.enough = threading.Event(), threading.Event(), threading.Event()
        monkeypatch.setattr(searches, "_verification", lambda *arguments: lambda: self.work(arguments[-1]))

    def work(self, stop: searches.Stop) -> None:
        self.started.set()
        try:
            while not self.enough.wait(0.01):
                stop.heard(0, 1)
        except searches.StoppedError:
            self.stopped.set()
            raise


@pytest.mark.parametrize("route", ["search", "search/stream"])
def test_a_client_that_goes_away_stops_its_search(route: str, monkeypatch: pytest.MonkeyPatch):
    slow = Slow(monkeypatch)
    body = {"query": {"id": "m1"}, "mode": "complete"}
    with running(saved("molecules")) as address:
        with socket.create_connection(("127.0.0.1", address)) as client:
            data = json.dumps(body).encode()
            head = f"POST /api/{route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            head += f"Content-Length: {len(data)}\r\n\r\n"
            client.sendall(head.encode() + data)
            assert slow.started.wait(60)
        assert slow.stopped.wait(60)  # a tenth of a second on a machine with nothing else to do; else never


@contextmanager
def running(folder: Path) -> Iterator[int]:
    """A server with a real socket, in a thread of this process."""
    import uvicorn

    from ugraphemb.web.app import create_app

    service = Service(folder, Settings(threads=1, keep_map=False))
    server = uvicorn.Server(uvicorn.Config(create_app(service), log_level="error", ws="none"))
    with socket.create_server(("127.0.0.1", 0)) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        assert waited(lambda: server.started)
        try:
            yield bound.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join()


def test_the_compiled_search_stops_when_it_is_told():
    stop = searches.Stop()
    stop.set()
    index = GraphIndex.load(saved("molecules"), threads=1)
    with pytest.raises(searches.StoppedError):
        index.search(molecules()[:1], complete=True, progress=stop.heard)


def test_too_many_at_once_are_told_to_come_again():
    async def play() -> None:
        places, gate = Places(1, 1, "few"), threading.Event()
        first = asyncio.create_task(places.run(gate.wait))
        second = asyncio.create_task(places.run(gate.wait))
        await asyncio.sleep(0.01)
        with pytest.raises(RefusalError, match="too many"):
            await places.run(gate.wait)
        gate.set()
        assert await asyncio.gather(first, second) == [True, True]
        assert await places.run(lambda: 3) == 3
        places.close()

    asyncio.run(play())


def test_calls_that_come_together_are_one_batch_and_fail_alone():
    sizes: list[int] = []

    def work(items: list[int]) -> list[int | Exception]:
        sizes.append(len(items))
        return [ValueError(item) if item == 3 else item * item for item in items]

    async def play() -> list[object]:
        places = Places(1, 8, "batches")
        batches: Batches[int, int] = Batches(work, places, most=4, waiting=50)  # type: ignore[arg-type]
        found = await asyncio.gather(*(batches.one(i) for i in range(10)), return_exceptions=True)
        places.close()
        return list(found)

    found = asyncio.run(play())
    assert isinstance(found.pop(3), ValueError)
    assert found == [i * i for i in range(10) if i != 3]
    assert max(sizes) == 4


def test_a_busy_server_answers_429_with_a_time_to_come_again(monkeypatch: pytest.MonkeyPatch):
    slow = Slow(monkeypatch)
    with served(saved("molecules"), limits=Limits(searches=1, waiting=0), keep_map=False) as client:
        body = {"query": {"id": "m1"}, "mode": "complete"}
        stop = threading.Thread(target=lambda: client.post("/api/search", json=body), daemon=True)
        stop.start()
        assert slow.started.wait(60)
        busy = client.post("/api/search", json=body)
        assert (busy.status_code, busy.json()["error"]["code"], busy.headers["retry-after"]) == (429, "busy", "1")
        assert client.get("/api/health").status_code == 200
        slow.enough.set()
        stop.join(60)


@pytest.fixture
def mapped(tmp_path: Path) -> Path:
    """An index whose server has stored its map."""
    folder = copied("molecules", tmp_path)
    with served(folder) as client:
        assert waited(lambda: client.get("/api/info").json()["map"]["status"] == "ready")
    return folder


def collection(folder: Path) -> object:
    return Service(folder, Settings(threads=1, keep_map=False)).collection


def places(folder: Path) -> np.ndarray:
    return collection(folder).map.coordinates  # type: ignore[attr-defined]


def test_the_map_is_computed_once(mapped: Path, monkeypatch: pytest.MonkeyPatch):
    stored = read_map(mapped)
    assert stored is not None
    monkeypatch.setattr("ugraphemb.web.service.fit_large_map", lambda *_, **__: pytest.fail("computed again"))
    np.testing.assert_array_equal(places(mapped)[:, 0], stored["x"].to_numpy())


def test_new_graphs_are_placed_and_old_ones_stay(mapped: Path):
    before = places(mapped)
    index = GraphIndex.load(mapped, threads=1).add(GraphSet.from_smiles(["CCO", "CCOCC"], ids=["copy", "new"]))
    index.remove("m5").save()
    after = places(mapped)
    np.testing.assert_array_equal(after[:-2], np.delete(before, 5, axis=0))
    ethanol = [str(text) for text in molecules().metadata["smiles"]].index("CCO")
    np.testing.assert_allclose(after[-2], before[ethanol], atol=1e-4)
    assert np.isfinite(after).all()


def test_a_graph_replaced_under_its_id_is_a_new_graph(mapped: Path):
    old = read_map(mapped)
    GraphIndex.load(mapped, threads=1).add(GraphSet.from_smiles(["SSSSS"], ids=["m0"]), replace=True).save()
    found = collection(mapped)
    row = found.position_of("m0")  # type: ignore[attr-defined]
    placed = map_of(old, found)  # type: ignore[arg-type]
    assert placed is not None
    assert row not in placed.reference.tolist()


def test_a_map_of_mostly_other_graphs_is_not_used(mapped: Path):
    table = read_map(mapped)
    assert table is not None
    names = pa.array([f"other{i}" for i in range(len(table))])
    assert map_of(table.set_column(0, "id", names), collection(mapped)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("place", [0, 20, 60, -40])
def test_a_damaged_map_is_noticed_and_computed_again(mapped: Path, place: int):
    data = bytearray((mapped / MAP).read_bytes())
    data[place] ^= 4
    (mapped / MAP).write_bytes(bytes(data))
    with served(mapped) as client:
        assert waited(lambda: client.get("/api/info").json()["map"]["status"] == "ready")
    assert read_map(mapped) is not None


def test_what_is_written_reads_back(tmp_path: Path, mapped: Path):
    found = collection(mapped)
    table = map_table(found, found.map)  # type: ignore[attr-defined,arg-type]
    (tmp_path / "other").mkdir()
    write_map(tmp_path / "other", table)
    assert read_map(tmp_path / "other").equals(table)  # type: ignore[union-attr]
    assert read_map(tmp_path) is None
