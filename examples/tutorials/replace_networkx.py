# %% [markdown]
# # Replace networkx.graph_edit_distance
#
# The same distance, proven, in a small part of the time; bounds where a proof takes too long; and the edits.
#
# ## Side by side
#
# NetworkX charges 1 for each insertion and deletion, and for a substitution of nodes whose `node_match` is false. These are
# also the default costs of ugraphemb.

# %%
import time

import networkx as nx

import ugraphemb as ug

graphs = [nx.gnm_random_graph(7, 10, seed=seed) for seed in range(8)]
for graph in graphs:
    nx.set_node_attributes(graph, {node: "ab"[node % 2] for node in graph}, "label")
pairs = [(i, j) for i in range(8) for j in range(i)][:10]

started = time.perf_counter()
theirs = [nx.graph_edit_distance(graphs[i], graphs[j], node_match=lambda a, b: a == b) for i, j in pairs]
networkx_seconds = time.perf_counter() - started
ug.distance(graphs[0], graphs[1])  # loads the compiled core
started = time.perf_counter()
table = ug.pairwise(graphs, pairs, method="exact")
own_seconds = time.perf_counter() - started

assert table.value.tolist() == theirs and table.proven.all()
print("distances:", *map(int, theirs))
print(f"NetworkX {networkx_seconds:.1f} s, ugraphemb {own_seconds:.4f} s")
print(f"{networkx_seconds / own_seconds:,.0f} times as fast")

# %% [markdown]
# The times are those of the machine that built this page. `python benchmarks/bench_ged.py` measures larger sets; see the
# [record](../../benchmarks/results/ged_peers.md).
#
# ## Larger graphs
#
# NetworkX does not finish on graphs of 30 nodes. `tight`, the default method, gives bounds in a fraction of a millisecond; `exact` with a
# timeout gives the best bounds within that time, and a proof if it finds one.

# %%
a, b = (nx.gnm_random_graph(30, 40, seed=seed) for seed in (1, 2))
quick = ug.distance(a, b)
slow = ug.distance(a, b, method="exact", timeout=2)
print(f"tight: {quick.lower:g} <= distance <= {quick.upper:g}")
print(f"exact, 2 s: {slow.lower:g} <= distance <= {slow.upper:g}, proven: {slow.proven}")

# %% [markdown]
# ## Is it more than a limit?
#
# NetworkX has `upper_bound=`. Here every method takes `limit=`: it stops as soon as the distance is shown to be larger.

# %%
answer = ug.distance(a, b, method="exact", limit=5)
print(answer.lower > 5)

# %% [markdown]
# ## The edits
#
# `optimize_edit_paths` of NetworkX yields pairs of nodes. Here the path is a list of operations in an order in which they can be applied.

# %%
result = ug.distance(nx.cycle_graph(5), nx.path_graph(4), method="exact")
for edit in result.edit_path():
    print(edit)
print(result.mapping)

# %% [markdown]
# ## Other costs
#
# | NetworkX | ugraphemb |
# |---|---|
# | `node_match`, `edge_match` | labels: the attribute `label`, or `GraphSet.from_networkx(..., node_label="element")` |
# | `node_subst_cost` | `EditCosts(node_relabel=function)`; also a number, a mapping or a matrix |
# | `node_del_cost`, `node_ins_cost` | `EditCosts(node_delete=2, node_insert=2)` |
# | `edge_subst_cost`, `edge_del_cost`, `edge_ins_cost` | `EditCosts(edge_relabel=0.5, edge_delete=1, edge_insert=1)` |
# | `upper_bound` | `limit` |
# | `timeout` | `timeout`; bounds are returned instead of the best value alone |

# %%
costs = ug.EditCosts(node_relabel={("a", "b"): 0.5}, edge_delete=2, edge_insert=2)
print(ug.distance(graphs[0], graphs[1], method="exact", costs=costs).value)
