"""The compiled core of ugraphemb: arrays in, arrays out."""

from collections.abc import Callable
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


least_cost: float = 1e-06

most_cost: float = 1000000.0

def cpu_has_avx2() -> bool:
    """Whether this processor can run the faster of the two builds."""

class Graphs:
    """The packed arrays of a GraphSet, checked."""

    def __init__(self, node_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

class Costs:
    """Edit costs; a matrix replaces the constant beside it."""

    def __init__(self, node_insert: float, node_delete: float, node_relabel: float, edge_insert: float, edge_delete: float, edge_relabel: float, node_matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, edge_matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None) -> None: ...

class Method(enum.Enum):
    """Solvers of edit distance."""

    exact = 0

    beam = 1

    hungarian = 2

    vj = 3

    hed = 4

    branch = 5

    refine = 6

    paper = 7

    tight = 8

def ged_pairs(left: Graphs, right: Graphs, left_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, costs: Costs, method: Method, beam_width: int, limit: float, threads: int, timeout: float, lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], proven: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], done: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], mapping: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None, tick: Callable[[int], None], node_points: tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None = None, edge_points: tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None = None) -> None:
    """
    Edit distance of each pair, written into the arrays. Points are a label and a row of numbers for each code of nodes or edges, where attributes count. `tick` is called every 50 ms with the number of finished pairs; what it raises, or Ctrl-C, stops the loop, and `done` says which pairs have answers.
    """

def mcs_pairs(left: Graphs, right: Graphs, left_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, connected: bool, edge_labels: bool, threads: int, timeout: float, lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], proven: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], done: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], mapping: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None, tick: Callable[[int], None]) -> None:
    """
    Nodes of a maximum common subgraph of each pair; otherwise as `ged_pairs`.
    """

class Dictionary:
    """Sequences of integers, numbered from 0 in the order they were learned."""

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def __len__(self) -> int: ...

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]: ...

    @property
    def keys(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]: ...

def wl_colors(graphs: Graphs, iterations: int, dictionary: Dictionary, learn: bool, seconds: float) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Color of each node after 0, 1, ... iterations, flat; -1 for what is not in the dictionary.
    """

def color_counts(graphs: Graphs, colors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]]:
    """Counts of `wl_colors`: indptr, columns, values."""

def path_counts(graphs: Graphs, labeled: bool, dictionary: Dictionary, learn: bool, seconds: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Pairs of nodes by (smaller label, larger label, distance): indptr, columns, values.
    """

def graphlet_counts(graphs: Graphs, size: int, samples: int, seed: int, threads: int, seconds: float, tick: Callable[[int], None]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Sets of nodes by the graph they induce, flat, one row per graph; samples = 0 counts all sets.
    """

def graphlet_codes(size: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]:
    """
    The graphs of this many nodes: the pair i < j is bit j (j - 1) / 2 + i.
    """

def dot_pairs(left_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], left_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], left_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], right_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], right_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, left_self: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, right_self: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, left_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, threads: int, products: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], done: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], tick: Callable[[int], None]) -> None:
    """
    Inner products of pairs of rows of two sparse matrices, normalized if self products are given.
    """

def build_profiles(graphs: Graphs) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]:
    """
    What the filters of `search` need to know of a collection, as one block of memory.
    """

class Searchable:
    """A collection with its profiles, checked."""

    def __init__(self, graphs: Graphs, profiles: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def search(parts: list[object], *, k: int, within: float, normalized: bool, only_near: bool, budget: float, threads: int, near: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ceiling: float, ceiling_position: int, after: float, upto: float, tick: Callable[[int], None]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    The k nearest graphs, or (k = 0) all within a distance, of parts of a database, each (Searchable, query as Graphs, Costs, whether labels of edges count, mask or None). Gives positions, lower and upper bounds and, flat, maps of what was found; positions and lower bounds of what is undecided; and for each stage (size, labels, degrees, branch, tight, exact) how many it ruled out, for how many it was computed, and its seconds. `ceiling` and its position are a known k-th best match: graphs that rank after it are not searched. Exact distances have growing time limits: here only those of more than `after` and at most `upto` seconds.
    """

def l1_between_rows(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], distance: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

def l1_between_rows_backward(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...
