"""GraphSets from and to the objects of other libraries; `graphs_of` is the one way in for all of them."""

from ugraphemb.graphs.convert.adapter import graph_of, graphs_of
from ugraphemb.graphs.convert.igraph import from_igraph, to_igraph
from ugraphemb.graphs.convert.matrices import from_matrices
from ugraphemb.graphs.convert.molecules import from_rdkit, from_smiles
from ugraphemb.graphs.convert.networkx import from_networkx, to_networkx
from ugraphemb.graphs.convert.pyg import from_pyg, to_pyg
from ugraphemb.graphs.convert.smiles import to_smiles

__all__ = [
    "from_igraph",
    "from_matrices",
    "from_networkx",
    "from_pyg",
    "from_rdkit",
    "from_smiles",
    "graph_of",
    "graphs_of",
    "to_igraph",
    "to_networkx",
    "to_pyg",
    "to_smiles",
]
