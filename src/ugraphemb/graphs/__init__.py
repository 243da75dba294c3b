"""Read, check, pack."""

from ugraphemb.graphs.convert.adapter import GraphLike, GraphsLike, graph_of, graphs_of
from ugraphemb.graphs.datasets import load_dataset
from ugraphemb.graphs.formats import read_graphs, write_graphs
from ugraphemb.graphs.graphset import Graph, GraphSet
from ugraphemb.graphs.merge import concatenated

__all__ = [
    "Graph",
    "GraphLike",
    "GraphSet",
    "GraphsLike",
    "concatenated",
    "graph_of",
    "graphs_of",
    "load_dataset",
    "read_graphs",
    "write_graphs",
]
