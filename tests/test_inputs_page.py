"""Every input × every function: each cell is run, compared with the same graphs as a GraphSet, and shown on the page.

UGRAPHEMB_WRITE_PAGES=1 writes the table into docs/inputs.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.baselines.floors import LabelDegreeCounts
from ugraphemb.baselines.kernels import WLKernel
from ugraphemb.baselines.rankers import EditDistanceRanker
from ugraphemb.graphs import GraphSet, write_graphs
from ugraphemb.tasks import pair_protocol

pytest.importorskip("rdkit")
pytest.importorskip("igraph")

PAGE = Path(__file__).resolve().parents[1] / "docs" / "inputs.md"
SMILES = [
    *("CCO", "CCN", "c1ccccc1", "C1CCCCC1", "CC(=O)O", "CCCl", "OCCO", "C#N"),
    *("CCC", "CC=O", "C1CC1", "CNC", "CCBr", "C=CC", "c1ccncc1", "CS"),
]
GRAPHS = GraphSet.from_smiles(SMILES)
BARE = GraphSet.from_edges(  # what adjacency matrices hold
    GRAPHS.num_nodes, np.concatenate([graph.edges + GRAPHS.node_offsets[i] for i, graph in enumerate(GRAPHS)])
)


def _matrix(graph: ug.Graph) -> Any:
    matrix = np.zeros((graph.num_nodes, graph.num_nodes), np.int64)
    u, v = graph.edges.T
    matrix[u, v] = matrix[v, u] = 1
    return matrix


def _dataset(graphs: GraphSet) -> Any:
    from torch_geometric.data import InMemoryDataset

    class Own(InMemoryDataset):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._data, self.slices = self.collate(graphs.to_pyg())

    return Own()


def _loader(graphs: GraphSet) -> Any:
    from torch_geometric.loader import DataLoader

    return DataLoader(_dataset(graphs), batch_size=3, shuffle=True)


def _batch(graphs: GraphSet) -> Any:
    from torch_geometric.data import Batch

    return Batch.from_data_list(graphs.to_pyg())


def _molecules(graphs: GraphSet) -> Any:
    from rdkit import Chem

    return [Chem.MolFromSmiles(text) for text in graphs.metadata["smiles"]]


def _series(graphs: GraphSet) -> Any:
    return pytest.importorskip("pandas").Series(graphs.metadata["smiles"])


def _sparse(graphs: GraphSet) -> Any:
    from scipy.sparse import csr_matrix

    return [csr_matrix(_matrix(graph)) for graph in graphs]


def _path(graphs: GraphSet) -> Any:
    folder = Path(os.environ["PYTEST_INPUTS"])
    path = folder / f"{graphs.fingerprint}.jsonl"
    write_graphs(graphs, path)
    return path


# What makes each kind of input from some graphs; the last word says whether it is one graph or several.
INPUTS: dict[str, tuple[Callable[[GraphSet], Any], bool]] = {
    "`GraphSet`": (lambda graphs: graphs, False),
    "`Graph`": (lambda graphs: graphs[0], True),
    "list of `Graph`": (list, False),
    "`networkx.Graph`": (lambda graphs: graphs.to_networkx()[0], True),
    "list of `networkx.Graph`": (lambda graphs: graphs.to_networkx(), False),
    "PyG `Data`": (lambda graphs: graphs.to_pyg()[0], True),
    "list of PyG `Data`": (lambda graphs: graphs.to_pyg(), False),
    "PyG `Batch`": (_batch, False),
    "PyG `InMemoryDataset`": (_dataset, False),
    "PyG `DataLoader`": (_loader, False),
    "`igraph.Graph`": (lambda graphs: graphs.to_igraph()[0], True),
    "list of `igraph.Graph`": (lambda graphs: graphs.to_igraph(), False),
    "RDKit `Mol`": (lambda graphs: _molecules(graphs)[0], True),
    "list of RDKit `Mol`": (_molecules, False),
    "SMILES": (lambda graphs: str(graphs.metadata["smiles"][0]), True),
    "list of SMILES": (lambda graphs: graphs.metadata["smiles"].tolist(), False),
    "pandas `Series` of SMILES": (_series, False),
    "NumPy adjacency matrix": (lambda graphs: _matrix(graphs[0]), True),
    "list of adjacency matrices": (lambda graphs: [_matrix(graph) for graph in graphs], False),
    "SciPy sparse matrix": (lambda graphs: _sparse(graphs)[0], True),
    "list of SciPy sparse matrices": (_sparse, False),
    "path of a file": (_path, False),
}


def _model() -> ug.UGraphEmb:
    settings = {"layers": (4,), "scales": (0, 1), "hidden": 4}
    return ug.UGraphEmb(dimension=4, steps=4, batch=8, settings=settings, threads=1, progress=False)


@cache
def _fitted(bare: bool) -> ug.UGraphEmb:
    return _model().fit(BARE if bare else GRAPHS)


def _index(graphs: Any, bare: bool) -> ug.GraphIndex:
    return ug.GraphIndex(_fitted(bare), threads=1).add(graphs)


def _search(graphs: Any, bare: bool) -> Any:
    found = _index(BARE if bare else GRAPHS, bare).search(graphs, k=3)
    answers = [found] if found and isinstance(found[0], ug.Match) else found
    return np.array([[match.predicted for match in matches] for matches in answers])


def _finetuned(graphs: Any, bare: bool) -> Any:
    model = _model().fit(BARE if bare else GRAPHS)
    return model.finetune(graphs, [0, 1] * 8, steps=2).transform(BARE if bare else GRAPHS)


@cache
def _classifier(bare: bool) -> ug.UGraphEmb:
    return _model().fit(BARE if bare else GRAPHS).finetune(BARE if bare else GRAPHS, [0, 1] * 8, steps=2)


def _task(graphs: Any, bare: bool) -> Any:
    """The task that takes graphs; the others take vectors or distances."""
    scores = pair_protocol(graphs, model=_fitted(bare), ks=(1,), threads=1)
    return np.array([score.mae for score in scores.values()])


def _figure(graphs: Any, bare: bool) -> Any:
    pytest.importorskip("matplotlib")
    from ugraphemb.plots.drawing import graph_figure

    return np.array(len(graph_figure(graphs).axes))


def _map_page(graphs: Any, bare: bool) -> Any:
    from ugraphemb.plots.interactive import write_map_page

    path = Path(os.environ["PYTEST_INPUTS"]) / "map.html"
    write_map_page(np.arange(32).reshape(16, 2), graphs, path, title="map")
    found = re.search(r'"edges":"([^"]*)"', path.read_text(encoding="utf-8"))  # ids of molecules show their SMILES, too
    assert found is not None
    return np.array(found[1])


# Gives numbers from graphs, and whether it takes one graph, several, or either.
FUNCTIONS: dict[str, tuple[Callable[[Any, bool], Any], str]] = {
    "`distance`": (lambda graphs, bare: ug.distance(graphs, BARE[7] if bare else GRAPHS[7]).value, "one"),
    "`pairwise`": (lambda graphs, bare: ug.pairwise(graphs, threads=1).value, "any"),
    "`fit`": (lambda graphs, bare: _model().fit(graphs).transform(BARE if bare else GRAPHS), "several"),
    "`transform`": (lambda graphs, bare: _fitted(bare).transform(graphs), "any"),
    "`score`": (lambda graphs, bare: _fitted(bare).score(graphs), "several"),
    "`finetune`": (_finetuned, "several"),
    "`GraphIndex.add`": (lambda graphs, bare: _index(graphs, bare).to_table()["vector"].to_pylist(), "any"),
    "`search`": (_search, "any"),
    "`predict`": (lambda graphs, bare: _classifier(bare).predict_proba(graphs), "any"),
    "tasks": (_task, "several"),
    "baselines": (
        lambda graphs, bare: np.concatenate(
            [
                WLKernel().fit(BARE if bare else GRAPHS).kernel(graphs),
                LabelDegreeCounts().fit(BARE if bare else GRAPHS).transform(graphs),
                EditDistanceRanker(threads=1).fit(graphs).distances(graphs),
            ],
            axis=1,
        ),
        "any",
    ),
    "figures": (_figure, "one"),
    "map page": (_map_page, "several"),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_INPUTS", str(tmp_path))


_EXPECTED: dict[Any, Any] = {}


def _cell(make: Callable[[GraphSet], Any], one: bool, function: Callable[[Any, bool], Any], takes: str) -> bool:
    """Whether the function takes the input; it then gives what it gives for a GraphSet of the same graphs."""
    if one and takes == "several":
        return False
    few = one or takes == "one"
    bare = "matri" in next(name for name, entry in INPUTS.items() if entry[0] is make)
    chosen = (BARE if bare else GRAPHS)[:1] if few else BARE if bare else GRAPHS
    key = (function, few, bare)
    if key not in _EXPECTED:
        _EXPECTED[key] = function(chosen, bare)
    expected = _EXPECTED[key]
    found = function(make(chosen), bare)
    assert np.array_equal(np.asarray(found), np.asarray(expected))
    return True


@pytest.mark.filterwarnings("ignore:.*deprecated.*")
def test_every_function_takes_every_input_as_the_page_says() -> None:
    lines = ["| | " + " | ".join(FUNCTIONS) + " |", "|---|" + ":-:|" * len(FUNCTIONS)]
    for name, (make, one) in INPUTS.items():
        cells = ["✓" if _cell(make, one, *function) else "–" for function in FUNCTIONS.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    begin, end = "<!-- table: tests/test_inputs_page.py -->\n", "<!-- end of table -->"
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    table, after = rest.split(end)
    written = "\n" + "\n".join(lines) + "\n\n"
    if os.environ.get("UGRAPHEMB_WRITE_PAGES"):
        PAGE.write_text(before + begin + written + end + after, encoding="utf-8")
    else:
        assert table == written
