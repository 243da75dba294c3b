"""From edges, labels and the like to the arrays of a GraphSet."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError
from ugraphemb.files.labels import DEEPEST
from ugraphemb.graphs.limits import limits, refusal

Vocabulary = tuple[Hashable, ...]

_FEW_ENTRIES = 4_096  # of a sparse matrix, that are sorted instead of counted


class MisplacedEdgeError(GraphFormatError):
    """An edge whose ends are not in one graph; readers turn `row` into the line of their file."""

    def __init__(self, source: str, row: int, ends: tuple[int, int], reason: str) -> None:
        super().__init__(f"{source}: edge {row} is {ends}, {reason}")
        self.row = row


def label_key(label: Any, depth: int = 0) -> Hashable:
    """A key that distinguishes labels: 1, 1.0 and True are three, also within tuples; every nan is the same label."""
    if type(label) is tuple:
        if depth == DEEPEST:
            raise GraphFormatError(f"a label of tuples nested more than {DEEPEST} deep")
        return tuple, tuple(label_key(part, depth + 1) for part in label)
    return type(label), "nan" if isinstance(label, float) and label != label else label


class Coded(NamedTuple):
    """Labels that are positions in a vocabulary already; `GraphSet.from_edges` takes them as they are."""

    codes: npt.NDArray[np.integer[Any]]
    vocabulary: Vocabulary


class Adjacency(NamedTuple):
    """CSR of undirected simple graphs."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]  # local ids
    kept: npt.NDArray[np.integer[Any]]  # the row of the input whose label each entry has; all 0 without labels
    dropped: str  # what was, in words; empty if nothing


def offsets_of(counts: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Where each part begins, and where the last one ends."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def ranges(starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """start, start + 1, ..., stop - 1 of each range, one after the other."""
    lengths = stops - starts
    offsets = offsets_of(lengths)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


def encoded(
    labels: Iterable[Hashable] | Coded | None, expected: int, what: str
) -> tuple[npt.NDArray[np.int32], Vocabulary]:
    """Labels as positions in a vocabulary: sorted where labels can be, else in order of appearance."""
    if labels is None:
        return np.zeros(expected, np.int32), ()
    if isinstance(labels, Coded):
        vocabulary = labels.vocabulary
        if labels.codes.size and (labels.codes.min() < 0 or labels.codes.max() >= len(vocabulary)):
            raise GraphFormatError(f"{what}: codes beyond a vocabulary of {len(vocabulary)}")
        codes = labels.codes.astype(np.int32)
    elif isinstance(labels, np.ndarray) and labels.dtype != object:
        if labels.ndim != 1:
            raise GraphFormatError(f"{what}: an array of shape {labels.shape}, expected ({expected},)")
        codes, vocabulary = _encoded_array(labels)
    else:
        codes, vocabulary = _encoded_objects(list(labels), what)
    if len(codes) != expected:
        raise GraphFormatError(f"{what}: {len(codes)} of them, expected {expected}")
    return codes, vocabulary


def _encoded_array(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], Vocabulary]:
    if labels.size and np.issubdtype(labels.dtype, np.integer):
        low, high = int(labels.min()), int(labels.max())
        if high - low <= 4 * labels.size + 1000:  # a table is much faster than a sort
            # In the type of the labels themselves, a difference may overflow.
            shifted = (labels - labels.min() if labels.dtype.kind == "u" else labels.astype(np.int64) - low).astype(
                np.int64
            )
            present = np.zeros(high - low + 1, np.bool_)
            present[shifted] = True
            values = np.flatnonzero(present)
            table = np.empty(len(present), np.int32)
            table[values] = np.arange(len(values), dtype=np.int32)
            return table[shifted], tuple(value + low for value in values.tolist())
    values, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int32), tuple(values.tolist())


def _encoded_objects(labels: list[Any], what: str) -> tuple[npt.NDArray[np.int32], Vocabulary]:
    if set(map(type, labels)) == {str}:
        words = sorted(set(labels))
        code = {word: i for i, word in enumerate(words)}
        return np.fromiter(map(code.__getitem__, labels), np.int32, len(labels)), tuple(words)
    try:
        keys = [(type(label), label) if type(label) in (str, int) else label_key(label) for label in labels]
        seen = dict(zip(keys, labels, strict=True))
    except TypeError as error:
        raise GraphFormatError(f"{what}: every label must be hashable ({error})") from error
    # NumPy's scalars become Python's: np.int64(3) and 3 are one label. 1, 1.0 and True stay three.
    plain = {key: label.item() if isinstance(label, np.generic) else label for key, label in seen.items()}
    distinct = {label_key(label): label for label in plain.values()}
    try:
        ordered = sorted(distinct.items(), key=lambda entry: entry[1])
    except TypeError:
        ordered = list(distinct.items())  # labels of several kinds have no order of their own
    position = {key: i for i, (key, _) in enumerate(ordered)}
    code_of = {key: position[label_key(label)] for key, label in plain.items()}
    codes = np.fromiter(map(code_of.__getitem__, keys), np.int32, len(labels))
    return codes, tuple(label for _, label in ordered)


def edge_array(edges: npt.ArrayLike, source: str) -> npt.NDArray[np.integer[Any]]:
    """The rows of an array of edges, checked for shape and kind."""
    try:
        pairs = np.asarray(edges)
    except ValueError as error:
        raise GraphFormatError(f"{source}: edges are pairs of node ids, one per row ({error})") from error
    if pairs.size == 0:
        return np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise GraphFormatError(f"{source}: edges of shape {pairs.shape}, expected (edges, 2)")
    if not np.issubdtype(pairs.dtype, np.integer):
        raise GraphFormatError(f"{source}: node ids of type {pairs.dtype}, expected whole numbers")
    return pairs


def adjacency(
    pairs: npt.NDArray[np.integer[Any]],
    offsets: npt.NDArray[np.int64],
    edge_codes: npt.NDArray[np.int32] | None,
    source: str,
    strict: bool,
) -> Adjacency:
    """The undirected simple graphs that the rows of `pairs` describe, each edge in one direction or in both.

    Loops, repeats and second labels of an edge are dropped and reported. Linear in nodes and edges.
    """
    total = int(offsets[-1])
    if len(pairs) == 0:
        return Adjacency(np.zeros(total + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), "")
    if pairs.min() < 0 or pairs.max() >= total:
        row = int(np.flatnonzero((pairs.min(1) < 0) | (pairs.max(1) >= total))[0])
        valid = f"but node ids go from 0 to {total - 1}" if total else "but there are no nodes"
        raise MisplacedEdgeError(source, row, (int(pairs[row, 0]), int(pairs[row, 1])), valid)
    small = np.int32 if max(total, 2 * len(pairs)) < 2**31 else np.int64
    u, v = pairs[:, 0].astype(small, copy=False), pairs[:, 1].astype(small, copy=False)
    graph_starts = np.repeat(offsets[:-1].astype(small), np.diff(offsets))  # of each node's graph
    _check_ends(u, v, graph_starts, offsets, source)
    rows = np.zeros(len(u), np.int8) if edge_codes is None else np.arange(len(u), dtype=small)
    proper = u != v
    loops = len(u) - int(np.count_nonzero(proper))
    if loops:
        u, v, rows = u[proper], v[proper], rows[proper]
    given = _entries(u, v, rows, total)
    repeats = int(np.count_nonzero(_repeats(given)))
    turned = _transposed(given, u, v, rows)
    if not repeats and _same_pattern(given, turned):  # every edge is stored once in each direction
        conflicts = 0 if edge_codes is None else _differ(edge_codes, given.data, turned.data) // 2
        kept = np.minimum(given.data, turned.data)
        indptr, stops = given.indptr, given.indices
        del given, turned
    else:
        del given, turned
        conflicts, full = _symmetrized(u, v, rows, total, edge_codes)
        indptr, stops, kept = full.indptr, full.indices, full.data
    dropped = _counted([(loops, "self loop"), (repeats, "repeated edge"), (conflicts, "second label")])
    if dropped and strict:
        raise GraphFormatError(f"{source}: {dropped}; graphs must be simple (strict=False drops them)")
    return Adjacency(indptr.astype(np.int64), (stops - graph_starts[stops]).astype(np.int32), kept, dropped)


def _check_ends(
    u: npt.NDArray[Any],
    v: npt.NDArray[Any],
    graph_starts: npt.NDArray[Any],
    offsets: npt.NDArray[np.int64],
    source: str,
) -> None:
    across = graph_starts[u] != graph_starts[v]
    if not across.any():
        return
    row = int(across.argmax())
    ends = (int(u[row]), int(v[row]))
    left, right = np.searchsorted(offsets, ends, side="right") - 1
    reason = f"which joins graph {left} and graph {right}; both ends must lie in one graph"
    raise MisplacedEdgeError(source, row, ends, reason)


class _Entries(NamedTuple):
    """A sparse matrix by rows, columns ascending; repeats are kept in the order given."""

    indptr: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    data: npt.NDArray[Any]


def _entries(u: npt.NDArray[Any], v: npt.NDArray[Any], rows: npt.NDArray[Any], total: int) -> _Entries:
    """The matrix with `rows` at (u, v).

    Of many entries, two conversions are two passes of a counting sort, several times faster than sorting. Of few, they
    would take longer than everything else: a server reads one small graph at a time.
    """
    if len(u) <= _FEW_ENTRIES:
        order = np.lexsort((v, u))
        return _Entries(offsets_of(np.bincount(u, minlength=total)), v[order], rows[order])
    from scipy.sparse import coo_array

    entries = coo_array((rows, (v, u)), (total, total))
    entries.has_canonical_format = True  # else repeats would be summed
    by_rows = entries.tocsr().tocsc()
    return _Entries(by_rows.indptr, by_rows.indices, by_rows.data)


def _transposed(matrix: _Entries, u: npt.NDArray[Any], v: npt.NDArray[Any], rows: npt.NDArray[Any]) -> _Entries:
    """What `_entries` gives for (v, u); of many entries, by one pass more."""
    total = len(matrix.indptr) - 1
    if len(u) <= _FEW_ENTRIES:
        return _entries(v, u, rows, total)
    from scipy.sparse import csr_array

    turned = csr_array((matrix.data, matrix.indices, matrix.indptr), (total, total)).tocsc()
    return _Entries(turned.indptr, turned.indices, turned.data)


def _repeats(matrix: _Entries) -> npt.NDArray[np.bool_]:
    """Which entries stand at the same place as the one before them."""
    again = np.zeros(len(matrix.data), np.bool_)
    np.equal(matrix.indices[1:], matrix.indices[:-1], out=again[1:])
    again[matrix.indptr[:-1][matrix.indptr[:-1] < len(again)]] = False
    return again


def _same_pattern(matrix: _Entries, turned: _Entries) -> bool:
    return np.array_equal(matrix.indptr, turned.indptr) and np.array_equal(matrix.indices, turned.indices)


def _symmetrized(
    u: npt.NDArray[Any],
    v: npt.NDArray[Any],
    rows: npt.NDArray[Any],
    total: int,
    codes: npt.NDArray[np.int32] | None,
) -> tuple[int, _Entries]:
    """Both directions of every edge, and how often one has another label than where it came first."""
    upper = _entries(np.minimum(u, v), np.maximum(u, v), rows, total)
    first = ~_repeats(upper)
    lower = np.repeat(np.arange(total, dtype=u.dtype), np.diff(upper.indptr))
    low, high, kept = lower[first], upper.indices[first], upper.data[first]
    conflicts = 0 if codes is None else _differ(codes, upper.data, kept[np.cumsum(first) - 1])
    full = _entries(np.concatenate([low, high]), np.concatenate([high, low]), np.concatenate([kept, kept]), total)
    return conflicts, full


def _differ(codes: npt.NDArray[np.int32], left: npt.NDArray[Any], right: npt.NDArray[Any]) -> int:
    return int(np.count_nonzero(codes[left] != codes[right]))


def _counted(dropped: list[tuple[int, str]]) -> str:
    return " and ".join(f"{count} {what}{'s' if count > 1 else ''}" for count, what in dropped if count)


def attribute_matrix(values: npt.ArrayLike | None, rows: int, source: str) -> npt.NDArray[np.float64] | None:
    """Node attributes, shape (rows, width)."""
    if values is None:
        return None
    try:
        matrix = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise GraphFormatError(f"{source}: node attributes must be numbers, as many for each node ({error})") from error
    if matrix.ndim == 1:
        matrix = matrix.reshape(rows, -1) if matrix.size == 0 else matrix[:, None]
    if matrix.ndim != 2 or len(matrix) != rows:
        raise GraphFormatError(f"{source}: node attributes of shape {matrix.shape}, expected ({rows}, width)")
    return matrix


def target_array(values: npt.ArrayLike | None, expected: int, source: str) -> npt.NDArray[Any] | None:
    """One class or value per graph."""
    if values is None:
        return None
    try:
        targets = np.array(values)
    except ValueError as error:
        raise GraphFormatError(f"{source}: targets must be one per graph ({error})") from error
    if targets.shape != (expected,):
        raise GraphFormatError(f"{source}: targets of shape {targets.shape}, expected ({expected},): one per graph")
    return targets


def text_array(values: list[str], what: str) -> npt.NDArray[np.str_]:
    """Text as NumPy keeps it, each entry as long as the longest; refused where a few long ones would fill memory."""
    needed = 4 * len(values) * max(map(len, values), default=0)
    if needed > limits().text and needed > 64 * sum(map(len, values)):
        longest = max(map(len, values))
        raise refusal(what, f"{needed} bytes for {len(values)} texts, of which one has {longest} characters", "text")
    return np.array(values, dtype=np.str_)


def id_array(values: Iterable[str] | None, expected: int, source: str) -> npt.NDArray[np.str_] | None:
    """Ids, all different."""
    if values is None:
        return None
    ids = text_array([str(value) for value in values], f"{source}: ids")
    if len(ids) != expected:
        raise GraphFormatError(f"{source}: {len(ids)} ids for {expected} graphs")
    distinct, counts = np.unique(ids, return_counts=True)
    if len(distinct) < len(ids):
        raise GraphFormatError(f"{source}: id {str(distinct[counts > 1][0])!r} stands for more than one graph")
    return ids


def metadata_columns(columns: Mapping[str, npt.ArrayLike], rows: int) -> dict[str, npt.NDArray[Any]]:
    """Columns of metadata as arrays that cannot be written to; text stays as objects, so that None has a place."""
    checked: dict[str, npt.NDArray[Any]] = {}
    for name, values in columns.items():
        array = np.array(values, dtype=object) if not isinstance(values, np.ndarray) else values
        if array.shape != (rows,):
            raise ValueError(f"metadata column {name!r} of shape {array.shape} for {rows} graphs")
        array = array.view()
        array.flags.writeable = False
        checked[str(name)] = array
    return checked
