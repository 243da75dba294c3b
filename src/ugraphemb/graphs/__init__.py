"""Read, check, pack."""

from ugraphemb.graphs.graphset import Graph, GraphSet
from ugraphemb.graphs.merge import concatenated

__all__ = ["Graph", "GraphSet", "concatenated"]
