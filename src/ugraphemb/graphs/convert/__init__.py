"""GraphSets from and to the objects of other libraries."""

from ugraphemb.graphs.convert.igraph import from_igraph, to_igraph
from ugraphemb.graphs.convert.networkx import from_networkx, to_networkx
from ugraphemb.graphs.convert.pyg import from_pyg, to_pyg
from ugraphemb.graphs.convert.smiles import from_smiles, to_smiles

__all__ = [
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "from_smiles",
    "to_igraph",
    "to_networkx",
    "to_pyg",
    "to_smiles",
]
