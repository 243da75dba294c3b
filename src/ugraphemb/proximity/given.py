"""Proximities that a caller passes to `fit` or `score`, and what they depend on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.table import PairTable


def given_table(graphs: GraphSet, table: Any, distances: Any) -> PairTable | None:
    """The proximities that were passed, checked; None where there are none."""
    if distances is not None:
        if isinstance(table, PairTable):
            raise TypeError("distances are given twice: as the second argument and as `distances`")
        table = distances if isinstance(distances, PairTable) else PairTable.from_matrix(graphs, distances)
    if isinstance(table, PairTable):
        table.check(graphs)
        return table
    shape: tuple[int, ...] = (
        np.shape(table) if isinstance(table, list | np.ndarray) or hasattr(table, "__array__") else ()
    )
    if len(shape) == 2 and shape[0] == shape[1] == len(graphs):
        raise ValueError(
            f"y is a square matrix, {shape[0]} by {shape[1]}; a matrix of distances is given as "
            "fit(graphs, distances=D), similarities as fit(graphs, PairTable.from_matrix(graphs, S, "
            "kind='similarity'))"
        )
    return None


def edge_labels_count(graphs: GraphSet, table: PairTable) -> bool:
    """Whether the graphs have edge labels that differ, and the proximities depend on them."""
    if graphs.edge_labels is None or len(np.unique(graphs.edge_labels)) < 2:
        return False
    return depends_on_edge_labels(table)


def depends_on_edge_labels(table: PairTable) -> bool:
    """Whether proximities of this kind depend on edge labels, where graphs have any."""
    if table.costs is None:
        return bool(table.settings.get("edge_labels", False))
    return bool(table.costs.get("edge_relabel", 0.0) != 0.0)
