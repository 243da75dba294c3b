"""Vectors, classes and true distances, as commands read them from files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import click
import numpy as np
import numpy.typing as npt

from ugraphemb.cli.failures import WrongInput, exit_code, message
from ugraphemb.encoder.names import Head
from ugraphemb.errors import UGraphEmbError
from ugraphemb.graphs import GraphSet

Floats = npt.NDArray[np.float64]


@contextmanager
def user_errors() -> Iterator[None]:
    """Wrong values and missing files, as a message instead of a traceback."""
    try:
        yield
    except UGraphEmbError:
        raise
    except (ValueError, ImportError, OSError) as error:
        raise (WrongInput if exit_code(error) == 2 else click.ClickException)(message(error)) from error


def read_vectors(path: str) -> tuple[Floats, list[str] | None]:
    """Vectors, shape (graphs, width), and ids if the file has them.

    .npy holds the matrix, and a .json beside it the ids.
    .parquet holds a column `id` and either a column `vector` of lists or one column per dimension.
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
    ids = _about(path).get("ids")
    if ids is not None and len(ids) != len(values):
        raise ValueError(f"{_beside(path)}: {len(ids)} ids, but {path} holds {len(values)} vectors")
    return values.astype(np.float64), ids


def write_vectors(path: str, vectors: npt.NDArray[np.float32], ids: Sequence[str], head: Head) -> None:
    """Vectors with their ids and how they are compared: .parquet holds all of it, .npy has a .json beside it.

    The .json names the array by its checksum. While both are replaced it describes the old and the new array, so that a
    reader always finds the description of the array that it loads.
    """
    from ugraphemb.files import digest, storage_errors, write_file
    from ugraphemb.files.arrays import npy_bytes
    from ugraphemb.files.parquet import parquet_bytes, vector_table

    with storage_errors(path):
        if Path(path).suffix.lower() == ".npy":
            data = npy_bytes(vectors)
            about = {"ugraphemb": "vectors", "of": digest(data), "head": head, "ids": list(ids)}
            try:
                before = _about(path)
            except ValueError:
                before = {}
            if before and before.get("of") != about["of"]:
                write_file(_beside(path), _json({**about, "before": before}))
            else:
                write_file(_beside(path), _json(about))
            write_file(Path(path), data)
            if before:
                write_file(_beside(path), _json(about))
        else:
            write_file(Path(path), parquet_bytes(vector_table(ids, vectors, head), checksum=False))


def _beside(path: str) -> Path:
    return Path(path + ".json")


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode()


def _about(path: str) -> dict[str, Any]:
    """The description beside a .npy file of `ugraphemb embed`; empty for other files.

    Raises:
        ValueError: It is damaged, or describes another array.
    """
    from ugraphemb.files import digest

    try:
        found = json.loads(_beside(path).read_text(encoding="utf-8"))
    except OSError:
        return {}
    except ValueError as error:
        raise ValueError(f"{_beside(path)}: not what `ugraphemb embed` writes ({error})") from error
    if not isinstance(found, dict) or found.get("ugraphemb") != "vectors" or not Path(path).exists():
        return {}
    own = digest(Path(path).read_bytes())
    for entry in (found, found.get("before")):
        if isinstance(entry, dict) and entry.get("of", own) == own:  # without "of": of an earlier version
            return entry
    raise ValueError(f"{_beside(path)} describes another array than {path}: embed again, or remove it")


def head_of(path: str) -> Head:
    """How the vectors of a file are compared: as `ugraphemb embed` wrote it, else "l2"."""
    found = ""
    if Path(path).suffix.lower() == ".npy":
        found = str(_about(path).get("head", ""))
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


def is_list_of_classes(path: str) -> bool:
    """Whether this is a file that holds nothing but classes."""
    return Path(path).is_file() and Path(path).suffix.lower() in (".npy", ".txt")


def read_targets(path: str) -> npt.NDArray[Any]:
    """One class per graph: from .npy, from a text file with one per line, or from graphs with targets."""
    source = Path(path)
    if is_list_of_classes(path):
        if source.suffix.lower() == ".npy":
            return _array(path)
        return np.array([line.strip() for line in source.read_text(encoding="utf-8").splitlines() if line.strip()])
    from ugraphemb.cli.inputs import resolve

    graphs = resolve(path)
    if graphs.targets is None:
        raise ValueError(f"{path}: these graphs have no classes")
    return graphs.targets


def _array(path: str) -> npt.NDArray[Any]:
    from ugraphemb.files.arrays import read_npy

    return read_npy(Path(path), ValueError)
