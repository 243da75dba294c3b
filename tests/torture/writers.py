"""Everything that the library saves, as numbered states.

A writer saves state 0, 1, 2, ... in a folder, each over the one before. `load` gives the number of the stored state,
and fails if what it reads is not exactly one state, so that every test can check for "the old state or the new one".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import torch

import ugraphemb as ug
from ugraphemb import GraphIndex, GraphSet, PairTable, UGraphEmb
from ugraphemb.files import NewFolder, storage_errors, write_file, write_folder
from ugraphemb.files.folders import MANIFEST
from ugraphemb.graphs.formats import write_graphs
from ugraphemb.training.checkpoints import read_checkpoint, write_checkpoint

GRAPHS = 24


@dataclass(frozen=True)
class Writer:
    """One kind of saved file or folder.

    Attributes:
        name: As in the issue's list and the reports.
        target: The file or folder that it writes, within the folder it is given.
        save: Saves state n in a folder that holds state n - 1 (or nothing, for n = 0).
        load: The number of the stored state. Raises AssertionError for a state that was never saved.
        grows: The files of a state stay when the next one is saved; else the target is replaced as a whole.
        shares: The target is a folder in which others may keep files.
        exclusive: While one process writes, others are refused; else they wait, or the last one counts.
    """

    name: str
    target: str
    save: Callable[[Path, int], None]
    load: Callable[[Path], int]
    grows: bool = False
    shares: bool = False
    exclusive: bool = False


@cache
def graphs() -> GraphSet:
    """Small labeled graphs, all different."""
    random = np.random.default_rng(11)
    sizes = random.integers(3, 8, GRAPHS)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    edges = [(starts[g] + i, starts[g] + random.integers(0, i)) for g in range(GRAPHS) for i in range(1, sizes[g])]
    return GraphSet.from_edges(
        sizes.tolist(),
        np.array(edges),
        node_labels=random.choice(["C", "N", "O"], int(sizes.sum())).tolist(),
        ids=[f"g{i}" for i in range(GRAPHS)],
    )


@cache
def model(width: int) -> UGraphEmb:
    settings = {"layers": (width,), "scales": (0, 1), "hidden": width}
    untrained = UGraphEmb(dimension=width, steps=1, batch=8, settings=settings, threads=1, progress=False)
    return untrained.fit(graphs())


@cache
def vectors() -> np.ndarray:
    return model(8).transform(graphs())


def _one(values: object, what: str) -> int:
    """The number that all values are equal to."""
    found = np.unique(np.asarray(values))
    assert len(found) == 1, f"{what} of several states: {found[:10]}"
    return int(found[0])


# --- model: the number is in the configuration and is every weight --------------------------------------------------


def _save_model(folder: Path, n: int) -> None:
    saved = model(64)
    with torch.no_grad():
        for value in saved.network_.state_dict().values():
            value.fill_(n)
    saved.about_["n"] = n
    saved.save(folder / "model")


def _load_model(folder: Path) -> int:
    found = UGraphEmb.load(folder / "model", device="cpu")
    n: int = found.about_["n"]
    weights = torch.cat([value.double().reshape(-1) for value in found.network_.state_dict().values()])
    assert _one(weights.numpy(), "weights") == n, "weights of another state than the configuration"
    return n


# --- checkpoint: the number is the step and is every weight ---------------------------------------------------------


@cache
def _run():  # type: ignore[no-untyped-def]
    from ugraphemb.encoder.batches import Collator
    from ugraphemb.training.known_pairs import known_pairs
    from ugraphemb.training.loop import _Run
    from ugraphemb.training.presets import settings_of

    start = model(64)
    known = known_pairs(_table())
    _, loop = settings_of("default", known.kind, {"batch": 8})
    collator = Collator(graphs(), start.vocabulary_, start.network_.config)
    each = np.arange(GRAPHS)
    cpu = torch.device("cpu")
    return _Run(start.network_, collator, known, each[6:], each[:6], loop.of(GRAPHS - 6), 0, cpu)


def _fill_run(n: int) -> None:
    run = _run()
    best = {name: torch.full_like(value, n) for name, value in run.network.state_dict().items()}
    with torch.no_grad():
        for weights in (run.network.state_dict(), run.average.state_dict()):
            for value in weights.values():
                value.fill_(n)
    run.state = replace(run.state, step=n, best_step=n, best_weights=best)


def _save_checkpoint(folder: Path, n: int) -> None:
    _fill_run(n)
    write_checkpoint(folder / "run.ckpt", _run())


def _load_checkpoint(folder: Path) -> int:
    _fill_run(-1)
    run = _run()
    read_checkpoint(folder / "run.ckpt", run)
    for weights in (run.network.state_dict(), run.average.state_dict(), run.state.best_weights):
        together = torch.cat([value.double().reshape(-1) for value in weights.values()])
        assert _one(together.numpy(), "weights") == run.state.step == run.state.best_step
    return int(run.state.step)


# --- pair table and store -------------------------------------------------------------------------------------------


@cache
def _table() -> PairTable:
    return ug.pairwise(graphs(), method="branch", threads=1, progress=False)


def _save_table(folder: Path, n: int) -> None:
    full = np.full(len(_table()), float(n))
    replace(_table(), lower=full, upper=full).write(folder / "table.parquet")


def _load_table(folder: Path) -> int:
    table = PairTable.read(folder / "table.parquet", graphs())
    assert np.array_equal(table.left, _table().left)
    assert np.array_equal(table.right, _table().right)
    assert np.array_equal(table.proven, _table().proven)
    return _one([table.lower, table.upper], "bounds")


def _batch(n: int) -> np.ndarray:
    """The pairs that state n adds; three each, so that there are 92 states."""
    return np.stack([_table().left, _table().right], axis=1)[3 * n : 3 * n + 3]


def _save_store(folder: Path, n: int) -> None:
    ug.pairwise(graphs(), _batch(n), method="branch", threads=1, progress=False, store=folder / "store")


def _load_store(folder: Path) -> int:
    table = PairTable.read(folder / "store", graphs())
    assert len(table) % 3 == 0, f"{len(table)} pairs: a batch is not whole"
    if not len(table):
        raise FileNotFoundError("a store without pairs yet")
    n = len(table) // 3 - 1
    pairs = np.stack([table.left, table.right], axis=1)
    order = np.lexsort(pairs.T[::-1])
    expected = _table()
    assert np.array_equal(pairs[order], np.stack([expected.left, expected.right], axis=1)[: 3 * n + 3])
    for name in ("lower", "upper", "proven"):
        found = getattr(table, name)[order]
        assert np.array_equal(found, getattr(expected, name)[: 3 * n + 3], equal_nan=name != "proven"), name
    return n


# --- index: each state adds a graph, and some remove one ------------------------------------------------------------

_BASE = 6


def _members(n: int) -> dict[str, int]:
    """The ids of state n, and which graph each of them is."""
    found = {f"base{i}": i for i in range(_BASE)}
    for i in range(1, n + 1):
        found[f"n{i}"] = i % GRAPHS
        if i % 3 == 0:
            found.pop(f"n{i - 1}")
        if i % 20 == 0:
            found = {name: graph for name, graph in found.items() if name.startswith("base") or name == f"n{i}"}
    return found


def _index_of(members: dict[str, int], n: int) -> GraphIndex:
    rows = list(members.values())
    return GraphIndex(model(8), threads=1).add(
        graphs()[rows], ids=list(members), metadata={"graph": rows, "since": [n] * len(rows)}, vectors=vectors()[rows]
    )


def _save_index(folder: Path, n: int) -> None:
    members = _members(n)
    if n % 7 == 0:  # another index replaces the stored one
        _index_of(members, n).save(folder / "index")
        return
    index = GraphIndex.load(folder / "index", threads=1)
    there = set(index.ids)
    new = [name for name in members if name not in there]
    rows = [members[name] for name in new]
    index.add(graphs()[rows], ids=new, metadata={"graph": rows, "since": [n] * len(rows)}, vectors=vectors()[rows])
    index.remove([name for name in there if name not in members])
    index.save()


def _load_index(folder: Path) -> int:
    index = GraphIndex.load(folder / "index", threads=1)
    n = max((int(name[1:]) for name in index.ids if name.startswith("n")), default=0)
    members = _members(n)
    table = index.to_table()
    assert set(index.ids) == set(members), f"ids of no state: {sorted(set(index.ids) ^ set(members))}"
    rows = [members[name] for name in index.ids]
    assert table["graph"].to_pylist() == rows
    assert np.array_equal(np.array(table["vector"].to_pylist(), np.float32), vectors()[rows])
    expected = graphs()[rows]
    assert index.graphs() == replace(expected, ids=np.array(index.ids))
    assert len(index.search(graphs()[0], 3)) == 3
    assert index.search(graphs()[0], 1, complete=True)[0].proven
    return n


# --- graphs and vectors for others ----------------------------------------------------------------------------------


def _numbered(n: int) -> GraphSet:
    """Paths in which every node has the label n; there are more of them for some n."""
    count = 4 + n % 5
    edges = np.array([(4 * g + i, 4 * g + i + 1) for g in range(count) for i in range(3)])
    return GraphSet.from_edges([4] * count, edges, node_labels=[n] * (4 * count))


def _writes_graphs(name: str, target: str) -> Writer:
    def save(folder: Path, n: int) -> None:
        write_graphs(_numbered(n), folder / target)

    def load(folder: Path) -> int:
        found = ug.read_graphs(folder / target)
        n = _one([int(found.node_vocabulary[label]) for label in found.node_labels], "labels")
        assert found.num_nodes.tolist() == [4] * (4 + n % 5), "not all graphs of the state"
        assert found.num_edges.tolist() == [3] * (4 + n % 5)
        return n

    return Writer(name, target, save, load)


def _save_export(folder: Path, n: int) -> None:
    rows = list(range(GRAPHS))
    index = GraphIndex(model(8), threads=1)
    index.add(graphs(), metadata={"graph": rows, "since": [n] * GRAPHS}, vectors=vectors() + n)
    index.export(folder / "vectors.parquet")


def _load_export(folder: Path) -> int:
    with pq.ParquetFile(folder / "vectors.parquet") as file:  # opened once: pq.read_table mixes two states
        table = file.read()
    n = _one(table["since"].to_pylist(), "rows")
    assert table["id"].to_pylist() == graphs().ids.tolist()
    assert np.array_equal(np.array(table["vector"].to_pylist(), np.float32), vectors() + np.float32(n))
    return n


# --- the two ways in which files are written, by themselves -------------------------------------------------------


def _save_file(folder: Path, n: int) -> None:
    with storage_errors(folder):
        write_file(folder / "file", str(n).encode() * 500)


def _load_file(folder: Path) -> int:
    text = (folder / "file").read_bytes()
    n = int(text[: len(text) // 500])
    assert text == str(n).encode() * 500
    return n


def _save_folder(folder: Path, n: int) -> None:
    def fill(new: NewFolder) -> None:
        for i in range(2 + n % 2):
            new.write(f"{i}", str(n).encode() * 500)

    with storage_errors(folder):
        write_folder(folder / "folder", fill)


def _load_folder(folder: Path) -> int:
    if not (folder / "folder").exists():
        raise FileNotFoundError
    found = {path.name: path.read_bytes() for path in (folder / "folder").iterdir()}
    found.pop(MANIFEST)
    n = int(found["0"][: len(found["0"]) // 500])
    assert found == {f"{i}": str(n).encode() * 500 for i in range(2 + n % 2)}
    return n


BASIC = {
    writer.name: writer
    for writer in (
        Writer("file", "file", _save_file, _load_file),
        Writer("folder", "folder", _save_folder, _load_folder),
    )
}
WRITERS = {
    writer.name: writer
    for writer in (
        Writer("model", "model", _save_model, _load_model, shares=True),
        Writer("checkpoint", "run.ckpt", _save_checkpoint, _load_checkpoint),
        Writer("table", "table.parquet", _save_table, _load_table),
        Writer("store", "store", _save_store, _load_store, grows=True, shares=True, exclusive=True),
        Writer("index", "index", _save_index, _load_index, grows=True, shares=True),
        _writes_graphs("graphs file", "graphs.jsonl"),
        _writes_graphs("graphs archive", "graphs.zip"),
        _writes_graphs("graphs folder", "graphs"),
        _writes_graphs("graphs collection", "graphs.cxl"),
        Writer("export", "vectors.parquet", _save_export, _load_export),
    )
}
