"""NetworkX, PyTorch Geometric and igraph."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from ugraphemb.errors import GraphFormatError, GraphWarning, MissingExtraError
from ugraphemb.graphs import GraphSet, write_graphs


def test_nodes_keep_their_order_whatever_their_names() -> None:
    graph = nx.Graph()
    graph.add_node(("x", 1), label="A")
    graph.add_node("y", label="B")
    graph.add_node(None.__class__, label="C")
    graph.add_edge("y", ("x", 1), label="e")
    graphs = GraphSet.from_networkx([graph])
    assert graphs[0].node_labels == ["A", "B", "C"]
    assert graphs[0].edges.tolist() == [[0, 1]]
    assert graphs[0].edge_labels == ["e"]


def test_one_graph_need_not_stand_in_a_list() -> None:
    assert GraphSet.from_networkx(nx.path_graph(3)).num_nodes.tolist() == [3]


def test_labels_are_found_by_name_and_missing_ones_are_none() -> None:
    graph = nx.path_graph(3)
    graph.nodes[0]["element"] = np.int64(6)
    with pytest.warns(GraphWarning, match="ignored 1 value of the node attribute 'element'"):
        assert not GraphSet.from_networkx([graph]).node_vocabulary
    labels = GraphSet.from_networkx([graph], node_label="element")[0].node_labels
    assert labels == [6, None, None]
    assert type(labels[0]) is int
    with pytest.raises(GraphFormatError, match=r"node_label='atom': no node attribute .* there are 'element'"):
        GraphSet.from_networkx([graph], node_label="atom")
    with pytest.warns(GraphWarning, match="'element'"):
        assert not GraphSet.from_networkx([graph], node_label=None, edge_label=None).node_vocabulary


def test_attributes_that_are_not_used_are_counted_in_one_warning_at_the_line_of_the_caller() -> None:
    with pytest.warns(GraphWarning) as told:
        GraphSet.from_networkx([nx.karate_club_graph(), nx.karate_club_graph()])
    assert len(told) == 1
    assert "68 values of the node attribute 'club' and 156 values of the edge attribute 'weight'" in str(
        told[0].message
    )
    assert told[0].filename == __file__
    with pytest.raises(GraphFormatError, match="edge attribute 'weight'"):
        GraphSet.from_networkx(nx.karate_club_graph(), node_label="club", strict=True)


def test_directed_graphs_are_refused_unless_directions_are_dropped() -> None:
    cycle = nx.cycle_graph(4, create_using=nx.DiGraph)
    with pytest.raises(GraphFormatError, match="NetworkX graph 1 is directed: 4 edges have no counterpart"):
        GraphSet.from_networkx([nx.path_graph(3), cycle])
    assert GraphSet.from_networkx(cycle, directed="symmetrize").num_edges.tolist() == [4]
    assert GraphSet.from_networkx(nx.path_graph(3).to_directed()).num_edges.tolist() == [2]  # nothing is lost
    with pytest.raises(ValueError, match="directed='yes'"):
        GraphSet.from_networkx(cycle, directed="yes")


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_repeats_and_loops_are_counted_in_one_warning_or_refused(kind: Any) -> None:
    graph = kind([(0, 1), (0, 1), (1, 0), (2, 2), (1, 2)])
    with pytest.warns(GraphWarning) as told:
        graphs = GraphSet.from_networkx([graph, graph], directed="symmetrize")
    assert len(told) == 1
    message = str(told[0].message)
    assert "2 self loops" in message
    assert ("repeated edges" in message) == graph.is_multigraph()
    assert graphs.num_edges.tolist() == [2, 2]
    with pytest.raises(GraphFormatError):
        GraphSet.from_networkx([graph], strict=True, directed="symmetrize")


def test_targets_and_ids_come_from_the_graphs_unless_given() -> None:
    graphs = [nx.path_graph(2), nx.path_graph(3)]
    for i, graph in enumerate(graphs):
        graph.graph |= {"name": f"n{i}", "target": i}
    found = GraphSet.from_networkx(graphs)
    assert found.targets is not None
    assert (found.ids.tolist(), found.targets.tolist()) == (["n0", "n1"], [0, 1])
    graphs[0].graph["id"] = graphs[1].graph["id"] = "same"
    assert GraphSet.from_networkx(graphs).ids.tolist() == ["n0", "n1"]
    given = GraphSet.from_networkx(graphs, ids=["a", "b"], targets=["x", "y"], name="two")
    assert given.targets is not None
    assert (given.ids.tolist(), given.targets.tolist(), given.name) == (["a", "b"], ["x", "y"], "two")


def test_labels_that_cannot_be_hashed_and_attributes_that_some_nodes_lack_are_refused() -> None:
    graph = nx.path_graph(2)
    graph.nodes[0]["label"] = ["list"]
    with pytest.raises(GraphFormatError, match="hashable"):
        GraphSet.from_networkx([graph])
    graph = nx.path_graph(2)
    graph.nodes[0]["attributes"] = (1.0, 2.0)
    with pytest.raises(GraphFormatError, match="graph 0: node attributes of shape"):
        GraphSet.from_networkx([graph])


def test_ten_thousand_graphs_take_seconds() -> None:
    graphs = [nx.path_graph(10) for _ in range(10_000)]
    start = time.process_time()
    assert len(GraphSet.from_networkx(graphs)) == 10_000
    assert time.process_time() - start < 10  # about one on an idle core


def test_edge_index_holds_both_directions_and_codes_stand_for_labels() -> None:
    graphs = GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels="abb", edge_labels="xy", targets=[1])
    item = graphs.to_pyg()[0]
    assert item.is_undirected()
    assert item.num_nodes == 3
    assert [item.node_vocabulary[code] for code in item.node_label] == ["a", "b", "b"]
    pairs = zip(item.edge_index.T.tolist(), item.edge_label.tolist(), strict=True)
    found = {tuple(sorted(pair)): item.edge_vocabulary[code] for pair, code in pairs}
    assert found == {(0, 1): "x", (1, 2): "y"}
    assert item.y.tolist() == [1]


def test_one_hot_tensors_and_integers_become_labels() -> None:
    import torch
    from torch_geometric.data import Data

    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    x = torch.eye(4)[[2, 0, 3]]
    bonds = torch.eye(2)[[1, 1, 0, 0]]
    item = Data(x=x, edge_index=edge_index, edge_attr=bonds, y=torch.tensor([0.5]))
    assert GraphSet.from_pyg(item, labels_from="x", edge_labels_from="edge_attr") == GraphSet.from_pyg([item])
    graphs = GraphSet.from_pyg(item)
    assert graphs[0].node_labels == [2, 0, 3]
    assert graphs[0].edge_labels == [1, 0]
    assert graphs[0].target == 0.5
    assert graphs.node_attributes is None
    with pytest.warns(GraphWarning, match="ignored 4 values of the tensor 'edge_attr'"):
        plain = GraphSet.from_pyg([item], labels_from=None, edge_labels_from=None)
    assert np.array_equal(plain.node_attributes, x.numpy())
    assert not plain.node_vocabulary
    with pytest.raises(GraphFormatError, match="not one-hot"):
        GraphSet.from_pyg(Data(x=x + 1, edge_index=edge_index), labels_from="x")
    with pytest.raises(GraphFormatError, match="no tensor 'z'; there are"):
        GraphSet.from_pyg(item, labels_from="z")


def test_columns_of_integers_are_labels() -> None:
    import torch
    from torch_geometric.data import Data

    atoms = Data(x=torch.tensor([[6], [8]]), edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=torch.tensor([1, 1]))
    assert GraphSet.from_pyg(atoms)[0].node_labels == [6, 8]  # as in ZINC
    assert GraphSet.from_pyg(atoms)[0].edge_labels == [1]


def test_tensors_that_are_not_used_and_edges_stored_once_are_reported() -> None:
    import torch
    from torch_geometric.data import Data

    half = torch.tensor([[0, 1], [1, 2]])
    item = Data(edge_index=half, num_nodes=3, pos=torch.zeros(3, 2), edge_weight=torch.ones(2))
    with pytest.warns(GraphWarning) as told:
        assert GraphSet.from_pyg([item]).num_edges.tolist() == [2]
    message = str(told[0].message)
    assert "2 directions of edges, each stored once" in message
    assert "3 values of the tensor 'pos' and 2 values of the tensor 'edge_weight'" in message
    mixed = Data(edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]), num_nodes=3)
    with pytest.raises(GraphFormatError, match="PyTorch Geometric graph 0 is directed: 1 edge has"):
        GraphSet.from_pyg(mixed)
    assert GraphSet.from_pyg(mixed, directed="symmetrize").num_edges.tolist() == [2]


def test_a_tu_data_set_of_pyg_is_the_one_we_read(tmp_path: Path) -> None:
    from torch_geometric.datasets import TUDataset

    ours = GraphSet.from_edges(
        [3, 2, 2], [(0, 1), (1, 2), (3, 4), (5, 6)], node_labels=[0, 1, 2, 0, 2, 1, 2], edge_labels=[0, 1, 1, 0],
        targets=[0, 1, 1],
    )  # fmt: skip
    write_graphs(ours, tmp_path / "TINY" / "raw" / "TINY", format="tu")
    for file in (tmp_path / "TINY" / "raw" / "TINY").iterdir():
        file.rename(tmp_path / "TINY" / "raw" / file.name)
    data = TUDataset(str(tmp_path), "TINY")
    assert GraphSet.from_pyg(data) == ours


def test_isolated_nodes_without_tensors_and_targets_of_nodes_are_handled() -> None:
    import torch
    from torch_geometric.data import Data

    edge_index = torch.tensor([[0, 1], [1, 0]])
    with pytest.warns(UserWarning, match="infer 'num_nodes'"):  # PyTorch Geometric's own, and right
        assert GraphSet.from_pyg(Data(edge_index=edge_index)).num_nodes.tolist() == [2]
    assert GraphSet.from_pyg(Data(edge_index=edge_index, num_nodes=5)).num_nodes.tolist() == [5]
    with pytest.warns(GraphWarning, match="1 y of several values"):
        assert GraphSet.from_pyg(Data(edge_index=edge_index, num_nodes=2, y=torch.tensor([1, 2]))).targets is None


def test_igraph_directions_and_attributes_are_not_dropped_in_silence() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=3, edges=[(0, 1), (1, 2)], directed=True)
    graph.es["weight"] = [2.0, 3.0]
    with pytest.raises(GraphFormatError, match="igraph graph 0 is directed: 2 edges"):
        GraphSet.from_igraph([graph])
    with pytest.warns(GraphWarning, match="ignored 2 values of the edge attribute 'weight'"):
        assert GraphSet.from_igraph(graph, directed="symmetrize").num_edges.tolist() == [2]


def test_adjacency_matrices_have_edges_where_entries_are_not_zero() -> None:
    from scipy.sparse import csr_array

    ring = np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)
    assert GraphSet.from_matrices(ring).num_edges.tolist() == [4]
    assert GraphSet.from_matrices([ring, csr_array(ring)]).num_edges.tolist() == [4, 4]
    assert GraphSet.from_matrices(np.stack([ring, ring])).num_nodes.tolist() == [4, 4]
    with pytest.warns(GraphWarning, match="ignored 8 weights of edges"):
        GraphSet.from_matrices(2 * ring)
    assert GraphSet.from_matrices(2 * ring, edge_labels=True)[0].edge_labels == [2] * 4
    with pytest.warns(GraphWarning, match="4 directions of edges, from triangular matrices"):
        assert GraphSet.from_matrices(np.triu(ring)).num_edges.tolist() == [4]
    mixed = ring.copy()
    mixed[0, 1] = 0
    with pytest.raises(GraphFormatError, match="adjacency matrix 1 is directed: 1 edge has"):
        GraphSet.from_matrices([ring, mixed])
    with pytest.raises(GraphFormatError, match=r"shape \(2, 3\), expected \(n, n\)"):
        GraphSet.from_matrices(np.ones((2, 3)))
    with pytest.raises(GraphFormatError, match="1 entries are not finite"):
        GraphSet.from_matrices(np.array([[0, np.nan], [1, 0]]))


def test_a_missing_library_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = GraphSet.from_edges([1], [], node_labels=["C"])
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ugraphemb\[igraph\]'"):
        graphs.to_igraph()
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ugraphemb\[molecules\]'"):
        GraphSet.from_smiles(["C"])


def test_converters_do_not_load_torch_until_they_need_it() -> None:
    code = "import sys, ugraphemb.graphs.convert; sys.exit('torch' in sys.modules or 'rdkit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
