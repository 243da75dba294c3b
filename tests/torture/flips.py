"""Single flipped bits in every file of every saved format. Each of them is detected: loading and using the file raises
an error of this library. A load that succeeds is a failure of the test, even if it gives the right answer.

Two kinds of files are left out, because no load opens them: the model card (README.md) and lock files.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from torture import writers
from torture.processes import Child, FailureError

from ugraphemb import GraphIndex, GraphSet, PairTable, UGraphEmb
from ugraphemb.errors import GraphWarning, UGraphEmbError

_NEVER_OPENED = ("README.md", "lock", ".lock")


@dataclass(frozen=True)
class Saved:
    """A saved file or folder, and a way to load it and use all of it."""

    name: str
    save: Callable[[Path], None]
    use: Callable[[Path], Any]


def _of_writer(name: str, states: int) -> Saved:
    writer = writers.WRITERS[name]

    def save(folder: Path) -> None:
        for n in range(states):
            writer.save(folder, n)

    return Saved(name, save, writer.load)


def _save_large_model(folder: Path) -> None:
    settings = {"layers": (320,), "scales": (0, 1), "hidden": 320}
    model = UGraphEmb(dimension=320, steps=1, batch=8, settings=settings, threads=1, progress=False)
    model.fit(writers.graphs()).save(folder / "large")


def _use_model(folder: Path) -> None:
    UGraphEmb.load(folder / "large", device="cpu").transform(writers.graphs())


def _save_large_table(folder: Path) -> None:
    random_table().write(folder / "large.parquet")


def _use_table(folder: Path) -> None:
    PairTable.read(folder / "large.parquet").matrix()


@cache
def random_table() -> PairTable:
    """Half a million pairs with random bounds: Parquet cannot compress them away."""
    import dataclasses

    import ugraphemb as ug

    values = np.random.default_rng(0)
    many = GraphSet.from_edges([2] * 1_001, [(2 * i, 2 * i + 1) for i in range(1_001)])
    blank = ug.pairwise(many, np.array([[0, 1]]), method="branch", threads=1, progress=False)
    left, right = np.triu_indices(1_001, 1)
    lower = values.random(len(left))
    return dataclasses.replace(
        blank, left=left.astype(np.int32), right=right.astype(np.int32), lower=lower, upper=lower + 1,
        proven=values.random(len(left)) < 0.5,
    )  # fmt: skip


_MANY = 40_000  # too many for exact search, so that the faiss structure is used; files of more than 1 MiB


def _save_large_index(folder: Path) -> None:
    values = np.random.default_rng(0)
    edges = np.stack([3 * np.arange(_MANY), 3 * np.arange(_MANY) + 1], axis=1)
    many = GraphSet.from_edges([3] * _MANY, edges, node_labels=values.choice(["C", "N", "O"], 3 * _MANY).tolist())
    vectors = values.random((_MANY, 8), np.float32)
    index = GraphIndex(writers.model(8), kind="ivf", threads=1).add(many, vectors=vectors)
    index.remove(index.ids[5:9])
    index.save(folder / "index")


def _use_large_index(folder: Path) -> None:
    index = GraphIndex.load(folder / "index", threads=1)
    index.search(writers.graphs()[:2], 5)
    index.search(writers.graphs()[0], 5, complete=True, budget=0)
    index.to_table()
    index.graphs()


SAVED = {
    saved.name: saved
    for saved in (
        _of_writer("model", 1),
        _of_writer("checkpoint", 1),
        _of_writer("table", 1),
        _of_writer("store", 3),
        _of_writer("index", 5),
        Saved("large model", _save_large_model, _use_model),
        Saved("large table", _save_large_table, _use_table),
        Saved("large index", _save_large_index, _use_large_index),
    )
}


def files(folder: Path) -> list[Path]:
    """The files in which a flip must be detected."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in _NEVER_OPENED and p.stat().st_size)


def chosen_bits(path: Path, count: int | None, chance: random.Random) -> list[int]:
    """Positions of bits: all of them if `count` is None or too large; else the first and last bytes, and others."""
    total = 8 * path.stat().st_size
    if count is None or count >= total:
        return list(range(total))
    ends = [*range(min(8, total)), *range(max(0, total - 8), total)][: count // 4]
    return sorted({*ends, *(chance.randrange(total) for _ in range(count - len(ends)))})


def silent(saved: Saved, folder: Path, path: Path, bits: Iterable[int]) -> list[str]:
    """The flips that raised no error."""
    found = []
    for bit in bits:
        _flip(path, bit)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", GraphWarning)  # a store warns of a damaged file, and leaves it out
                saved.use(folder)
            found.append(f"{path.relative_to(folder)}: bit {bit} is not noticed")
        except AssertionError as error:
            found.append(f"{path.relative_to(folder)}: bit {bit} changes what is read: {error}")
        except (UGraphEmbError, GraphWarning):
            pass
        except Exception as error:
            found.append(f"{path.relative_to(folder)}: bit {bit} raises {type(error).__name__}: {error}")
        finally:
            _flip(path, bit)
    return found


def _flip(path: Path, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def flipped(saved: Saved, folder: Path, count: int | None, seed: int) -> dict[str, int]:
    """Flips in each file, in child processes, so that damage that crashes a process is found too.

    Returns:
        The number of files and of flips.
    """
    chance = random.Random(seed)
    saved.save(folder)
    saved.use(folder)
    total, problems = 0, []
    for path in files(folder):
        bits = chosen_bits(path, count, chance)
        total += len(bits)
        try:
            child = Child(lambda send: send(silent(saved, folder, path, bits)))  # noqa: B023
            problems += child.receive(3600) or []
        except FailureError as error:
            problems.append(f"{path.relative_to(folder)}: {error}")
    saved.use(folder)
    if problems:
        raise FailureError(f"{saved.name}: {len(problems)} of {total} flips: " + "; ".join(problems[:12]))
    return {"files": len(files(folder)), "flips": total}
