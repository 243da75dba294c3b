"""All errors that ugraphemb raises deliberately.

    UGraphEmbError
    ├── GraphFormatError (ValueError)       a file or object that is not a valid graph
    ├── DatasetNotFoundError (LookupError)  a data set that is not found
    ├── MissingExtraError (ImportError)     an optional dependency is not installed
    ├── CostError (ValueError)              edit costs that are invalid or not supported
    ├── MetricError (RuntimeError)          a user-defined metric that fails on a pair
    ├── ClusterError (RuntimeError)         workers that fail or cannot be reached
    ├── TableError (ValueError)             a pair table, damaged or of other graphs
    ├── ModelFormatError (ValueError)       a saved model, damaged or of another version
    ├── IndexFormatError (ValueError)       a saved index, damaged or of another version
    ├── EngineError (ConnectionError)       a database that does not answer, or refuses
    ├── StorageError (OSError)              a file that cannot be written
    └── TrainingError (RuntimeError)        training that cannot continue

Each is also the built-in exception in parentheses. Wrong argument values are plain ValueError or
TypeError. GraphWarning reports input that was dropped or ignored.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class UGraphEmbError(Exception):
    """Root of the tree.

    Examples:
        >>> import ugraphemb as ug
        >>> try:
        ...     ug.distance("CCO", "no molecule")
        ... except ug.errors.UGraphEmbError as error:
        ...     print(type(error).__name__)
        GraphFormatError
    """


class GraphFormatError(UGraphEmbError, ValueError):
    """A file or object that is not the graph it claims to be.

    The message says where, what was found, and what would be right.

    Examples:
        >>> import ugraphemb as ug
        >>> try:
        ...     ug.GraphSet.from_edges([2], [(0, 5)])
        ... except ug.errors.GraphFormatError as error:
        ...     print(error)
        edges: edge 0 is (0, 5), but node ids go from 0 to 1
    """


class DatasetNotFoundError(UGraphEmbError, LookupError):
    """A data set that is neither on disk nor can be downloaded.

    The message says which file to put where.

    Examples:
        >>> import ugraphemb as ug
        >>> try:
        ...     ug.load_dataset("../PTC")
        ... except ug.errors.DatasetNotFoundError as error:
        ...     print(error)
        '../PTC' cannot be the name of a data set. Did you mean PTC?
    """


class MissingExtraError(UGraphEmbError, ImportError):
    """An optional dependency is not installed.

    The message names the `pip install` to run.
    """


class CostError(UGraphEmbError, ValueError):
    """Edit costs that are invalid, or that a solver does not support.

    The message names the cost, or the solver and what it supports.

    Examples:
        >>> import ugraphemb as ug
        >>> try:
        ...     ug.EditCosts(node_insert=-1)
        ... except ug.errors.CostError as error:
        ...     print(error)
        node_insert is -1.0; a cost is 0 or from 1e-6 to 1e6
    """


class MetricError(UGraphEmbError, RuntimeError):
    """A user-defined metric that fails on a pair.

    The message names the pair and the exception.

    Examples:
        >>> import ugraphemb as ug
        >>> def per_edge(a, b):
        ...     return a.num_nodes / b.num_edges
        >>> try:
        ...     ug.pairwise(ug.load_dataset("atlas")[1:3], metric=per_edge, kind="distance", threads=1)
        ... except ug.errors.MetricError as error:
        ...     print(str(error).partition(" (<")[0])
        metric 'per_edge' of graphs 0 (G1) and 1 (G2): ZeroDivisionError: division by zero
    """


class ClusterError(UGraphEmbError, RuntimeError):
    """Workers that fail or cannot be reached.

    The message names the worker and what is wrong with it.
    """


class TableError(UGraphEmbError, ValueError):
    """A pair table that is damaged or belongs to other graphs.

    The message names the file and what is wrong with it.

    Examples:
        >>> import ugraphemb as ug
        >>> graphs = ug.load_dataset("atlas")
        >>> ug.pairwise(graphs[10:14]).write("pairs.parquet")
        >>> try:
        ...     ug.PairTable.read("pairs.parquet", graphs[20:24])
        ... except ug.errors.TableError as error:
        ...     print(error)
        pairs.parquet: the table is of 4 graphs (89aebb9f), not of 4 graphs (c8f1a267)
    """


class ModelFormatError(UGraphEmbError, ValueError):
    """A saved model that is damaged or of an unknown version.

    The message names the file and what is wrong with it.

    Examples:
        >>> from pathlib import Path
        >>> import ugraphemb as ug
        >>> Path("model").mkdir()
        >>> Path("model/config.json").write_text("{}")
        2
        >>> try:
        ...     ug.UGraphEmb.load("model")
        ... except ug.errors.ModelFormatError as error:
        ...     print(error)
        model/config.json: not a file of the format ugraphemb-model
    """


class IndexFormatError(UGraphEmbError, ValueError):
    """A saved index that is damaged or of an unknown version.

    The message names the file and what is wrong with it.

    Examples:
        >>> import ugraphemb as ug
        >>> try:
        ...     ug.GraphIndex.load("nowhere")
        ... except ug.errors.IndexFormatError as error:
        ...     print(str(error).rpartition("/")[2])
        nowhere: not an index, it has no index.json
    """


class EngineError(UGraphEmbError, ConnectionError):
    """A database that does not answer, or refuses.

    The message names the engine, the request and the answer.
    """


class StorageError(UGraphEmbError, OSError):
    """A file that cannot be written: a full disk, a missing permission.

    The message names the file, the reason of the operating system, and what is kept.

    Examples:
        >>> from pathlib import Path
        >>> import ugraphemb as ug
        >>> Path("file").write_text("")
        0
        >>> try:
        ...     ug.write_graphs(ug.load_dataset("atlas")[:2], "file/graphs.jsonl")
        ... except ug.errors.StorageError as error:
        ...     print(str(error).partition(";")[0])
        file/graphs.jsonl: cannot write (Not a directory)
    """


class TrainingError(UGraphEmbError, RuntimeError):
    """Training that cannot continue.

    The message says at which step and why.

    Examples:
        >>> import ugraphemb as ug
        >>> model = ug.UGraphEmb(steps=3, seed=0, learning_rate=1e30, progress=False)
        >>> try:
        ...     model.fit(ug.load_dataset("atlas")[100:110])
        ... except ug.errors.TrainingError as error:
        ...     print(str(error).partition(" at ")[0])
        the loss became nan
    """


class GraphWarning(UserWarning):
    """Something in the input was dropped or ignored; says what and how often."""


def amount(count: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: 1 graph, 4,999 graphs.

    Examples:
        >>> from ugraphemb.errors import amount
        >>> amount(1, "graph"), amount(2, "graph"), amount(3, "entry", "entries")
        ('1 graph', '2 graphs', '3 entries')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def type_of(thing: object) -> str:
    """The type of an object with its article, for messages: an int, a GraphSet."""
    name = type(thing).__name__
    return f"{'an' if name[0].lower() in 'aeiou' and not name.startswith('UG') else 'a'} {name}"


_NOT_THE_CALLER = ("ugraphemb", "sklearn", "contextlib")


def warned(text: str, category: type[Warning] = GraphWarning) -> None:
    """Issues one warning that points at the line of the user's program, at any depth of calls inside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_CALLER:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


@contextmanager
def no_deprecations() -> Iterator[None]:
    """Context for importing PyTorch Geometric, which uses functions that torch has deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turns the ImportError of an optional dependency into one that names the `pip install` to run."""
    try:
        yield
    except ImportError as error:
        package = (error.name or str(error)).partition(".")[0]
        raise MissingExtraError(
            f"this needs the package {package!r}, which is not installed: run  pip install 'ugraphemb[{extra}]'"
        ) from error
