"""A toy data set, and a config of a ranking and a classification on it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ugraphemb import GraphSet, write_graphs

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # experiments/ is not installed

CONFIG = """
[sets.TOY]
splits = 2
truths = ["tight"]
[steps]
default = 40
paper = 5
[methods]
finetuning = 5
columns = 20
[methods.grids]
wl = [{ iterations = 1 }, { iterations = 2 }]
[datasets]
sets = ["TOY"]
[ranking]
sets = ["TOY"]
methods = ["wl", "hed", "ugraphemb"]
[classification]
sets = ["TOY"]
methods = ["wl", "majority", "ugraphemb"]
[quick.sets.TOY]
splits = 1
[quick.steps]
default = 20
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A folder with data/TOY: thirty labeled trees of two classes, paths and stars more or less; and config.toml."""
    random = np.random.default_rng(0)
    sizes = random.integers(4, 9, 30)
    starts = np.cumsum(sizes) - sizes
    edges = [
        (start + (node - 1 if graph % 2 else random.integers(min(2, node))), start + node)
        for graph, (start, size) in enumerate(zip(starts, sizes, strict=True))
        for node in range(1, size)
    ]
    labels = random.integers(0, 3, sizes.sum()).tolist()
    graphs = GraphSet.from_edges(sizes, edges, node_labels=labels, targets=[graph % 2 for graph in range(30)])
    (tmp_path / "data").mkdir()
    write_graphs(graphs, tmp_path / "data" / "TOY")
    (tmp_path / "config.toml").write_text(CONFIG)
    return tmp_path
