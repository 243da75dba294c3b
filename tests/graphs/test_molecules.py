"""Molecules, with RDKit as the oracle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.convert import from_smiles, to_smiles
from ugraphemb.graphs.formats.molecules import molecules_path, read_molecules, read_smi, write_molecules

Chem = pytest.importorskip("rdkit.Chem")


@pytest.fixture(scope="module")
def nci() -> GraphSet:
    return read_smi(molecules_path())


def test_every_molecule_that_comes_with_rdkit_is_read(nci: GraphSet) -> None:
    lines = molecules_path().read_text().splitlines()
    assert len(nci) == len(lines)
    assert nci.ids.tolist() == [line.split("\t")[1] for line in lines]


def test_atoms_and_bonds_are_those_of_rdkit(nci: GraphSet) -> None:
    lines = molecules_path().read_text().splitlines()
    for position in range(0, len(lines), 50):
        molecule = Chem.MolFromSmiles(lines[position].split("\t")[0])
        graph = nci[position]
        assert graph.node_labels == [atom.GetSymbol() for atom in molecule.GetAtoms()]
        found = dict(zip(map(tuple, graph.edges.tolist()), graph.edge_labels or [], strict=True))
        assert found == {
            tuple(sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx()))): str(b.GetBondType()).lower()
            for b in molecule.GetBonds()
        }


def test_smiles_that_are_written_give_the_same_graphs(nci: GraphSet) -> None:
    part = nci[::10]
    assert from_smiles(to_smiles(part), ids=part.ids) == part


def test_hydrogens_are_nodes_on_request_and_survive(nci: GraphSet) -> None:
    smiles = [line.split("\t")[0] for line in molecules_path().read_text().splitlines()[:300:10]]
    full = from_smiles(smiles, hydrogens=True)
    for graph, text in zip(full, smiles, strict=True):
        assert graph.num_nodes == Chem.AddHs(Chem.MolFromSmiles(text)).GetNumAtoms()
    assert from_smiles(to_smiles(full), hydrogens=True) == full


def test_any_order_of_nodes_is_kept_even_one_that_no_walk_gives() -> None:
    ring = [(0, 3), (3, 1), (1, 4), (4, 2), (2, 5), (0, 5)]
    graphs = GraphSet.from_edges(
        [6, 3], [*ring, (6, 8)], node_labels=["C"] * 9, edge_labels=["aromatic"] * 6 + ["single"]
    )
    assert from_smiles(to_smiles(graphs)) == graphs


def test_more_than_a_hundred_open_rings_can_be_written() -> None:
    left = np.arange(120)
    graphs = GraphSet.from_edges(
        [240], np.stack([left, left + 120], axis=1), node_labels=["C"] * 240, edge_labels=["single"] * 120
    )
    assert from_smiles(to_smiles(graphs)) == graphs


@pytest.mark.parametrize("suffix", [".smi", ".csv", ".tsv", ".sdf"])
def test_all_formats_of_molecules_hold_the_same(nci: GraphSet, tmp_path: Path, suffix: str) -> None:
    part = nci[:200:7]
    write_molecules(part, tmp_path / f"set{suffix}")
    assert read_molecules(tmp_path / f"set{suffix}") == part


@pytest.mark.parametrize(("targets", "kind"), [([1, 2], "i"), ([0.5, 2.0], "f"), (["a", "2"], "U")])
@pytest.mark.parametrize("suffix", [".csv", ".sdf"])
def test_tables_hold_targets(tmp_path: Path, suffix: str, targets: list[object], kind: str) -> None:
    graphs = from_smiles(["CCO", "CN"], targets=targets)
    write_molecules(graphs, tmp_path / f"set{suffix}")
    read = read_molecules(tmp_path / f"set{suffix}")
    assert read == graphs
    assert read.targets is not None
    assert read.targets.dtype.kind == kind


def test_columns_of_a_table_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "set.csv"
    path.write_text('Key,SMILES,Activity\n"a, b",CCO,1.5\nc,"C#N",\n')
    graphs = read_molecules(path, id_column="Key", target_column="activity")
    assert graphs.ids.tolist() == ["a, b", "c"]
    assert graphs.targets is not None
    assert np.array_equal(graphs.targets, [1.5, np.nan], equal_nan=True)
    with pytest.raises(GraphFormatError, match="no column 'structure'; there are 'Key', 'SMILES', 'Activity'"):
        read_molecules(path, column="structure")


def test_names_that_come_again_are_made_different_and_told_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "set.smi"
    path.write_text("SMILES name\nC a\nCC a\nCCC a#2\nCCCC a\nO\n")
    with pytest.warns(GraphWarning, match="2 repeats of an id"):
        ids = read_smi(path).ids.tolist()
    assert ids[0] == "a"
    assert ids[2] == "a#2"
    assert len(set(ids)) == 5
    with pytest.raises(GraphFormatError, match="2 repeats of an id"):
        read_smi(path, strict=True)


@pytest.mark.parametrize("wrong", ["c1ccccc", "C(", "xyz", "[C", "C\0C", "[999999999999C]"])
def test_what_is_not_smiles_is_refused_with_its_line_or_skipped_and_counted(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "set.smi"
    path.write_text(f"CCO first\n{wrong} second\nCN third\n")
    with pytest.raises(GraphFormatError, match=r"set.smi:2: .*is not valid SMILES"):
        read_smi(path)
    with pytest.warns(GraphWarning, match="1 molecule that cannot be read") as told:
        assert read_smi(path, on_error="skip").ids.tolist() == ["first", "third"]
    assert len(told) == 1
    with pytest.raises(ValueError, match="on_error='ignore', expected 'raise' or 'skip'"):
        read_smi(path, on_error="ignore")  # type: ignore[arg-type]


def test_rdkit_says_nothing_about_bad_molecules(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GraphFormatError):
        from_smiles(["c1ccccc"])
    from_smiles(["CN(C)(C)(C)C"])
    assert capfd.readouterr() == ("", "")


def test_skipped_molecules_take_their_targets_along() -> None:
    with pytest.warns(GraphWarning):
        graphs = from_smiles(["C", "(", "CC"], targets=[1, 2, 3], ids="abc", on_error="skip")
    assert graphs.targets is not None
    assert (graphs.targets.tolist(), graphs.ids.tolist()) == ([1, 3], ["a", "c"])


def test_a_broken_record_of_an_sdf_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "set.sdf"
    write_molecules(from_smiles(["CCO", "CN"]), path)
    records = path.read_text().split("$$$$\n")
    path.write_text("$$$$\n".join([records[0], records[1].replace(" C ", " C9", 1)[:60], ""]))
    line = records[0].count("\n") + 2
    with pytest.raises(GraphFormatError, match=f"set.sdf:{line}: a molecule that RDKit cannot read"):
        read_molecules(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\nC\n", "1 fields, expected 2"), ('smiles\n"C', "expected a table"), ("", "no column 'smiles'")],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "set.csv").write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        read_molecules(tmp_path / "set.csv")


@pytest.mark.parametrize(
    ("nodes", "bonds", "message"),
    [
        (["C", 1], ["single"], "node label 1, expected an element"),
        (["C", "Carbon"], ["single"], "expected an element"),
        (["C", "C"], ["strong"], "edge label 'strong', expected one of single, double"),
        (["C", "C"], None, "edges without labels"),
    ],
)
def test_graphs_that_are_no_molecules_are_refused(nodes: list[object], bonds: list[str] | None, message: str) -> None:
    with pytest.raises(GraphFormatError, match=message):
        to_smiles(GraphSet.from_edges([2], [(0, 1)], node_labels=nodes, edge_labels=bonds))
