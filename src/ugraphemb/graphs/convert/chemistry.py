"""A graph as an RDKit molecule: the one it was read from, or one with the charges and hydrogens that graphs lack."""

from __future__ import annotations

import re
from itertools import chain, combinations, islice
from typing import Any

from ugraphemb.graphs.graphset import Graph

BONDS = {
    **dict.fromkeys(("single", "-", "1", "1.0"), "SINGLE"),
    **dict.fromkeys(("double", "=", "2", "2.0"), "DOUBLE"),
    **dict.fromkeys(("triple", "#", "3", "3.0"), "TRIPLE"),
    **dict.fromkeys(("quadruple", "$"), "QUADRUPLE"),
    **dict.fromkeys(("aromatic", ":", "4", "1.5"), "AROMATIC"),
    "dative": "DATIVE",
}
"""What an edge label may be, in lower case, and RDKit's name of the bond."""

_ATOM = re.compile(r"(\*|[A-Z][a-z]?)(?:([+-])(\d*))?")
_MOST_GUESSES = 300
_VALENCES = {"B": 3, "N": 3, "O": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1}


def element_of(label: Any) -> tuple[str, int] | None:
    """Element and charge of a node label such as "C", "N+" or "Fe+2"; None for anything else."""
    found = _ATOM.fullmatch(label) if isinstance(label, str) else None
    if found is None:
        return None
    charge = 0 if found[2] is None else int(found[2] + (found[3] or "1"))
    return found[1], charge


def original_of(graph: Graph) -> Any:
    """The molecule that the graph was read from, its atoms in the order of the nodes; None where it is not known."""
    text = graph.metadata.get("smiles")
    if not isinstance(text, str) or not text:
        return None
    from rdkit import Chem

    parameters: Any = Chem.SmilesParserParams()
    parameters.removeHs = "H" not in graph.node_labels
    parameters.allowCXSMILES = False
    molecule = Chem.MolFromSmiles(text, parameters)
    if molecule is None:
        return None
    if not parameters.removeHs:
        molecule = Chem.AddHs(molecule)
    return molecule if _fits(molecule, graph) else None


def rebuilt(graph: Graph) -> Any:
    """A molecule of the atoms and bonds of the graph, charged where labels say so, not sanitized."""
    from rdkit import Chem

    editable = Chem.RWMol()
    for label in graph.node_labels:
        symbol, charge = element_of(label) or ("*", 0)
        atom = Chem.Atom(0 if symbol == "*" else symbol)
        atom.SetFormalCharge(charge)
        editable.AddAtom(atom)
    for (u, v), label in zip(graph.edges.tolist(), graph.edge_labels or (), strict=True):
        name = BONDS[str(label).lower()]
        editable.AddBond(u, v, getattr(Chem.BondType, name))
        if name == "AROMATIC":
            for part in (editable.GetAtomWithIdx(u), editable.GetAtomWithIdx(v), editable.GetBondBetweenAtoms(u, v)):
                part.SetIsAromatic(True)
    if "H" in graph.node_labels:  # then all hydrogens are nodes
        for atom in editable.GetAtoms():
            atom.SetNoImplicit(True)
    return editable.GetMol()


def repaired(molecule: Any) -> Any:
    """The molecule with charges and hydrogens with which RDKit accepts it, not sanitized; None where none are found.

    Graphs hold neither. As few as possible are added: a charge where an atom has a bond too many, with its counterpart
    on a neighboring oxygen as in nitro groups, and hydrogens or charges in aromatic rings without a Kekulé structure.
    """
    from rdkit import Chem

    trial = Chem.Mol(molecule)
    for _ in range(molecule.GetNumAtoms() + 1):
        problems = Chem.DetectChemistryProblems(trial)
        if not problems:
            changed = _no_longer_aromatic(trial)
            better = _with_hydrogens(trial, changed) if changed else None
            if better is None or _no_longer_aromatic(better) == changed:
                return trial
            trial = better
            continue
        found = {problem.GetType(): problem for problem in reversed(problems)}
        if "AtomValenceException" in found:
            if not _charged(trial, found["AtomValenceException"].GetAtomIdx()):
                return None
        elif "KekulizeException" in found:
            trial = _with_hydrogens(trial, list(found["KekulizeException"].GetAtomIndices()))
            if trial is None:
                return None
        else:
            return None
    return None


def charged(molecule: Any) -> Any:
    """The molecule with a charge on every atom that has more bonds than its valence, and on no other."""
    from rdkit import Chem

    changed = Chem.Mol(molecule)
    for atom in changed.GetAtoms():
        order = sum(
            0 if str(bond.GetBondType()) == "DATIVE" else bond.GetBondTypeAsDouble() for bond in atom.GetBonds()
        )
        double = any(bond.GetBondTypeAsDouble() == 2 for bond in atom.GetBonds())
        if (
            (double or not atom.GetIsAromatic())
            and order > _VALENCES.get(atom.GetSymbol(), 99)
            and not atom.GetFormalCharge()
        ):
            atom.SetFormalCharge(-1 if atom.GetSymbol() == "B" else 1)
    return changed


def _charged(molecule: Any, position: int) -> bool:
    """Puts a charge on an atom that has more bonds than its valence; returns whether it did."""
    from rdkit import Chem

    atom = molecule.GetAtomWithIdx(position)
    if atom.GetFormalCharge() or atom.GetSymbol() not in ("B", "N", "O", "S", "P", "F", "Cl", "Br", "I"):
        return False
    if atom.GetSymbol() == "B":
        atom.SetFormalCharge(-1)
        return True
    atom.SetFormalCharge(1)
    for oxygen in atom.GetNeighbors():  # as in a nitro group, N+ beside O-
        bond = molecule.GetBondBetweenAtoms(position, oxygen.GetIdx())
        if (oxygen.GetSymbol(), oxygen.GetDegree()) == ("O", 1) and bond.GetBondType() == Chem.BondType.SINGLE:
            oxygen.SetFormalCharge(-1)
            break
    return True


def _with_hydrogens(molecule: Any, ring: list[int]) -> Any:
    """Hydrogens or charges on atoms of an aromatic system that has no Kekulé structure; None where none help.

    Choices after which RDKit finds the same aromatic bonds come first.
    """
    from rdkit import Chem

    # RDKit names the atoms that are left over; the others of the same rings may need the hydrogen.
    system = _aromatic_system(molecule, ring)
    open_to_change = [
        i for i in system if molecule.GetAtomWithIdx(i).GetSymbol() in ("N", "P", "O", "S", "Se", "B") and not
        molecule.GetAtomWithIdx(i).GetFormalCharge() and not molecule.GetAtomWithIdx(i).GetNumExplicitHs()
    ]  # fmt: skip
    second = None
    for guess in islice(chain.from_iterable(combinations(open_to_change, n) for n in (1, 2, 3, 4)), _MOST_GUESSES):
        attempt = Chem.Mol(molecule)
        for position in guess:
            atom = attempt.GetAtomWithIdx(position)
            if atom.GetSymbol() in ("N", "P") and atom.GetDegree() == 2:
                atom.SetNumExplicitHs(1)
            else:
                atom.SetFormalCharge(1)
        if any(set(problem.GetAtomIndices()) & system for problem in Chem.DetectChemistryProblems(attempt)
               if problem.GetType() == "KekulizeException"):  # fmt: skip
            continue
        if _keeps_aromatic(attempt, molecule, system):
            return attempt
        second = second or attempt
    return second


def _aromatic_system(molecule: Any, start: list[int]) -> set[int]:
    """All atoms that aromatic bonds join to these."""
    system, pending = set(start), list(start)
    while pending:
        atom = molecule.GetAtomWithIdx(pending.pop())
        for bond in atom.GetBonds():
            other = bond.GetOtherAtomIdx(atom.GetIdx())
            if bond.GetIsAromatic() and other not in system:
                system.add(other)
                pending.append(other)
    return system


def _no_longer_aromatic(molecule: Any) -> list[int]:
    """An atom of an aromatic bond that RDKit would not find aromatic; none where it finds all."""
    from rdkit import Chem

    checked = Chem.Mol(molecule)
    Chem.SanitizeMol(checked, catchErrors=True)
    lost = (bond for bond in molecule.GetBonds() if bond.GetIsAromatic() and not
            checked.GetBondWithIdx(bond.GetIdx()).GetIsAromatic())  # fmt: skip
    return next(([bond.GetBeginAtomIdx()] for bond in lost), [])


def _keeps_aromatic(attempt: Any, molecule: Any, system: set[int]) -> bool:
    """Whether RDKit finds the same aromatic bonds within these atoms."""
    from rdkit import Chem

    checked = Chem.Mol(attempt)
    for bond in checked.GetBonds():  # other rings may be broken still
        if bond.GetIsAromatic() and not {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()} <= system:
            bond.SetIsAromatic(False)
            bond.SetBondType(Chem.BondType.SINGLE)
    for atom in checked.GetAtoms():
        atom.SetIsAromatic(atom.GetIsAromatic() and atom.GetIdx() in system)
    if Chem.SanitizeMol(checked, catchErrors=True) != Chem.SanitizeFlags.SANITIZE_NONE:
        return False
    return all(
        bond.GetIsAromatic() == checked.GetBondWithIdx(bond.GetIdx()).GetIsAromatic()
        for bond in molecule.GetBonds()
        if {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()} <= system
    )


def _fits(molecule: Any, graph: Graph) -> bool:
    """Whether atoms and bonds are the nodes and edges of the graph, in its order; bond types may be Kekulé's."""
    labels = graph.node_labels
    if molecule.GetNumAtoms() != len(labels) or molecule.GetNumBonds() != graph.num_edges:
        return False
    for position, label in enumerate(labels):
        element = element_of(label)
        if element is None or element[0] != molecule.GetAtomWithIdx(position).GetSymbol():
            return False
    for (u, v), label in zip(graph.edges.tolist(), graph.edge_labels or (), strict=True):
        bond = molecule.GetBondBetweenAtoms(u, v)
        name = BONDS.get(str(label).lower())
        if bond is None or name is None or (not bond.GetIsAromatic() and str(bond.GetBondType()) != name):
            return False
        if bond.GetIsAromatic() and name not in ("AROMATIC", "SINGLE", "DOUBLE"):
            return False
    return True
