"""What commands take."""

from __future__ import annotations

from pathlib import Path

from ugraphemb.errors import DatasetNotFoundError, GraphFormatError
from ugraphemb.graphs import GraphSet, load_dataset, read_graphs


def resolve(graphs: str, *, strict: bool = False) -> GraphSet:
    """The graphs that a GRAPHS argument means: a path that exists, or else the name of a data set."""
    path = Path(graphs).expanduser()
    if path.exists():
        return read_graphs(path, strict=strict)
    if len(path.parts) > 1 or path.suffix:
        raise GraphFormatError(f"{graphs}: no such file or folder, and no name of a data set")
    try:
        return load_dataset(graphs)
    except DatasetNotFoundError as error:
        raise DatasetNotFoundError(f"{graphs}: no such file or folder, and {error}") from error
