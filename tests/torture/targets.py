"""Everything that is loaded from files: the good files that are damaged, and how each is used."""

from __future__ import annotations

import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.formats import read_graphs, write_graphs

_OLD = Path(__file__).resolve().parents[1] / "formats" / "release-0.1"


@dataclass(frozen=True)
class Target:
    """Something that is loaded.

    Attributes:
        save: Writes good files into a folder.
        use: Loads them, given the random numbers of the input; raises only errors of this library.
        share: How many inputs it gets, relative to others.
    """

    name: str
    save: Callable[[Path], None]
    use: Callable[[Path, random.Random], Any]
    share: float = 1.0


# --- readers of graphs ----------------------------------------------------------------------------------------------


def _numbered() -> GraphSet:
    return GraphSet.from_edges(
        [3, 2], [(0, 1), (1, 2), (3, 4)], node_labels=[1, 2, 1, 1, 3], edge_labels=[1, 2, 1],
        node_attributes=[[0.5], [1.0], [2.0], [3.0], [4.0]], targets=[0, 1],
    )  # fmt: skip


def _worded() -> GraphSet:
    return GraphSet.from_edges(
        [3, 2], [(0, 1), (1, 2), (3, 4)], node_labels=["a", 1, None, 2.5, ("b", (True,))], edge_labels=["x", "y", "x"],
        node_attributes=[[0.5], [1.0], [2.0], [3.0], [4.0]], targets=["p", "q"], ids=["first", "second"],
    )  # fmt: skip


def _save_graphs(folder: Path, *, name: str, kind: str) -> None:
    graphs = {
        "numbered": _numbered,
        "worded": _worded,
        "molecules": lambda: GraphSet.from_smiles(
            ["CCO", "c1ccccc1N", "[Na+].[Cl-]", "C/C=C/C"], ids=["a", "b", "c", "d"], targets=[1, 0, 1, 1]
        ),
    }[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        write_graphs(graphs, folder / name, format="gxl" if name == "gxl" else None)


def _use_graphs(folder: Path, chance: random.Random, *, name: str) -> None:
    options: dict[str, Any] = {"strict": chance.random() < 0.2}
    if name.startswith(("set.smi", "set.csv", "set.tsv", "set.sdf")):
        options |= {"on_error": chance.choice(("raise", "skip")), "hydrogens": chance.random() < 0.2}
    try:
        graphs = read_graphs(folder / name, **options)
    except GraphFormatError as error:
        if str(folder) not in str(error):
            raise RuntimeError(f"an error that does not name the file: {error}") from error
        raise
    check(graphs)


def check(graphs: GraphSet) -> None:
    """Checks that the arrays are consistent and describe simple graphs, which the core relies on."""
    nodes, ends = len(graphs.node_labels), len(graphs.indices)
    assert graphs.node_offsets[-1] == nodes == len(graphs.indptr) - 1
    assert graphs.indptr[-1] == ends
    assert len(graphs.ids) == len(graphs) == len(set(graphs.ids.tolist()))
    assert graphs.edge_labels is None or len(graphs.edge_labels) == ends
    start = np.repeat(np.repeat(graphs.node_offsets[:-1], graphs.num_nodes), np.diff(graphs.indptr))
    source = np.repeat(np.arange(nodes), np.diff(graphs.indptr))
    target = graphs.indices + start
    assert ends == 0 or (graphs.indices.min() >= 0 and (source != target).all())
    forward, backward = source * max(nodes, 1) + target, target * max(nodes, 1) + source
    assert np.array_equal(forward, np.sort(backward)), "not symmetric, or not sorted"
    for labels, vocabulary in (
        (graphs.node_labels, graphs.node_vocabulary),
        (graphs.edge_labels, graphs.edge_vocabulary),
    ):
        assert labels is None or not len(labels) or 0 <= labels.min() <= labels.max() < max(1, len(vocabulary))
    assert len(graphs.fingerprint) == 32


def _graph_target(name: str, kind: str, share: float = 1.0) -> Target:
    save, use = partial(_save_graphs, name=name, kind=kind), partial(_use_graphs, name=name)
    return Target(name, save, use, share)


def _save_content(folder: Path) -> None:
    _save_graphs(folder, name="set.jsonl", kind="worded")
    (folder / "set.jsonl").rename(folder / "set.txt")


# --- saved formats ---------------------------------------------------------------------------------------------------


def _saved(name: str, share: float) -> Target:
    """A format as this release writes it; see torture.flips."""

    def save(folder: Path) -> None:
        from torture.flips import SAVED

        SAVED[name].save(folder)

    def use(folder: Path, _: random.Random) -> None:
        from torture.flips import SAVED

        with warnings.catch_warnings():
            warnings.simplefilter("error", GraphWarning)
            try:
                SAVED[name].use(folder)
            except GraphWarning as warning:  # a store leaves out a damaged file, with a warning
                raise GraphFormatError(str(warning)) from None

    return Target(f"saved {name}", save, use, share)


class _AnyText(str):
    """Equal to every other text; likewise `_AnyBytes`."""

    __hash__ = str.__hash__

    def __eq__(self, _: object) -> bool:
        return True

    def __ne__(self, _: object) -> bool:
        return False


class _AnyBytes(bytes):
    __hash__ = bytes.__hash__

    def __eq__(self, _: object) -> bool:
        return True

    def __ne__(self, _: object) -> bool:
        return False


@contextmanager
def forged() -> Iterator[None]:
    """Accepts every checksum within the block, to imitate an attacker who computes valid checksums."""
    checksums, documents, named, parquet, sealed = (
        import_module(f"ugraphemb.files.{name}") for name in ("checksums", "documents", "named", "parquet", "sealed")
    )
    begin = checksums.CheckedFile.__init__

    def open_anyway(file: Any, path: Path, sums: Any, error: type[Exception]) -> None:
        begin(file, path, checksums.Sums.of(path.read_bytes()) if path.is_file() else sums, error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "digest", lambda data: _AnyText())
        patch.setattr(named, "digest", lambda data: _AnyText())
        patch.setattr(sealed, "_digest", lambda *_: _AnyBytes())
        patch.setattr(parquet, "_digest", lambda *_: _AnyBytes())
        patch.setattr(checksums.CheckedFile, "__init__", open_anyway)
        yield


def _forged(name: str, share: float) -> Target:
    """The same, as if all checksums were right."""
    honest = _saved(name, share)

    def use(folder: Path, chance: random.Random) -> None:
        try:
            with forged(), np.errstate(all="ignore"):  # the input has vectors out of range
                honest.use(folder, chance)
        except (AssertionError, LookupError, ValueError) as error:
            # The writer expects its own numbers and ids; the input may hold others.
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            if trace is None or not trace.tb_frame.f_code.co_filename.endswith("writers.py"):
                raise

    return Target(f"forged {name}", honest.save, use, share)


def _old_copy(folder: Path, *, name: str) -> None:
    source = _OLD / name
    if source.is_dir():
        shutil.copytree(source, folder / name)
    else:
        shutil.copy(source, folder / name)


def _old(name: str, use: Callable[[Path], Any], share: float) -> Target:
    """A format of release 0.1, whose files have no checksums, so that mutations are not detected by them."""
    return Target(f"0.1 {name}", partial(_old_copy, name=name), lambda folder, _: use(folder / name), share)


def _use_old_model(path: Path) -> None:
    from ugraphemb import UGraphEmb

    UGraphEmb.load(path, device="cpu")


def _use_old_table(path: Path) -> None:
    from ugraphemb import PairTable

    table = PairTable.read(path)
    assert len(table.left) == len(table.value)


def _use_old_index(path: Path) -> None:
    from torture import writers

    from ugraphemb import GraphIndex

    index = GraphIndex.load(path, threads=1)
    index.to_table()
    check(index.graphs())
    with np.errstate(all="ignore"):  # the input has vectors out of range
        index.search(writers.graphs()[:1], 3)


def _save_vectors(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    np.save(folder / "z.npy", np.arange(12.0).reshape(4, 3))
    pq.write_table(pa.table({"id": ["a", "b"], "vector": [[1.0, 2.0], [3.0, 4.0]]}), folder / "z.parquet")


def _use_vectors(folder: Path, _: random.Random) -> None:
    import click

    from ugraphemb.cli.arrays import head_of, read_vectors, user_errors

    for name in ("z.npy", "z.parquet"):
        try:
            with user_errors():
                read_vectors(str(folder / name))
                head_of(str(folder / name))
        except click.ClickException as error:
            raise GraphFormatError(str(error)) from None


TARGETS = {
    target.name: target
    for target in (
        _graph_target("set.jsonl", "worded", 1.5),
        _graph_target("set.jsonl.gz", "worded"),
        _graph_target("set.gxl", "worded"),
        _graph_target("set.cxl", "numbered", 0.5),
        _graph_target("gxl", "numbered", 0.5),
        _graph_target("set.graphml", "worded"),
        _graph_target("set.edges", "worded"),
        _graph_target("set.gml", "worded"),
        _graph_target("set.json", "worded"),
        _graph_target("set.g6", "numbered"),
        _graph_target("set.s6", "numbered"),
        _graph_target("set.gspan", "numbered"),
        _graph_target("set.gspan.gz", "numbered", 0.5),
        _graph_target("set.smi", "molecules"),
        _graph_target("set.csv", "molecules"),
        _graph_target("set.tsv", "molecules", 0.5),
        _graph_target("set.sdf", "molecules"),
        _graph_target("set.zip", "numbered", 1.5),
        _graph_target("SET", "numbered", 1.5),
        Target("content", _save_content, partial(_use_graphs, name="set.txt"), 0.5),
        _saved("model", 0.1),
        _saved("checkpoint", 0.1),
        _saved("table", 0.3),
        _saved("store", 0.3),
        _saved("index", 0.1),
        _forged("model", 0.3),
        _forged("checkpoint", 0.3),
        _forged("table", 0.3),
        _forged("store", 0.3),
        _forged("index", 0.3),
        _old("model", _use_old_model, 0.3),
        _old("table.parquet", _use_old_table, 0.5),
        _old("store", _use_old_table, 0.3),
        _old("index", _use_old_index, 0.3),
        _old("graphs.jsonl", lambda path: check(read_graphs(path)), 0.3),
        Target("vectors", _save_vectors, _use_vectors, 0.5),
    )
}
