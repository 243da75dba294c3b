"""Vectors for whole graphs, whose distances are graph distances.

>>> import ugraphemb as ug
>>> graphs = ug.load_dataset("atlas")
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ugraphemb import errors

if TYPE_CHECKING:
    from ugraphemb.bulk import embed_files
    from ugraphemb.classifier import UGraphEmbClassifier
    from ugraphemb.estimator import UGraphEmb
    from ugraphemb.graphs import Graph, GraphSet, load_dataset, read_graphs, write_graphs
    from ugraphemb.proximity import EditCosts, PairTable
    from ugraphemb.proximity.distance import distance
    from ugraphemb.proximity.pairwise import pairwise
    from ugraphemb.search import GraphIndex, Match

# OpenMP reads this when torch is loaded: waiting threads sleep instead of spinning, which made two concurrent
# trainings ten times as slow. A value that the user has set is kept.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.2.0"

# The module of each public name. Loaded on first use, so that `import ugraphemb` is fast and does not import torch.
_HOMES = {
    "EditCosts": "ugraphemb.proximity",
    "Graph": "ugraphemb.graphs",
    "GraphIndex": "ugraphemb.search",
    "GraphSet": "ugraphemb.graphs",
    "Match": "ugraphemb.search",
    "PairTable": "ugraphemb.proximity",
    "UGraphEmb": "ugraphemb.estimator",
    "UGraphEmbClassifier": "ugraphemb.classifier",
    "distance": "ugraphemb.proximity",
    "embed_files": "ugraphemb.bulk",
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
    "UGraphEmbClassifier",
    "__version__",
    "distance",
    "embed_files",
    "errors",
    "load_dataset",
    "pairwise",
    "read_graphs",
    "write_graphs",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ugraphemb' has no attribute {name!r}; {_hint(name)}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def _hint(name: str) -> str:
    """Where the name is, if another package has it; otherwise the names that are here."""
    if not name.startswith("_"):
        for package in ("ugraphemb.graphs", "ugraphemb.proximity", "ugraphemb.search"):
            if name in import_module(package).__all__:
                return f"it is in {package}: from {package} import {name}"
        if name in ("from_smiles", "from_rdkit", "from_networkx", "from_pyg", "from_igraph", "from_matrices"):
            return f"it is a method of GraphSet: GraphSet.{name}(...)"
    return f"it has {', '.join(sorted(__all__))}"


def __dir__() -> list[str]:
    return sorted(__all__)
