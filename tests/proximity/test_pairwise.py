"""pairwise(): the same numbers however it is run, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from proximity.oracle import random_graph

import ugraphemb as ug
from ugraphemb import GraphSet, distance, pairwise
from ugraphemb.graphs import concatenated
from ugraphemb.proximity import Interrupted
from ugraphemb.proximity.ged import METHODS
from ugraphemb.proximity.pairwise import positions

RANDOM = np.random.default_rng(0)
GRAPHS = concatenated([random_graph(RANDOM, int(n), 0.3, 3, edge_labels=2).graphs for n in RANDOM.integers(0, 13, 30)])


@pytest.mark.parametrize("method", METHODS)
def test_any_number_of_threads_gives_the_same_numbers(method: str):
    tables = [pairwise(GRAPHS, method=method, threads=threads) for threads in (1, 2, 7)]
    for table in tables[1:]:
        np.testing.assert_array_equal(table.lower, tables[0].lower)
        np.testing.assert_array_equal(table.upper, tables[0].upper)
        np.testing.assert_array_equal(table.proven, tables[0].proven)


@pytest.mark.parametrize("options", [{"method": method} for method in METHODS] + [{"metric": "mcs"}])
def test_many_pairs_at_once_are_each_what_distance_says(options: dict):
    pairs = np.random.default_rng(1).integers(0, len(GRAPHS), (40, 2))
    table = pairwise(GRAPHS, pairs, **options)
    for row, (i, j) in enumerate(pairs):
        single = distance(GRAPHS[i], GRAPHS[j], **options)
        np.testing.assert_equal(
            (table.value[row], table.lower[row], table.upper[row], table.proven[row]),
            (single.value, single.lower, single.upper, single.proven),
        )


@pytest.mark.parametrize("method", METHODS)
def test_pairs_the_other_way_round_have_the_same_distance(method: str):
    there = pairwise(GRAPHS, method=method)
    back = pairwise(GRAPHS, np.column_stack([there.right, there.left]), method=method)
    np.testing.assert_array_equal(there.lower, back.lower)
    np.testing.assert_array_equal(there.upper, back.upper)


def test_all_pairs_are_every_i_below_j_once():
    for size in (0, 1, 2, 7):
        left, right = positions(None, GRAPHS[:size], None)
        expected = [(i, j) for i in range(size) for j in range(i + 1, size)]
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected


def test_two_collections_are_compared_as_if_they_were_one():
    first, second = GRAPHS[:10], GRAPHS[10:25]
    whole = pairwise(GRAPHS, method="exact").matrix()
    table = pairwise(first, second, method="exact")
    np.testing.assert_array_equal(table.matrix(), whole[:10, 10:25])
    some = pairwise(first, [(3, 4), (9, 0)], other=second, method="exact")
    np.testing.assert_array_equal(some.value, [whole[3, 14], whole[9, 10]])


def test_labels_of_two_vocabularies_meet_by_what_they_are():
    first = GraphSet.from_edges([2, 1], [(0, 1)], node_labels=["N", "C", "C"])
    second = GraphSet.from_edges([2, 1], [(0, 1)], node_labels=["A", "C", "N"])
    assert pairwise(first, second, method="exact").matrix().tolist() == [[1, 2], [2, 1]]


def test_wrong_pairs_are_refused_by_row():
    with pytest.raises(IndexError, match=r"pair 1 is \(2, 30\), but positions go from 0 to 29"):
        pairwise(GRAPHS, [(0, 1), (2, 30)])
    with pytest.raises(IndexError, match=r"pair 0 is \(-1, 3\)"):
        pairwise(GRAPHS, [(-1, 3)])
    with pytest.raises(ValueError, match=r"shape \(p, 2\), not int64 of shape \(3,\)"):
        pairwise(GRAPHS, [1, 2, 3])
    with pytest.raises(ValueError, match="not float64"):
        pairwise(GRAPHS, [(0.5, 1.0)])
    with pytest.raises(ValueError, match="threads is -1"):
        pairwise(GRAPHS, threads=-1)
    with pytest.raises(TypeError, match="two second collections"):
        pairwise(GRAPHS, GRAPHS, other=GRAPHS)


def test_no_pairs_give_an_empty_table():
    assert len(pairwise(GRAPHS, [])) == 0
    assert len(pairwise(GRAPHS[:0])) == 0
    assert pairwise(GRAPHS[:0]).matrix().shape == (0, 0)


def test_progress_is_told_to_whom_it_may_concern():
    heard: list[tuple[int, int]] = []
    pairwise(GRAPHS, method="exact", progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (435, 435)
    assert heard == sorted(heard)


def test_an_error_in_the_listener_stops_the_work_and_comes_out():
    hard = hard_graphs()

    def listen(done: int, total: int) -> None:
        raise RuntimeError("enough")

    begin = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        pairwise(hard, method="exact", timeout=20, progress=listen)
    assert time.monotonic() - begin < 10


def hard_graphs() -> GraphSet:
    random = np.random.default_rng(0)
    return concatenated([random_graph(random, 60, 0.5, 1).graphs for _ in range(4)])


def test_a_timeout_holds_for_each_pair():
    begin = time.monotonic()
    table = pairwise(hard_graphs(), method="exact", timeout=0.2, threads=2)
    assert time.monotonic() - begin < 10
    assert not table.proven.any()
    assert (table.lower <= table.upper).all()


INTERRUPTED = """
from proximity.test_pairwise import hard_graphs
from ugraphemb.graphs import concatenated
from ugraphemb.proximity import Interrupted, pairwise
easy = hard_graphs()[:2]
graphs = concatenated([easy, hard_graphs()])
def listen(done, total):
    if done >= 1:
        print("one is done", flush=True)
try:
    # the first pair is a graph and itself, the others are hopeless
    pairwise(graphs, [(0, 0), (0, 3), (1, 2), (2, 3)], method="exact", threads=2, progress=listen)
except Interrupted as stop:
    print("stopped", stop.table.left.tolist(), stop.table.right.tolist(), stop.table.value.tolist(), flush=True)
"""


def test_ctrl_c_inside_a_hard_pair_answers_at_once_and_keeps_what_is_done():
    tests = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": tests}
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "one is done\n"
        begin = processor_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        line = next(line for line in process.stdout if line != "one is done\n")
        taken = processor_seconds(process.pid) - begin
    assert line == "stopped [0] [0] [0.0]\n"
    assert process.returncode == 0
    assert taken < 2 * 0.5  # of two threads; time of the processor, since other programs may use it meanwhile


def processor_seconds(process: int) -> float:
    times = psutil.Process(process).cpu_times()
    return times.user + times.system


def test_a_hard_pair_stalls_nobody():
    graphs = concatenated([hard_graphs(), ug.GraphSet.from_edges([2] * 50, [(2 * i, 2 * i + 1) for i in range(50)])])
    pairs = np.array([(0, 1)] + [(4 + i, 5 + i) for i in range(40)])

    def listen(done: int, total: int) -> None:
        if done == 40:  # all but the first pair, which would take hours
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        pairwise(graphs, pairs, method="exact", threads=2, progress=listen)
    assert stopped.value.table.value.tolist() == [0] * 40
    assert 0 not in stopped.value.table.left


def test_importing_distance_does_not_import_torch():
    script = "import sys, ugraphemb as ug; ug.distance, ug.pairwise; assert 'torch' not in sys.modules, 'torch'"
    subprocess.run([sys.executable, "-c", script], check=True)
