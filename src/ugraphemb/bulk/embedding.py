"""embed_files: from files of graphs to Parquet files of vectors."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ugraphemb.bulk.pieces import Piece, entries_of, names_of, pieces_of, read_piece
from ugraphemb.encoder.storage import fingerprint_of, weights_of
from ugraphemb.errors import GraphFormatError, warned
from ugraphemb.estimator import UGraphEmb
from ugraphemb.files import digest, remote
from ugraphemb.files.parquet import parquet_bytes, vector_table
from ugraphemb.progress import progress_of
from ugraphemb.training.embedding import for_workers
from ugraphemb.workers import Workers, crew_of

STAGES = ("read", "parse", "embed", "write")
_KEY = b"ugraphemb.source"
_MOST_NOTES = 5


@dataclass(frozen=True)
class EmbeddedFiles:
    """What `embed_files` did.

    Attributes:
        graphs: How many have a vector now.
        partitions: Files of vectors.
        kept: Number of partitions that existed already, of the same graphs by the same model.
        seconds: Seconds of work of all workers together: reading files, parsing graphs, embedding, writing.

    Examples:
        >>> from ugraphemb.bulk.embedding import EmbeddedFiles
        >>> EmbeddedFiles(graphs=40, partitions=1, kept=0, seconds={"embedding": 0.1}).partitions
        1
    """

    graphs: int
    partitions: int
    kept: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Job:
    """What is the same for every piece."""

    model: UGraphEmb
    fingerprint: str
    output: str
    format: str | None
    options: dict[str, Any]


@dataclass(frozen=True)
class Done:
    """The result of a piece."""

    graphs: int
    kept: bool
    notes: list[str]
    seconds: dict[str, float] = field(default_factory=dict)


def embed_files(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    model: UGraphEmb,
    *,
    executor: Workers | None = None,
    rows: int = 50_000,
    format: str | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
    **options: Any,
) -> EmbeddedFiles:
    """Vectors of all graphs of some files, as Parquet files with the columns `id` and `vector`.

    Each file becomes one or more partitions, NAME-00000.parquet and so on. A second run, also after a kill, does
    not compute existing partitions of the same input and model again.

    Args:
        files: Paths, folders or patterns ("graphs/*.smi.gz"), also of object stores: s3://, gs://, memory:// and
            every other store of fsspec (extra `remote`). Workers must be able to read them.
        output: A folder, of this machine or of an object store.
        model: A fitted UGraphEmb.
        executor: Workers that read and embed: a number of processes, a Dask client, the address of a Dask scheduler, or
            any concurrent.futures.Executor. `model.threads` are then the threads of each, 1 by default.
        rows: Large files of lines (.smi, .csv, .jsonl) are split after this many lines.
        format: One of `ugraphemb.graphs.formats.FORMATS`, if the suffix of the files does not determine it.
        progress: True or False; None shows a bar on a terminal if the work takes long. A function is called with the
            number of input bytes done and the total.
        options: Options of the reader: `on_error="skip"`, `column="SMILES"` and so on; see `ugraphemb.read_graphs`.

    Raises:
        GraphFormatError: A file that is not a file of graphs; the message names it. Finished work is kept.
        StorageError: A partition that cannot be written.
        ClusterError: Workers of another version, or workers that die repeatedly.

    Example:
        >>> import ugraphemb as ug
        >>> graphs = ug.load_dataset("atlas")[100:140]
        >>> model = ug.UGraphEmb(seed=0, steps=10).fit(graphs)
        >>> ug.write_graphs(graphs, "graphs.jsonl")
        >>> done = ug.embed_files("*.jsonl", "vectors", model)
        >>> done.graphs, done.partitions
        (40, 1)
    """
    if rows < 1:
        raise ValueError(f"rows is {rows}; it must be at least 1")
    entries = entries_of(files)
    names = names_of(entries)
    folder = os.fspath(output)
    in_process = executor is None or isinstance(executor, ThreadPoolExecutor)
    if not in_process:  # workers may have another working directory
        folder = remote.absolute(folder)
        entries = [entry._replace(address=remote.absolute(entry.address)) for entry in entries]
    if not in_process and remote.scheme_of(folder) == "memory":
        raise ValueError(f"{folder}: other processes cannot see files in memory")
    config = model._fitted()
    weights = weights_of(model.network_) if model._saved is None else model._saved.weights
    fingerprint = fingerprint_of(config, model.vocabulary_, weights)
    job = Job(model if executor is None else for_workers(model), fingerprint, folder, format, options)
    cut: dict[str, int] = {}

    def pieces() -> Iterator[Piece]:
        for entry, name in zip(entries, names, strict=True):
            here = not in_process and remote.scheme_of(entry.address) == "memory"
            for piece in pieces_of(entry, name, rows, format, here):
                cut[name] = piece.number + 1
                yield piece

    total = sum(entry.size for entry in entries)
    summary = _Summary()
    with progress_of(total, "bytes of graphs", progress) as tick:
        for piece, done in _finished(job, pieces(), executor):
            summary.add(piece, done)
            tick(min(summary.size, total))
    for name, count in cut.items():
        _remove_others(folder, name, count)
    if summary.notes:
        more = len(summary.notes) - _MOST_NOTES
        warned("; ".join([*summary.notes[:_MOST_NOTES], *([f"and {more} more"] if more > 0 else [])]))
    return EmbeddedFiles(summary.graphs, summary.partitions, summary.kept, summary.seconds)


class _Summary:
    def __init__(self) -> None:
        self.graphs = self.partitions = self.kept = self.size = 0
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.notes: list[str] = []

    def add(self, piece: Piece, done: Done) -> None:
        self.graphs += done.graphs
        self.partitions += 1
        self.kept += done.kept
        self.size += piece.size
        self.notes += done.notes
        for name, seconds in done.seconds.items():
            self.seconds[name] += seconds


def _finished(job: Job, pieces: Iterator[Piece], executor: Workers | None) -> Iterator[tuple[Piece, Done]]:
    if executor is None:
        yield from ((piece, embedded_piece(job, piece)) for piece in pieces)
        return
    with crew_of(executor) as crew:
        advice = "finished partitions are kept: run the same again"
        yield from crew.results(
            embedded_piece, crew.share(job), lambda: next(pieces, None), lambda piece: (piece,), advice=advice
        )


def embedded_piece(job: Job, piece: Piece) -> Done:
    """Runs on a worker: makes the partition of a piece, unless it exists."""
    seconds = dict.fromkeys(STAGES, 0.0)
    clock = _Clock(seconds)
    raw = None
    if piece.excerpt is None:
        try:
            raw = remote.read_bytes(piece.address)
        except OSError as error:
            raise GraphFormatError(f"{piece.address}: cannot be read ({error.strerror or error})") from error
    about = json.dumps(_source(job, piece, raw), sort_keys=True)
    address = remote.joined(job.output, piece.output)
    there = _rows_there(address, about)
    clock.lap("read")
    if there is not None:
        return Done(there, True, [], seconds)
    graphs, notes = read_piece(piece, raw, job.format, job.options)
    unseen = job.model.vocabulary_.unseen(graphs)
    clock.lap("parse")
    vectors = job.model._embedded(graphs)
    clock.lap("embed")
    table = vector_table(graphs.ids.tolist(), vectors, job.model.head_, about)
    remote.write_whole(address, parquet_bytes(table, checksum=True))
    clock.lap("write")
    return Done(len(graphs), False, [*notes, *([f"{piece.address}: {unseen}"] if unseen else [])], seconds)


class _Clock:
    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds, self._last = seconds, time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._seconds[name] += now - self._last
        self._last = now


def _source(job: Job, piece: Piece, raw: bytes | None) -> dict[str, Any]:
    """The input and the model that a partition was made from."""
    excerpt = piece.excerpt
    content = digest(raw or b"") if excerpt is None else digest(excerpt.header + b"\n" + excerpt.data)
    return {
        "ugraphemb": "vectors",
        "input": piece.name,
        "piece": piece.number,
        "row": 0 if excerpt is None else excerpt.row,
        "content": content,
        "model": job.fingerprint,
        "format": job.format,
        "options": {name: repr(value) for name, value in sorted(job.options.items())},
    }


def _rows_there(address: str, about: str) -> int | None:
    """Number of rows of a partition that was made from the same source; None if there is none."""
    found = _about(address)
    return None if found is None or found[0] != about else found[1]


def _about(address: str) -> tuple[str, int] | None:
    """The source that a partition names, and its number of rows; None if there is no partition of this library."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with remote.opened(address) as file, pq.ParquetFile(file) as parquet:
            metadata = parquet.schema_arrow.metadata or {}
            return metadata[_KEY].decode(), parquet.metadata.num_rows
    except (OSError, KeyError, ValueError, pa.ArrowException):
        return None


def _remove_others(folder: str, name: str, count: int) -> None:
    """Removes partitions of a file that had more of them when it was embedded before."""
    number = count
    while True:
        address = remote.joined(folder, f"{name}-{number:05d}.parquet")
        found = _about(address)
        if found is None or json.loads(found[0]).get("input") != name:
            return
        remote.remove(address)
        number += 1
