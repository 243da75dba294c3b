"""Documents, checksums, locks and labels."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest

from ugraphemb.errors import ModelFormatError, StorageError
from ugraphemb.files import BLOCK, BusyError, CheckedFile, Format, Lock, Sums, label_from_json, label_to_json, locked

NOTE = Format("note", 3, ModelFormatError, ("text",), {1: lambda c: {**c, "words": [c["w"]]},
                                                       2: lambda c: {**c, "text": " ".join(c["words"])}})  # fmt: skip


def test_a_document_is_json_and_reads_back(tmp_path: Path):
    path = tmp_path / "note.json"
    path.write_bytes(NOTE.text({"text": "ä", "numbers": [1, 2.5]}))
    assert json.loads(path.read_text())["numbers"] == [1, 2.5]
    assert NOTE.read(path) == {"format": "note", "version": 3, "text": "ä", "numbers": [1, 2.5]}


def test_every_flipped_bit_and_every_cut_of_a_document_is_noticed():
    data = NOTE.text({"text": "some words", "list": [1, 2, 3]})
    for place in range(len(data)):
        with pytest.raises(ModelFormatError):
            NOTE.parsed(data[:place], "it")
        for bit in range(8):
            with pytest.raises(ModelFormatError):
                NOTE.parsed(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :], "it")


def test_old_versions_are_migrated_step_by_step_and_unknown_ones_refused():
    assert NOTE.parsed(b'{"format": "note", "version": 1, "w": "x"}', "it")["text"] == "x"
    for text, message in (
        ('{"format": "note", "version": 4}', "format version 4, this ugraphemb reads 1 and 2 and 3"),
        ('{"format": "note", "version": true}', "format version True"),
        ('{"format": "note", "version": "3"}', "format version '3'"),
        ('{"format": "note", "version": 3, "text": ""}', "its checksum is missing"),
        ('{"format": "note", "version": 1}', "not of the form of version 1"),
        ('{"format": "other"}', "not a file of the format note"),
        ("[]", "not a file of the format note"),
        ("[" * 100_000, "not readable as JSON"),
        ("\xff", "not a file|not readable as JSON"),
    ):
        with pytest.raises(ModelFormatError, match=message):
            NOTE.parsed(text.encode("latin-1"), "it")


def test_blocks_are_verified_where_they_are_read(tmp_path: Path):
    path, data = tmp_path / "file", bytearray(os.urandom(3 * BLOCK + 100))
    sums = Sums.from_json(json.loads(json.dumps(Sums.of(data).to_json())))
    data[BLOCK + 5] ^= 1
    path.write_bytes(data)
    file = CheckedFile(path, sums, StorageError)
    assert file.check(0, BLOCK) == data[:BLOCK]
    assert file.check(2 * BLOCK, 3 * BLOCK + 100) == data[2 * BLOCK :]
    file.check_rows(np.array([0, 2 * BLOCK // 10 + 1]), 0, 10)
    for check in (
        lambda: file.check(),
        lambda: file.check(BLOCK - 1, BLOCK + 1),
        lambda: file.check_rows(np.array([BLOCK // 10]), 0, 10),
        lambda: file.check_rows(np.array([0]), 10, 2 * BLOCK),
    ):
        with pytest.raises(StorageError, match=rf"bytes {BLOCK} to {2 * BLOCK} are not what was written"):
            check()
    path.unlink()
    assert file.check(0, 10) == data[:10]
    path.write_bytes(data[:-1])
    with pytest.raises(StorageError, match="cut short"):
        CheckedFile(path, sums, StorageError)


def test_the_sums_of_pieces_are_those_of_the_whole_and_empty_files_have_none(tmp_path: Path):
    assert Sums.of(b"").to_json() == {"bytes": 0, "xxh3": ""}
    (tmp_path / "empty").write_bytes(b"")
    assert CheckedFile(tmp_path / "empty", Sums.of(b""), StorageError).check() == b""
    for wrong in (None, {}, {"bytes": -1, "xxh3": ""}, {"bytes": 1, "xxh3": ""}, {"bytes": 1, "xxh3": "!"},
                  {"bytes": True, "xxh3": "AAAAAAAAAAA="}, {"bytes": 1, "xxh3": "AAAA"}):  # fmt: skip
        with pytest.raises(ValueError, match=r"checksums|size"):
            Sums.from_json(wrong)


def _try(path: Path) -> None:
    try:
        Lock(path, wait=False)
    except BusyError:
        os._exit(7)


def test_a_lock_is_held_against_other_processes_and_never_follows_a_link(tmp_path: Path):
    path = tmp_path / "lock"
    for held in (True, False):
        with locked(path if held else tmp_path / "other"):
            other = multiprocessing.get_context("fork").Process(target=_try, args=(path,))
            other.start()
            other.join()
            assert (other.exitcode == 7) == held
    (tmp_path / "precious").write_text("mine")
    path.unlink()
    path.symlink_to("precious")
    with pytest.raises(StorageError, match="a link"):
        Lock(path)
    (tmp_path / "dangling").symlink_to("nothing")
    with pytest.raises(StorageError, match="a link"):
        Lock(tmp_path / "dangling")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="plain file"):
        Lock(tmp_path / "pipe")
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_labels_go_to_json_and_back():
    for label in (None, True, 1, 1.5, "ä", (), ("a", (1, None)), np.int8(3), np.str_("x")):
        text = json.dumps(label_to_json(label, "a model", ModelFormatError))
        back = label_from_json(json.loads(text), "it", ModelFormatError)
        assert back == label
        assert type(back) is type(label.item() if isinstance(label, np.generic) else label)
    deep: object = ()
    for _ in range(900):
        deep = (deep,)
    for wrong in (frozenset(), b"x", object(), deep):
        with pytest.raises(ModelFormatError):
            label_to_json(wrong, "a model", ModelFormatError)
    for text in ("{}", "[{}]", "[" * 900 + "]" * 900):
        with pytest.raises(ModelFormatError, match="it: a label"):
            label_from_json(json.loads(text), "it", ModelFormatError)
