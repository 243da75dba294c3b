"""`ugraphemb serve` under load: 32 clients at once search 4,999 molecules by vectors for a minute, over loopback.

python benchmarks/bench_serve.py
python benchmarks/bench_serve.py --index out/index --seconds 10 --no-write

Clients send the next query as soon as they have the answer to the last one, and share the machine with the server.
Without --index, the index of `ugraphemb serve molecules` is used; it is made first if it does not exist.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from report import Report, parser

import ugraphemb as ug
from ugraphemb.web.server import bundled_molecules

CLIENTS = 32
WARM_UP = 3.0  # seconds before memory is measured first
PLACED = 20


def request(path: str, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
    )
    return head.encode() + b"\r\n" + data


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head[9:12])
    length = int(re.search(rb"content-length: (\d+)", head.lower())[1])  # type: ignore[index]
    return status, await reader.readexactly(length)


async def client(port: int, bodies: list[bytes], end: float, times: list[float], wrong: list[int], first: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    turn = first
    while time.perf_counter() < end:
        begin = time.perf_counter()
        writer.write(bodies[turn % len(bodies)])
        status, content = await answer(reader)
        times.append(time.perf_counter() - begin)
        if status != 200 or b'"matches":[{' not in content:
            wrong.append(status)
        turn += 7
    writer.close()


async def load(
    port: int, bodies: list[bytes], seconds: float, memory: list[float], pid: int
) -> tuple[list[float], list[int]]:
    times: list[float] = []
    wrong: list[int] = []
    end = time.perf_counter() + seconds

    async def watch() -> None:
        server = psutil.Process(pid)
        await asyncio.sleep(min(WARM_UP, seconds / 3))
        while time.perf_counter() < end:
            memory.append(server.memory_info().rss / 2**20)
            await asyncio.sleep(1.0)

    await asyncio.gather(watch(), *(client(port, bodies, end, times, wrong, 101 * i) for i in range(CLIENTS)))
    return times, wrong


def row(name: str, times: list[float], seconds: float, wrong: int) -> dict[str, Any]:
    p50, p95, p99 = 1e3 * np.percentile(times, [50, 95, 99])
    return {"requests": name, "clients": CLIENTS, "per second": len(times) / seconds, "p50 ms": p50, "p95 ms": p95,
            "p99 ms": p99, "max ms": 1e3 * max(times), "errors": wrong}  # fmt: skip


def started(index: Path) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "ugraphemb.cli.main", "serve", str(index), "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    for line in server.stderr:
        found = re.search(r"http://127.0.0.1:(\d+)/", line)
        if found:
            return server, int(found[1])
    sys.exit("the server did not start")


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--index", type=Path, help="folder of an index of molecules")
    options.add_argument("--seconds", type=float, default=60.0)
    given = options.parse_args()
    index = given.index or bundled_molecules()
    molecules = ug.load_dataset("molecules")
    smiles = [str(text) for text in molecules.metadata["smiles"][:2_000]]
    report = Report("serve", "Load on ugraphemb serve: 4,999 molecules, loopback", seed=0)
    server, port = started(index)
    try:
        alone = httpx.Client(base_url=f"http://127.0.0.1:{port}/api", timeout=120)
        while alone.get("/info").json()["map"]["status"] == "computing":
            time.sleep(0.5)
        rows, memory = [], []
        bodies = [request("/api/search", {"query": {"smiles": text}, "k": 10}) for text in smiles]
        asyncio.run(load(port, bodies, 1.0, [], server.pid))
        before = sum(psutil.Process(server.pid).cpu_times()[:2])
        times, wrong = asyncio.run(load(port, bodies, given.seconds, memory, server.pid))
        spent = sum(psutil.Process(server.pid).cpu_times()[:2]) - before
        rows.append(row("search by vectors, with the place on the map", times, given.seconds, len(wrong)))
        place = []
        for text in smiles[:PLACED]:
            begin = time.perf_counter()
            alone.post("/embed", json={"queries": [{"smiles": text}]}).raise_for_status()
            place.append(time.perf_counter() - begin)
    finally:
        server.terminate()
        code = server.wait(timeout=20)
    rows[0]["CPU ms each"] = 1e3 * spent / len(times)
    report.table("Milliseconds of a request; CPU of the server", rows)
    busy = "other programs ran" if os.getloadavg()[0] > 4 else "no other programs ran"
    report.table("Machine", [{"load average at the end": os.getloadavg()[0], "meaning": busy}])
    growth = memory[-1] - memory[0]
    report.table("Memory of the server, MiB", [{"after warming up": memory[0], "at the end": memory[-1],
                                                "largest": max(memory)}])  # fmt: skip
    report.check("no errors", not wrong, f"{len(wrong)} of {len(times):,}")
    report.check("p95 of search by vectors at most 100 ms", rows[0]["p95 ms"] <= 100, f"{rows[0]['p95 ms']:.1f} ms")
    report.check("memory steady: grows by less than 5 %", growth < 0.05 * memory[0], f"{growth:+.1f} MiB")
    slowest = 1e3 * float(np.median(place))
    report.check("a new graph is placed on the map in 100 ms", slowest <= 100, f"{slowest:.1f} ms, embedding included")
    report.check("SIGTERM ends the server", code in (0, -15), f"exit code {code}")
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
