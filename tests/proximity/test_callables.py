"""Metrics of the user's own."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from proximity.oracle import random_graph, sizes_apart

import ugraphemb as ug
from ugraphemb.errors import MetricError
from ugraphemb.graphs import concatenated
from ugraphemb.proximity import metric_of

RANDOM = np.random.default_rng(0)
GRAPHS = concatenated([random_graph(RANDOM, int(n), 0.3, 3).graphs for n in RANDOM.integers(1, 9, 12)])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_function_gives_the_values_of_the_table_however_it_is_run(threads):
    table = ug.pairwise(GRAPHS, metric=sizes_apart, kind="distance", threads=threads)
    sizes = GRAPHS.num_nodes
    np.testing.assert_array_equal(table.value, abs(sizes[table.left] - sizes[table.right]))
    assert (table.metric, table.kind, table.symmetric) == ("sizes_apart", "distance", True)


def test_functions_without_a_home_run_in_processes_too():
    shift = 7
    table = ug.pairwise(
        GRAPHS[:4], metric=lambda a, b: os.getpid() * 0 + shift - a.num_edges, kind="similarity", ordered=True,
        name="mine", threads=2,
    )  # fmt: skip
    np.testing.assert_array_equal(table.value, shift - GRAPHS.num_edges[table.left])
    assert (table.metric, table.symmetric) == ("mine", False)


def test_processes_are_others_than_this_one():
    table = ug.pairwise(GRAPHS[:5], metric=lambda a, b: os.getpid(), kind="similarity", threads=2)
    assert os.getpid() not in table.value


def test_one_pair_is_called_with_the_two_graphs():
    answer = ug.distance(GRAPHS[3], GRAPHS[4], metric=sizes_apart, kind="distance")
    assert (answer.value, answer.kind) == (sizes_apart(GRAPHS[3], GRAPHS[4]), "distance")


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_names_the_pair_and_the_place(threads):
    def picky(a, b):
        if (a.id, b.id) == ("2", "5"):
            raise KeyError("no such label")
        return 1.0

    graphs = ug.GraphSet.from_edges([1] * 6, [])
    with pytest.raises(MetricError, match=r"'picky' of graphs 2 \(2\) and 5 \(5\): KeyError: 'no such label' .*:\d+"):
        ug.pairwise(graphs, metric=picky, kind="distance", threads=threads)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(float("nan"), "similarity"), (-1, "distance"), ("x", "distance"), (None, "distance")],
)
def test_answers_that_are_no_proximity_are_refused(answer, kind):
    with pytest.raises(MetricError, match="must be"):
        ug.pairwise(GRAPHS[:3], metric=lambda a, b: answer, kind=kind, threads=1)


def test_the_kind_must_be_said_and_other_options_are_refused():
    with pytest.raises(TypeError, match="kind='distance' or kind='similarity'"):
        ug.pairwise(GRAPHS, metric=sizes_apart)
    with pytest.raises(TypeError, match="no option 'method'"):
        ug.pairwise(GRAPHS, metric=sizes_apart, kind="distance", method="tight")
    with pytest.raises(ValueError, match="'distance' or 'similarity'"):
        metric_of(sizes_apart, kind="nearness")
    with pytest.raises(TypeError, match="must be a name, a Metric or a function"):
        metric_of(3)


def test_a_metric_of_a_local_function_can_be_pickled():
    factor = 3
    copy = pickle.loads(pickle.dumps(metric_of(lambda a, b: factor, kind="similarity", name="three")))
    assert (copy.function(None, None), copy.kind, copy.name) == (3, "similarity", "three")


def test_ctrl_c_stops_a_slow_function_and_keeps_what_was_finished():
    script = """
import time
import ugraphemb as ug
graphs = ug.GraphSet.from_edges([1] * 30, [])
def slow(a, b):
    time.sleep(0.05)
    return 1.0
try:
    ug.pairwise(graphs, metric=slow, kind="distance", threads=2, progress=lambda done, all: print(done, flush=True))
except KeyboardInterrupt as stop:
    print("kept", len(stop.table), flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if int(line) > 0:
                break
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        last = process.stdout.read().splitlines()[-1].split()
        assert process.wait(30) == 0
        assert time.monotonic() - begin < 20
    assert last[0] == "kept"
    assert 0 < int(last[1]) < 435
