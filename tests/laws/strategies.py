"""Graphs for property tests: `graph_sets()` and `small_graphs()`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from ugraphemb.graphs import Graph, GraphSet

# Text that readers may misread: quotes, markup, separators, spaces at the ends, characters like line breaks.
characters = st.sampled_from("aB09.-_ #:,;<>&\"'\\/=[]{}%\u00a0\u0085\u2028é漢😀")
words = st.text(characters, min_size=1, max_size=6)
letters = st.sampled_from("ABC")
numbers = st.integers(-3, 3)
reals = st.floats(allow_nan=False, width=32).map(float)
scalars = st.one_of(words, st.text(characters, max_size=3), numbers, reals, st.booleans(), st.none())
tuples = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
labels = st.one_of(scalars, tuples)
one_kind_of_label = st.sampled_from([letters, words, numbers, reals, st.booleans(), labels])


@st.composite
def small_graphs(
    draw: Any,
    *,
    min_nodes: int = 0,
    max_nodes: int = 6,
    node_labels: st.SearchStrategy[Any] | None = letters,
    edge_labels: st.SearchStrategy[Any] | None = None,
) -> Graph:
    """One graph; labels by default three letters on nodes and none on edges."""
    graphs = graph_sets(
        min_graphs=1, max_graphs=1, min_nodes=min_nodes, max_nodes=max_nodes,
        node_labels=node_labels, edge_labels=edge_labels, attributes=False, targets=None, ids=False,
    )  # fmt: skip
    return draw(graphs)[0]


@st.composite
def graph_sets(
    draw: Any,
    *,
    min_graphs: int = 0,
    max_graphs: int = 4,
    min_nodes: int = 0,
    max_nodes: int = 6,
    node_labels: st.SearchStrategy[Any] | None = labels,
    edge_labels: st.SearchStrategy[Any] | None = labels,
    attributes: bool = True,
    targets: st.SearchStrategy[Any] | None = scalars,
    ids: bool = True,
) -> GraphSet:
    """A collection, each of whose parts may be there or not.

    Args:
        node_labels: What labels are drawn from; None for collections without. `labels` mixes kinds.
        edge_labels: The same for edges.
        attributes: Whether some collections carry node attributes.
        targets: What targets are drawn from; None for none. `scalars` draws one kind for all graphs.
        ids: Whether some collections carry ids other than positions.
    """
    sizes = draw(st.lists(st.integers(min_nodes, max_nodes), min_size=min_graphs, max_size=max_graphs))
    pairs: list[tuple[int, int]] = []
    start = 0
    for size in sizes:
        possible = [(start + u, start + v) for u in range(size) for v in range(u + 1, size)]
        if possible:
            chosen = draw(st.integers(0, 2 ** len(possible) - 1))
            pairs += [pair for bit, pair in enumerate(possible) if chosen >> bit & 1]
        start += size
    return GraphSet.from_edges(
        sizes,
        np.array(pairs, np.int64).reshape(-1, 2),
        node_labels=_drawn_labels(draw, node_labels, start),
        edge_labels=_drawn_labels(draw, edge_labels, len(pairs)),
        node_attributes=_drawn_attributes(draw, start) if attributes and draw(st.booleans()) else None,
        targets=_drawn_targets(draw, targets, len(sizes)),
        ids=draw(st.lists(words, min_size=len(sizes), max_size=len(sizes), unique=True))
        if ids and draw(st.booleans())
        else None,
    )


def _drawn_labels(draw: Any, kinds: st.SearchStrategy[Any] | None, count: int) -> list[Any] | None:
    if kinds is None or (kinds is labels and not draw(st.booleans())):
        return None
    kind = draw(one_kind_of_label) if kinds is labels else kinds
    return draw(st.lists(kind, min_size=count, max_size=count))


def _drawn_attributes(draw: Any, rows: int) -> npt.NDArray[Any]:
    width = draw(st.integers(1, 3))
    values = draw(st.lists(reals, min_size=rows * width, max_size=rows * width))
    return np.array(values, np.float64).reshape(rows, width)


def _drawn_targets(draw: Any, kinds: st.SearchStrategy[Any] | None, count: int) -> npt.NDArray[Any] | None:
    if kinds is None or (kinds is scalars and not draw(st.booleans())):
        return None
    kind = draw(st.sampled_from([numbers, reals, words, st.booleans()])) if kinds is scalars else kinds
    return np.array(draw(st.lists(kind, min_size=count, max_size=count)))
