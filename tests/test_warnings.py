"""Warnings: none of torch's leak, and ours point at the caller's line."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import ugraphemb as ug
from ugraphemb.errors import GraphWarning

USE = """
import numpy as np
import ugraphemb as ug
graphs = ug.load_dataset("atlas")[30:46]
small = dict(steps=2, batch=8, dimension=4, layers=(4, 4), threads=1, progress=False, settings={"scales": None})
model = ug.UGraphEmb(**small).fit(graphs)
model.finetune(graphs, graphs.num_edges > 5, steps=2)
model.save("model")
ug.UGraphEmb.load("model").transform(graphs)
ug.GraphIndex(model).add(graphs).search(graphs[3], k=2, verify=True)
"""
OTHERS = """
ug.UGraphEmb(convolution="gat", **{**small, "settings": {"scales": None, "residual": False}}).fit(graphs)
ug.GraphSet.from_pyg(graphs.to_pyg())
"""


def test_no_deprecation_of_torch_leaks(tmp_path: Path) -> None:
    strict = ["-W", "error::DeprecationWarning", "-W", "error::FutureWarning", "-W", "error::PendingDeprecationWarning"]
    done = subprocess.run([sys.executable, *strict, "-c", USE + OTHERS], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_our_warnings_point_at_the_line_of_the_caller() -> None:
    graphs = ug.load_dataset("atlas")[30:46]
    settings = {"scales": None, "walks": 0}
    model = ug.UGraphEmb(steps=2, batch=8, dimension=4, layers=(4, 4), threads=1, progress=False, settings=settings)
    model.fit(graphs)
    strange = ug.GraphSet.from_edges([2], [(0, 1)], node_labels=["X", "Y"])
    index = ug.GraphIndex(model)
    calls = [lambda: model.transform(strange), lambda: index.add(strange), lambda: index.search(strange[0], k=1)]
    for call in calls:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        ours = [warning for warning in caught if warning.category is GraphWarning]
        assert [Path(warning.filename).name for warning in ours] == ["test_warnings.py"]
