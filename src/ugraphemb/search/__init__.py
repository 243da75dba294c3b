"""Search for the graphs most similar to a query: an index of vectors, and verified answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ugraphemb.search.matches import Certificate, Match, Matches

if TYPE_CHECKING:
    from ugraphemb.search.index import GraphIndex

__all__ = ["Certificate", "GraphIndex", "Match", "Matches"]


def __getattr__(name: str) -> Any:
    if name != "GraphIndex":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ugraphemb.search.index import GraphIndex  # loads torch, which workers that only prove do without

    return GraphIndex
