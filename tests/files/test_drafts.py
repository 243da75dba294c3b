"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ugraphemb.errors import StorageError
from ugraphemb.files import Sums, drafts, remove_dead_drafts, system, write_file, write_folder
from ugraphemb.files.drafts import draft_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def failing(monkeypatch: pytest.MonkeyPatch, name: str, code: int = errno.ENOSPC) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(system, name, fail)


def test_a_file_is_written_whole_with_its_checksums(tmp_path: Path):
    data = os.urandom(200_000)
    path = tmp_path / "a" / "b" / "file"
    assert write_file(path, data).to_json() == Sums.of(data).to_json()
    assert path.read_bytes() == data
    write_file(path, lambda file: [file.write(data[i : i + 777]) for i in range(0, len(data), 777)])
    assert path.read_bytes() == data
    assert names(path.parent) == ["file"]


@pytest.mark.parametrize("step", ["open_file", "write", "fsync", "rename"])
def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_draft(tmp_path, monkeypatch, step):
    path = tmp_path / "file"
    write_file(path, b"old")
    failing(monkeypatch, step)
    with pytest.raises(OSError, match="No space left"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_short_writes_are_continued(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(system, "write", lambda descriptor, data: real(descriptor, memoryview(data)[:3]))
    write_file(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "file").symlink_to("precious")
    write_file(tmp_path / "file", b"new")
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (tmp_path / "file").is_symlink()


def test_drafts_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path: Path):
    script = """
import os, signal, sys
from pathlib import Path
from ugraphemb.files import write_file, write_folder
def die(*arguments): os.kill(os.getpid(), signal.SIGKILL)
write_file(Path(sys.argv[1]), die) if sys.argv[2] == "file" else write_folder(Path(sys.argv[1]), die)
"""
    for kind in ("file", "folder"):
        done = subprocess.run([sys.executable, "-c", script, tmp_path / kind, kind], check=False)
        assert done.returncode == -signal.SIGKILL
    (tmp_path / ".file.123").write_text("mine")
    (tmp_path / ".file.ugraphemb-mine").write_text("mine")
    link = draft_path(tmp_path / "file")
    link.symlink_to(".file.123")
    assert len(names(tmp_path)) == 5
    going, go_on = threading.Event(), threading.Event()
    living = threading.Thread(
        target=write_file, args=(tmp_path / "file", lambda file: (file.write(b"x"), going.set(), go_on.wait()))
    )
    living.start()
    going.wait()
    write_file(tmp_path / "file", b"second")
    remove_dead_drafts(tmp_path)
    go_on.set()
    living.join()
    assert (tmp_path / "file").read_bytes() == b"x"
    assert names(tmp_path) == sorted([".file.123", ".file.ugraphemb-mine", link.name, "file"])


def test_a_folder_is_replaced_in_one_step(tmp_path: Path):
    path = tmp_path / "folder"
    for word in (b"old", b"new"):
        files = write_folder(path, lambda new, word=word: [new.write(n, word) for n in ("a", "b")])
        assert list(files) == ["a", "b"]
        assert (path / "a").read_bytes() == word
        assert names(path) == ["a", "b", "manifest.json"]
        assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize("step", ["mkdir", "write", "fsync", "rename", "exchange"])
def test_a_folder_that_cannot_be_written_leaves_the_old_one_and_no_draft(tmp_path, monkeypatch, step):
    path = tmp_path / "folder"
    write_folder(path, lambda new: new.write("a", b"old"))
    failing(monkeypatch, step)
    with pytest.raises(OSError, match="No space left"):
        write_folder(path, lambda new: new.write("a", b"new"))
    assert (path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["folder"]


def test_a_file_system_that_cannot_exchange_folders_gets_a_clear_error(tmp_path, monkeypatch):
    path = tmp_path / "folder"
    write_folder(path, lambda new: new.write("a", b"old"))
    failing(monkeypatch, "exchange", errno.EINVAL)
    with pytest.raises(StorageError, match="cannot replace a folder atomically"):
        write_folder(path, lambda new: new.write("a", b"new"))
    assert (path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["folder"]


def test_nothing_that_others_wrote_is_replaced(tmp_path: Path):
    path = tmp_path / "folder"
    path.mkdir()
    write_folder(path, lambda new: new.write("a", b"ours"))  # an empty one may be
    (path / "precious").write_text("mine")
    with pytest.raises(StorageError, match=r"did not write \(precious\)"):
        write_folder(path, lambda new: new.write("a", b"new"))
    assert (path / "precious").read_text() == "mine"
    with pytest.raises(StorageError, match="a file, where a folder"):
        write_folder(path / "precious", lambda new: new.write("a", b"new"))
    assert names(tmp_path) == ["folder"]
    assert names(path) == ["a", "manifest.json", "precious"]


def test_what_others_put_into_a_folder_while_it_is_replaced_is_kept(tmp_path: Path):
    path = tmp_path / "folder"
    write_folder(path, lambda new: new.write("a", b"old"))
    write_folder(path, lambda new: (new.write("a", b"new"), (path / "precious").write_text("mine")))
    assert (path / "precious").read_text() == "mine"
    assert (path / "a").read_bytes() == b"new"
    assert names(tmp_path) == ["folder"]


def test_two_first_writers_of_a_folder_both_succeed(tmp_path: Path):
    barrier = threading.Barrier(2)

    def write(word: bytes) -> None:
        write_folder(tmp_path / "folder", lambda new: (barrier.wait(), new.write("a", word)))

    threads = [threading.Thread(target=write, args=(word,)) for word in (b"one", b"two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "folder" / "a").read_bytes() in (b"one", b"two")
    assert names(tmp_path) == ["folder"]


def test_long_names_have_drafts_too(tmp_path: Path):
    path = tmp_path / ("ä" * 120)
    write_file(path, b"x")
    assert path.read_bytes() == b"x"
    assert len(os.fsencode(drafts.draft_path(path).name)) < 255
