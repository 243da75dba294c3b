"""Pairs on the workers of an executor: threads, processes, and a real Dask cluster on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np
import pytest
from proximity.oracle import random_graph
from proximity.test_store import assert_same

import ugraphemb as ug
from ugraphemb.errors import ClusterError
from ugraphemb.graphs import concatenated
from ugraphemb.proximity import executors, metric_of
from ugraphemb.proximity.executors import Job, Pieces

RANDOM = np.random.default_rng(0)
GRAPHS = concatenated([random_graph(RANDOM, int(n), 0.3, 3).graphs for n in RANDOM.integers(1, 14, 40)])


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(executors, "SECONDS", 0.02)
    monkeypatch.setattr(executors, "_FIRST", 20)


@pytest.mark.parametrize("options", [{"method": "branch"}, {"metric": "mcs"}, {"metric": "sp"}])
def test_threads_and_processes_give_the_same_table(options, small_pieces):
    expected = ug.pairwise(GRAPHS, **options)
    with ThreadPoolExecutor(2) as threads:
        assert_same(ug.pairwise(GRAPHS, executor=threads, **options), expected)
    with ProcessPoolExecutor(2, get_context("forkserver")) as processes:
        assert_same(ug.pairwise(GRAPHS, executor=processes, **options), expected)


def test_costs_that_are_functions_travel_too(small_pieces):
    costs = ug.EditCosts(node_relabel=lambda old, new: 0.5 if old != new else 0.0)
    with ProcessPoolExecutor(2, get_context("forkserver")) as processes:
        table = ug.pairwise(GRAPHS, method="branch", costs=costs, executor=processes)
    np.testing.assert_array_equal(table.lower, ug.pairwise(GRAPHS, method="branch", costs=costs).lower)


def test_the_graphs_travel_once_to_each_process(small_pieces):
    loads = ug.GraphSet.from_edges([3] * 30, [])
    with ProcessPoolExecutor(2, get_context("forkserver")) as processes:
        table = ug.pairwise(
            loads, metric=lambda a, b: id(a.graphs) % 2**40 + os.getpid() * 0, kind="similarity", executor=processes
        )
        pids = ug.pairwise(loads, metric=lambda a, b: os.getpid(), kind="similarity", executor=processes)
    assert len(np.unique(table.value)) <= 2  # one object in each
    assert os.getpid() not in pids.value


def test_results_stream_into_the_store_and_are_found_there(tmp_path, small_pieces):
    with ThreadPoolExecutor(2) as threads:
        table = ug.pairwise(GRAPHS, executor=threads, store=tmp_path)
        assert len(list(tmp_path.glob("*.parquet"))) > 1
    broken = ThreadPoolExecutor(1)
    broken.shutdown()
    assert_same(ug.pairwise(GRAPHS, executor=broken, store=tmp_path), table)  # nothing is left to do
    assert_same(ug.pairwise(GRAPHS, store=tmp_path), table)


def test_a_process_that_dies_is_an_error_and_what_was_finished_is_kept(tmp_path, small_pieces):
    def deadly(a, b):
        if (a.position, b.position) == (20, 21):
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0

    options = {"kind": "distance", "name": "mine", "version": "1", "store": tmp_path}
    with (
        ProcessPoolExecutor(2, get_context("forkserver")) as processes,
        pytest.raises(ClusterError, match="workers died"),
    ):
        ug.pairwise(GRAPHS, metric=deadly, executor=processes, **options)
    kept = len(ug.PairTable.read(tmp_path))
    assert 0 < kept < 780
    whole = ug.pairwise(GRAPHS, metric=lambda a, b: 1.0, threads=1, **options)
    assert len(whole) == 780


def test_an_error_of_the_metric_comes_back(small_pieces):
    with ThreadPoolExecutor(2) as threads, pytest.raises(ug.errors.MetricError, match="ZeroDivisionError"):
        ug.pairwise(GRAPHS, metric=lambda a, b: 1 / 0, kind="distance", executor=threads)


def test_what_is_no_executor_is_refused():
    with pytest.raises(TypeError, match=r"must be a concurrent.futures.Executor"):
        ug.pairwise(GRAPHS, executor=3)


def test_pieces_cover_every_pair_once_and_cost_about_the_same():
    sizes = np.random.default_rng(1).integers(1, 60, 200)
    graphs = ug.GraphSet.from_edges(sizes, [])
    left, right = np.triu_indices(200, 1)
    rows = np.flatnonzero(left % 3 > 0)
    pieces = Pieces(Job(metric_of("ged"), graphs, graphs, None, 1), rows, left, right)
    taken, costs = [], []
    while (part := pieces.take(1)) is not None:
        cost = float((sizes[left[part]] * sizes[right[part]] + 16).sum())
        pieces.learn(part, cost / 1e5)  # so much is done in a second
        taken.append(part)
        costs.append(cost)
    np.testing.assert_array_equal(np.concatenate(taken), rows)
    middle = np.array(costs[5:-1])
    assert len(middle) > 10
    np.testing.assert_allclose(middle, 1e5 * executors.SECONDS, rtol=0.05)


class Foreign(Executor):
    """Runs at once, in the name of another version."""

    def submit(self, function, version, *arguments) -> Future:
        future: Future = Future()
        try:
            future.set_result(function("0.0.9", *arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_worker_refuses_another_version():
    with pytest.raises(ClusterError, match=rf"runs ugraphemb {ug.__version__}, but 0\.0\.9 is asking"):
        ug.pairwise(GRAPHS, executor=Foreign())


# A real cluster


def start(*arguments: str, folder, **environment: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
    quiet = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error", **environment}
    return subprocess.Popen(command, env={**os.environ, **quiet}, cwd=folder, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)  # fmt: skip


def worker(address: str, folder, *more: str) -> subprocess.Popen:
    return start("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1",
                 "--local-directory", str(folder), *more, folder=folder)  # fmt: skip


@contextmanager
def cluster(folder, workers: int = 2) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    pytest.importorskip("distributed")
    file = folder / "scheduler.json"
    processes = [start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file",
                       str(file), folder=folder)]  # fmt: skip
    try:
        end = time.monotonic() + 60
        while not file.exists() or not file.read_text().rstrip().endswith("}"):
            assert processes[0].poll() is None, "the scheduler ended"
            assert time.monotonic() < end, "no scheduler"
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        processes += [worker(address, folder) for _ in range(workers)]
        yield address, processes
    finally:
        for process in reversed(processes):
            process.kill()
        for process in processes:
            process.wait(10)


@pytest.fixture(scope="module")
def dask_cluster(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("dask")) as found:
        yield found


@pytest.fixture
def client(dask_cluster):
    found = executors.client_of(dask_cluster[0])
    found.wait_for_workers(2, timeout=60)
    yield found
    found.close()


dask_warnings = pytest.mark.filterwarnings("ignore")  # its own, of which there are many


@dask_warnings
@pytest.mark.parametrize("options", [{"method": "branch"}, {"metric": "mcs"}])
def test_a_dask_cluster_gives_the_same_table(client, options, tmp_path, small_pieces):
    expected = ug.pairwise(GRAPHS, **options)
    assert_same(ug.pairwise(GRAPHS, executor=client.get_executor(), store=tmp_path, **options), expected)
    assert_same(ug.pairwise(GRAPHS, executor=client, **options), expected)
    assert len(ug.PairTable.read(tmp_path)) == len(expected)


@dask_warnings
def test_the_command_line_uses_a_scheduler(client, dask_cluster, tmp_path):
    ug.write_graphs(GRAPHS, tmp_path / "graphs.jsonl")
    program = "from ugraphemb.cli.main import main; main()"
    command = [sys.executable, "-c", program, "pairs", "graphs.jsonl", "-o", "t.parquet", "--method", "branch",
               "--scheduler", dask_cluster[0], "--store", "kept"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = ug.pairwise(ug.read_graphs(tmp_path / "graphs.jsonl"), method="branch")
    assert_same(ug.PairTable.read(tmp_path / "t.parquet"), expected)
    assert len(ug.PairTable.read(tmp_path / "kept")) == len(expected)


@dask_warnings
def test_a_worker_of_another_version_is_refused_by_name(client, dask_cluster, tmp_path):
    (tmp_path / "older.py").write_text("import ugraphemb\nugraphemb.__version__ = '0.0.9'\n")
    older = worker(dask_cluster[0], tmp_path, "--preload", str(tmp_path / "older.py"))
    try:
        client.wait_for_workers(3, timeout=60)
        with pytest.raises(ClusterError, match=rf"must run ugraphemb {ug.__version__}, but tcp://.* has 0\.0\.9"):
            ug.pairwise(GRAPHS, executor=client)
    finally:
        older.terminate()
        older.wait(20)
        while len(client.nthreads()) > 2:
            time.sleep(0.05)


@dask_warnings
def test_a_worker_that_is_killed_in_the_middle_loses_nothing(client, dask_cluster, tmp_path, small_pieces):
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


def test_nobody_at_the_address_is_a_clear_error():
    with pytest.raises(ClusterError, match=r"tcp://127\.0\.0\.1:9: no Dask scheduler answers"):
        executors.client_of("tcp://127.0.0.1:9", timeout=0.5)
