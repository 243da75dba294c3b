"""Molecules, through RDKit: atoms are nodes labeled with their element, bonds are edges labeled with their type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import numpy.typing as npt

from ugraphemb.errors import GraphFormatError, needs_extra, type_of
from ugraphemb.graphs.collector import MISSING, Collector, Reading
from ugraphemb.graphs.convert.plain_smiles import Plain, PlainReader, bonds_of
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.limits import beyond, limits

OnError = Literal["raise", "skip"]
Aromatic = Literal["bond", "kekule"]

_TOGETHER = 1_000  # molecules


def from_smiles(
    smiles: str | Iterable[str | None],
    *,
    ids: Iterable[str] | None = None,
    targets: npt.ArrayLike | None = None,
    hydrogens: bool = False,
    charges: bool = False,
    aromatic: Aromatic = "bond",
    on_error: OnError = "raise",
    name: str = "",
) -> GraphSet:
    """A collection of molecules. Needs `pip install 'ugraphemb[molecules]'`.

    Node labels are element symbols; edge labels "single", "double", "triple", "aromatic" and what else RDKit knows.
    The SMILES are kept as metadata "smiles". Isotopes and stereochemistry are not represented. The text must be
    SMILES, but valences are not checked: a nitrogen atom with five bonds is accepted.

    Args:
        smiles: One string is one molecule.
        ids: One per molecule; by default the row number in `smiles`, also where rows are skipped.
        targets: One per molecule.
        hydrogens: Whether hydrogens are nodes.
        charges: Whether labels of nodes hold charges: "N+", "O-", "Fe+2".
        aromatic: "bond" gives the bonds of aromatic rings the label "aromatic", "kekule" "single" and "double".
        on_error: "skip" leaves out what is not SMILES (also None, nan and empty text), with its id and target, and
            names it in one GraphWarning.

    Examples:
        >>> import ugraphemb as ug
        >>> molecules = ug.GraphSet.from_smiles(["CCO", "c1ccccc1"], ids=["ethanol", "benzene"])
        >>> molecules[0].node_labels, molecules[1].edge_labels[0]
        (['C', 'C', 'O'], 'aromatic')
    """
    listed = [smiles] if isinstance(smiles, str) else list(smiles)
    molecules = MoleculeCollector("SMILES", hydrogens=hydrogens, charges=charges, aromatic=aromatic, on_error=on_error)
    with quiet():
        for position, text, entry, value in _with_names(listed, ids, targets, "SMILES"):
            molecules.add_smiles(text, where=f"SMILES {position}", id=entry, target=value)
    return molecules.graph_set(name=name)


def from_rdkit(
    molecules: Any,
    *,
    ids: Iterable[str] | None = None,
    targets: npt.ArrayLike | None = None,
    hydrogens: bool = False,
    charges: bool = False,
    aromatic: Aromatic = "bond",
    on_error: OnError = "raise",
    name: str = "",
) -> GraphSet:
    """A collection of RDKit molecules: one, or several (also an SDMolSupplier). Options as in `from_smiles`.

    The property "_Name" is the id, where all molecules have one and all are different.

    Examples:
        >>> from rdkit import Chem
        >>> import ugraphemb as ug
        >>> ug.GraphSet.from_rdkit([Chem.MolFromSmiles("CCO")])
        GraphSet(1 graph, 3 nodes, 2 edges, 2 node labels, 1 edge label)
    """
    listed = [molecules] if hasattr(molecules, "GetNumAtoms") else list(molecules)
    if ids is None:
        names = [entry.GetProp("_Name") if entry is not None and entry.HasProp("_Name") else "" for entry in listed]
        ids = names if all(names) and len(set(names)) == len(names) else None
    collector = MoleculeCollector(
        "RDKit molecules", hydrogens=hydrogens, charges=charges, aromatic=aromatic, on_error=on_error
    )
    with quiet():
        for position, entry, given, value in _with_names(listed, ids, targets, "RDKit molecules"):
            collector.add_molecule(entry, where=f"RDKit molecule {position}", id=given, target=value)
    return collector.graph_set(name=name)


def is_missing(value: Any) -> bool:
    """None, nan, and the missing values of pandas."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def charge_text(charge: int) -> str:
    """ "" for 0, "+" for 1, "-2" for -2."""
    if not charge:
        return ""
    return ("+" if charge > 0 else "-") + (str(abs(charge)) if abs(charge) > 1 else "")


def _with_names(
    listed: list[Any], ids: Iterable[str] | None, targets: npt.ArrayLike | None, source: str
) -> Iterator[tuple[int, Any, str | None, Any]]:
    names = [None] * len(listed) if ids is None else [str(entry) for entry in ids]
    values = [MISSING] * len(listed) if targets is None else list(targets)  # type: ignore[arg-type]
    for what, count in (("ids", len(names)), ("targets", len(values))):
        if count != len(listed):
            raise GraphFormatError(f"{source}: {count} {what} for {len(listed)} molecules")
    return zip(range(len(listed)), listed, names, values, strict=True)


@contextmanager
def quiet() -> Iterator[None]:
    """RDKit logs nothing inside the block; a MissingExtraError where it is not installed."""
    with needs_extra("molecules"):
        from rdkit import rdBase

    with rdBase.BlockLogs():
        yield


class MoleculeCollector:
    """Takes molecules one at a time; the options are those of `from_smiles`. Row numbers begin with `first_row`."""

    def __init__(
        self,
        source: str,
        *,
        hydrogens: bool = False,
        charges: bool = False,
        aromatic: Aromatic = "bond",
        on_error: OnError = "raise",
        first_row: int = 0,
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error={on_error!r}, expected 'raise' or 'skip'")
        if aromatic not in ("bond", "kekule"):
            raise ValueError(f"aromatic={aromatic!r}, expected 'bond' or 'kekule'")
        with needs_extra("molecules"):
            from rdkit import Chem

        self._chem: Any = Chem
        self._collector = Collector(source)
        self._hydrogens = hydrogens
        self._charges = charges
        self._kekule = aromatic == "kekule"
        self._skip = on_error == "skip"
        self._skipped: list[str] = []
        self._rows = first_row
        self._bond_names: dict[Any, str] = {}
        self._checked = self._chem.SmilesParserParams()
        self._checked.removeHs = not hydrogens
        self._unchecked = self._chem.SmilesParserParams()
        self._unchecked.removeHs = self._unchecked.sanitize = False
        self._checked.allowCXSMILES = self._unchecked.allowCXSMILES = False
        self._plain = None if hydrogens or charges or self._kekule else PlainReader()
        self._waiting: list[tuple[Plain, dict[str, Any]]] = []  # whose edges are found together
        self._longest = limits().smiles

    def add_smiles(
        self,
        text: Any,
        *,
        where: str,
        id: str | None = None,
        target: Any = MISSING,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """One molecule from its SMILES; None, nan and empty text are errors."""
        if not isinstance(text, str):
            found = "None" if is_missing(text) else type_of(text)
            self._add(None, f"{found}, expected SMILES", where, id, target, {})
            return
        text = text.strip()
        if len(text) > self._longest:
            wrong = beyond(f"{text[:20]!r}... of {len(text)} characters", "smiles")
            self._add(None, wrong, where, id, target, {})
            return
        molecule = None if self._plain is None else self._plain.read(text)
        if molecule is not None:
            about = {"smiles": text, **(metadata or {})}
            self._wait(molecule, {"target": target, "id": id, "where": where, "row": self._rows, "metadata": about})
            return
        wrong = f"{text[:60]!r} is not valid SMILES" if text else "empty, expected SMILES"
        self._add(self._parsed(text) if text else None, wrong, where, id, target, {"smiles": text, **(metadata or {})})

    def add_block(
        self,
        text: str,
        *,
        where: str,
        id: str | None = None,
        target: Any = MISSING,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """The text of one molecule of an SDF file."""
        if len(text) > 100 * limits().smiles:
            wrong = beyond(f"a molecule of {len(text)} characters, 100 times a long SMILES", "smiles")
            self._add(None, wrong, where, id, target, {})
            return
        try:
            molecule = self._chem.MolFromMolBlock(text, sanitize=False, removeHs=False)
        except (RuntimeError, ValueError):
            molecule = None
        self.add_molecule(molecule, where=where, id=id, target=target, metadata=metadata)

    def add_molecule(
        self,
        molecule: Any,
        *,
        where: str,
        id: str | None = None,
        target: Any = MISSING,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """One RDKit molecule; None is what RDKit gives for one that it cannot read."""
        wrong = "a molecule that RDKit cannot read"
        if molecule is not None and not hasattr(molecule, "GetNumAtoms"):
            molecule, wrong = None, f"{type_of(molecule)}, expected an RDKit molecule"
        try:
            read = self._lenient(molecule)
            about = {} if read is None else {"smiles": self._chem.MolToSmiles(read, canonical=False)}
        except (RuntimeError, ValueError):  # unexpected errors of RDKit
            read, about = None, {}
        self._add(read, wrong, where, id, target, {**about, **(metadata or {})})

    def _add(
        self, molecule: Any, wrong: str, where: str, id: str | None, target: Any, metadata: Mapping[str, Any]
    ) -> None:
        row = self._rows
        self._rows += 1
        molecule = self._prepared(molecule)
        if molecule is None:
            if not self._skip:
                raise GraphFormatError(f"{where}: {wrong} (on_error='skip' leaves it out)")
            self._skipped.append(where)
            return
        self._flush()
        bonds = [molecule.GetBondWithIdx(i) for i in range(molecule.GetNumBonds())]
        self._collector.add(
            molecule.GetNumAtoms(),
            [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds],
            node_labels=[self._atom_name(molecule.GetAtomWithIdx(i)) for i in range(molecule.GetNumAtoms())],
            edge_labels=[self._bond_name(bond.GetBondType()) for bond in bonds],
            target=target,
            id=id,
            where=where,
            row=row,
            metadata=metadata,
        )

    def _wait(self, molecule: Plain, about: dict[str, Any]) -> None:
        self._rows += 1
        self._waiting.append((molecule, about))
        if len(self._waiting) == _TOGETHER:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        bonds = bonds_of([molecule for molecule, _ in self._waiting])
        for (molecule, about), (edges, names) in zip(self._waiting, bonds, strict=True):
            self._collector.append(len(molecule.elements), edges, molecule.elements, names, **about)
        self._waiting.clear()

    def graph_set(self, *, strict: bool = False, name: str = "") -> GraphSet:
        self._finish()
        return self._collector.graph_set(strict=strict, name=name)

    def reading(self, *, strict: bool = False, name: str = "") -> Reading:
        self._finish()
        return self._collector.reading(strict=strict, name=name)

    def _finish(self) -> None:
        self._flush()
        if self._skipped:
            shown = ", ".join(self._skipped[:3]) + (", ..." if len(self._skipped) > 3 else "")
            noun = "molecule" if len(self._skipped) == 1 else "molecules"
            self._collector.ignore(f"{noun} that cannot be read ({shown})", len(self._skipped))
        self._collector.tell_ids_apart()

    def _atom_name(self, atom: Any) -> str:
        symbol: str = atom.GetSymbol()
        charge = atom.GetFormalCharge() if self._charges else 0
        return symbol + charge_text(charge)

    def _prepared(self, molecule: Any) -> Any:
        """The molecule with hydrogens and bonds as the options say; None if RDKit fails."""
        try:
            if molecule is not None and self._hydrogens:
                molecule = self._chem.AddHs(molecule)
            return self._kekulized(molecule) if molecule is not None and self._kekule else molecule
        except (RuntimeError, ValueError):
            return None

    def _kekulized(self, molecule: Any) -> Any:
        """The molecule with single and double bonds in its rings; as it is where RDKit finds no such assignment."""
        attempt = self._chem.Mol(molecule)
        try:
            self._chem.Kekulize(attempt, clearAromaticFlags=True)
        except (RuntimeError, ValueError):
            return molecule
        return attempt

    def _bond_name(self, kind: Any) -> str:
        if kind not in self._bond_names:
            self._bond_names[kind] = str(kind).lower()
        return self._bond_names[kind]

    def _parsed(self, text: str) -> Any:
        if "\0" in text or len(text.split()) > 1:  # RDKit would take what follows a space for a name
            return None
        try:
            molecule = self._chem.MolFromSmiles(text, self._checked)
            if molecule is None:
                molecule = self._lenient(self._chem.MolFromSmiles(text, self._unchecked))
        except (RuntimeError, ValueError):  # surrogates, numbers out of range
            return None
        return molecule

    def _lenient(self, molecule: Any) -> Any:
        """The molecule with its aromatic bonds found, as far as its chemistry allows; otherwise as written."""
        if molecule is None:
            return None
        flags = self._chem.SanitizeFlags
        everything = flags.SANITIZE_ALL
        unchecked = everything ^ flags.SANITIZE_PROPERTIES
        as_written = unchecked ^ flags.SANITIZE_KEKULIZE ^ flags.SANITIZE_SETAROMATICITY
        for steps in (everything, unchecked, as_written):
            attempt = self._chem.Mol(molecule)
            if self._chem.SanitizeMol(attempt, steps, catchErrors=True) == flags.SANITIZE_NONE:
                break
        attempt.UpdatePropertyCache(strict=False)
        return attempt if self._hydrogens else self._chem.RemoveHs(attempt, sanitize=False)
