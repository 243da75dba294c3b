# %% [markdown]
# # My NetworkX or PyG graphs
#
# Every function takes graphs as they are. This tutorial uses NetworkX graphs and PyTorch Geometric `Data`, converts between
# them, and shows what is reported when something of the input is not used.
#
# ## NetworkX
#
# The node attribute `label` is the label; `node_label=` names another. We make 60 graphs of three kinds.

# %%
import networkx as nx
import numpy as np

import ugraphemb as ug

random = np.random.default_rng(0)
graphs, kinds = [], []
for seed in range(20):
    n = int(random.integers(8, 14))
    graphs += [nx.cycle_graph(n), nx.random_labeled_tree(n, seed=seed), nx.barabasi_albert_graph(n, 2, seed=seed)]
    kinds += ["cycle", "tree", "scale-free"]

answer = ug.distance(graphs[0], graphs[1], method="exact")
print(answer.value, answer.proven, len(answer.edit_path()))

# %% [markdown]
# Lists are collections. `GraphSet.of` converts once, which saves time if the graphs are used often, and takes options.

# %%
collection = ug.GraphSet.of(graphs)
table = ug.pairwise(collection)
print(collection)
print(table)

# %% [markdown]
# ## A model and a search
#
# Targets are not used by `fit`: the model learns distances, not classes. Nevertheless the nearest neighbors of a tree are
# trees.

# %%
model = ug.UGraphEmb(seed=0, steps=200).fit(collection, table)
index = ug.GraphIndex(model).add(collection, metadata={"kind": kinds})
query = nx.random_labeled_tree(11, seed=99)
for match in index.search(query, k=5, complete=True):
    print(match.rank, match.metadata["kind"], match.distance, match.proven)

# %% [markdown]
# ## PyTorch Geometric
#
# `Data`, lists of them, `Batch`, `InMemoryDataset` and `DataLoader` are taken as well. One-hot or integer `x` are node
# labels, `y` is the target.

# %%
import torch
from torch_geometric.data import Data

triangle = Data(
    edge_index=torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]), x=torch.eye(2)[[0, 0, 1]], y=torch.tensor([1])
)
path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), x=torch.eye(2)[[0, 1, 1]], y=torch.tensor([0]))
pair = ug.GraphSet.of([triangle, path])
print(pair.targets, pair[0].node_labels, pair[1].node_labels)
for edit in ug.distance(triangle, path, method="exact").edit_path():
    print(edit)

# %% [markdown]
# Back to other libraries: `to_networkx`, `to_pyg`, `to_igraph`.

# %%
print(pair.to_networkx()[0].edges, pair.to_pyg()[1])

# %% [markdown]
# ## What is not used is reported
#
# Graphs are undirected, without self loops and parallel edges. What does not fit is refused or dropped with a warning that
# counts it, never silently.

# %%
import warnings

weighted = nx.path_graph(4)
weighted.add_edge(0, 0)
nx.set_edge_attributes(weighted, 0.5, "weight")
with warnings.catch_warnings(record=True) as reported:
    warnings.simplefilter("always")
    ug.GraphSet.of(weighted)
for warning in reported:
    print(warning.message)
try:
    ug.GraphSet.of(nx.DiGraph([(0, 1), (1, 2)]))
except ug.errors.GraphFormatError as error:
    print("refused:", error)

# %% [markdown]
# [Graphs from any library](../inputs.md) has the complete table of inputs.
