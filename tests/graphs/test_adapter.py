"""One adapter: one graph or several, of any kind; what is missing is named by its row."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet, graph_of, graphs_of, write_graphs

pytest.importorskip("rdkit")


def test_one_string_is_one_molecule() -> None:
    assert GraphSet.from_smiles("CCO").num_nodes.tolist() == [3]
    assert graphs_of("CCO") == GraphSet.from_smiles(["CCO"])


@pytest.mark.parametrize("missing", [None, float("nan"), "", "  ", np.nan])
def test_a_missing_molecule_is_named_by_its_row_or_skipped_with_the_rows_kept(missing: object) -> None:
    with pytest.raises(GraphFormatError, match=r"SMILES 1: .*on_error='skip'"):
        GraphSet.from_smiles(["CCO", missing, "CC"])  # type: ignore[list-item]
    with pytest.warns(GraphWarning, match=r"ignored 1 molecule that cannot be read \(SMILES 1\)"):
        graphs = graphs_of(["CCO", missing, "CC"], on_error="skip")
    assert graphs.ids.tolist() == ["0", "2"]
    assert [graph.metadata["smiles"] for graph in graphs] == ["CCO", "CC"]


def test_what_is_not_smiles_is_skipped_with_its_target() -> None:
    with pytest.warns(GraphWarning, match="SMILES 0, SMILES 3"):
        graphs = GraphSet.from_smiles(["C(", "CC", "C", "xyz"], targets=[5, 6, 7, 8], on_error="skip")
    assert graphs.targets is not None
    assert (graphs.ids.tolist(), graphs.targets.tolist()) == (["1", "2"], [6, 7])


def test_a_molecule_that_rdkit_gave_up_on_is_named_by_its_row() -> None:
    from rdkit import Chem

    molecules = [Chem.MolFromSmiles("CCO"), None, Chem.MolFromSmiles("CC")]
    with pytest.raises(GraphFormatError, match="RDKit molecule 1"):
        GraphSet.from_rdkit(molecules)
    with pytest.raises(GraphFormatError, match="graph 1 is missing"):
        graphs_of(molecules)
    with pytest.warns(GraphWarning, match="1 missing"):
        assert graphs_of(molecules, on_error="skip").ids.tolist() == ["0", "2"]


def test_rdkit_molecules_are_the_graphs_of_their_smiles() -> None:
    from rdkit import Chem

    smiles = ["c1ccccc1O", "C1=CC=CC=C1", "[H]OC", "C[N+](=O)[O-]"]
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    Chem.Kekulize(molecules[0], clearAromaticFlags=True)
    assert GraphSet.from_rdkit(molecules) == GraphSet.from_smiles(smiles)


def test_charges_and_kekule_structures_are_labels_on_request() -> None:
    nitro = GraphSet.from_smiles("C[N+](=O)[O-]", charges=True)[0]
    assert nitro.node_labels == ["C", "N+", "O", "O-"]
    assert GraphSet.from_smiles("[Fe+2]", charges=True)[0].node_labels == ["Fe+2"]
    benzene = GraphSet.from_smiles("c1ccccc1", aromatic="kekule")[0]
    assert sorted(benzene.edge_labels or ()) == ["double"] * 3 + ["single"] * 3
    with pytest.raises(ValueError, match="aromatic='yes'"):
        GraphSet.from_smiles("C", aromatic="yes")


def test_graphs_of_several_kinds_keep_their_order_and_rows() -> None:
    with pytest.warns(GraphWarning, match="1 missing"):
        graphs = graphs_of([nx.path_graph(2), None, "CCO", np.ones((4, 4)) - np.eye(4)], on_error="skip")
    assert graphs.num_nodes.tolist() == [2, 3, 4]
    assert graphs.ids.tolist() == ["0", "2", "3"]


def test_a_table_of_molecules_is_refused_with_the_names_of_its_columns() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"df\['smiles'\] \('name', 'structure'\)"):
        graphs_of(pandas.DataFrame({"name": ["ethanol"], "structure": ["CCO"]}))


@pytest.mark.parametrize(("thing", "named"), [(3, "an int"), ({3}, "graph 0 is an int"), (3.5, "a float")])
def test_what_is_no_graph_is_named_with_its_article(thing: object, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        graphs_of(thing)


def test_a_string_is_a_path_where_something_is_there(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    write_graphs(GraphSet.from_smiles(["CCO", "CC"]), path)
    assert len(graphs_of(path)) == len(graphs_of(str(path))) == 2
    with pytest.raises(GraphFormatError, match="no such file"):
        graphs_of(str(tmp_path / "three.jsonl"))
    with pytest.raises(GraphFormatError, match="'MUTAG' is neither a file that exists nor SMILES"):
        graphs_of("MUTAG")


def test_other_things_are_refused_by_position() -> None:
    for thing in (3, b"CCO", None, object()):
        with pytest.raises(TypeError, match="where graphs are needed: a GraphSet or Graph"):
            graphs_of(thing)
    with pytest.raises(TypeError, match="graph 1 is an int; expected"):
        graphs_of([nx.path_graph(2), 3])
    with pytest.raises(TypeError, match="takes no option 'strict'"):
        graphs_of(GraphSet.from_smiles("C"), strict=True)


def test_one_graph_is_asked_for() -> None:
    assert graph_of(["CCO"]).num_nodes == 3
    with pytest.raises(ValueError, match="a collection of 2 graphs where one graph is needed"):
        graph_of(["CCO", "CC"])


def test_metadata_go_where_their_graphs_go() -> None:
    graphs = GraphSet.from_edges([1, 2, 3], [], metadata={"year": [1999, 2005, None]})
    assert graphs[[2, 0]].metadata["year"].tolist() == [None, 1999]
    assert (graphs[:1] + GraphSet.from_smiles("C")).metadata["smiles"].tolist() == [None, "C"]
    with pytest.raises(ValueError, match=r"metadata column 'year' of shape \(2,\) for 3 graphs"):
        GraphSet.from_edges([1, 2, 3], [], metadata={"year": [1, 2]})
    with pytest.raises(ValueError, match="read-only"):
        graphs.metadata["year"][0] = 3
