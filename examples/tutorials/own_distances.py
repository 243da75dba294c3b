# %% [markdown]
# # Learn from my own distances
#
# The embedding can represent any distance or similarity of graphs: a matrix that you computed, or a function of two graphs.
# This tutorial learns the Tanimoto distance of molecular fingerprints, from the graphs alone.
#
# ## A matrix of distances

# %%
import warnings

import numpy as np
from rdkit import Chem, DataStructs, RDLogger
from rdkit.Chem import rdFingerprintGenerator

import ugraphemb as ug

warnings.simplefilter("ignore", ug.errors.GraphWarning)  # rare elements
RDLogger.DisableLog("rdApp.*")  # some SMILES are not valid for RDKit; they are left out below
molecules = ug.load_dataset("molecules")
chosen = np.random.default_rng(0).permutation(len(molecules))[:520]
parsed = {i: Chem.MolFromSmiles(molecules[i].metadata["smiles"]) for i in chosen.tolist()}
chosen = [i for i in chosen if parsed[i] is not None][:500]
molecules = molecules[chosen]
generator = rdFingerprintGenerator.GetMorganGenerator(radius=1)
prints = [generator.GetFingerprint(parsed[i]) for i in chosen]
distances = np.array([[1 - value for value in DataStructs.BulkTanimotoSimilarity(one, prints)] for one in prints])
print(distances.shape, f"mean distance {distances[np.triu_indices(500, 1)].mean():.2f}")

# %% [markdown]
# `fit(graphs, distances=D)` trains on the matrix as it is, without dividing by sizes. Entries that are nan are not known and not
# used, so a partial matrix works as well. We train on 350 molecules.

# %%
train, test = np.arange(350), np.arange(350, 500)
model = ug.UGraphEmb(seed=0, steps=400).fit(molecules[train], distances=distances[np.ix_(train, train)])
print(model.about_["validation"])

# %% [markdown]
# ## How good is it on unseen molecules?
#
# Each of the 150 held-out molecules ranks the 350 known ones. Kendall's τ compares the ranking with the true one.

# %%
from ugraphemb.tasks import ranking

predicted = model.proximity(model.transform(molecules[test]), model.transform(molecules[train]))
print(ranking(predicted, distances[np.ix_(test, train)], k=(1, 10)))

# %% [markdown]
# ## A function of two graphs
#
# A function is called for every pair, in parallel processes. `kind` says whether it is a distance or a similarity.


# %%
def ring_difference(a: ug.Graph, b: ug.Graph) -> float:
    """Difference of the numbers of independent cycles (of connected graphs)."""
    return abs((a.num_edges - a.num_nodes) - (b.num_edges - b.num_nodes))


table = ug.pairwise(molecules[:100], metric=ring_difference, kind="distance", threads=1)
print(table, table.value[:8])
rings = ug.UGraphEmb(metric=ring_difference, kind="distance", threads=1, seed=0, steps=150).fit(molecules[:100])
print(f"Kendall's tau on validation graphs: {rings.about_['validation']['tau']:.2f}")

# %% [markdown]
# ## Single pairs
#
# Values for some pairs, for example from experts or experiments, become a table by `PairTable.from_values`:

# %%
pairs = ug.PairTable.from_values(molecules, pairs=[(0, 1), (0, 2)], value=[0.9, 0.2], kind="similarity", name="expert")
print(pairs)

# %% [markdown]
# More in [Other proximities](../proximities.md).
