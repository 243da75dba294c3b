"""Vectors for whole graphs, whose distances are graph distances.

>>> import ugraphemb as ug
>>> graphs = ug.load_dataset("atlas")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ugraphemb import errors

if TYPE_CHECKING:
    from ugraphemb.graphs import Graph, GraphSet, load_dataset, read_graphs, write_graphs

__version__ = "0.1.0"

# Where each public name lives. Loaded when first asked for, so that `import ugraphemb` is quick and torch waits.
_HOMES = {
    "Graph": "ugraphemb.graphs",
    "GraphSet": "ugraphemb.graphs",
    "load_dataset": "ugraphemb.graphs",
    "read_graphs": "ugraphemb.graphs",
    "write_graphs": "ugraphemb.graphs",
}

__all__ = ["Graph", "GraphSet", "__version__", "errors", "load_dataset", "read_graphs", "write_graphs"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ugraphemb' has no attribute {name!r}; it has {', '.join(sorted(__all__))}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
