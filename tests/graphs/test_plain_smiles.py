"""Both ways to read SMILES, many atoms at once and atom by atom, give the same graphs."""

from __future__ import annotations

import pytest

import ugraphemb as ug
from ugraphemb import GraphSet
from ugraphemb.graphs.convert import molecules
from ugraphemb.graphs.convert.plain_smiles import PlainReader

pytest.importorskip("rdkit")

PLAIN = [
    "C", "CCO", "c1ccccc1", "C1=CC=CC=C1", "C1=CC=CC=CC=C1", "[nH]1cccc1", "O=c1cc[nH]cc1", "CN(=O)=O", "C[N+](=O)[O-]",
    "F/C=C/F", "N[C@@H](C)C(=O)O", "C[C@H](Cl)Br", "[13CH4]", "[O-]S(=O)(=O)c1ccccc1", "C%12CCCCC%12", "CC.OC",
    "[Cl-].C[NH3+]",
    "BrC1=CC=C(I)C=C1", "c1ccc2c(c1)[se]c1ccccc12", "C[Si](C)(C)C", "[CH3]", "[C]", "[CH2]C=C", "OB(O)c1ccccc1",
    "CP(=O)(O)O", "O=[P+]([O-])C", "c1cc[o+]cc1", "C1CC1C#N", "C=[N+]=[N-]", "CS(C)=O", "n1cnc2[nH]cnc2c1", "[BH4-]",
    "C[S@@](=O)CC", "[N-]=[N+]=NC", "c1ccc(-c2ccccc2)cc1", "ClC(Cl)(Cl)Cl", "C1=CC2=CC=CC=C2C=C1", "FS(F)(F)(F)(F)F",
]  # fmt: skip
OTHERS = [
    "[H]C", "[2H]C([2H])([2H])O", "[Na+].[Cl-]", "*CC", "[Fe]", "C->[Fe]", "[H][H]", "[CH3:1]O", "C~C", "c1ccccc1:c",
    "CN(C)(C)(C)C",
    "[Co]C", "[#6]C", "C[Mg]Br", "C$C", "N(=O)(=O)(=O)C", "F[Xe]F", "[AlH3]",
]  # fmt: skip


def atom_by_atom(monkeypatch, smiles: list[str]) -> GraphSet:
    with monkeypatch.context() as patched:
        patched.setattr(molecules.PlainReader, "read", lambda self, text: None)
        return GraphSet.from_smiles(smiles)


def test_both_ways_give_the_same_graphs(monkeypatch):
    bundled = [str(text) for text in ug.load_dataset("molecules", limit=1500).metadata["smiles"]]
    smiles = [*PLAIN, *OTHERS, *bundled, *PLAIN]
    assert GraphSet.from_smiles(smiles) == atom_by_atom(monkeypatch, smiles)


def test_the_quick_way_is_taken_where_it_can_be():
    reader = PlainReader()
    with molecules.quiet():
        assert [text for text in PLAIN if reader.read(text) is None] == []
        assert [text for text in OTHERS if reader.read(text) is not None] == []
        for broken in ("", "C1CC", "C(", "[", "c1cccc1", "[C", "C]", "CC)", "Q", "[Cq]"):
            assert reader.read(broken) is None


def test_options_that_need_atoms_are_respected():
    assert GraphSet.from_smiles("C[N+](=O)[O-]", charges=True)[0].node_labels == ["C", "N+", "O", "O-"]
    assert GraphSet.from_smiles("C", hydrogens=True)[0].num_nodes == 5
    assert set(GraphSet.from_smiles("c1ccccc1", aromatic="kekule")[0].edge_labels) == {"single", "double"}
