# %% [markdown]
# # Reproduce the paper
#
# The published model and training are a preset, the published ground truth is a method. This tutorial runs the paper's
# protocol on PTC, with fewer steps; the complete experiments are one command.
#
# ## Data and split
#
# PTC has 344 molecules, with hydrogens. It is not in TU's collection: put `PTC.zip` into a folder and set `UGRAPHEMB_DATA`. The
# paper uses 60 % of the graphs for training, 20 % for validation and 20 % for tests.

# %%
import warnings

import ugraphemb as ug
from ugraphemb.tasks import random_splits, ranking

warnings.simplefilter("ignore", ug.errors.GraphWarning)
graphs = ug.load_dataset("PTC")
split = random_splits(len(graphs), seed=0, repeats=1)[0]
print(graphs)
print(len(split.train), len(split.validation), len(split.test))

# %% [markdown]
# ## Ground truth
#
# `method="paper"`: the minimum of Beam (width 80), Hungarian and VJ. The paper has no edge labels: `EditCosts(edge_relabel=0)`.
# Models are trained on `tight` by default, which is closer to the exact distance.

# %%
costs = ug.EditCosts(edge_relabel=0)
published = ug.pairwise(graphs, method="paper", costs=costs)
tight = ug.pairwise(graphs, method="tight", costs=costs)
print(f"mean distance: paper {published.value.mean():.1f}, tight {tight.value.mean():.1f}")

# %% [markdown]
# ## Train and rank
#
# Test graphs are queries against the training graphs. The paper trains 20,000 steps; 800 show the trend. The
# default preset takes 4,000 steps; here it gets 300.

# %%
learning = [*split.train, *split.validation]
held_out = range(len(split.train), len(learning))


def scores(preset: str, table: ug.PairTable, steps: int) -> str:
    part = graphs[learning]
    model = ug.UGraphEmb(preset=preset, seed=0, steps=steps, costs=costs)
    model.fit(part, table.among(learning, part), held_out=list(held_out))
    truth = table.normalized().matrix()[split.test][:, split.train]
    predicted = model.proximity(model.transform(graphs[split.test]), model.transform(graphs[split.train]))
    found = ranking(predicted, truth, k=10).summary()
    return ", ".join(f"{name} {mean:.3f}" for name, (mean, _) in found.items() if name in ("tau", "p@10"))


print("paper's preset, paper's truth: ", scores("paper", published, 800))
print("default preset, paper's truth: ", scores("default", published, 300))
print("default preset, tight truth:   ", scores("default", tight, 300))
print("published:                      tau 0.840, p@10 0.457")

# %% [markdown]
# ## Everything
#
# ```text
# make experiments-quick   # 20 minutes: a part of every table
# make experiments         # a night on 2 cores: every table and figure; can be stopped and continued
# ```
#
# [Results](../results.md) has all tables beside the published ones, with the number of splits and steps of each entry.
