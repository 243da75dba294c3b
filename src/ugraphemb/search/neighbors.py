"""The nearest of many vectors: exactly, or through one of faiss's approximate structures (extra `search`)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.heads import NODES, PSEUDO, between, combined, heights, parts
from ugraphemb.encoder.names import Head
from ugraphemb.errors import IndexFormatError, needs_extra
from ugraphemb.files import CheckedFile, NewFile
from ugraphemb.files.arrays import CheckedArray
from ugraphemb.graphs.packing import offsets_of
from ugraphemb.progress import progress_of

Kind = Literal["flat", "hnsw", "ivf"]
KINDS: tuple[str, ...] = ("auto", *get_args(Kind))
Vectors = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

EXACT_UP_TO = 100_000
"""Vectors that "auto" compares one by one; past that, a query takes too long."""

_FEW = 20_000  # so many graphs that pass a filter are compared one by one: approximate structures are poor at it
_LINKS, _BUILD_EFFORT, _SEARCH_EFFORT = 16, 80, 128  # HNSW: neighbors of a vector, candidates kept
_PROBES = 32  # IVF: lists looked into
_PRODUCTS = 1 << 22  # inner products that are in memory together
_ROWS = 1 << 12  # vectors whose differences are in the cache together
_BY_PLAIN = (*PSEUDO, "sized_l1")  # heads whose candidates are proposed by plain L2 distances


def faiss_module() -> Any:
    with needs_extra("search"):
        import faiss

    return faiss


def has_faiss() -> bool:
    """Whether faiss is installed; without it vectors are compared one by one."""
    try:
        return find_spec("faiss") is not None
    except ValueError:  # blocked
        return False


def chosen_kind(kind: str, count: int, head: Head) -> Kind:
    """The kind that "auto" selects for this number of vectors. L1 distances are always exact.

    Raises:
        ValueError: An unknown kind, or one that does not fit the head.
        MissingExtraError: An approximate kind without faiss.
    """
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r}; it is one of {', '.join(map(repr, KINDS))}")
    if kind == "auto":
        return "flat" if count <= EXACT_UP_TO or head == "l1" or not has_faiss() else "ivf"
    if kind != "flat":
        faiss_module()
    if kind != "flat" and head == "l1":
        raise ValueError(f"kind={kind!r} does not fit a model whose head is 'l1'; only 'flat' and 'auto' do")
    return kind  # type: ignore[return-value]


def kept_of(count: int) -> int:
    """How many candidates by 8-bit vectors are ranked by the vectors themselves, where `count` are requested."""
    return max(2 * count, count + 32)


def proximities(query: Vectors, vectors: Vectors, head: Head) -> Floats:
    """The proximity of one vector and many: larger is more similar for "inner", less similar for the others."""
    values: Floats = between(query[None], vectors, head)[0]
    return values


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Vectors and, for many of them, a faiss structure over their 8-bit forms that proposes candidates.

    Candidates are always ranked by the vectors themselves. For pseudo-Euclidean heads and "sized_l1", candidates are
    proposed by plain L2 distances: a few more of these hold nearly all of the nearest.

    Attributes:
        source: float32 (count, dimension), in memory, or in a file where they are verified when they are used.
        head: How vectors are compared.
        proposer: The faiss index, or a function that loads it when it is first needed; None for exact search.
    """

    source: Vectors | CheckedArray
    head: Head
    kind: Kind
    proposer: Any = None

    @property
    def vectors(self) -> Vectors:
        """All of them; those in a file are mapped, and verified once."""
        return self.source if isinstance(self.source, np.ndarray) else self.source.whole()

    def rows(self, positions: Ints) -> Vectors:
        """Some of them; of those in a file only these are verified."""
        return self.source[positions] if isinstance(self.source, np.ndarray) else self.source.rows(positions)

    @cached_property
    def structure(self) -> Any:
        """The faiss index, or None."""
        return self.proposer() if callable(self.proposer) else self.proposer

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def built(cls, vectors: Vectors, head: Head, kind: str) -> Neighbors:
        """With the structure for `kind` ("auto": by their number)."""
        chosen = chosen_kind(kind, len(vectors), head)
        if chosen != "flat" and len(vectors) < 1_000:  # too few to train on, and exact is faster
            chosen = "flat"
        structure = None if chosen == "flat" else _structure(vectors, head, chosen)
        return cls(vectors, head, chosen, structure)

    @classmethod
    def read(cls, source: CheckedArray, head: Head, kind: Kind, file: CheckedFile | None) -> Neighbors:
        """With a structure from the file that `write` wrote, verified and mapped when it is first needed."""
        if file is None:
            return cls(source, head, kind)
        return cls(source, head, kind, lambda: _read_structure(file, source.shape, kind))

    def write(self, file: NewFile) -> None:
        """The structure, for `read`."""
        faiss = faiss_module()
        faiss.write_index(self.structure, faiss.PyCallbackIOWriter(file.write, 1 << 20))

    def nearest(self, queries: Vectors, count: int, allowed: Flags | None = None) -> list[tuple[Ints, Floats]]:
        """Positions and proximities of the `count` nearest to each query, best first, ties by position.

        Args:
            allowed: Which vectors count; None is all.
        """
        total = len(self) if allowed is None else int(allowed.sum())
        count = min(count, total)
        if count == 0 or not len(queries):
            return [(np.empty(0, np.int64), np.empty(0))] * len(queries)
        if self.structure is None or total <= _FEW or count > total // 10:
            proposed = self._exact(queries, count, allowed)
        else:
            proposed = self._approximate(queries, count, allowed)
        step = max(1, _ROWS // proposed.shape[1])
        ranked: list[tuple[Ints, Floats]] = []
        for begin in range(0, len(queries), step):
            ranked += self._ranked(queries[begin : begin + step], proposed[begin : begin + step], count)
        return ranked

    def _ranked(self, queries: Vectors, proposed: Ints, count: int) -> list[tuple[Ints, Floats]]:
        """The best of what is proposed for each query; -1 proposes nothing."""
        found = [np.sort(row[row >= 0]) for row in proposed]
        ends = offsets_of(np.array([len(row) for row in found]))
        rows = self.rows(np.concatenate(found))  # at once: of those in a file, each call verifies its blocks
        best = []
        for i, query in enumerate(queries):
            values = proximities(query, rows[ends[i] : ends[i + 1]], self.head)
            order = np.argsort(-values if self.head == "inner" else values, kind="stable")[:count]
            best.append((found[i][order], values[order]))
        return best

    @cached_property
    def _squares(self) -> tuple[Floats32, Floats32]:
        """Squared lengths of the two parts of a pseudo-Euclidean head."""
        vectors = self.vectors
        both = parts(vectors.shape[1], self.head)
        first, second = (np.square(vectors[:, part]).sum(axis=1) for part in both)
        return first, second

    def _exact(self, queries: Vectors, count: int, allowed: Flags | None) -> Ints:
        if self.head in _BY_PLAIN:
            return self._nearest_of_all(queries, count + 16, allowed)
        dead = 0 if allowed is None else len(allowed) - int(allowed.sum())
        if allowed is None or dead <= 100:  # a few more are requested, and dropped
            more = min(count + dead, len(self))
            found = _knn(queries, self.vectors, more, self.head)
            return found if allowed is None else np.where(allowed[found], found, -1)
        places = np.flatnonzero(allowed)
        return places[_knn(queries, self.rows(places), count, self.head)]

    def _nearest_of_all(self, queries: Vectors, count: int, allowed: Flags | None) -> Ints:
        """By comparison with all vectors; -1 where there are no more. In single precision, so only approximately."""
        size = len(self)
        chosen = np.empty((len(queries), min(count, size)), np.int64)
        step = max(1, _PRODUCTS // max(1, size))
        for begin in range(0, len(queries), step):
            some = queries[begin : begin + step]
            rows = iter(self._sized(some)) if self.head == "sized_l1" else self._pseudo(some)
            for row, values in enumerate(rows):
                if allowed is not None:
                    values[~allowed] = np.inf
                found = np.argpartition(values, count)[:count] if count < size else np.arange(size)
                chosen[begin + row] = np.where(np.isfinite(values[found]), found, -1)
        return chosen

    def _pseudo(self, queries: Vectors) -> Iterator[Floats32]:
        """Pseudo-Euclidean distances to all vectors, from inner products."""
        vectors, both = self.vectors, parts(queries.shape[1], self.head)
        products = [queries[:, part] @ vectors[:, part].T for part in both]
        for row, query in enumerate(queries):
            plus, minus = (
                np.maximum(squares + query[part] @ query[part] - 2 * product[row], 0)
                for part, squares, product in zip(both, self._squares, products, strict=True)
            )
            yield combined(plus, minus, heights(query[None], vectors, self.head), self.head)

    @cached_property
    def _sizes(self) -> Floats32:
        """The first coordinates, from which "sized_l1" computes its divisors."""
        return np.ascontiguousarray(self.vectors[:, 0])

    def _sized(self, queries: Vectors) -> Floats32:
        """Distances of "sized_l1" to all vectors: sums over all coordinates, less the first one."""
        sums, own, sizes = _l1(queries, self.vectors), queries[:, :1], self._sizes[None]
        sums -= np.abs(sizes - own)
        sums /= (own + sizes) * np.float32(NODES / 2)
        return sums

    def _approximate(self, queries: Vectors, count: int, allowed: Flags | None) -> Ints:
        faiss = faiss_module()
        # 8-bit values are inexact, plain distances more so.
        more = max(5 * count, count + 200) if self.head in _BY_PLAIN else kept_of(count)
        select = None if allowed is None else faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        parameters = (
            faiss.SearchParametersHNSW(efSearch=max(_SEARCH_EFFORT, 2 * more), sel=select)
            if self.kind == "hnsw"
            else faiss.SearchParametersIVF(nprobe=_PROBES, sel=select)
        )
        if self.head not in _BY_PLAIN or (self.kind == "ivf" and select is not None):  # which faiss cannot decode
            found: Ints = self.structure.search(queries, more, params=parameters)[1]
            return found
        _, found, decoded = self.structure.search_and_reconstruct(queries, more, params=parameters)
        chosen = [self._likely(*row, kept_of(count)) for row in zip(queries, found, decoded, strict=True)]
        return np.stack(chosen)

    def _likely(self, query: Vectors, found: Ints, decoded: Vectors, kept: int) -> Ints:
        """The candidates that are nearest by the head of the model and 8-bit vectors; -1 where there are no more.

        Rows of a file are verified in blocks of 64 KiB when they are first taken, so that each row less saves time."""
        values = np.where(found < 0, np.inf, proximities(query, decoded, self.head))
        return found[np.argsort(values, kind="stable")[:kept]]


def _knn(queries: Vectors, vectors: Vectors, count: int, head: Head) -> Ints:
    """Positions of the `count` nearest to each query (or a few more) in any order, by faiss or without it."""
    if has_faiss():
        faiss = faiss_module()
        found: Ints = faiss.knn(queries, np.ascontiguousarray(vectors), count, metric=_metric(faiss, head))[1]
        return found
    more = min(count + 16, len(vectors))  # single precision is inexact, and they are ranked again
    squares = np.square(vectors).sum(axis=1)
    chosen = np.empty((len(queries), more), np.int64)
    for row, query in enumerate(queries):
        if head == "l1":
            values = np.abs(vectors - query).sum(axis=1)
        else:
            values = -(vectors @ query) if head == "inner" else squares - 2 * (vectors @ query)
        chosen[row] = np.argpartition(values, more - 1)[:more]
    return chosen


def _l1(queries: Vectors, vectors: Vectors) -> Floats32:
    """Σ|a − b| of all with all: (queries, vectors)."""
    if has_faiss():
        faiss = faiss_module()
        found: Floats32 = faiss.pairwise_distances(queries, np.ascontiguousarray(vectors), metric=faiss.METRIC_L1)
        return found
    sums = np.empty((len(queries), len(vectors)), np.float32)
    for begin in range(0, len(vectors), _ROWS):
        some = vectors[begin : begin + _ROWS]
        for row, query in zip(sums, queries, strict=True):
            row[begin : begin + _ROWS] = np.abs(some - query).sum(axis=1)
    return sums


_BUILDING = threading.Lock()


def _read_structure(file: CheckedFile, shape: tuple[int, ...], kind: Kind) -> Any:
    faiss = faiss_module()
    flag = faiss.IO_FLAG_MMAP if kind == "ivf" else getattr(faiss, "IO_FLAG_MMAP_IFC", 0)
    file.check()
    try:
        index = faiss.read_index(file.open_path, flag)
    except RuntimeError as error:
        raise IndexFormatError(f"{file.path}: not an index of faiss ({error})") from error
    expected = faiss.IndexIVFScalarQuantizer if kind == "ivf" else faiss.IndexHNSWSQ
    if not isinstance(index, expected) or (index.ntotal, index.d) != shape:
        raise IndexFormatError(f"{file.path}: an index of faiss of another kind or of other vectors")
    return index


def _structure(vectors: Vectors, head: Head, kind: Kind) -> Any:
    faiss = faiss_module()
    metric, width = _metric(faiss, head), vectors.shape[1]
    eight_bits = faiss.ScalarQuantizer.QT_8bit
    if kind == "hnsw":
        index = faiss.IndexHNSWSQ(width, eight_bits, _LINKS, metric)
        index.hnsw.efConstruction = _BUILD_EFFORT
    else:
        lists = int(2 * np.sqrt(len(vectors)))
        coarse = faiss.IndexFlatIP(width) if head == "inner" else faiss.IndexFlatL2(width)
        index = faiss.IndexIVFScalarQuantizer(coarse, width, lists, eight_bits, metric)
        index.cp.min_points_per_centroid, index.cp.max_points_per_centroid, index.cp.seed = 1, 64, 0
        coarse.this.disown()  # faiss keeps a pointer, and frees it
        index.own_fields = True
    with _BUILDING:
        sample = np.random.default_rng(0).permutation(len(vectors))[:200_000]
        index.train(np.ascontiguousarray(vectors[np.sort(sample)]))
        with progress_of(len(vectors), "vectors indexed", None) as tick:
            for begin in range(0, len(vectors), 20_000):
                index.add(np.ascontiguousarray(vectors[begin : begin + 20_000]))
                tick(begin)
    return index


def _metric(faiss: Any, head: Head) -> int:
    return int({"inner": faiss.METRIC_INNER_PRODUCT, "l1": faiss.METRIC_L1}.get(head, faiss.METRIC_L2))
