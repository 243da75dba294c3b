"""Files of every release that has had versions are kept, and every later release reads them."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from formats.write_v1 import collection, graph_edges

import ugraphemb as ug
from ugraphemb.errors import ModelFormatError
from ugraphemb.files import unsealed

HERE = Path(__file__).resolve().parent
V1, V0_1 = HERE / "v1", HERE / "release-0.1"


def test_graphs():
    graphs = ug.read_graphs(V1 / "graphs.jsonl")
    assert graphs == collection()
    assert list(map(type, graphs.node_vocabulary)) == list(map(type, collection().node_vocabulary))
    for back in (ug.read_graphs(V1 / "TU")[:3], ug.read_graphs(V1 / "list.cxl")):
        assert back.ids.tolist() == ["g0", "g1", "g2"]
        np.testing.assert_array_equal(graph_edges(back), graph_edges(graphs[:3]))


def test_pair_tables_and_stores():
    graphs = ug.read_graphs(V1 / "graphs.jsonl")
    table = ug.PairTable.read(V1 / "table.parquet", graphs)
    stored = ug.PairTable.read(V1 / "store", graphs)
    assert len(table) == 190
    assert table.method == "tight"
    order = np.lexsort((stored.right, stored.left))
    for name in ("left", "right", "lower", "upper", "proven"):
        np.testing.assert_array_equal(getattr(stored, name)[order], getattr(table, name))
    exact = ug.pairwise(graphs, method="exact", costs=ug.EditCosts(**table.costs), threads=1)
    assert (table.lower <= exact.value).all()
    assert (exact.value <= table.upper).all()


def test_models_give_the_vectors_they_gave():
    graphs = ug.read_graphs(V1 / "graphs.jsonl")
    model = ug.UGraphEmb.load(V1 / "model")
    np.testing.assert_allclose(model.transform(graphs), np.load(V1 / "vectors.npy"), rtol=1e-4, atol=1e-5)
    assert model.about_["graphs"]["count"] == 20


@pytest.mark.parametrize("folder", [V1, V0_1])
def test_indexes_answer_and_can_be_saved_again(folder: Path, tmp_path: Path):
    graphs = ug.read_graphs(folder / "graphs.jsonl")
    shutil.copytree(folder / "index", tmp_path / "index")
    index = ug.GraphIndex.load(tmp_path / "index", threads=1, check=True)
    assert index.ids == [f"g{i}" for i in range(15) if i != 3]
    assert index.graphs(["g7"])[0].num_edges == graphs[7].num_edges
    (match,) = index.search(graphs[7], 1, complete=True)
    assert (match.distance, match.proven) == (0, True)
    assert match.metadata["year"] in range(15)
    index.add(graphs[16:18]).save()
    assert ug.GraphIndex.load(tmp_path / "index", threads=1).ids == index.ids


def test_exports_hold_the_vectors():
    table = pq.read_table(V1 / "export.parquet")
    assert table.column_names[:2] == ["id", "vector"]
    expected = np.load(V1 / "vectors.npy")[[i for i in range(15) if i != 3]]
    np.testing.assert_allclose(np.stack(table["vector"].to_pylist()), expected, rtol=1e-4, atol=1e-5)


def test_a_checkpoint_is_whole_and_known_by_its_version(tmp_path: Path):
    """It belongs to one run of one release; another release may refuse it, with an error that says so."""
    version, payload = unsealed((V1 / "checkpoint").read_bytes(), "ugraphemb-checkpoint", [2], "", ModelFormatError)
    assert version == 2
    content = torch.load(io.BytesIO(payload), weights_only=True)
    assert {"identity", "network", "optimizer", "state", "generator"} <= set(content)


def test_files_of_release_0_1():
    graphs = ug.read_graphs(V0_1 / "graphs.jsonl")
    table = ug.PairTable.read(V0_1 / "table.parquet", graphs)
    assert len(table) == len(ug.PairTable.read(V0_1 / "store", graphs)) == 190
    model = ug.UGraphEmb.load(V0_1 / "model")
    np.testing.assert_allclose(model.transform(graphs), np.load(V0_1 / "vectors.npy"), rtol=1e-4, atol=1e-5)
