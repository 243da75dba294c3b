"""The molecules of MOSES, read from the installed package `molsets`, which is never imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, distribution, version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.cores import available_cores
from ugraphemb.errors import GraphFormatError, MissingExtraError, UGraphEmbError, warned
from ugraphemb.files import write_file
from ugraphemb.graphs.formats.reader import Progress
from ugraphemb.graphs.formats.text import read_lines
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import offsets_of

if TYPE_CHECKING:
    import pyarrow as pa

_FILES = ("train.csv.gz", "test.csv.gz", "test_scaffolds.csv.gz")
_CHUNK = 20_000  # molecules, about 5 s of work
_WORKER = "from ugraphemb.graphs.moses import work; work()"
_KEY = b"ugraphemb"


def read_moses(limit: int | None = None, progress: Progress | None = None, cache: Path | None = None) -> GraphSet:
    """1,936,962 molecules of 8 to 27 atoms, from ZINC, that the package `molsets` carries.

    Those of the training set come first, then the test set, then the test set of other scaffolds; ids are positions.
    Parsing takes a quarter of a millisecond of CPU per molecule, on all cores that the process may use.

    Args:
        limit: Only so many molecules, the first ones.
        progress: Called with the number of molecules done and of all.
        cache: A Parquet file that keeps what was parsed; used if it has enough molecules, written if it has not.
    """
    smiles = list(islice(_smiles(), limit))
    about = {"molsets": version("molsets"), "rdkit": _rdkit_version(), "layout": 1}
    known = None if cache is None else _cached(cache, about, len(smiles))
    if known is not None:
        return _graphs(known)
    chunks = [smiles[start : start + _CHUNK] for start in range(0, len(smiles), _CHUNK)]
    tables: list[pa.Table] = []
    done = 0
    for table in _parsed(chunks):
        tables.append(table)
        done += len(table)
        if progress is not None:
            progress(done, len(smiles))
    whole = _joined(tables, about)
    if cache is not None and len(chunks) > 1:
        _keep(whole, cache)
    return _graphs(whole)


def _smiles() -> Iterator[str]:
    try:
        package = distribution("molsets")
    except PackageNotFoundError as error:
        raise MissingExtraError(
            "these molecules come with the package molsets, which is not installed: run  pip install --no-deps molsets"
        ) from error
    for name in _FILES:
        path = Path(str(package.locate_file(f"moses/dataset/data/{name}")))
        lines = read_lines(path)
        if not lines or not lines[0].startswith("SMILES"):
            raise GraphFormatError(f"{path}:1: expected the header SMILES, as in molsets 0.3.1")
        yield from (line.partition(",")[0] for line in lines[1:])


def _rdkit_version() -> str:
    try:
        return version("rdkit")
    except PackageNotFoundError:
        return ""  # the first molecule raises the error that names the package


def _parsed(chunks: Sequence[list[str]]) -> Iterator[pa.Table]:
    """The molecules of each chunk, in order; each chunk in a process of its own, as many at once as there are cores.

    A spawned process needs no guard in the caller's script, and copies no locks of the caller's threads.
    """
    if len(chunks) < 2:
        yield from map(_table, chunks)
        return
    with ThreadPoolExecutor(min(len(chunks), available_cores())) as pool:
        try:
            yield from pool.map(_in_a_process, chunks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _in_a_process(smiles: list[str]) -> pa.Table:
    from pyarrow import ipc

    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", _WORKER]
    answer = subprocess.run(
        command, input="\n".join(smiles).encode(), capture_output=True, env=environment, check=False
    )
    if answer.returncode:
        reason = answer.stderr.decode(errors="replace").strip().rpartition("\n")[2] or f"code {answer.returncode}"
        raise GraphFormatError(f"moses: a process that parsed {len(smiles)} molecules failed: {reason}")
    return ipc.open_stream(answer.stdout).read_all()


def work() -> None:
    """What a process does: SMILES in, the table of their graphs out."""
    from pyarrow import ipc

    table = _table(sys.stdin.buffer.read().decode().split("\n"))
    with ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)


def _table(smiles: list[str]) -> pa.Table:
    """One row per molecule; everything about it is small enough for bytes."""
    import pyarrow as pa

    graphs = GraphSet.from_smiles(smiles)
    bonds = np.empty(0, np.int32) if graphs.edge_labels is None else graphs.edge_labels
    assert graphs.num_nodes.max(initial=0) < 256

    def column(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> pa.Array:
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values.astype(np.uint8)))

    ends = graphs.indptr[graphs.node_offsets]
    columns = {
        "smiles": pa.array(smiles, pa.string()),
        "atoms": column(graphs.node_labels, graphs.node_offsets),
        "degrees": column(np.diff(graphs.indptr), graphs.node_offsets),
        "neighbors": column(graphs.indices, ends),
        "bonds": column(bonds, ends),
    }
    about = {"atoms": graphs.node_vocabulary, "bonds": graphs.edge_vocabulary}
    return pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about)})


def _joined(tables: list[pa.Table], about: dict[str, Any]) -> pa.Table:
    """All rows, with one vocabulary of atoms and one of bonds."""
    import pyarrow as pa

    if not tables:
        tables = [_table([])]
    words: dict[str, list[str]] = {"atoms": [], "bonds": []}
    joined = []
    for table in tables:
        own = json.loads(table.schema.metadata[_KEY])
        for name, known in words.items():
            known += [word for word in own[name] if word not in known]
            codes = np.array([known.index(word) for word in own[name]] or [0], np.uint8)
            lists = table[name].combine_chunks()
            recoded = pa.ListArray.from_arrays(lists.offsets, pa.array(codes[lists.values.to_numpy()]))
            table = table.set_column(table.column_names.index(name), name, recoded)
        joined.append(table.replace_schema_metadata(None))
    return pa.concat_tables(joined).replace_schema_metadata({_KEY: json.dumps({**about, **words})})


def _graphs(table: pa.Table) -> GraphSet:
    about = json.loads(table.schema.metadata[_KEY])
    flat = {
        name: np.concatenate([np.empty(0, np.uint8), *(part.flatten().to_numpy() for part in table[name].chunks)])
        for name in ("atoms", "degrees", "neighbors", "bonds")
    }
    sizes = [part.value_lengths().to_numpy() for part in table["atoms"].chunks]
    return GraphSet(
        node_offsets=offsets_of(np.concatenate([np.empty(0, np.int32), *sizes])),
        indptr=offsets_of(flat["degrees"]),
        indices=flat["neighbors"].astype(np.int32),
        node_labels=flat["atoms"].astype(np.int32),
        node_vocabulary=tuple(about["atoms"]),
        edge_labels=flat["bonds"].astype(np.int32),
        edge_vocabulary=tuple(about["bonds"]),
        name="moses",
        metadata={"smiles": table["smiles"].to_numpy()},
    )


def _cached(path: Path, about: dict[str, Any], count: int) -> pa.Table | None:
    """The first molecules from the cache; None if there is no cache or it cannot be used."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        known = json.loads(file.schema_arrow.metadata[_KEY])
        if file.metadata.num_rows < count or any(known.get(name) != value for name, value in about.items()):
            return None
        groups: list[int] = []
        rows = 0
        while rows < count:
            rows += file.metadata.row_group(len(groups)).num_rows
            groups.append(len(groups))
        return file.read_row_groups(groups)[:count]
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return None


def _keep(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    try:
        write_file(path, lambda file: pq.write_table(table, file, row_group_size=100_000, write_page_checksum=True))
    except (OSError, UGraphEmbError) as error:
        warned(f"{path}: the parsed molecules could not be kept for the next time ({error})", UserWarning)
