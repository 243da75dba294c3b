"""Proofs on processes of this machine: the answer of one process, also when some are killed or Ctrl-C is pressed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from search.small_index import graphs, index, queries

from ugraphemb import EditCosts, GraphIndex
from ugraphemb.search import distributed


@pytest.fixture(autouse=True)
def small_slices(monkeypatch):
    monkeypatch.setattr(distributed, "_LEAST", 8)
    monkeypatch.setattr(distributed, "_MOST", 8)


def summary(found) -> tuple:
    about = found.certificate
    total = sum(about.removed.values()) + about.found + len(about.undecided)
    return [(match.id, match.distance, match.proven) for match in found], about.proven, about.ordered, total


def test_processes_load_the_saved_index_and_give_the_same_answers(tmp_path):
    made = index(50)
    made.save(tmp_path / "index")
    saved = GraphIndex.load(tmp_path / "index", threads=1)
    for question in ({"k": 5, "complete": True, "budget": None}, {"within": 3, "budget": None}):
        expected = [summary(found) for found in made.search(queries()[:4], **question)]
        assert [summary(found) for found in saved.search(queries()[:4], **question, executor=2)] == expected
        unsaved = index(50)  # its graphs travel
        assert [summary(found) for found in unsaved.search(queries()[:4], **question, executor=2)] == expected


def test_an_index_that_is_gone_from_the_disk_is_still_searched(tmp_path):
    made = index(50)
    made.save(tmp_path / "index")
    (tmp_path / "index").rename(tmp_path / "elsewhere")
    expected = summary(index(50).search(queries()[0], 3, complete=True, budget=None))
    assert summary(made.search(queries()[0], 3, complete=True, budget=None, executor=2)) == expected


def test_workers_keep_what_they_loaded(monkeypatch):
    made, sent = index(50), []
    share = distributed._graphs
    monkeypatch.setattr(distributed, "_graphs", lambda *given: sent.append(given) or share(*given))
    searches = 0
    while searches == 0 or len(sent) > 0:  # seven slices, which each of the two processes needs once
        sent.clear()
        made.search(queries()[1], 3, complete=True, budget=None, executor=2)
        searches += 1
        assert searches < 20
    assert searches > 1


def deadly(path, parent: int):
    """Costs whose first use in another process kills it."""

    def relabel(a, b):
        if os.getpid() != parent and not path.exists():
            path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(a != b)

    return EditCosts(node_relabel=relabel)


@pytest.mark.filterwarnings("ignore:.*worker.*:UserWarning")
def test_a_process_that_is_killed_loses_nothing(tmp_path):
    made = GraphIndex(index(1).model, threads=1, costs=deadly(tmp_path / "died", os.getpid())).add(graphs()[:50])
    expected = summary(made.search(queries()[2], 5, complete=True, budget=None))
    assert not (tmp_path / "died").exists()
    assert summary(made.search(queries()[2], 5, complete=True, budget=None, executor=2)) == expected
    assert (tmp_path / "died").exists()


PROGRAM = """
import os, sys, time
from pathlib import Path

from ugraphemb import EditCosts, GraphIndex
from ugraphemb.search import distributed
from ugraphemb.workers import naming

folder, parent = Path(sys.argv[1]), os.getpid()
distributed._LEAST = distributed._MOST = 8


def slow(a, b):
    if os.getpid() != parent:
        (folder / f"{os.getpid()}.working").touch()
        time.sleep(3600)
    return float(a != b)


saved = GraphIndex.load(folder / "index", threads=1)
graphs = saved.graphs()
index = GraphIndex(saved.model, threads=1, costs=EditCosts(node_relabel=slow)).add(graphs[:50], progress=False)
try:
    index.search(graphs[50], 5, complete=True, budget=3600, executor=2)
except KeyboardInterrupt:
    print("stopped, pools", len(naming._pools), flush=True)
"""


def test_ctrl_c_stops_the_processes(tmp_path):
    index(60).save(tmp_path / "index")
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    working: set[int] = set()
    try:
        while not working and program.poll() is None:
            time.sleep(0.05)
            working = {int(path.stem) for path in tmp_path.glob("*.working")}
        program.send_signal(signal.SIGINT)
        said, complaints = program.communicate(timeout=200)
        working = {int(path.stem) for path in tmp_path.glob("*.working")}
        assert "stopped, pools 0" in said, complaints
        end = time.monotonic() + 60  # killed, and soon gone: they would sleep for an hour
        while any(map(alive, working)) and time.monotonic() < end:
            time.sleep(0.05)
        assert working
        assert not any(map(alive, working))
    finally:
        program.kill()
        program.communicate()
        for one in filter(alive, working):
            os.kill(one, signal.SIGKILL)


def alive(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_workers_are_for_proofs_over_the_database():
    with pytest.raises(ValueError, match="executor is for complete=True and within="):
        index(20).search(queries()[0], verify=True, executor=2)


def test_slices_cover_the_database_once_whatever_was_removed():
    made = index(50).remove(["g3", "g4"]).add(graphs()[50:])
    database = distributed.Database(made._parts)
    slices = distributed.slices_of(database)
    covered = np.concatenate([np.arange(one.start, one.start + one.end - one.begin) for one in slices])
    np.testing.assert_array_equal(covered, np.arange(int(database.starts[-1])))
