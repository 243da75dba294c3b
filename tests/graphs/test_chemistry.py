"""Molecules are drawn and written from the original where there is one, and repaired alike where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ugraphemb as ug
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.convert import to_smiles
from ugraphemb.graphs.convert.chemistry import original_of, rebuilt, repaired
from ugraphemb.graphs.convert.molecules import quiet
from ugraphemb.plots.molecules import molecule

pytest.importorskip("rdkit")

NITROBENZENE, THEOBROMINE = "[O-][N+](=O)c1ccccc1", "Cn1cnc2c1c(=O)[nH]c(=O)n2C"


def bare(*smiles: str) -> GraphSet:
    """The graphs alone."""
    return replace(GraphSet.from_smiles(smiles), metadata={})


def test_molecules_are_written_as_they_were_read() -> None:
    texts = ["OC(=O)C", "C1=CC=CC=C1", "C[C@H](N)C(=O)[O-]", "[NH4+].[Cl-]"]
    assert to_smiles(GraphSet.from_smiles(texts)) == texts
    assert to_smiles(GraphSet.from_smiles(texts)[[2, 0]]) == [texts[2], texts[0]]


def test_an_original_that_is_no_longer_the_graph_is_not_used() -> None:
    graphs = GraphSet.from_smiles(["CCO", "CCN"])
    wrong = replace(graphs, metadata={"smiles": graphs.metadata["smiles"][::-1]})
    assert to_smiles(wrong) == ["CCO", "CCN"]


def test_nitro_groups_and_purines_are_repaired() -> None:
    assert to_smiles(bare(NITROBENZENE)) == [NITROBENZENE]
    assert to_smiles(bare(THEOBROMINE)) == [THEOBROMINE]
    for graph in bare(NITROBENZENE, THEOBROMINE):
        drawn = molecule(graph)
        assert not any(bond.GetIsAromatic() for bond in drawn.GetBonds())
    nitro = molecule(bare(NITROBENZENE)[0])
    assert [atom.GetFormalCharge() for atom in nitro.GetAtoms()][:3] == [-1, 1, 0]


def test_what_is_written_without_an_original_reads_as_the_same_graphs() -> None:
    graphs = ug.load_dataset("molecules")[::25]
    written = to_smiles(replace(graphs, metadata={}))
    assert GraphSet.from_smiles(written, ids=graphs.ids.tolist()) == graphs


def test_bundled_molecules_have_a_kekule_structure_with_and_without_their_original() -> None:
    graphs = ug.load_dataset("molecules")[::5]
    with quiet():
        unread = [graph for graph in graphs if original_of(graph) is None]
        broken = [graph for graph in graphs if repaired(rebuilt(graph)) is None]
    # Eight of all 4,999, such as F[Si](F)(F)(F)(F)F, lack charges in their SMILES already.
    hopeless = {"1838", "2917", "3249", "3402", "4563", "4650", "4651", "4844"}
    assert {graph.id for graph in unread + broken} <= hopeless


def test_labels_with_charges_and_kekule_bonds_are_molecules_too() -> None:
    graphs = GraphSet.from_smiles([NITROBENZENE], charges=True, aromatic="kekule")
    assert [atom.GetFormalCharge() for atom in molecule(graphs[0]).GetAtoms()][:3] == [-1, 1, 0]
    alone = replace(graphs, metadata={})
    assert (
        GraphSet.from_smiles(to_smiles(alone), charges=True, aromatic="kekule")[0].node_labels == graphs[0].node_labels
    )
