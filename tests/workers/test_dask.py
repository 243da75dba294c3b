"""Pairs, vectors and proofs on a real Dask cluster, with workers that are killed."""

from __future__ import annotations

import _thread
import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from bulk.test_embedding import vectors_in
from proximity.oracle import random_graph
from proximity.test_executors import GRAPHS, RANDOM
from proximity.test_store import assert_same
from search.small_index import graphs, index, model, queries
from workers.cluster import cluster, worker
from workers.test_search import deadly, summary

import ugraphemb as ug
from ugraphemb import GraphIndex
from ugraphemb.bulk import pieces
from ugraphemb.errors import ClusterError
from ugraphemb.graphs import concatenated
from ugraphemb.proximity import executors
from ugraphemb.search import distributed
from ugraphemb.workers import client_of, shared

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, of which there are many
PROGRAM = "from ugraphemb.cli.main import main; main()"


@pytest.fixture(scope="module")
def dask_cluster(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("dask")) as found:
        yield found


@pytest.fixture
def client(dask_cluster):
    found = client_of(dask_cluster[0])
    found.wait_for_workers(2, timeout=200)
    yield found
    found.close()


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(executors, "SECONDS", 0.02)
    monkeypatch.setattr(executors, "_FIRST", 20)


def run(folder, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_dask_cluster_gives_the_same_table(client, dask_cluster, tmp_path, small_pieces):
    expected = ug.pairwise(GRAPHS, method="branch")
    assert_same(ug.pairwise(GRAPHS, executor=client.get_executor(), store=tmp_path, method="branch"), expected)
    assert_same(ug.pairwise(GRAPHS, executor=dask_cluster[0], method="branch"), expected)  # by its address
    assert_same(ug.pairwise(GRAPHS, executor=client, metric="mcs"), ug.pairwise(GRAPHS, metric="mcs"))
    assert len(ug.PairTable.read(tmp_path)) == len(expected)


def test_the_command_line_uses_a_scheduler(client, dask_cluster, tmp_path):
    ug.write_graphs(GRAPHS, tmp_path / "graphs.jsonl")
    run(tmp_path, "pairs", "graphs.jsonl", "-o", "t.parquet", "--method", "branch", "--scheduler", dask_cluster[0],
        "--store", "kept")  # fmt: skip
    expected = ug.pairwise(ug.read_graphs(tmp_path / "graphs.jsonl"), method="branch")
    assert_same(ug.PairTable.read(tmp_path / "t.parquet"), expected)
    assert len(ug.PairTable.read(tmp_path / "kept")) == len(expected)


def test_a_worker_of_another_version_is_refused_by_name(client, dask_cluster, tmp_path):
    (tmp_path / "older.py").write_text("import ugraphemb\nugraphemb.__version__ = '0.0.9'\n")
    older = worker(dask_cluster[0], tmp_path, "--preload", str(tmp_path / "older.py"))
    try:
        client.wait_for_workers(3, timeout=200)
        with pytest.raises(ClusterError, match=rf"must run ugraphemb {ug.__version__}, but tcp://.* has 0\.0\.9"):
            ug.pairwise(GRAPHS, executor=client)
    finally:
        older.terminate()
        older.wait(120)
        while len(client.nthreads()) > 2:
            time.sleep(0.05)


def test_a_worker_that_is_killed_in_the_middle_loses_no_pairs(client, dask_cluster, tmp_path, small_pieces):
    def slow(a, b):
        time.sleep(0.002)
        return a.position * 1000 + b.position

    address, processes = dask_cluster
    killed = []

    def watch(done: int, total: int) -> None:
        if done > 100 and not killed:
            processes[-1].kill()
            killed.append(done)

    table = ug.pairwise(GRAPHS, metric=slow, kind="distance", executor=client, store=tmp_path, progress=watch)
    processes.append(worker(address, tmp_path))
    assert killed
    assert killed[0] < 780
    np.testing.assert_array_equal(table.value, table.left * 1000 + table.right)
    assert len(ug.PairTable.read(tmp_path)) == 780


def test_a_dask_cluster_gives_the_same_vectors(client, dask_cluster):
    expected = model().transform(graphs())
    np.testing.assert_allclose(model().transform(graphs(), executor=client), expected, atol=1e-5)
    np.testing.assert_allclose(model().transform(graphs(), executor=dask_cluster[0]), expected, atol=1e-5)


def test_files_are_embedded_on_a_cluster_also_when_a_worker_is_killed(client, dask_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "_SMALL", 0)
    address, processes = dask_cluster
    ug.write_graphs(graphs(), tmp_path / "some.jsonl")
    killed = []

    def watch(done: int, total: int) -> None:
        if not killed:
            processes[-1].kill()
            killed.append((done, total))

    done = ug.embed_files(tmp_path / "some.jsonl", tmp_path / "out", model(), executor=client, rows=2, progress=watch)
    (tmp_path / "elsewhere").mkdir()
    processes.append(worker(address, tmp_path / "elsewhere"))
    assert killed[0][0] < killed[0][1]
    assert (done.graphs, done.partitions) == (60, len(list((tmp_path / "out").glob("*.parquet"))))
    found = vectors_in(tmp_path / "out")
    assert list(found) == graphs().ids.tolist()
    np.testing.assert_allclose(np.array([*found.values()]), model().transform(graphs()), atol=1e-5)
    model().save(tmp_path / "model")
    told = run(tmp_path, "embed", "model", "some.jsonl", "-o", "again", "--rows", "20", "--scheduler", address)
    assert "60 vectors in" in told
    assert list(vectors_in(tmp_path / "again")) == graphs().ids.tolist()


@pytest.fixture
def small_slices(monkeypatch):
    monkeypatch.setattr(distributed, "_LEAST", 8)
    monkeypatch.setattr(distributed, "_MOST", 8)


def test_a_dask_cluster_proves_what_one_machine_proves(client, dask_cluster, tmp_path, small_slices):
    made = index(50)
    expected = [summary(found) for found in made.search(queries()[:3], 5, complete=True, budget=None)]
    assert [
        summary(found) for found in made.search(queries()[:3], 5, complete=True, budget=None, executor=client)
    ] == expected
    made.save(tmp_path / "index")
    assert [
        summary(found) for found in made.search(queries()[:3], 5, complete=True, budget=None, executor=client)
    ] == expected
    ug.write_graphs(queries()[:1], tmp_path / "query.jsonl")
    answer = run(
        tmp_path,
        "search",
        "index",
        "query.jsonl",
        "--within",
        "3",
        "--budget",
        "240",
        "--json",
        "--scheduler",
        dask_cluster[0],
    )
    found = made.search(queries()[0], within=3, budget=None)
    shown = json.loads(answer)
    assert [(match["id"], match["distance"]) for match in shown["matches"]] == [(m.id, m.distance) for m in found]
    assert sum(shown["certificate"]["removed"].values()) == sum(found.certificate.removed.values())


def test_a_worker_that_is_killed_in_the_middle_loses_no_proof(client, dask_cluster, tmp_path, small_slices):
    address, processes = dask_cluster
    made = GraphIndex(index(1).model, threads=1, costs=deadly(tmp_path / "died", os.getpid())).add(graphs()[:50])
    expected = summary(made.search(queries()[2], 5, complete=True, budget=None))
    assert summary(made.search(queries()[2], 5, complete=True, budget=None, executor=client)) == expected
    assert (tmp_path / "died").exists()
    processes.append(worker(address, tmp_path))


def test_ctrl_c_frees_the_workers_of_a_cluster(client, monkeypatch, small_slices):
    monkeypatch.setattr(distributed, "_ROUNDS", (float("inf"),))
    hard = concatenated([random_graph(RANDOM, 26, 0.3, 1).graphs for _ in range(20)])  # hours for each pair
    made = GraphIndex(index(1).model, threads=1).add(hard[1:], vectors=np.zeros((19, 8)))

    def press() -> None:
        while not any(client.processing().values()):
            time.sleep(0.05)
        _thread.interrupt_main()

    threading.Thread(target=press, daemon=True).start()
    monkeypatch.setattr(distributed, "find", lambda *given, **options: pytest.fail("no shortlist"))
    with pytest.raises(KeyboardInterrupt):
        made.search(hard[0], within=60, budget=None, executor=client)
    places = list(client.nthreads())
    futures = [client.submit(os.getpid, workers=[place], pure=False) for place in places]
    assert len({future.result(timeout=120) for future in futures}) == len(places)


def test_what_is_shared_is_sent_again_when_a_worker_dies_meanwhile(monkeypatch):
    monkeypatch.setattr(shared, "_PAUSE", 0.0)
    calls = []

    class Client:
        def scatter(self, value, **options):
            calls.append(value)
            if len(calls) < limit:
                raise OSError("Stream is closed")
            return "there"

    limit = 3
    assert (shared.Shared("some", Client(), False, True).handle, len(calls)) == ("there", 3)
    limit = 1000
    with pytest.raises(ClusterError, match=r"nothing can be sent to the workers \(Stream is closed"):
        shared.Shared("some", Client(), False, True)


def test_nobody_at_the_address_is_a_clear_error():
    with pytest.raises(ClusterError, match=r"tcp://127\.0\.0\.1:9: no Dask scheduler answers"):
        client_of("tcp://127.0.0.1:9", timeout=0.5)
