"""Pairs on the workers of an executor: threads and processes; for a Dask cluster see workers/test_dask.py."""

from __future__ import annotations

import os
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
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
    assert_same(ug.pairwise(GRAPHS, executor=2, **options), expected)


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


def test_a_process_of_ours_that_dies_loses_nothing(tmp_path, small_pieces):
    def deadly_once(a, b):
        if (a.position, b.position) == (20, 21) and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return a.position * 1000 + b.position

    table = ug.pairwise(GRAPHS, metric=deadly_once, kind="distance", executor=2)
    assert (tmp_path / "died").exists()
    np.testing.assert_array_equal(table.value, table.left * 1000 + table.right)


def test_an_error_of_the_metric_comes_back(small_pieces):
    with ThreadPoolExecutor(2) as threads, pytest.raises(ug.errors.MetricError, match="ZeroDivisionError"):
        ug.pairwise(GRAPHS, metric=lambda a, b: 1 / 0, kind="distance", executor=threads)


def test_what_is_no_executor_is_refused():
    with pytest.raises(TypeError, match=r"executor is a float; it must be a number of processes"):
        ug.pairwise(GRAPHS, executor=3.5)
    with pytest.raises(ValueError, match=r"executor is 0; a number of processes must be at least 1"):
        ug.pairwise(GRAPHS, executor=0)


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
