"""Tries an installed ugraphemb that came without extras; the parts that need PyTorch only where it is installed."""

import importlib.util
import sys
from pathlib import Path

import numpy as np

import ugraphemb as ug

graphs = ug.load_dataset("atlas")
assert len(graphs) == 1253, graphs
result = ug.distance(graphs[200], graphs[300], method="exact")
assert result.proven and result.lower == result.value == len(result.edit_path()), result
table = ug.pairwise(graphs[100:120])
table.write("pairs.parquet")
assert np.array_equal(ug.PairTable.read("pairs.parquet", graphs[100:120]).matrix(), table.matrix())
ug.write_graphs(graphs[:50], "graphs.jsonl")
assert ug.read_graphs("graphs.jsonl").fingerprint == graphs[:50].fingerprint
assert "torch" not in sys.modules, "reading graphs and computing distances must not import torch"
try:
    ug.GraphSet.from_smiles(["CCO"])
except ug.errors.MissingExtraError as error:
    assert "pip install 'ugraphemb[molecules]'" in str(error), error
else:
    raise AssertionError("RDKit is missing, but no error was raised")
index = ug.GraphIndex().add(graphs[100:200])  # by a model that comes with the package
matches = index.search(graphs[150], k=3, complete=True)
assert matches[0].distance == 0 and matches.certificate.proven, matches
assert ug.UGraphEmb.pretrained("molecules").about_  # loading verifies its checksums
assert "torch" not in sys.modules, "a search by a model of the package must not import torch"
assert (Path(ug.__file__).parent / "web" / "static" / "index.html").is_file(), "no page for `ugraphemb serve`"
if importlib.util.find_spec("torch") is not None:
    model = ug.UGraphEmb(seed=0, steps=10, progress=False).fit(graphs[100:140])
    matches = ug.GraphIndex(model).add(graphs[100:200]).search(graphs[150], k=3, complete=True)
    assert matches[0].distance == 0 and matches.certificate.proven, matches
print(f"ugraphemb {ug.__version__}: {graphs}; {result.value:g} edits turn graph 200 into graph 300")
