"""Vectors for whole graphs, whose distances are graph distances.

>>> import ugraphemb as ug
>>> graphs = ug.load_dataset("atlas")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ugraphemb import errors

if TYPE_CHECKING:
    from ugraphemb.estimator import UGraphEmb
    from ugraphemb.graphs import Graph, GraphSet, load_dataset, read_graphs, write_graphs
    from ugraphemb.proximity import EditCosts, PairTable
    from ugraphemb.proximity.distance import distance
    from ugraphemb.proximity.pairwise import pairwise
    from ugraphemb.search import GraphIndex, Match

__version__ = "0.1.0"

# Where each public name lives. Loaded when first asked for, so that `import ugraphemb` is quick and torch waits.
_HOMES = {
    "EditCosts": "ugraphemb.proximity",
    "Graph": "ugraphemb.graphs",
    "GraphIndex": "ugraphemb.search",
    "GraphSet": "ugraphemb.graphs",
    "Match": "ugraphemb.search",
    "PairTable": "ugraphemb.proximity",
    "UGraphEmb": "ugraphemb.estimator",
    "distance": "ugraphemb.proximity",
    "load_dataset": "ugraphemb.graphs",
    "pairwise": "ugraphemb.proximity",
    "read_graphs": "ugraphemb.graphs",
    "write_graphs": "ugraphemb.graphs",
}

__all__ = [
    "EditCosts",
    "Graph",
    "GraphIndex",
    "GraphSet",
    "Match",
    "PairTable",
    "UGraphEmb",
    "__version__",
    "distance",
    "errors",
    "load_dataset",
    "pairwise",
    "read_graphs",
    "write_graphs",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ugraphemb' has no attribute {name!r}; it has {', '.join(sorted(__all__))}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
