"""SIGKILL of database servers in the middle of insertions and searches: `make torture-engines`.

Run as `python -m engines.kills` with tests/ and benchmarks/ on the path. Each round adds graphs (or searches) from a
thread, kills the server after a random number of batches (or answers) and a short random time, starts it again, and
repeats the `add` (or the search) as a new client. Runs may be split: --into keeps finished rounds in a file, only
missing rounds are run, and --record writes all of them to benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from engines.servers import SERVERS
from search.small_index import graphs, model, queries

from ugraphemb import GraphIndex, GraphSet
from ugraphemb.errors import EngineError
from ugraphemb.search.engines import remote

COUNT, BATCH = 2_000, 100
KINDS = ("insertion", "search")
PATIENCE = 10  # seconds that a client of Milvus waits for a server that does not answer
LATER = 0.02  # seconds from the last batch or answer to the kill, at most


def many(number: int, count: int = COUNT) -> tuple[GraphSet, np.ndarray]:
    """Copies of small graphs with their own ids, and vectors for them."""
    rows = np.arange(count) % len(graphs())
    vectors = model().transform(graphs())[rows] + np.random.default_rng(number).normal(0, 0.01, (count, 8))
    found = replace(graphs()[rows], ids=np.array([f"é{number}-{i}" for i in range(count)]), targets=None)
    return found, vectors.astype(np.float32)


def round_of(kind: str, server: Any, url: str, number: int, after: int, later: float) -> dict[str, Any]:
    """One kill; returns what the client saw, and fails if a graph is missing, stored twice or another one.

    Args:
        url: Address of an index that has the graphs of all rounds before this one.
        number: Number of the round, from 0.
        after: The kill follows this many confirmed batches, or answers.
        later: Seconds from that moment to the kill.
    """
    some, vectors = many(number)
    index = _opened(f"{url}?timeout={PATIENCE}" if url.startswith("milvus:") else url)
    before = len(index)
    assert before % COUNT == 0, before
    if kind == "search" and not before:
        index.add(some, vectors=vectors, progress=False)
        before = COUNT
    expected = _answers(index) if kind == "search" else None
    seen: list[BaseException] = []
    done, steps = threading.Event(), threading.Semaphore(0)
    confirmed = 0

    def stepped() -> None:
        nonlocal confirmed
        confirmed += 1
        steps.release()

    def work() -> None:
        try:
            if kind == "insertion":
                upsert = index.engine.store.upsert
                index.engine.store.upsert = lambda rows: (upsert(rows), stepped())
                index.add(some, vectors=vectors, progress=False)
            else:
                while not done.is_set():
                    index.search(queries()[0])
                    stepped()
        except BaseException as error:
            seen.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(after):
        assert steps.acquire(timeout=300), "the client hangs"
    time.sleep(later)
    server.kill()
    done.set()
    finished = confirmed
    server.start()
    thread.join(300)
    assert not thread.is_alive(), "the client hangs"
    for error in seen:
        assert isinstance(error, EngineError), repr(error)
        assert index.engine.name in str(error), str(error)
    again = _opened(url)
    there = len(again) - before
    if kind == "insertion":
        assert there >= finished * BATCH, (there, finished)
        again.add(some, vectors=vectors, progress=False)
        before += COUNT
        assert again.graphs(some.ids.tolist()) == some
    else:
        assert there == 0, there
        assert _answers(again) == expected
    assert len(again) == before, (len(again), before)
    return {"kind": kind, "confirmed": finished, "there": there, "error": type(seen[0]).__name__ if seen else "none"}


def place(server: Any, name: str) -> str:
    """A new index of the server."""
    url = str(server.url(name))
    GraphIndex(model(), threads=1, engine=url)
    return url


def _opened(url: str) -> GraphIndex:
    """Opens it as a new client, when the server has started; that may take longer than a client waits."""
    end = time.monotonic() + 240
    while True:
        try:
            index = GraphIndex.load(url, threads=1)
            len(index)
            return index
        except EngineError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def _answers(index: GraphIndex) -> list[list[str]]:
    return [[match.id for match in matches] for matches in index.search(queries()[:3], 5)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=list(SERVERS), action="append")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--kills", type=int, default=20, help="number of kills of each kind and engine")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new round after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--into", type=Path, default=Path("build/engine_kills.json"))
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/engine_kills")
    given = parser.parse_args()
    begin = time.monotonic()
    rounds = json.loads(given.into.read_text()) if given.into.exists() else []
    remote.BATCH, remote._TRIES, remote._FIRST_PAUSE = BATCH, 2, 0.05
    for name in given.engine or ():
        missing = [kind for kind in given.kind or KINDS if len(_inside(_own(rounds, name, kind))) < given.kills]
        if not missing or time.monotonic() - begin > given.seconds:
            continue
        server = SERVERS[name][0]()
        try:
            for kind in missing:
                url = place(server, f"kills_{kind}")
                while len(_inside(own := _own(rounds, name, kind))) < given.kills:
                    if time.monotonic() - begin > given.seconds:
                        break
                    i = len(own)
                    chance = random.Random(f"{given.seed} {name} {kind} {i}")
                    started = time.monotonic()
                    after = chance.randint(1, COUNT // BATCH - 4)
                    found = round_of(kind, server, url, i, after, chance.uniform(0.0, LATER))
                    rounds.append({"engine": name, "number": i, **found})
                    given.into.parent.mkdir(exist_ok=True)
                    given.into.write_text(json.dumps(rounds))
                    print(name, i, found, f"{time.monotonic() - started:.1f} s", flush=True)
        finally:
            server.stop()
    if given.record:
        record(rounds)


def _own(rounds: list[dict[str, Any]], name: str, kind: str) -> list[dict[str, Any]]:
    return [found for found in rounds if (found["engine"], found["kind"]) == (name, kind)]


def _inside(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Kills before the end of an insertion; during searches, all kills."""
    return [found for found in rounds if found["kind"] == "search" or found["confirmed"] < COUNT // BATCH]


def record(rounds: list[dict[str, Any]]) -> None:
    from report import Report

    note = (
        "`make torture-engines`. Each insertion sends 2,000 graphs in 20 batches; the server is killed after a random "
        "number of confirmed batches (for searches: of answers) and up to 20 ms more. Then it is started again, and a "
        "new client repeats the `add` or the search. A round fails where a confirmed graph is not there after the "
        "kill, where after the repeat a graph is missing or there twice, or where an error is not ours."
    )
    report = Report("engine_kills", "SIGKILL of database servers", seed=0, note=note)
    rows = []
    for name in SERVERS:
        for kind in KINDS:
            own = _own(rounds, name, kind)
            inside = len(_inside(own))
            rows.append(
                {"engine": name, "killed during": kind, "kills": len(own), "before its end": inside,
                 "clients that got an EngineError": sum(found["error"] == "EngineError" for found in own),
                 "all graphs there once after the repeat": len(own)}
            )  # fmt: skip
            report.check(f"{name}, {kind}: 20 kills", inside >= 20, f"{inside} kills, all graphs there once")
    report.table("Kills", rows)
    for name in SERVERS:
        report.table(
            f"{name}: when each kill during an insertion fell, graphs of {COUNT:,}",
            [{"kill": found["number"] + 1, "confirmed before": found["confirmed"] * BATCH,
              "there after the restart": found["there"], "client got": found["error"]}
             for found in _own(rounds, name, "insertion")],
        )  # fmt: skip
        report.table(
            f"{name}: answers before each kill during searches",
            [{"kill": found["number"] + 1, "answers before": found["confirmed"], "client got": found["error"]}
             for found in _own(rounds, name, "search")],
        )  # fmt: skip
    report.finish()


if __name__ == "__main__":
    main()
