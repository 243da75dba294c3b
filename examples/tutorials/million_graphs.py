# %% [markdown]
# # A million graphs and a vector database
#
# An index of many graphs: build it, save it, search it with proof, and hand its vectors to a vector database. This page uses
# 20,000 molecules of MOSES so that it runs in a minute. The numbers for a million are in the
# [record](../../benchmarks/results/search_million.md): three minutes to embed and index, 2.1 GiB on disk, 0.1 s to load, 5 ms for a search by vectors, 100 ms for the ten nearest with proof (medians, two threads).
#
# The molecules come with the package molsets: `pip install --no-deps molsets`.

# %%
import time
import warnings

import numpy as np

import ugraphemb as ug

warnings.simplefilter("ignore", ug.errors.GraphWarning)
molecules = ug.load_dataset("moses", limit=20_000)
print(molecules)

# %% [markdown]
# ## Train on a sample, add everything
#
# The encoder is inductive: it is trained on a few hundred molecules and embeds any number. `add` can be called repeatedly;
# each call becomes a part of the index, and parts are merged as they grow.

# %%
sample = np.random.default_rng(0).permutation(len(molecules))[:300]
model = ug.UGraphEmb(seed=0, steps=400).fit(molecules[sample])
index = ug.GraphIndex(model)
for start in range(0, len(molecules), 5_000):
    index.add(molecules[start : start + 5_000])
print(index)

# %% [markdown]
# ## Search
#
# Three questions, from fast to complete.

# %%
query = "CC(C)Cc1ccc(cc1)C(C)C(=O)O"  # ibuprofen
by_vectors = index.search(query, k=5)
verified = index.search(query, k=5, verify=True)
proven = index.search(query, k=5, complete=True)
for name, matches in (("vectors", by_vectors), ("verified shortlist", verified), ("complete", proven)):
    print(f"{name:18}", [match.id for match in matches])
print(proven.certificate)
for match in proven:
    print(match.distance, match.metadata["smiles"], "|", match.changes())

# %% [markdown]
# ## Save and load
#
# The folder is memory-mapped: loading does not depend on its size, and several processes share the memory.

# %%
index.save("molecules-index")
started = time.process_time()
loaded = ug.GraphIndex.load("molecules-index")
print(f"loaded {len(loaded):,} graphs in {time.process_time() - started:.2f} s of CPU time")

# %% [markdown]
# ## A vector database
#
# Up to 100,000 vectors, every vector is compared. Beyond that, `kind="auto"` uses an approximate structure of faiss (extra `search`). For
# other databases, `export` writes ids, vectors and metadata as Parquet.

# %%
import pyarrow.parquet as pq

index.export("vectors.parquet")
table = pq.read_table("vectors.parquet")
print(table.num_rows, table.column_names)
vectors = np.stack(table["vector"].to_numpy())
print(vectors.shape, vectors.dtype)

# %% [markdown]
# A database ranks by plain L2. The ranking of the default head is similar but not equal: request more candidates than needed and rerank
# them by `model.proximity`. With `head="l2"` both rankings are the same. Here with faiss:

# %%
import faiss

database = faiss.IndexFlatL2(vectors.shape[1])
database.add(vectors)
asked = model.transform([query])
_, candidates = database.search(asked, 200)
order = np.argsort(model.proximity(asked, vectors[candidates[0]])[0])[:5]
found = [table["id"][int(i)].as_py() for i in candidates[0][order]]
print(found, found == [match.id for match in by_vectors])

# %% [markdown]
# ## An index inside a database
#
# With `engine=` the index itself is kept in a database that many processes and machines share: graphs, vectors, metadata and
# the model. Every method works in the same way, proofs included (extra `engines`); see
# [Indexes in a database](../past-one-machine.md).
#
# ```text
# index = ug.GraphIndex(model, engine="milvus://localhost:19530/molecules")
# index = ug.GraphIndex(model, engine="postgresql://user@host/database/molecules")   # with pgvector
# index = ug.GraphIndex(model, engine="lance://molecules.lance")                     # LanceDB: a folder, no server
# index = ug.GraphIndex.load("milvus://localhost:19530/molecules")
# ugraphemb copy molecules-index/ milvus://localhost:19530/molecules
# ```
