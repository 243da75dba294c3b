"""Find the graphs most like this one: an index of vectors, and answers that are verified."""

from ugraphemb.search.index import GraphIndex
from ugraphemb.search.matches import Certificate, Match, Matches

__all__ = ["Certificate", "GraphIndex", "Match", "Matches"]
