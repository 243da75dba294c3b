"""One way in: graphs of any kind become a GraphSet here, for every function that takes graphs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ugraphemb.errors import GraphFormatError, amount, type_of, warned
from ugraphemb.graphs.convert.igraph import from_igraph
from ugraphemb.graphs.convert.matrices import from_matrices
from ugraphemb.graphs.convert.molecules import from_rdkit, from_smiles, is_missing
from ugraphemb.graphs.convert.networkx import from_networkx
from ugraphemb.graphs.convert.pyg import from_pyg
from ugraphemb.graphs.graphset import Graph, GraphSet

GraphsLike: TypeAlias = Any
"""What `graphs_of` takes."""

GraphLike: TypeAlias = Any
"""What `graph_of` takes: one graph of any kind that `graphs_of` takes, or a collection of one."""

ACCEPTED = (
    "a GraphSet or Graph, NetworkX, igraph or PyTorch Geometric graphs, RDKit molecules, SMILES, adjacency matrices, "
    "a list of any of these, or a path"
)


def graphs_of(graphs: GraphsLike, **options: Any) -> GraphSet:
    """A GraphSet of graphs in any form.

    Args:
        graphs: One graph or several, as
            - a GraphSet, a Graph, or a list of either;
            - a networkx.Graph, or a list of them;
            - a PyTorch Geometric Data, a list of them, a Batch, a dataset or a DataLoader;
            - an igraph.Graph, or a list of them;
            - an RDKit molecule, or a list of them;
            - a SMILES string, or a list, array or pandas Series of them;
            - an adjacency matrix (NumPy, or SciPy sparse), a list of them, or an array of shape (graphs, n, n);
            - the path of a file or folder that `read_graphs` reads; a string is a path if it exists.
        options: Options of the converter: see `from_networkx`, `from_pyg`, `from_igraph`, `from_rdkit`, `from_smiles`,
            `from_matrices` and `read_graphs`. `on_error="skip"` leaves out missing entries of any list; ids are the
            row numbers of the input, so that results can be joined with it.

    Raises:
        TypeError: Something else.
        GraphFormatError: Graphs that cannot be read, with their position.

    Examples:
        >>> import networkx as nx
        >>> from ugraphemb.graphs import graphs_of
        >>> graphs_of([nx.path_graph(3), nx.cycle_graph(4)])
        GraphSet(2 graphs, 7 nodes, 6 edges)
        >>> graphs_of(["CCO", "CCN"])
        GraphSet(2 graphs, 6 nodes, 4 edges, 3 node labels, 1 edge label)
    """
    return adapted(graphs, **options)[0]


def graph_of(graph: GraphLike) -> Graph:
    """One graph, in any form that `graphs_of` takes.

    Raises:
        ValueError: A collection of several graphs, or of none.
    """
    if isinstance(graph, Graph):
        return graph
    found = graphs_of(graph)
    if len(found) != 1:
        raise ValueError(
            f"a collection of {amount(len(found), 'graph')} where one graph is needed; choose one: graphs[i]"
        )
    return found[0]


def adapted(graphs: GraphsLike, **options: Any) -> tuple[GraphSet, bool]:
    """`graphs_of`, and whether the input was one graph and not a collection of graphs."""
    if isinstance(graphs, GraphSet):
        _refuse_options(options, "a GraphSet")
        return graphs, False
    if isinstance(graphs, str):
        return _text(graphs, options)
    if isinstance(graphs, os.PathLike):
        return _read(Path(graphs), options), False
    kind = _kind(graphs)
    if kind is not None:
        return _CONVERTERS[kind]([graphs], _known(kind, options)), True
    if _is(graphs, "torch_geometric", "Batch", "Dataset") or _is(graphs, "torch", "DataLoader"):
        return from_pyg(graphs, **options), False
    if _is(graphs, "pandas", "DataFrame"):
        columns = ", ".join(map(repr, list(graphs.columns)[:5]))
        raise TypeError(
            f"a DataFrame where graphs are needed; give its column of SMILES, such as df['smiles'] ({columns})"
        )
    if isinstance(graphs, bytes) or not isinstance(graphs, Iterable):
        raise TypeError(f"{type_of(graphs)} where graphs are needed: {ACCEPTED}")
    return _listed(list(graphs), options), False


def _text(text: str, options: dict[str, Any]) -> tuple[GraphSet, bool]:
    """The file at this path if there is one, otherwise a molecule by its SMILES."""
    path = Path(text)
    try:
        there = path.exists()
    except (OSError, ValueError):  # too long for a path, or with a zero in it
        there = False
    if there:
        return _read(path, options), False
    if path.suffix and "/" in text and path.parent.is_dir():
        raise GraphFormatError(f"{text}: no such file")
    try:
        return from_smiles(text, **_known("smiles", options)), True
    except GraphFormatError as error:
        raise GraphFormatError(
            f"{text[:60]!r} is neither a file that exists nor SMILES; for data sets by name see load_dataset"
        ) from error


def _read(path: Path, options: dict[str, Any]) -> GraphSet:
    from ugraphemb.graphs.formats import read_graphs

    return read_graphs(path, **options)


def _listed(entries: list[Any], options: dict[str, Any]) -> GraphSet:
    """Entries of one or several kinds, in order."""
    kinds: list[str] = []
    rows: list[int] = []
    skip = options.get("on_error") == "skip"
    if any(isinstance(entry, str) for entry in entries) and all(
        isinstance(entry, str) or is_missing(entry) for entry in entries
    ):
        return from_smiles(entries, **options)
    for row, entry in enumerate(entries):
        kind = _kind(entry) or ("smiles" if isinstance(entry, str) else "set" if isinstance(entry, GraphSet) else None)
        if kind is None and is_missing(entry) and skip:
            continue
        if kind is None:
            found = "missing (None or nan)" if is_missing(entry) else type_of(entry)
            right = "on_error='skip' leaves it out" if is_missing(entry) else f"expected {ACCEPTED}"
            error = GraphFormatError if is_missing(entry) else TypeError
            raise error(f"graph {row} is {found}; {right}")
        kinds.append(kind)
        rows.append(row)
    if len(rows) < len(entries):
        warned(f"graphs: ignored {amount(len(entries) - len(rows), 'missing entry', 'missing entries')}")
    parts, start = [], 0
    for kind, group in groupby(kinds):
        count = len(list(group))
        chosen = rows[start : start + count]
        parts.append(_part(kind, [entries[row] for row in chosen], chosen, options))
        start += count
    if not parts:
        return GraphSet.from_edges([], np.empty((0, 2), np.int64))
    from ugraphemb.graphs.merge import concatenated

    return parts[0] if len(parts) == 1 else concatenated(parts)


def _part(kind: str, entries: list[Any], rows: list[int], options: dict[str, Any]) -> GraphSet:
    """Entries of one kind; ids that are positions become row numbers of the whole input."""
    found = _CONVERTERS[kind](entries, _known(kind, options))
    numbered = {str(position): str(row) for position, row in enumerate(rows)}
    own = "ids" in options or kind in ("graph", "set") or any(name not in numbered for name in found.ids.tolist())
    return found if own else replace(found, ids=np.array([numbered[name] for name in found.ids.tolist()], np.str_))


def _views(entries: list[Graph], options: dict[str, Any]) -> GraphSet:
    from ugraphemb.graphs.merge import concatenated

    _refuse_options(options, "a list of Graph")
    home = entries[0].graphs
    if all(entry.graphs is home for entry in entries):
        return home[[entry.position for entry in entries]]
    return concatenated([entry.graphs[[entry.position]] for entry in entries])


def _sets(entries: list[GraphSet], options: dict[str, Any]) -> GraphSet:
    from ugraphemb.graphs.merge import concatenated

    _refuse_options(options, "a list of GraphSets")
    return concatenated(entries)


_CONVERTERS: dict[str, Callable[[list[Any], dict[str, Any]], GraphSet]] = {
    "graph": _views,
    "set": _sets,
    "networkx": lambda entries, options: from_networkx(entries, **options),
    "igraph": lambda entries, options: from_igraph(entries, **options),
    "pyg": lambda entries, options: from_pyg(entries, **options),
    "rdkit": lambda entries, options: from_rdkit(entries, **options),
    "smiles": lambda entries, options: from_smiles(entries, **options),
    "matrix": lambda entries, options: from_matrices(entries, **options),
}


def _known(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options without `on_error`, where the converter of this kind has no such option."""
    if "on_error" not in options or kind in ("rdkit", "smiles"):
        return options
    return {name: value for name, value in options.items() if name != "on_error"}


def _refuse_options(options: dict[str, Any], what: str) -> None:
    wrong = [name for name in options if name != "on_error"]
    if wrong:
        raise TypeError(f"{what} takes no option {wrong[0]!r}")


def _kind(thing: Any) -> str | None:
    """What one graph is; None for anything else. No library is imported for it."""
    if isinstance(thing, Graph):
        return "graph"
    if _is(thing, "networkx", "Graph"):
        return "networkx"
    if _is(thing, "igraph", "Graph", "GraphBase"):
        return "igraph"
    if _is(thing, "torch_geometric", "Data") and not _is(thing, "torch_geometric", "Batch"):
        return "pyg"
    if _is(thing, "rdkit", "Mol"):
        return "rdkit"
    numeric = isinstance(thing, np.ndarray) and thing.dtype.kind in "buif"
    return "matrix" if (numeric or _is(thing, "scipy", "_spbase")) and thing.ndim == 2 else None


def _is(thing: Any, library: str, *names: str) -> bool:
    return any(base.__name__ in names and base.__module__.partition(".")[0] == library for base in type(thing).__mro__)
