"""What commands take."""

from __future__ import annotations

import re
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


def named(text: str) -> GraphSet:
    """The graphs that a person names: those of a file, a member of a file or data set (PTC:3), or a SMILES string."""
    member = re.fullmatch(r"(.+):(\d+)", text)
    path = Path(text).expanduser()
    if member and not path.exists():
        graphs, position = resolve(member[1]), int(member[2])
        if position >= len(graphs):
            raise GraphFormatError(f"{text}: positions go from 0 to {len(graphs) - 1}")
        return graphs[[position]]
    if path.exists():
        return resolve(text)
    try:
        return GraphSet.from_smiles([text], ids=[text])
    except GraphFormatError as error:
        raise GraphFormatError(
            f"{text}: no file, no member such as PTC:3, and no SMILES of a molecule ({error})"
        ) from error
