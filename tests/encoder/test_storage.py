"""Saved models: whole, checked, beside what others wrote; damaged and foreign ones are refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search.small_index import graphs, model

import ugraphemb as ug
from ugraphemb.encoder import storage
from ugraphemb.errors import ModelFormatError, StorageError, UGraphEmbError
from ugraphemb.files import drafts, locked, system


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model().save(tmp_path / "model")
    return tmp_path / "model"


def names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def weights(path: Path) -> Path:
    (found,) = path.glob("weights-*.safetensors")
    return found


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The config changed, with a checksum that is right for it."""
    content = json.loads((path / "config.json").read_text())
    for key in ("format", "version", "checksum"):
        del content[key]
    change(content)
    (path / "config.json").write_bytes(storage.FORMAT.text(content))


def test_a_model_is_one_config_one_file_of_weights_and_a_card(folder: Path):
    assert names(folder) == [".lock", "README.md", "config.json", weights(folder).name]
    model("mcs").save(folder)
    assert names(folder) == [".lock", "README.md", "config.json", weights(folder).name]
    loaded = ug.UGraphEmb.load(folder)
    np.testing.assert_array_equal(loaded.transform(graphs()), model("mcs").transform(graphs()))
    assert "`mcs`" in (folder / "README.md").read_text()


def test_a_save_waits_for_another_first_save(tmp_path: Path, folder: Path):
    model("mcs").save(tmp_path / "other")
    begun = tmp_path / "begun"  # as a listing shows it that begins before config.json appears, and ends after README.md
    begun.mkdir()
    shutil.copy(tmp_path / "other" / "README.md", begun)
    with locked(begun / ".lock"):
        saving = threading.Thread(target=lambda: (model().save(begun), saved.append(True)))
        saved: list[bool] = []
        saving.start()
        saving.join(0.2)
        shutil.copytree(tmp_path / "other", begun, dirs_exist_ok=True)
    saving.join()
    assert saved
    np.testing.assert_array_equal(ug.UGraphEmb.load(begun).transform(graphs()), model().transform(graphs()))


def test_every_flipped_bit_of_config_and_weights_is_noticed(folder: Path):
    random = np.random.default_rng(0)
    for path in (folder / "config.json", weights(folder)):
        data = path.read_bytes()
        for place in np.unique(np.concatenate([random.integers(0, len(data), 60), np.arange(20)])).tolist():
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << random.integers(8)]) + data[place + 1 :])
            with pytest.raises(ModelFormatError, match="model"):
                ug.UGraphEmb.load(folder)
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(ModelFormatError, match="model"):
            ug.UGraphEmb.load(folder)
        path.unlink()
        with pytest.raises(ModelFormatError, match="model"):
            ug.UGraphEmb.load(folder)
        path.write_bytes(data)
    ug.UGraphEmb.load(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(surprise=1),
        lambda c: c.pop("encoder"),
        lambda c: c.update(encoder=[]),
        lambda c: c["encoder"].update(surprise=1),
        lambda c: c["encoder"].update(dimension=10**12),
        lambda c: c["encoder"].update(layers=[10**6, 10**6]),
        lambda c: c["encoder"].update(layers="abc"),
        lambda c: c["encoder"].update(layers=None),
        lambda c: c["encoder"].update(dimension="9"),
        lambda c: c["encoder"].update(hashed_labels=2.5),
        lambda c: c.update(vocabulary=3),
        lambda c: c["vocabulary"].update(node_labels=3),
        lambda c: c["vocabulary"].update(node_labels=[{}]),
        lambda c: c["vocabulary"].update(attribute_mean=["x"]),
        lambda c: c.update(about=[1]),
        lambda c: c.update(weights="weights"),
        lambda c: c["weights"].update(name="../model/" + c["weights"]["name"]),
        lambda c: c["weights"].update(name="/etc/passwd"),
        lambda c: c["weights"].update(bytes=-1),
        lambda c: c["weights"].update(xxh3="?"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(folder: Path, change: Callable[[dict[str, Any]], None]):
    rewritten(folder, change)
    with pytest.raises(ModelFormatError):
        ug.UGraphEmb.load(folder)


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, '{"format": "ugraphemb-model", "version": 99}', "\udcff"])
def test_other_files_are_no_config(folder: Path, text: str):
    (folder / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ModelFormatError, match="config"):
        ug.UGraphEmb.load(folder)


def test_a_model_of_release_0_1_loads_and_is_replaced_by_the_new_form(tmp_path: Path):
    old = Path(__file__).resolve().parents[1] / "formats" / "release-0.1"
    shutil.copytree(old / "model", tmp_path / "model")
    collection, expected = ug.read_graphs(old / "graphs.jsonl"), np.load(old / "vectors.npy")
    loaded = ug.UGraphEmb.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.transform(collection), expected, rtol=1e-4, atol=1e-5)
    assert loaded.vocabulary_.node_labels == ("C", ("O", 1), "N")
    loaded.save(tmp_path / "model")
    assert weights(tmp_path / "model")
    assert not (tmp_path / "model" / "weights.safetensors").exists()
    again = ug.UGraphEmb.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(collection), loaded.transform(collection))


def test_what_others_put_into_the_folder_stays(folder: Path):
    mine = {"notes.txt": "mine", "weights-mine.safetensors": "mine", "weights-" + "0" * 32 + ".safetensors": "mine",
            ".config.json.123": "mine", "README.md": "my own card"}  # fmt: skip
    for name, text in mine.items():
        (folder / name).write_text(text)
    model("mcs").save(folder)
    assert {name: (folder / name).read_text() for name in mine} == mine
    assert ug.UGraphEmb.load(folder).about_["metric"] == "mcs"


def test_saving_over_something_else_is_refused(tmp_path: Path):
    for name in ("thesis.txt", "config.json", "README.md"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text('{"years": "of work"}')
        with pytest.raises(ModelFormatError, match="nothing was written"):
            model().save(tmp_path / name)
        assert names(tmp_path / name) == [name]
        assert (tmp_path / name / name).read_text() == '{"years": "of work"}'
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ModelFormatError, match="nothing was written"):
        model().save(tmp_path / "file")


def test_links_in_a_received_folder_are_not_written_through(folder: Path, tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("README.md", ".lock"):
        (folder / name).unlink()
        (folder / name).symlink_to(precious)
    with pytest.raises(StorageError, match="a link"):
        model("mcs").save(folder)
    (folder / ".lock").unlink()
    model("mcs").save(folder)
    assert precious.read_text() == "mine"


def test_a_kill_or_a_full_disk_at_any_call_leaves_the_old_model_or_the_new_one(folder: Path, tmp_path: Path):
    class Killed(BaseException):
        pass

    open_file, close = system.open_file, system.close
    changing = ("open_file", "write", "fsync", "rename", "unlink", "mkdir", "close", "lock")
    old, new = (found.transform(graphs()) for found in (model(), model("mcs")))
    seen = []
    for fault in (Killed, OSError):
        for fatal in range(1, 1000, 3):
            place = tmp_path / f"copy-{fault.__name__}-{fatal}"
            shutil.copytree(folder, place)
            calls = 0
            opened: list[int] = []

            def counted(
                original: Callable[..., Any],
                fault: type[BaseException] = fault,
                fatal: int = fatal,
                opened: list[int] = opened,
            ) -> Any:
                def call(*arguments: Any, **options: Any) -> Any:
                    nonlocal calls
                    calls += 1
                    if calls == fatal or (calls > fatal and fault is Killed):
                        raise fault(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    answer = original(*arguments, **options)
                    if original is open_file:
                        opened.append(answer)
                    elif original is close:
                        opened.remove(*arguments)
                    return answer

                return call

            with pytest.MonkeyPatch.context() as patch:
                for name in changing:
                    patch.setattr(system, name, counted(getattr(system, name)))
                with suppress(Killed, UGraphEmbError):  # no other error is raised
                    model("mcs").save(place)
            for descriptor in opened:  # a killed process has none left
                os.close(descriptor)
            found = ug.UGraphEmb.load(place).transform(graphs())
            seen.append(np.array_equal(found, new))
            assert seen[-1] or np.array_equal(found, old)
            model("mcs").save(place)  # and the next save clears what was left
            assert names(place) == [".lock", "README.md", "config.json", weights(place).name]
            if calls < fatal:
                break
    assert any(seen)
    assert not all(seen)


def test_whoever_loads_while_another_saves_gets_config_and_weights_of_one_save(folder: Path):
    expected = {which: model(which).transform(graphs()[:3]) for which in ("ged", "mcs")}
    done = threading.Event()

    def save() -> None:
        while not done.is_set():
            for which in ("ged", "mcs"):
                model(which).save(folder)

    writers = [threading.Thread(target=save) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(15):
            loaded = ug.UGraphEmb.load(folder)
            np.testing.assert_array_equal(loaded.transform(graphs()[:3]), expected[loaded.about_["metric"]])
    finally:
        done.set()
        for writer in writers:
            writer.join()
    assert names(folder) == [".lock", "README.md", "config.json", weights(folder).name]
    assert not any(map(drafts.is_draft, names(folder)))
