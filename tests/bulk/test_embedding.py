"""From files of graphs to Parquet files of vectors: partitions, resuming, object stores, many workers."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pyarrow.parquet as pq
import pytest

import ugraphemb as ug
from ugraphemb.bulk import pieces
from ugraphemb.errors import GraphFormatError, MissingExtraError
from ugraphemb.files import remote

SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "C1CCCCC1", "CC(C)C", "OCC=O", "c1ccncc1", "CCCl", "NCCO", "CC#N"]


@cache
def model() -> ug.UGraphEmb:
    settings = {"layers": (8,), "scales": (0, 1), "hidden": 8}
    graphs = ug.GraphSet.from_smiles(SMILES)
    return ug.UGraphEmb(dimension=8, steps=20, batch=8, settings=settings, threads=1, progress=False).fit(graphs)


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch):
    monkeypatch.setattr(pieces, "_SMALL", 0)


def vectors_in(folder) -> dict[str, np.ndarray]:
    found = {}
    for entry in remote.listed(f"{folder}/**/*.parquet" if "://" in str(folder) else folder):
        with remote.opened(entry.address) as file:
            table = pq.read_table(file)
        for name, vector in zip(table["id"].to_pylist(), table["vector"].to_pylist(), strict=True):
            assert name not in found
            found[name] = np.array(vector, np.float32)
    return found


def expected(count: int = len(SMILES)) -> dict[str, np.ndarray]:
    vectors = model().transform(ug.GraphSet.from_smiles(SMILES[:count]))
    return dict(zip(map(str, range(count)), vectors, strict=True))


def assert_same(found: dict, wanted: dict) -> None:
    assert list(found) == list(wanted)
    np.testing.assert_allclose(np.array([*found.values()]), np.array([*wanted.values()]), atol=1e-5)


def test_large_files_are_cut_and_rows_keep_their_numbers(tmp_path):
    (tmp_path / "some.smi.gz").write_bytes(gzip.compress("\n".join([*SMILES[:4], "", *SMILES[4:]]).encode()))
    done = ug.embed_files(tmp_path / "some.smi.gz", tmp_path / "out", model(), rows=3)
    assert (done.graphs, done.partitions, done.kept) == (11, 4, 0)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"some.smi-{i:05d}.parquet" for i in range(4)]
    assert_same(vectors_in(tmp_path / "out"), expected())
    assert pq.read_schema(tmp_path / "out" / "some.smi-00000.parquet").metadata[b"ugraphemb.head"] == b"sized_l1"


@pytest.mark.parametrize("rows", [1, 2, 5, 100])
def test_tables_and_json_lines_are_read_as_whole_files_are(tmp_path, rows):
    table = "id;note;smiles\n" + "".join(f'm{i};"a ""b""\n{i}";{text}\n' for i, text in enumerate(SMILES))
    (tmp_path / "a.csv").write_text(table)
    ug.write_graphs(ug.GraphSet.from_smiles(SMILES, ids=[f"j{i}" for i in range(11)]), tmp_path / "b.jsonl")
    ug.embed_files([tmp_path / "a.csv", tmp_path / "b.jsonl"], tmp_path / "out", model(), rows=rows)
    found = vectors_in(tmp_path / "out")
    for prefix, file in (("m", "a.csv"), ("j", "b.jsonl")):
        whole = ug.read_graphs(tmp_path / file)
        assert whole.ids.tolist() == [f"{prefix}{i}" for i in range(11)]
        wanted = dict(zip(whole.ids.tolist(), model().transform(whole), strict=True))
        assert_same({name: found[name] for name in wanted}, wanted)
    assert len(found) == 22


def test_what_is_finished_is_not_done_again(tmp_path):
    source, out = tmp_path / "some.smi", tmp_path / "out"
    source.write_text("\n".join(SMILES))
    ug.embed_files(source, out, model(), rows=4)
    times = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert ug.embed_files(source, out, model(), rows=4).kept == 3
    assert {path.name: path.stat().st_mtime_ns for path in out.iterdir()} == times
    (out / "some.smi-00001.parquet").unlink()
    (out / "some.smi-00002.parquet").write_bytes(b"PAR1 truncated")
    assert ug.embed_files(source, out, model(), rows=4).kept == 1
    source.write_text("\n".join([*SMILES[:4], "CCCCC", *SMILES[5:]]))  # another molecule in the second partition
    assert ug.embed_files(source, out, model(), rows=4).kept == 2
    assert ug.embed_files(source, out, model(), rows=4, charges=True).kept == 0
    other = ug.UGraphEmb(dimension=8, steps=2, batch=8, threads=1, progress=False, seed=1)
    assert ug.embed_files(source, out, other.fit(ug.GraphSet.from_smiles(SMILES)), rows=4).kept == 0


def test_a_file_that_became_shorter_leaves_no_stale_partition(tmp_path):
    source, out = tmp_path / "some.smi", tmp_path / "out"
    source.write_text("\n".join(SMILES))
    ug.embed_files(source, out, model(), rows=2)
    (out / "some.smi-mine.parquet").write_bytes(b"of another program")
    source.write_text("\n".join(SMILES[:3]))
    ug.embed_files(source, out, model(), rows=2)
    names = sorted(path.name for path in out.iterdir())
    assert names == ["some.smi-00000.parquet", "some.smi-00001.parquet", "some.smi-mine.parquet"]


def test_an_error_names_the_line_of_the_file_and_keeps_what_was_finished(tmp_path):
    (tmp_path / "some.smi").write_text("\n".join([*SMILES[:5], "C1CC", *SMILES[5:]]))
    with pytest.raises(GraphFormatError, match=r"some\.smi:6: 'C1CC' is not valid SMILES"):
        ug.embed_files(tmp_path / "some.smi", tmp_path / "out", model(), rows=2)
    assert len(list((tmp_path / "out").iterdir())) == 2
    with pytest.warns(ug.errors.GraphWarning, match="1 molecule that cannot be read"):
        done = ug.embed_files(tmp_path / "some.smi", tmp_path / "out", model(), rows=2, on_error="skip")
    assert done.graphs == 11
    assert "5" not in vectors_in(tmp_path / "out")


def test_names_mirror_the_folders_of_the_files(tmp_path):
    for name in ("2024/a.smi", "2025/a.smi", "2025/deep/b.smi.gz"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        data = f"CCO {name}\n".encode()
        (tmp_path / "in" / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (tmp_path / "in" / "README.md").write_text("no graphs")
    ug.embed_files(tmp_path / "in", tmp_path / "out", model())
    found = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.parquet"))
    assert found == ["2024/a.smi-00000.parquet", "2025/a.smi-00000.parquet", "2025/deep/b.smi-00000.parquet"]
    (tmp_path / "in" / "2024" / "a.smi.gz").write_bytes(gzip.compress(b"CCO"))
    with pytest.raises(ValueError, match=r"would both become 2024/a\.smi-00000\.parquet"):
        ug.embed_files(tmp_path / "in", tmp_path / "out", model())


def test_object_stores_in_and_out():
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/in/a.smi.gz", gzip.compress("\n".join(SMILES[:6]).encode()))
    memory.pipe_file("/in/b.gspan", b"t # 77\nv 0 C\nv 1 O\ne 0 1 single\n")
    try:
        with ThreadPoolExecutor(2) as threads:
            done = ug.embed_files("memory://in/*", "memory://out", model(), executor=threads, rows=4)
        assert (done.graphs, done.partitions) == (7, 3)
        found = vectors_in("memory://out")
        assert found.pop("77").shape == (8,)
        assert_same(found, expected(6))
        assert ug.embed_files("memory://in/*", "memory://out", model(), rows=4).kept == 3
        memory.pipe_file("/in/b.gspan", b"t # 0\nv 0 C\ne 0 7 single\n")
        with pytest.raises(GraphFormatError, match=r"memory://in/b\.gspan"):
            ug.embed_files("memory://in/b.gspan", "memory://out", model())
        with pytest.raises(ValueError, match="other processes cannot see"):
            ug.embed_files("memory://in/*", "memory://out", model(), executor=2)
    finally:
        memory.rm("/in", recursive=True)
        memory.rm("/out", recursive=True)


def test_a_store_without_its_package_names_the_extra():
    with pytest.raises(MissingExtraError, match=r"abfs://box/a\.smi: .*pip install 'ugraphemb\[remote\]'"):
        ug.embed_files("abfs://box/a.smi", "out", model())


def test_processes_give_the_same_vectors(tmp_path):
    (tmp_path / "some.smi").write_text("\n".join(SMILES))
    seen = []
    done = ug.embed_files(
        tmp_path / "some.smi", f"file://{tmp_path}/out", model(), executor=2, rows=2,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert (done.graphs, done.partitions) == (11, 6)
    assert_same(vectors_in(tmp_path / "out"), expected())
    assert seen[-1] == ((tmp_path / "some.smi").stat().st_size,) * 2
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    graphs = ug.GraphSet.from_smiles(SMILES)
    np.testing.assert_allclose(model().transform(graphs, executor=2), model().transform(graphs), atol=1e-5)


def test_the_command_line(tmp_path):
    model().save(tmp_path / "model")
    (tmp_path / "some.smi").write_text("\n".join(SMILES))
    program = "from ugraphemb.cli.main import main; main()"
    command = [sys.executable, "-c", program, "embed", "model", "*.smi", "-o", "vectors/", "--workers", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("vectors/: 11 vectors in 1 files; work of all workers: read ")
    assert_same(vectors_in(tmp_path / "vectors"), expected())
    about = json.loads(pq.read_schema(tmp_path / "vectors" / "some.smi-00000.parquet").metadata[b"ugraphemb.source"])
    assert (about["input"], about["piece"]) == ("some.smi", 0)


def test_nothing_there_is_a_clear_error(tmp_path):
    with pytest.raises(GraphFormatError, match=r"\*\.smi: no such file; expected files of graphs"):
        ug.embed_files(tmp_path / "*.smi", tmp_path / "out", model())
