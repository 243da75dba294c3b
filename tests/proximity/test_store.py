"""Tables that grow on disk: kills, damaged files, full disks, and more pairs later."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from proximity.oracle import random_graph

import ugraphemb as ug
from ugraphemb.errors import GraphWarning, StorageError, TableError
from ugraphemb.files import system
from ugraphemb.graphs import concatenated
from ugraphemb.proximity import executors, store
from ugraphemb.proximity.plans import planned_pairs
from ugraphemb.proximity.table_files import header_of

RANDOM = np.random.default_rng(0)
GRAPHS = concatenated([random_graph(RANDOM, int(n), 0.3, 3).graphs for n in RANDOM.integers(1, 12, 40)])


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(executors, "SECONDS", 1e9)  # so that sizes follow from the other two
    monkeypatch.setattr(executors, "_FIRST", 50)
    monkeypatch.setattr(executors, "_GROWTH", 1)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def assert_same(table: ug.PairTable, expected: ug.PairTable) -> None:
    for name in ("left", "right", "lower", "upper", "proven"):
        np.testing.assert_array_equal(getattr(table, name), getattr(expected, name))
    assert header_of(table) == header_of(expected)


def never(a, b):
    raise AssertionError("computed again")


@pytest.mark.parametrize("options", [{}, {"method": "branch"}, {"metric": "mcs"}, {"metric": "wl"}])
def test_a_store_gives_the_same_table_at_once_and_again(tmp_path, options, small_pieces):
    expected = ug.pairwise(GRAPHS, **options)
    assert_same(ug.pairwise(GRAPHS, store=tmp_path / "s", **options), expected)
    assert len(files(tmp_path / "s")) > 1
    assert_same(ug.pairwise(GRAPHS, store=tmp_path / "s", **options), expected)
    read = ug.PairTable.read(tmp_path / "s", GRAPHS)
    assert_same(read.where(np.lexsort((read.right, read.left))), expected)


def test_what_is_there_is_not_computed_again(tmp_path, small_pieces):
    calls = []

    def logged(a, b):
        calls.append((a.position, b.position))
        return len(calls)

    options = {"metric": logged, "kind": "distance", "name": "mine", "version": "1", "threads": 1, "store": tmp_path}
    pairs = planned_pairs(len(GRAPHS), "random", budget=200, seed=5)
    first = ug.pairwise(GRAPHS, pairs, **options)
    more = ug.pairwise(GRAPHS, planned_pairs(len(GRAPHS), "random", budget=500, seed=5), **options)
    assert len(calls) == len(set(calls)) == 500
    np.testing.assert_array_equal(more.value[:200], first.value)
    turned = ug.pairwise(GRAPHS, pairs[::-1, ::-1], **{**options, "metric": never})
    np.testing.assert_array_equal(turned.value, first.value[::-1])  # the order of the two makes no difference


def test_where_order_matters_both_ways_are_kept_apart(tmp_path):
    options = {"metric": lambda a, b: a.position, "kind": "distance", "name": "mine", "ordered": True, "threads": 1}
    ug.pairwise(GRAPHS, [(1, 2)], store=tmp_path, **options)
    assert ug.pairwise(GRAPHS, [(2, 1), (1, 2)], store=tmp_path, **options).value.tolist() == [2, 1]


def test_two_collections_have_a_store_too(tmp_path):
    table = ug.pairwise(GRAPHS[:5], GRAPHS[5:9], store=tmp_path)
    assert_same(ug.pairwise(GRAPHS[:5], GRAPHS[5:9], store=tmp_path), table)
    assert_same(ug.PairTable.read(tmp_path, GRAPHS[:5], GRAPHS[5:9]), table)
    with pytest.raises(TableError, match="other graphs"):
        ug.pairwise(GRAPHS[:5], GRAPHS[5:10], store=tmp_path)


SCRIPT = """
import os, sys, time
import numpy as np
import ugraphemb as ug
from ugraphemb.proximity import executors
executors.SECONDS, executors._FIRST, executors._GROWTH = 0.03, 20, 2
graphs = ug.GraphSet.from_edges(np.arange(60) % 7 + 1, [])
log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
left = int(sys.argv[3])  # after so many calls it waits for its end
def slow(a, b):
    global left
    os.write(log, b"%d %d\\n" % (a.position, b.position))
    left -= 1
    time.sleep(0.0005 if left else 3600)
    return a.position * 1000 + b.position
print("go", flush=True)
ug.pairwise(graphs, metric=slow, kind="distance", version="1", threads=1, store=sys.argv[1])
"""


def calls_of(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def test_a_kill_at_any_moment_loses_nothing_that_was_finished(tmp_path):
    folder, log = tmp_path / "s", tmp_path / "log"
    chance = random.Random(1)
    kills = 0
    while True:
        kept = ug.PairTable.read(folder) if (folder / "manifest.json").exists() else None
        before = len(calls_of(log))
        calls = "200" if kills < 6 else "-1"
        with subprocess.Popen([sys.executable, "-c", SCRIPT, folder, log, calls], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"go\n"
            if kills < 6:
                time.sleep(chance.uniform(0, 0.4))
                process.kill()
            ended = process.wait(120)
        again = set(calls_of(log)[before:])
        if kept is not None:  # nothing of what was finished was computed again
            assert not again & {f"{i} {j}" for i, j in zip(kept.left, kept.right, strict=True)}
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        kills += 1
    table = ug.PairTable.read(folder)
    assert len(table) == 60 * 59 // 2
    np.testing.assert_array_equal(table.value, table.left * 1000 + table.right)
    assert kills == 6
    assert not list(folder.glob(".*"))


def test_ctrl_c_keeps_what_was_finished(tmp_path):
    folder, log = tmp_path / "s", tmp_path / "log"
    script = SCRIPT.replace("0.03, 20, 2", "100, 10**6, 2")  # all in one piece
    with subprocess.Popen(
        [sys.executable, "-c", script, folder, log, "50"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        while len(calls_of(log)) < 50 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) != 0
    assert len(calls_of(log)) - 1 <= len(ug.PairTable.read(folder)) <= len(calls_of(log))


@pytest.mark.parametrize("damage", ["cut", "empty", "flip"])
def test_a_torn_file_is_noticed_and_its_pairs_are_done_again(tmp_path, small_pieces, damage):
    expected = ug.pairwise(GRAPHS, store=tmp_path)
    damaged = files(tmp_path)[1]
    content = bytearray(damaged.read_bytes())
    rows = 50
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "empty":
        content = bytearray()
    else:
        content[40] ^= 1
    damaged.write_bytes(content)
    with pytest.warns(GraphWarning, match=f"{damaged.name}: damaged; its pairs are left out"):
        assert len(ug.PairTable.read(tmp_path)) == len(expected) - rows
    with pytest.warns(GraphWarning, match=f"{damaged.name}: damaged; put aside, and its pairs are computed again"):
        assert_same(ug.pairwise(GRAPHS, store=tmp_path), expected)
    assert len(ug.PairTable.read(tmp_path)) == len(expected)


def test_a_store_of_something_else_is_refused(tmp_path):
    ug.pairwise(GRAPHS, planned_pairs(len(GRAPHS), "random", budget=5), store=tmp_path, method="branch", timeout=1)
    with pytest.raises(TableError, match="another settings"):
        ug.pairwise(GRAPHS, store=tmp_path, method="hed", timeout=1)
    with pytest.raises(TableError, match="another timeout: 1 there, 2 here"):
        ug.pairwise(GRAPHS, store=tmp_path, method="branch", timeout=2)
    with pytest.raises(TableError, match=r"another kind|another metric"):
        ug.pairwise(GRAPHS, store=tmp_path, metric="mcs", timeout=1)
    with pytest.raises(TableError, match="other graphs"):
        ug.pairwise(GRAPHS[1:], store=tmp_path, method="branch", timeout=1)
    with pytest.raises(TableError, match="the table is of 40 graphs"):
        ug.PairTable.read(tmp_path, GRAPHS[1:])
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["table"]["version"] = "0.0.1"
    content = {"table": manifest["table"], "details": manifest["details"]}
    (tmp_path / "manifest.json").write_bytes(store._FORMAT.text(content))
    with pytest.raises(TableError, match=r"another version: '0\.0\.1' there"):
        ug.pairwise(GRAPHS, store=tmp_path, method="branch", timeout=1)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(TableError, match="not readable as JSON"):
        ug.PairTable.read(tmp_path)
    with pytest.raises(TableError, match="no store of pairs"):
        ug.PairTable.read(tmp_path.parent)


def test_other_targets_are_another_store_for_labels_only(tmp_path):
    first, second = (ug.GraphSet.from_edges([1, 1], [], targets=targets) for targets in ([0, 0], [0, 1]))
    ug.pairwise(first, metric="labels", store=tmp_path / "labels")
    with pytest.raises(TableError, match="another targets"):
        ug.pairwise(second, metric="labels", store=tmp_path / "labels")
    ug.pairwise(first, store=tmp_path / "ged")
    assert ug.pairwise(second, store=tmp_path / "ged").value.tolist() == [0]


def test_two_processes_do_not_write_to_one_store(tmp_path):
    table = ug.pairwise(GRAPHS[:3], store=tmp_path)
    with (
        store.Store(tmp_path, table, {"timeout": None, "targets": None}),
        pytest.raises(TableError, match="another process"),
    ):
        ug.pairwise(GRAPHS[:3], store=tmp_path)


def test_a_full_disk_is_a_clear_error_and_leaves_a_table_that_can_be_read(tmp_path, monkeypatch, small_pieces):
    written = system.write

    def full(descriptor, data):
        if len(files(tmp_path)) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written(descriptor, data)

    monkeypatch.setattr(system, "write", full)
    with pytest.raises(StorageError, match=r"cannot write \(No space left on device\).* safe: free disk space"):
        ug.pairwise(GRAPHS, store=tmp_path)
    expected = ug.pairwise(GRAPHS)
    assert_same(ug.PairTable.read(tmp_path), expected.where(slice(150)))
    monkeypatch.setattr(system, "write", written)
    assert_same(ug.pairwise(GRAPHS, store=tmp_path), expected)


def test_a_disk_that_is_really_full_leaves_a_table_that_can_be_read_and_continued(tmp_path):
    """On a disk of 96 KB of its own, two thirds of it taken."""
    script = """
import os, sys
import numpy as np
import ugraphemb as ug
from ugraphemb.proximity import executors
executors.SECONDS, executors._FIRST, executors._GROWTH = 1e9, 500, 1
with open("filler", "wb") as file:
    file.write(bytes(64 * 1024))
graphs = ug.GraphSet.from_edges([3] * 100, [])
def wild(a, b):
    return (a.position * 7919 + b.position * 104729) % 10007 / 7
options = dict(metric=wild, kind="distance", threads=1, store="store")
try:
    ug.pairwise(graphs, **options)
except ug.errors.StorageError as error:
    print(error)
print(len(ug.PairTable.read("store", graphs)))
os.remove("filler")
table = ug.pairwise(graphs, **options)
print(len(table), (table.value == ug.pairwise(graphs, **{**options, "store": None}).value).all())
"""
    disk = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=96k tmpfs "$0" && cd "$0" && exec "$@"', tmp_path]
    if shutil.which("unshare") is None or subprocess.run([*disk, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system does not let tests mount a disk of their own")
    done = subprocess.run([*disk, sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    message, kept, whole = done.stdout.splitlines()
    assert "cannot write (No space left on device)" in message
    assert int(kept) in range(500, 4950, 500)
    assert whole == "4950 True"


def test_a_file_that_the_system_cuts_off_is_never_taken_for_whole(tmp_path):
    """The real thing: the system refuses to write more than some bytes to a file."""
    script = """
import resource, signal, sys
import ugraphemb as ug
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
graphs = ug.GraphSet.from_edges([3] * 300, [])
ug.pairwise(graphs[:2], store=sys.argv[1] + "/small")
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    ug.pairwise(graphs, metric=lambda a, b: (a.position * 7919 + b.position * 104729) % 10007 / 7, kind="distance",
                threads=1, store=sys.argv[1] + "/large")
except ug.errors.StorageError as error:
    print(error)
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] in (resource.RLIM_INFINITY, 2**63 - 1)
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    assert "cannot write (File too large)" in done.stdout
    assert len(ug.PairTable.read(tmp_path / "small")) == 1
    assert len(ug.PairTable.read(tmp_path / "large")) in range(300 * 299 // 2)
    assert not list((tmp_path / "large").glob(".*"))


def test_the_command_line_goes_on_from_a_store_with_a_larger_budget(tmp_path, capsys, monkeypatch):
    from ugraphemb.cli.main import main

    monkeypatch.chdir(tmp_path)
    ug.write_graphs(GRAPHS, "graphs.jsonl")
    for budget in (50, 120):
        common = ["graphs.jsonl", "--method", "branch", "--plan", "blocks", "--budget", str(budget), "--seed", "3"]
        with pytest.raises(SystemExit, match="0"):
            main(["pairs", *common, "--store", "kept"])
        assert f"kept: {budget} pairs" in capsys.readouterr().out
        expected = ug.pairwise(
            ug.read_graphs("graphs.jsonl"), planned_pairs(len(GRAPHS), "blocks", budget=budget, seed=3), method="branch"
        )
        assert_same(ug.PairTable.read("kept"), expected)
    assert len(files(tmp_path / "kept")) >= 2
    with pytest.raises(SystemExit, match="2"):
        main(["pairs", "graphs.jsonl"])
    assert "--output FILE, --store FOLDER" in capsys.readouterr().err


def test_files_of_others_in_the_folder_stay_and_do_not_count(tmp_path):
    mine = {"2024-mine.parquet": b"mine", "000007-mine.parquet": b"mine", ".x.partial": b"mine", "notes": b"mine",
            "mine-" + "0" * 32 + ".parquet": b"mine"}  # fmt: skip
    for name, data in mine.items():
        (tmp_path / name).write_bytes(data)
    expected = ug.pairwise(GRAPHS[:5], store=tmp_path)
    assert_same(ug.pairwise(GRAPHS[:5], store=tmp_path), expected)
    assert len(ug.PairTable.read(tmp_path)) == len(expected)
    assert {name: (tmp_path / name).read_bytes() for name in mine} == mine


def test_links_in_a_received_store_are_not_written_through(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("lock", "manifest.json"):
        folder = tmp_path / f"store-{name}"
        folder.mkdir()
        (folder / name).symlink_to(precious)
        with pytest.raises((StorageError, TableError)):
            ug.pairwise(GRAPHS[:3], store=folder)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize(
    "text", ["[]", "3", "{}", '{"format": 1}', '{"format": 1, "metric": 3}', "[" * 10**5, "\udcff"]
)
def test_a_manifest_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(TableError, match=r"store|manifest|header|format"):
        ug.PairTable.read(tmp_path)
    with pytest.raises(TableError, match=r"store|manifest|header|format"):
        ug.pairwise(GRAPHS[:3], store=tmp_path)


def test_every_flipped_bit_of_the_manifest_is_noticed(tmp_path):
    ug.pairwise(GRAPHS[:3], store=tmp_path)
    path = tmp_path / "manifest.json"
    data, chance = path.read_bytes(), random.Random(0)
    for place in range(0, len(data), 5):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :])
        with pytest.raises(TableError):
            ug.PairTable.read(tmp_path)


def test_a_store_of_release_0_1_is_read(tmp_path):
    old = Path(__file__).resolve().parents[1] / "formats" / "release-0.1"
    table = ug.PairTable.read(old / "store", ug.read_graphs(old / "graphs.jsonl"))
    expected = ug.PairTable.read(old / "table.parquet")
    assert_same(table.where(np.lexsort((table.right, table.left))), expected)
