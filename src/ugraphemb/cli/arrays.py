"""Vectors, classes and true distances, as commands read them from files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, Literal, get_args

import click
import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.names import Head
from ugraphemb.errors import UGraphEmbError
from ugraphemb.graphs import GraphSet

Floats = npt.NDArray[np.float64]


@contextmanager
def told() -> Iterator[None]:
    """Wrong values and files that are not there, as a message instead of a traceback."""
    try:
        yield
    except UGraphEmbError:
        raise
    except (ValueError, ImportError, OSError) as error:
        raise click.ClickException(str(error)) from error


def read_vectors(path: str) -> tuple[Floats, list[str] | None]:
    """Vectors, shape (graphs, width), and ids if the file has them.

    .npy holds the matrix. .parquet holds a column `id` and either a column `vector` of lists or one column a dimension.
    """
    if Path(path).suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        ids = [str(value) for value in table["id"].to_pylist()] if "id" in table.column_names else None
        if "vector" in table.column_names:
            rows = table["vector"].to_pylist()
            if len({len(row) for row in rows}) > 1:
                raise ValueError(f"{path}: vectors of different lengths")
            return np.array(rows, dtype=np.float64).reshape(len(rows), -1), ids
        columns = [name for name in table.column_names if name != "id"]
        return np.stack([table[name].to_numpy().astype(np.float64) for name in columns], axis=1), ids
    values = _array(path)
    if values.ndim != 2:
        raise ValueError(f"{path}: an array of shape {values.shape}, expected (graphs, width)")
    return values.astype(np.float64), None


def head_of(path: str) -> Head:
    """How the vectors of a file are compared: what `ugraphemb embed` wrote into a .parquet, else "l2"."""
    if Path(path).suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        found = (pq.read_schema(path).metadata or {}).get(b"ugraphemb.head", b"").decode()
        for head in get_args(Head):
            if head == found:
                return head  # type: ignore[no-any-return]
    return "l2"


def vectors_of(path: str, graphs: GraphSet) -> Floats:
    """One vector for each graph, in the order of `graphs`: by id if the file has ids, else by position."""
    vectors, ids = read_vectors(path)
    if ids is None:
        if len(vectors) != len(graphs):
            raise ValueError(f"{path}: {len(vectors)} vectors for {len(graphs)} graphs")
        return vectors
    row = {name: i for i, name in enumerate(ids)}
    missing = [name for name in graphs.ids.tolist() if name not in row]
    if missing:
        raise ValueError(f"{path}: no vector of graph {missing[0]!r} ({len(missing)} of {len(graphs)} are missing)")
    return vectors[[row[name] for name in graphs.ids.tolist()]]


def read_truth(path: str, *, raw: bool = False) -> tuple[Floats, Literal["distance", "similarity"] | None]:
    """A full matrix of true proximities and, if the file says, whether they are distances or similarities.

    .npy holds the matrix, .parquet a pair table, which is normalized by the sizes of graphs unless `raw`.
    """
    if Path(path).suffix.lower() == ".parquet":
        from ugraphemb.proximity import PairTable

        table = PairTable.read(path)
        matrix = (table if raw or not table.sizes else table.normalized()).matrix()
        return np.ma.filled(matrix, np.nan), table.kind
    return _array(path).astype(np.float64), None


def read_targets(path: str) -> npt.NDArray[Any]:
    """One class a graph: .npy, a text file with one a line, or whatever holds graphs with targets."""
    source = Path(path)
    if source.is_file() and source.suffix.lower() == ".npy":
        return _array(path)
    if source.is_file() and source.suffix.lower() == ".txt":
        return np.array([line.strip() for line in source.read_text(encoding="utf-8").splitlines() if line.strip()])
    from ugraphemb.cli.inputs import resolve

    graphs = resolve(path)
    if graphs.targets is None:
        raise ValueError(f"{path}: these graphs have no classes")
    return graphs.targets


def _array(path: str) -> npt.NDArray[Any]:
    try:
        with np.errstate(all="ignore"):  # shapes past all bounds
            return np.array(np.load(path, mmap_mode="r", allow_pickle=False))  # mapped: no larger than the file
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such file") from error
    except (ValueError, TypeError, ArithmeticError, EOFError, OSError, SyntaxError, TokenError, MemoryError) as error:
        raise ValueError(f"{path}: not an array written by numpy.save ({error})") from error
