"""Every error that ugraphemb raises on purpose.

    UGraphEmbError
    ├── GraphFormatError     a file or object that is not the graph it claims to be (also a ValueError)
    ├── DatasetNotFoundError a data set that is neither on disk nor downloadable (also a LookupError)
    ├── MissingExtraError    an optional dependency is not installed (also an ImportError)
    ├── CostError            edit costs that make no sense, or that a solver does not support (also a ValueError)
    ├── MetricError          a metric of the user's that fails on a pair (also a RuntimeError)
    ├── ClusterError         workers that cannot do the work, with the reason (also a RuntimeError)
    ├── TableError           a pair table that is torn, foreign or of another collection (also a ValueError)
    ├── ModelFormatError     a saved model that is torn, foreign or of an unknown version (also a ValueError)
    ├── IndexFormatError     a saved index that is torn, foreign or of an unknown version (also a ValueError)
    ├── StorageError         a file that cannot be written: a full disk, a missing permission (also an OSError)
    └── TrainingError        training that cannot go on, with the reason (also a RuntimeError)

Wrong argument values are plain ValueError or TypeError. GraphWarning is the category of what was tolerated.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class UGraphEmbError(Exception):
    """Root of the tree."""


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


class StorageError(UGraphEmbError, OSError):
    """Names the file, what the system said, and what is still there."""


class TrainingError(UGraphEmbError, RuntimeError):
    """Says at which step and why."""


class GraphWarning(UserWarning):
    """Something in the input was dropped or ignored; says what and how often."""


_NOT_THE_CALLER = ("ugraphemb", "sklearn", "contextlib")


def warned(text: str, category: type[Warning] = GraphWarning) -> None:
    """One warning that points at the line of the user's program, however deep inside this package it arises."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_CALLER:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


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
