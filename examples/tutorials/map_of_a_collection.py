# %% [markdown]
# # A map of a collection
#
# Learn vectors for MUTAG, place the graphs on a map, and look at its regions.

# %%
import warnings

import numpy as np

import ugraphemb as ug
from ugraphemb.plots import cluster_figure, line_figure, map_figure, write_map_page
from ugraphemb.tasks import fit_map

warnings.simplefilter("ignore", ug.errors.GraphWarning)
graphs = ug.load_dataset("MUTAG")
model = ug.UGraphEmb(seed=0, steps=400).fit(graphs)
vectors = model.transform(graphs)
chart = fit_map(vectors, "tsne", head=model.head_, seed=0)  # by the distances of the model
print(chart.coordinates.shape)

# %% [markdown]
# ## Colored by class
#
# The model has not seen the classes: molecules that are near in edit distance are near on the map.

# %%
map_figure(chart.coordinates, graphs.targets, title="MUTAG")  # map of MUTAG, one dot per molecule, colored by class

# %% [markdown]
# ## What is where?
#
# The densest regions, with molecules from each, and a line across the map.

# %%
cluster_figure(
    chart.coordinates, graphs, clusters=4, members=6
)  # four dense regions of the map and molecules from each

# %%
line_figure(chart.coordinates, graphs, points=12)  # twelve molecules along a line across the map

# %% [markdown]
# ## New graphs on the same map
#
# `chart.transform` places vectors of new graphs without moving the others.

# %%
nitrobenzene = model.transform(["[O-][N+](=O)c1ccccc1"])
place = chart.transform(nitrobenzene)[0]
near = np.argsort(np.linalg.norm(chart.coordinates - place, axis=1))[:5]
print("near on the map:", [(graphs[i].id, int(graphs.targets[i])) for i in near.tolist()])

# %% [markdown]
# ## A page to explore
#
# `write_map_page` writes one HTML file without external resources: point at a dot to see its graph, click to keep it, use the
# wheel to zoom.

# %%
from pathlib import Path

write_map_page(chart.coordinates, graphs, "map.html")
print(f"{Path('map.html').stat().st_size / 1024:.0f} KiB")

# %% [markdown]
# On the command line:
#
# ```text
# ugraphemb train MUTAG -o model/
# ugraphemb embed model/ MUTAG -o vectors.npy
# ugraphemb plot map vectors.npy MUTAG -o map.html
# ```
