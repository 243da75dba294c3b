"""Damaged and forged indexes are refused, and nothing computes with them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from search.small_index import index, model, queries

from ugraphemb import GraphIndex, GraphSet
from ugraphemb.errors import IndexFormatError
from ugraphemb.files import write_file
from ugraphemb.files.arrays import arrow_table, npy_content
from ugraphemb.files.folders import FOLDER
from ugraphemb.search import part_files, storage
from ugraphemb.search.graph_table import from_table, to_table


def load(folder: Path, **options: object) -> GraphIndex:
    return GraphIndex.load(folder, threads=1, **options)  # type: ignore[arg-type]


def answers(found: GraphIndex) -> str:
    return repr(found.search(queries(), 5)) + repr(found.search(queries()[:3], 5, complete=True, budget=None))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index(50).save(tmp_path / "index")
    return tmp_path / "index"


def used(folder: Path) -> str:
    """Everything an index is read for."""
    found = load(folder)
    return answers(found) + repr(found.to_table().to_pylist()) + repr(found.graphs())


def test_every_flipped_bit_cut_and_missing_file_is_noticed(folder: Path, tmp_path: Path):
    random = np.random.default_rng(0)
    skipped = ("lock", ".lock", "README.md")
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name not in skipped]
    assert len(files) == 8
    for name in files:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        data = (copy / name).read_bytes()
        for place in random.integers(0, len(data), 8).tolist():
            (copy / name).write_bytes(data[:place] + bytes([data[place] ^ 1 << random.integers(8)]) + data[place + 1 :])
            with pytest.raises(IndexFormatError, match=r"index|copy"):
                used(copy)
            with pytest.raises(IndexFormatError, match=r"index|copy"):
                load(copy, check=True)
        (copy / name).write_bytes(data[: len(data) // 2])
        with pytest.raises(IndexFormatError, match="copy"):
            load(copy)
        (copy / name).unlink()
        with pytest.raises(IndexFormatError, match="copy"):
            load(copy)


def test_damage_is_noticed_where_it_is_read_and_not_before(tmp_path: Path):
    index(50).save(tmp_path / "index")
    (path,) = (tmp_path / "index").glob("part-*/graphs.arrow")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    loaded = load(tmp_path / "index")
    assert len(loaded.ids) == 50
    with pytest.raises(IndexFormatError, match=r"graphs\.arrow.*checksum"):
        loaded.graphs()
    with pytest.raises(IndexFormatError, match=r"graphs\.arrow.*checksum"):
        load(tmp_path / "index", check=True)


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_structures_are_verified_and_outlive_their_files(tmp_path: Path, kind: str):
    vectors = np.random.default_rng(0).normal(size=(1200, 8)).astype(np.float32)
    many = GraphSet.from_edges(np.full(1200, 2), np.arange(2400).reshape(-1, 2))
    built = GraphIndex(model(head="l2"), kind=kind, threads=1).add(many, vectors=vectors)
    built.save(tmp_path / "index")
    loaded, other = load(tmp_path / "index"), load(tmp_path / "index")
    (path,) = (tmp_path / "index").glob("part-*/structure.faiss")
    near = built._parts[0].neighbors._approximate(vectors[:20], 3, None)
    path.rename(tmp_path / "moved")
    np.testing.assert_array_equal(loaded._parts[0].neighbors._approximate(vectors[:20], 3, None), near)
    with (tmp_path / "moved").open("rb+") as file:  # in place: to cut a file that is mapped kills the process
        file.seek(-100, 2)
        byte = file.read(1)[0]
        file.seek(-100, 2)
        file.write(bytes([byte ^ 4]))
    with pytest.raises(IndexFormatError, match=r"structure\.faiss.*checksum"):
        other._parts[0].neighbors._approximate(vectors[:20], 3, None)


def test_profiles_of_another_layout_are_computed_anew(folder: Path):
    computed = load(folder)._parts[0].searchable.profiles
    assert int(computed[0]) == part_files.PROFILES
    home = next(folder.glob("part-*"))
    other = computed.copy()
    other[0] += 1
    listed = json.loads((home / "manifest.json").read_text())["files"]
    listed["profiles.npy"] = write_file(home / "profiles.npy", npy_content(other)).to_json()
    write_file(home / "manifest.json", FOLDER.text({"files": listed}))
    resealed(folder, lambda content: content["parts"][0].update(seal=part_files.seal_of(home)))
    part = load(folder)._parts[0]
    assert part.content.profiles is None
    np.testing.assert_array_equal(part.searchable.profiles, computed)


def forged(table: pa.Table) -> GraphSet:
    return from_table(arrow_table(_bytes(table), "forged", IndexFormatError))


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def test_forged_graphs_are_refused_before_anything_computes_with_them():
    good = GraphSet.from_edges([3, 0, 2], [(0, 1), (1, 2), (3, 4)], node_labels=list("abcab"), edge_labels=list("xyx"))
    assert forged(to_table(good)) == GraphSet(**{**good._fields(), "ids": forged(to_table(good)).ids})
    for name, place, value in (
        ("indices", 0, 3), ("indices", 0, -1), ("indices", 5, 2), ("indptr", 1, 99), ("indptr", 1, -1),
        ("node_offsets", 1, 4), ("node_offsets", 1, 99), ("node_labels", 0, 3), ("node_labels", 0, -1),
        ("edge_labels", 0, 2), ("edge_labels", 0, -2**31),
    ):  # fmt: skip
        fields = {
            key: array.copy() if isinstance(array, np.ndarray) else array for key, array in good._fields().items()
        }
        fields[name][place] = value
        with pytest.raises(IndexFormatError):
            forged(to_table(GraphSet(**fields)))
    table = to_table(good)
    for other in (
        table.drop_columns(["neighbors"]), table.replace_schema_metadata({}),
        table.replace_schema_metadata({"ugraphemb": "[]"}), table.replace_schema_metadata({"ugraphemb": "{"}),
        table.set_column(0, "node_labels", pa.array([["a"], [], ["b"]], pa.large_list(pa.string()))),
        table.set_column(0, "node_labels", pa.array([1, 2, 3])), table.set_column(1, "neighbors", table["node_labels"]),
        table.set_column(0, "node_labels", pa.array([[1], [], [2]], pa.large_list(pa.int32()))),
    ):  # fmt: skip
        with pytest.raises(IndexFormatError):
            forged(other)


def resealed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The manifest changed, with a checksum that is right for it."""
    content = json.loads((folder / "index.json").read_text())
    for key in ("format", "version", "checksum"):
        del content[key]
    change(content)
    (folder / "index.json").write_bytes(storage.FORMAT.text(content))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["model"].update(folder="../model"),
        lambda c: c["model"].update(folder="/etc"),
        lambda c: c["model"].update(seal="0"),
        lambda c: c.update(model=3),
        lambda c: c.update(parts={"x": 1}),
        lambda c: c.update(kind=3),
        lambda c: c.update(costs=[]),
        lambda c: c["parts"][0].update(folder="../" + c["parts"][0]["folder"]),
        lambda c: c["parts"][0].update(seal="0"),
        lambda c: c["parts"][0].update(count=49),
        lambda c: c["parts"][0].update(count=-1),
        lambda c: c["parts"][0].update(kind="best"),
        lambda c: c["parts"][0].pop("removed"),
        lambda c: c["parts"][0].update(removed={"name": "../x", "bytes": 0, "xxh3": ""}),
        lambda c: c["parts"][0].update(removed=[]),
    ],
)
def test_a_manifest_that_leads_elsewhere_or_makes_no_sense_is_refused(folder: Path, change):
    model().save(folder.parent / "model")
    resealed(folder, change)
    with pytest.raises(IndexFormatError):
        load(folder)
