"""Folders while other processes write, remove and read them: each race as it was found, step by step."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import ugraphemb as ug
from ugraphemb import GraphSet
from ugraphemb.errors import StorageError
from ugraphemb.files import read_whole, remove_dead_drafts, system, write_folder
from ugraphemb.files.drafts import draft_path
from ugraphemb.graphs.formats import write_graphs


def test_a_draft_that_another_writer_takes_for_a_dead_one_is_begun_anew(tmp_path, monkeypatch):
    made = []

    def mkdir(path: str) -> None:
        os.mkdir(path)
        made.append(path)
        if len(made) == 1:
            remove_dead_drafts(tmp_path)

    monkeypatch.setattr(system, "mkdir", mkdir)
    write_folder(tmp_path / "folder", lambda new: new.write("a", b"new"))
    assert (tmp_path / "folder" / "a").read_bytes() == b"new"
    assert len(made) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_folder_that_is_replaced_while_it_is_looked_at_is_not_taken_for_that_of_others(tmp_path, monkeypatch):
    path = tmp_path / "folder"
    write_folder(path, lambda new: new.write("a", b"old"))
    listed = system.list_folder

    def list_folder(place: str) -> list[str]:
        found = listed(place)
        if place == str(path):
            monkeypatch.setattr(system, "list_folder", listed)
            write_folder(path, lambda new: new.write("b", b"by another"))
        return found

    monkeypatch.setattr(system, "list_folder", list_folder)
    write_folder(path, lambda new: new.write("c", b"new"))
    assert sorted(entry.name for entry in path.iterdir()) == ["c", "manifest.json"]


def test_files_of_others_in_a_dead_draft_stay_however_often_it_is_cleaned(tmp_path: Path):
    write_folder(tmp_path / "folder", lambda new: new.write("a", b"old"))
    (tmp_path / "folder" / "precious").write_text("mine")
    dead = draft_path(tmp_path / "folder")
    (tmp_path / "folder").rename(dead)  # as a crash leaves it between the exchange and the removal
    for _ in range(3):
        remove_dead_drafts(tmp_path)
    assert (dead / "precious").read_text() == "mine"
    assert not (dead / "a").exists()


@pytest.mark.parametrize("name", ["set", "set.cxl"])
def test_graphs_that_are_replaced_while_they_are_read_are_read_again(tmp_path: Path, name: str):
    def labeled(label: int, count: int) -> GraphSet:
        return GraphSet.from_edges(
            [2] * count, [(2 * i, 2 * i + 1) for i in range(count)], node_labels=[label] * 2 * count
        )

    write_graphs(labeled(1, 5), tmp_path / name)
    times = []

    def progress(done: int, total: int) -> None:
        times.append(done)
        if len(times) == 2:
            write_graphs(labeled(2, 9), tmp_path / name)

    found = ug.read_graphs(tmp_path / name, progress=progress)
    assert len(found) == 9
    assert {int(found.node_vocabulary[label]) for label in found.node_labels} == {2}
    assert len(times) > 2


def test_what_is_replaced_again_and_again_is_an_error_in_the_end(tmp_path: Path):
    def read() -> None:
        write_folder(tmp_path / "folder", lambda new: new.write("a", b"next"))

    write_folder(tmp_path / "folder", lambda new: new.write("a", b"first"))
    with pytest.raises(StorageError, match="replaced more often"):
        read_whole(tmp_path / "folder", read)
