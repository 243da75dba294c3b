# %% [markdown]
# # Find molecules like mine
#
# From a CSV file with SMILES to proven nearest neighbors with pictures.
#
# ## The file
#
# Any table with a column of SMILES works: `.csv`, `.tsv`, also gzipped. Here we write one with 2,000 molecules that come
# with RDKit, so that the tutorial runs without downloads.

# %%
import csv
import warnings

import ugraphemb as ug

molecules = ug.load_dataset("molecules")[:2000]
with open("compounds.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["name", "smiles", "batch"])
    for position, molecule in enumerate(molecules):
        table.writerow([f"NCI-{position:04d}", molecule.metadata["smiles"], position // 500])

# %% [markdown]
# ## Read it
#
# The SMILES column is found by its name (`column=` names another). Further columns become metadata. Rows that are not
# SMILES are errors that name the line; `on_error="skip"` leaves them out and reports how many.

# %%
compounds = ug.read_graphs("compounds.csv", on_error="skip")
print(compounds)
print(compounds[7].id, compounds[7].metadata)

# %% [markdown]
# ## Learn vectors
#
# 200 molecules and 300 steps are enough for a demonstration. Leave `steps` out, and use more molecules, for better vectors.
# `ug.GraphIndex()` without a model needs no training: it uses a model that comes with the package. Vectors only decide how
# fast the search is; the answer below is proven by edit distance.

# %%
warnings.simplefilter("ignore", ug.errors.GraphWarning)  # rare elements that are not among the 200
model = ug.UGraphEmb(seed=0, steps=300).fit(compounds[:200])
index = ug.GraphIndex(model).add(compounds)
print(index)

# %% [markdown]
# ## Search
#
# `complete=True` compares the query with the whole collection. Lower bounds rule out most molecules in nanoseconds; what
# remains is decided by the exact solver.

# %%
paracetamol = "CC(=O)Nc1ccc(O)cc1"
matches = index.search(paracetamol, k=5, complete=True)
for match in matches:
    print(match.rank, match.id, match.distance, match.metadata["smiles"], "|", match.changes())
print(matches.certificate)

# %% [markdown]
# `match.proven` says that the distance is exact, `matches.certificate.proven` that no other molecule is nearer. The figure
# shows the query above and the three nearest molecules below; colors mark what is removed, relabeled and added.

# %%
from ugraphemb.plots import edit_figure

nearest = matches[:3]
edit_figure(
    paracetamol,
    [match.graph for match in nearest],
    [match.mapping for match in nearest],
    titles=[f"{match.rank}. {match.id}, distance {match.distance:g}" for match in nearest],
    notes=[match.changes() for match in nearest],
)  # paracetamol and its three nearest molecules

# %% [markdown]
# ## Filters, ranges, saving
#
# Metadata restrict a search, `within` asks for everything up to a distance, and an index is saved as one folder.

# %%
for match in index.search(paracetamol, within=3, where={"batch": 0}):
    print(match.id, match.distance, match.metadata["batch"])
index.save("compounds-index")
print(len(ug.GraphIndex.load("compounds-index")))

# %% [markdown]
# The same on the command line:
#
# ```text
# ugraphemb train compounds.csv -o model/
# ugraphemb index model/ compounds.csv -o compounds-index/
# ugraphemb search compounds-index/ 'CC(=O)Nc1ccc(O)cc1' -k 5 --complete
# ```
