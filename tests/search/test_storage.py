"""Saved indexes: whole or not at all, and torn or foreign ones are refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from search.small_index import graphs, index, model, queries

import ugraphemb as ug
from ugraphemb import GraphIndex, GraphSet
from ugraphemb.errors import IndexFormatError
from ugraphemb.search import storage
from ugraphemb.search.graph_table import from_table, to_table


def load(folder: Path, **options: object) -> GraphIndex:
    return GraphIndex.load(folder, threads=1, **options)  # type: ignore[arg-type]


def answers(found: GraphIndex) -> str:
    return repr(found.search(queries(), 5)) + repr(found.search(queries()[:3], 5, complete=True, budget=None))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index(50).save(tmp_path / "index")
    return tmp_path / "index"


def test_what_is_loaded_answers_as_what_was_saved(tmp_path: Path):
    found = index(40).remove(["g1", "g2"]).add(graphs()[40:50], metadata={"note": list("abcdefghij")})
    found.remove("g45")
    found.save(tmp_path / "index")
    for check in (False, True):
        loaded = load(tmp_path / "index", check=check)
        assert loaded.ids == found.ids
        assert answers(loaded) == answers(found)
        assert loaded.graphs() == found.graphs()
        assert loaded.search(graphs()[44], 1)[0].metadata == found.search(graphs()[44], 1)[0].metadata


def test_an_empty_index_can_be_saved(tmp_path: Path):
    GraphIndex(model()).save(tmp_path / "index")
    loaded = load(tmp_path / "index")
    assert len(loaded) == 0
    assert len(loaded.add(graphs()[:3])) == 3


def test_graphs_and_vectors_are_mapped_not_copied(folder: Path):
    part = load(folder)._parts[0]
    assert isinstance(part.neighbors.vectors, np.memmap)
    arrays = [part.graphs.node_offsets, part.graphs.indptr, part.graphs.indices, part.graphs.node_labels]
    assert not any(array.flags.owndata for array in arrays)


def test_saving_again_writes_only_what_is_new(folder: Path):
    found = load(folder)
    before = {path: path.stat().st_ino for path in folder.glob("part-*/*")}
    found.add(graphs()[50:52])
    found.save()
    after = {path: path.stat().st_ino for path in folder.glob("part-*/*")}
    assert before.items() <= after.items()
    assert len(after) == 2 * len(before)
    assert len(list(folder.glob("model-*"))) == 1
    assert load(folder).ids == found.ids
    found.remove("g3").save()
    assert load(folder).ids == found.ids
    found.remove(found.ids[:40])
    found.save()
    assert load(folder).ids == found.ids
    assert len(list(folder.glob("part-*"))) == len(found._parts)
    assert len(list(folder.glob("removed-*"))) == sum(len(part.removed) > 0 for part in found._parts)


def test_a_reader_keeps_its_state_while_a_writer_changes_the_folder(folder: Path):
    reader, writer = load(folder), load(folder)
    expected = answers(reader)
    writer.remove(writer.ids[5:]).save()
    assert not any(path.name == "part-1" for path in folder.iterdir())
    assert answers(reader) == expected
    assert len(load(folder)) == 5


def test_a_second_writer_is_refused_rather_than_undone(folder: Path):
    one, other = load(folder), load(folder)
    one.add(graphs()[50:52]).save()
    other.add(graphs()[52:54])
    with pytest.raises(IndexFormatError, match="changed by another process"):
        other.save()
    assert load(folder).ids == one.ids
    other.save(folder.parent / "elsewhere")
    assert load(folder.parent / "elsewhere").ids == other.ids


def test_a_folder_that_went_away_is_written_anew(folder: Path):
    found = load(folder)
    shutil.rmtree(folder)
    found.add(graphs()[50:52]).save()
    assert load(folder, check=True).ids == found.ids


def test_an_index_may_replace_another_one(folder: Path):
    GraphIndex(model("mcs"), threads=1).add(graphs()[:7]).save(folder)
    loaded = load(folder)
    assert len(loaded) == 7
    assert loaded.head == "inner"
    assert sorted(path.name.partition("-")[0] for path in folder.iterdir()) == ["index.json", "lock", "model", "part"]


STEPS = (1, 8, 16, 24, *range(31, 40), 1000)  # closely where the manifest is replaced
_CRASH = """
import os, shutil, signal, sys
sys.path.insert(0, sys.argv[1])
from search.small_index import graphs
import ugraphemb.search.storage as storage
from ugraphemb import GraphIndex

def save(folder, fatal):
    found = GraphIndex.load(folder, threads=1)
    found.remove(["g1", "g2"]).add(graphs()[50:58])
    found.add(graphs()[58:60])
    steps = 0
    def counted(original):
        def step(*arguments, **options):
            nonlocal steps
            steps += 1
            if steps == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)
        return step
    for name in ("_write_part", "_write_arrow", "_sync", "_write_whole"):
        setattr(storage, name, counted(getattr(storage, name)))
    os.fsync, shutil.rmtree = counted(os.fsync), counted(shutil.rmtree)
    found.save()

GraphIndex.load(sys.argv[2], threads=1).search(graphs()[0], 1)  # everything is imported once, to die often
for fatal in map(int, sys.argv[3:]):
    shutil.copytree(sys.argv[2], f"{sys.argv[2]}-{fatal}")
    child = os.fork()
    if not child:
        save(f"{sys.argv[2]}-{fatal}", fatal)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_kill_at_any_step_leaves_the_old_index_or_the_new_one(folder: Path):
    old = load(folder).ids
    new = [name for name in old if name not in ("g1", "g2")] + [f"g{i}" for i in range(50, 60)]
    done = subprocess.run(
        [sys.executable, "-c", _CRASH, str(Path(__file__).resolve().parents[1]), str(folder), *map(str, STEPS)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    killed = [int(line) == -signal.SIGKILL for line in done.stdout.split()]
    assert killed[0]
    assert not killed[-1]
    outcomes = []
    for step in STEPS:
        place = folder.with_name(f"index-{step}")
        left = load(place, check=True)
        outcomes.append(left.ids)
        assert left.ids in (old, new)
        left.remove("g5").save()  # and the next save clears what the crash left
        assert load(place).ids == left.ids
        listed = json.loads((place / "index.json").read_text())
        names = {"index.json", "lock", listed["model"]} | {entry["folder"] for entry in listed["parts"]}
        names |= {entry["removed"] for entry in listed["parts"] if entry["removed"]}
        assert {path.name for path in place.iterdir()} == names
    died = [ids for ids, kill in zip(outcomes, killed, strict=True) if kill]
    assert old in died  # before the manifest is replaced
    assert new in died  # and after it
    assert outcomes[-1] == new
    assert outcomes == sorted(outcomes, key=[old, new].index)  # one step, not back and forth


def test_whoever_loads_while_another_saves_finds_a_whole_state(folder: Path):
    def write() -> None:
        writer = load(folder)
        for _ in range(12):
            writer.add(graphs()[50:52]).save()
            writer.remove(["g50", "g51"]).save()

    seen = set()
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            loaded = load(folder)
            seen.add(len(loaded))
            assert len(loaded.search(graphs()[50], 100)) == len(loaded)
        writing.result()
    assert seen <= {50, 52}
    assert len(load(folder, check=True)) == 50


def test_every_torn_file_is_noticed(folder: Path, tmp_path: Path):
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name != "lock"]
    assert len(files) == 7
    for name in files:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        data = (copy / name).read_bytes()
        (copy / name).write_bytes(data[: len(data) // 2])
        with pytest.raises(IndexFormatError, match=name.name):
            load(copy)
        (copy / name).write_bytes(data[:-20] + bytes([data[-20] ^ 1]) + data[-19:])
        if name.name != "index.json":
            with pytest.raises(IndexFormatError, match="checksum"):
                load(copy)
        (copy / name).unlink()
        with pytest.raises(IndexFormatError, match=name.name):
            load(copy)


def test_damage_in_a_large_file_is_noticed_when_asked(folder: Path, monkeypatch: pytest.MonkeyPatch):
    path = folder / "part-1" / "vectors.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    monkeypatch.setattr(storage, "_SMALL", 0)
    assert len(load(folder)) == 50
    with pytest.raises(IndexFormatError, match=r"vectors\.npy.*checksum"):
        load(folder, check=True)


def test_foreign_folders_and_other_versions_are_refused(folder: Path, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(IndexFormatError, match=r"not an index, it has no index\.json"):
        load(tmp_path / "empty")
    with pytest.raises(IndexFormatError, match="not an index"):
        load(tmp_path / "nothing")
    model().save(tmp_path / "model")
    with pytest.raises(IndexFormatError, match="not an index"):
        load(tmp_path / "model")
    manifest = folder / "index.json"
    content = json.loads(manifest.read_text())
    for change, message in (
        ({"version": 99}, "format version 99, this ugraphemb reads 1"),
        ({"format": "other"}, "not the manifest of a ugraphemb index"),
    ):
        manifest.write_text(json.dumps({**content, **change}))
        with pytest.raises(IndexFormatError, match=message):
            load(folder)
    for text in ("{", "[]", '"x"', '{"format": "ugraphemb-index", "version": 1}'):
        manifest.write_text(text)
        with pytest.raises(IndexFormatError, match=r"index\.json"):
            load(folder)


def test_nothing_is_written_into_a_folder_of_something_else(tmp_path: Path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(IndexFormatError, match="not an index; nothing was written"):
        index(5).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]
    with pytest.raises(ValueError, match="say where"):
        index(5).save()


def test_all_parts_of_graphs_survive_an_arrow_table():
    labeled = GraphSet.from_edges(
        [3, 0, 2], [(0, 1), (1, 2), (3, 4)], node_labels=[("a", 1), None, True, 1, 1.0], edge_labels=["x", 2, "x"],
        node_attributes=np.arange(10.0).reshape(5, 2),
    )  # fmt: skip
    plain = GraphSet.from_edges([2, 1], [(0, 1)])
    for collection in (labeled, plain, plain[[]], ug.load_dataset("atlas")[:40]):
        back = from_table(to_table(collection))
        assert back == GraphSet(**{**collection._fields(), "ids": back.ids, "targets": None})
        assert back.node_vocabulary == collection.node_vocabulary
        assert list(map(type, back.node_vocabulary)) == list(map(type, collection.node_vocabulary))
    with pytest.raises(IndexFormatError, match="frozenset"):
        to_table(GraphSet.from_edges([1], [], node_labels=[frozenset("a")]))
