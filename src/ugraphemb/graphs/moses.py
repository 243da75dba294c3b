"""The molecules of MOSES, read from the installed package `molsets`, which is never imported."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from itertools import islice
from pathlib import Path

from ugraphemb.errors import GraphFormatError, MissingExtraError
from ugraphemb.graphs.formats.text import read_lines
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.merge import concatenated

_FILES = ("train.csv.gz", "test.csv.gz", "test_scaffolds.csv.gz")
_CHUNK = 20_000  # molecules, about 5 s of work
_WORKER = "from ugraphemb.graphs.moses import work; work()"


def read_moses(limit: int | None = None, progress: Callable[[int, int], None] | None = None) -> GraphSet:
    """1,936,962 molecules of 9 to 26 atoms, from ZINC, that the package `molsets` carries.

    Those of the training set come first, then the test set, then the test set of other scaffolds; ids are positions.
    Parsing takes a quarter of a millisecond of CPU per molecule, on all cores that the process may use.

    Args:
        limit: Only so many molecules, the first ones.
        progress: Called with the number of molecules done and of all.
    """
    smiles = list(islice(_smiles(), limit))
    chunks = [smiles[start : start + _CHUNK] for start in range(0, len(smiles), _CHUNK)]
    parts: list[GraphSet] = []
    done = 0
    for part in _parsed(chunks):
        parts.append(part)
        done += len(part)
        if progress is not None:
            progress(done, len(smiles))
    graphs = concatenated(parts) if parts else GraphSet.from_edges([], [])
    return replace(graphs, ids=None, name="moses")  # type: ignore[arg-type]


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


def _parsed(chunks: Sequence[list[str]]) -> Iterator[GraphSet]:
    """The molecules of each chunk, in order; each chunk in a process of its own, as many at once as there are cores.

    A process that begins afresh needs no guard in the caller's script, and copies no locks of the caller's threads.
    """
    if len(chunks) < 2:
        yield from map(_graphs, chunks)
        return
    with ThreadPoolExecutor(min(len(chunks), len(os.sched_getaffinity(0)))) as pool:
        try:
            yield from pool.map(_in_a_process, chunks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _graphs(smiles: list[str]) -> GraphSet:
    return GraphSet.from_smiles(smiles)


def _in_a_process(smiles: list[str]) -> GraphSet:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", _WORKER]
    answer = subprocess.run(
        command, input="\n".join(smiles).encode(), capture_output=True, env=environment, check=False
    )
    if answer.returncode:
        reason = answer.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise GraphFormatError(
            f"moses: a process that parsed {len(smiles)} molecules failed: {reason or answer.returncode}"
        )
    graphs: GraphSet = pickle.loads(answer.stdout)  # from a process of ours
    return graphs


def work() -> None:
    """What a process does: SMILES in, the GraphSet out."""
    sys.stdout.buffer.write(pickle.dumps(_graphs(sys.stdin.buffer.read().decode().split("\n"))))
