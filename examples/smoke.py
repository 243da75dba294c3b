"""Tries an installed ugraphemb that came without extras."""

import sys

import ugraphemb as ug

graphs = ug.load_dataset("atlas")
assert len(graphs) == 1253, graphs
assert "torch" not in sys.modules, "importing ugraphemb and reading graphs must not import torch"
result = ug.distance(graphs[200], graphs[300], method="exact")
assert result.proven and result.lower == result.value == len(result.edit_path()), result
try:
    ug.GraphSet.from_smiles(["CCO"])
except ug.errors.MissingExtraError as error:
    assert "pip install 'ugraphemb[molecules]'" in str(error), error
else:
    raise AssertionError("RDKit is not there, and nobody said so")
print(f"ugraphemb {ug.__version__}: {graphs}; {result.value:g} edits turn graph 200 into graph 300")
