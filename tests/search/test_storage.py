"""Saved indexes: written atomically; truncated or foreign ones are refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from search.small_index import graphs, index, model, queries

import ugraphemb as ug
from ugraphemb import GraphIndex, GraphSet
from ugraphemb.errors import IndexFormatError, StorageError
from ugraphemb.files import locked, system
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


def test_a_save_waits_for_another_first_save(tmp_path: Path):
    begun = tmp_path / "index"
    begun.mkdir()
    (begun / "of the other save").write_text("which removes it before it ends")
    other = index(20)
    with locked(begun / "lock"):
        saving = threading.Thread(target=lambda: (other.save(begun), saved.append(True)))
        saved: list[bool] = []
        saving.start()
        saving.join(0.2)
        (begun / "of the other save").unlink()
    saving.join()
    assert saved
    assert len(load(begun)) == 20


@pytest.mark.parametrize("kind", ["index", "model"])
def test_a_folder_that_another_process_makes_meanwhile_is_no_reason_to_refuse(tmp_path, monkeypatch, kind):
    target = tmp_path / kind
    is_dir = Path.is_dir

    def late(path: Path) -> bool:
        found = is_dir(path)
        if path == target and not found:
            os.mkdir(path)
        return found

    monkeypatch.setattr(Path, "is_dir", late)
    (index(10) if kind == "index" else model()).save(target)
    assert (target / ("index.json" if kind == "index" else "config.json")).exists()


def test_an_empty_index_can_be_saved(tmp_path: Path):
    GraphIndex(model()).save(tmp_path / "index")
    loaded = load(tmp_path / "index")
    assert len(loaded) == 0
    assert len(loaded.add(graphs()[:3])) == 3


def test_graphs_and_vectors_are_mapped_not_copied(folder: Path):
    part = load(folder)._parts[0]
    arrays = [
        part.neighbors.vectors,
        part.graphs.node_offsets,
        part.graphs.indptr,
        part.graphs.indices,
        part.graphs.node_labels,
    ]
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
    expected, before = answers(load(folder)), set(folder.glob("part-*/*"))
    writer.remove(writer.ids[5:]).save()
    assert not before & set(folder.glob("part-*/*"))
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


def test_an_index_of_release_0_1_loads_and_is_replaced_by_the_new_form(tmp_path: Path):
    old = Path(__file__).resolve().parents[1] / "formats" / "release-0.1"
    shutil.copytree(old / "index", tmp_path / "index")
    collection = ug.read_graphs(old / "graphs.jsonl")
    loaded = load(tmp_path / "index", check=True)
    assert loaded.ids == [f"g{i}" for i in range(15) if i != 3]
    assert loaded.search(collection[5], 1)[0].id in loaded.ids
    assert loaded.search(collection[5], 1)[0].metadata["year"] in range(15)
    loaded.save()
    assert load(tmp_path / "index").ids == loaded.ids
    assert json.loads((tmp_path / "index" / "index.json").read_text())["version"] == 2
    assert not [path for path in (tmp_path / "index").rglob("*-1*") if len(path.name) < 20]
    shutil.rmtree(tmp_path / "index")
    shutil.copytree(old / "index", tmp_path / "index")
    path = tmp_path / "index" / "part-1" / "vectors.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(IndexFormatError, match="checksum"):
        load(tmp_path / "index")


def test_what_others_put_into_the_folder_stays(folder: Path):
    mine = [
        "part-7",
        "model-backup",
        "removed-1-0.npy",
        ".index.json.partial",
        "notes.txt",
        "removed-" + "0" * 32 + ".npy",
    ]
    for name in mine:
        (folder / name).write_text("mine")
    (folder / "part-8").mkdir()
    (folder / "part-8" / "precious").write_text("mine")
    model().save(folder / "model-mine")
    found = load(folder)
    found.add(graphs()[50:52]).save()
    found.remove(found.ids[:40]).save()
    assert all((folder / name).read_text() == "mine" for name in [*mine, "part-8/precious"])
    ug.UGraphEmb.load(folder / "model-mine")
    assert load(folder).ids == found.ids


def test_links_in_a_received_folder_are_not_written_through(folder: Path, tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    found = load(folder)
    (folder / ".index.json.partial").symlink_to(precious)
    (folder / "lock").unlink()
    (folder / "lock").symlink_to(precious)
    with pytest.raises(StorageError, match="a link"):
        found.remove("g3").save()
    (folder / "lock").unlink()
    found.save()
    assert precious.read_text() == "mine"


def test_two_first_saves_into_one_folder_leave_an_index_that_loads(tmp_path: Path):
    for attempt in range(3):
        place = tmp_path / str(attempt)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda count, place=place: index(count).save(place), (20, 30)))
        assert len(load(place, check=True)) in (20, 30)


def test_a_full_disk_is_an_error_of_ours_and_leaves_the_old_index(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    found = load(folder).add(graphs()[50:52])
    monkeypatch.setattr(system, "write", full)
    with pytest.raises(StorageError, match=r"No space left on device.*content is safe"):
        found.save()
    with pytest.raises(StorageError, match="No space left on device"):
        found.export(folder.parent / "vectors.parquet")
    monkeypatch.undo()
    assert len(load(folder, check=True)) == 50
    found.save()
    assert len(load(folder, check=True)) == 52


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
        ({"version": 99}, "format version 99, this ugraphemb reads 1 and 2"),
        ({"format": "other"}, "not a file of the format ugraphemb-index"),
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
    with pytest.raises(IndexFormatError, match=r"not an index.*nothing was written"):
        index(5).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]
    with pytest.raises(ValueError, match="has no folder yet"):
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
