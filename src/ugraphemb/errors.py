"""All errors that ugraphemb raises deliberately.

    UGraphEmbError
    ├── GraphFormatError     a file or object that is not the graph it claims to be (also a ValueError)
    ├── DatasetNotFoundError a data set that is neither on disk nor can be downloaded (also a LookupError)
    ├── MissingExtraError    an optional dependency is not installed (also an ImportError)
    ├── CostError            edit costs that are invalid, or that a solver does not support (also a ValueError)
    ├── MetricError          a user-defined metric that fails on a pair (also a RuntimeError)
    ├── ClusterError         workers that fail or cannot be reached, with the reason (also a RuntimeError)
    ├── TableError           a pair table that is damaged or belongs to other graphs (also a ValueError)
    ├── ModelFormatError     a saved model that is damaged or of an unknown version (also a ValueError)
    ├── IndexFormatError     a saved index that is damaged or of an unknown version (also a ValueError)
    ├── EngineError          a database that does not answer, or refuses (also a ConnectionError)
    ├── StorageError         a file that cannot be written: a full disk, a missing permission (also an OSError)
    └── TrainingError        training that cannot continue, with the reason (also a RuntimeError)

Wrong argument values are plain ValueError or TypeError. GraphWarning reports input that was dropped or ignored.
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
    """Says where, what was found, and what would be right."""


class DatasetNotFoundError(UGraphEmbError, LookupError):
    """Says which file to put where."""


class MissingExtraError(UGraphEmbError, ImportError):
    """Names the `pip install` to run."""


class CostError(UGraphEmbError, ValueError):
    """Names the cost, or the solver and what it supports."""


class MetricError(UGraphEmbError, RuntimeError):
    """Names the pair."""


class ClusterError(UGraphEmbError, RuntimeError):
    """Names the worker and what is wrong with it."""


class TableError(UGraphEmbError, ValueError):
    """Names the file and what is wrong with it."""


class ModelFormatError(UGraphEmbError, ValueError):
    """Names the file and what is wrong with it."""


class IndexFormatError(UGraphEmbError, ValueError):
    """Names the file and what is wrong with it."""


class EngineError(UGraphEmbError, ConnectionError):
    """Names the engine, the request and the answer."""


class StorageError(UGraphEmbError, OSError):
    """Names the file, the message of the operating system, and what is kept."""


class TrainingError(UGraphEmbError, RuntimeError):
    """Says at which step and why."""


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
    """One warning that points at the line of the user's program, however deep inside this package it arises."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_CALLER:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


@contextmanager
def no_deprecations() -> Iterator[None]:
    """Around the import of PyTorch Geometric, which uses what torch deprecates."""
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
