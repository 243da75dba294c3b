"""Read, check, pack."""

from ugraphemb.graphs.datasets import load_dataset
from ugraphemb.graphs.formats import read_graphs, write_graphs
from ugraphemb.graphs.graphset import Graph, GraphSet
from ugraphemb.graphs.merge import concatenated

__all__ = ["Graph", "GraphSet", "concatenated", "load_dataset", "read_graphs", "write_graphs"]
