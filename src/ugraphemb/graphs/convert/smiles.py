"""Molecules, through RDKit: atoms are nodes labeled with their element, bonds are edges labeled with their type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, combinations, islice
from typing import Any, Literal

import numpy.typing as npt

from ugraphemb.errors import GraphFormatError, needs_extra
from ugraphemb.graphs.collector import MISSING, Collector
from ugraphemb.graphs.graphset import Graph, GraphSet

OnError = Literal["raise", "skip"]
_ORGANIC = {"B", "C", "N", "O", "P", "S", "F", "Cl", "Br", "I"}
_AROMATIC = {"B", "C", "N", "O", "P", "S"}
_BONDS = {"single": "", "double": "=", "triple": "#", "quadruple": "$", "aromatic": "", "dative": "->"}


def from_smiles(
    smiles: Iterable[str],
    *,
    ids: Iterable[str] | None = None,
    targets: npt.ArrayLike | None = None,
    hydrogens: bool = False,
    on_error: OnError = "raise",
    name: str = "",
) -> GraphSet:
    """A collection of molecules. Needs `pip install 'ugraphemb[molecules]'`.

    Node labels are element symbols; edge labels "single", "double", "triple", "aromatic" and what else RDKit knows.
    Charges, isotopes and handedness have no place in a graph. The text must be SMILES, but the chemistry need not
    hold: nitrogen with five bonds makes a graph like any other.

    Args:
        ids: One a molecule; positions by default.
        hydrogens: Whether hydrogens are nodes.
        on_error: "skip" leaves out what is not SMILES, with its id and target, and counts it in one GraphWarning.
    """
    listed = list(smiles)
    molecules = MoleculeCollector("SMILES", hydrogens=hydrogens, on_error=on_error)
    names = [None] * len(listed) if ids is None else [str(entry) for entry in ids]
    values = [MISSING] * len(listed) if targets is None else list(targets)  # type: ignore[arg-type]
    for what, count in (("ids", len(names)), ("targets", len(values))):
        if count != len(listed):
            raise GraphFormatError(f"SMILES: {count} {what} for {len(listed)} molecules")
    with quiet():
        for position, (text, entry, value) in enumerate(zip(listed, names, values, strict=True)):
            molecules.add_smiles(text, where=f"SMILES {position}", id=entry, target=value)
    return molecules.graph_set(name=name)


def to_smiles(graphs: GraphSet) -> list[str]:
    """SMILES whose atoms stand in the order of the nodes, so that `from_smiles` gives the same graphs.

    Node labels must be elements and edge labels types of bonds. Charges, and hydrogens that are no nodes, are guessed:
    so few that RDKit finds the same bonds.
    """
    with quiet():
        return [_smiles(graph) for graph in graphs]


@contextmanager
def quiet() -> Iterator[None]:
    """RDKit says nothing meanwhile; a MissingExtraError where it is not installed."""
    with needs_extra("molecules"):
        from rdkit import rdBase

    with rdBase.BlockLogs():
        yield


class MoleculeCollector:
    """Takes molecules one at a time; the options are those of `from_smiles`."""

    def __init__(self, source: str, *, hydrogens: bool, on_error: str) -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error={on_error!r}, expected 'raise' or 'skip'")
        with needs_extra("molecules"):
            from rdkit import Chem

        self._chem: Any = Chem
        self._collector = Collector(source)
        self._hydrogens = hydrogens
        self._skip = on_error == "skip"
        self._skipped = 0
        self._bond_names: dict[Any, str] = {}
        self._checked = self._chem.SmilesParserParams()
        self._checked.removeHs = not hydrogens
        self._unchecked = self._chem.SmilesParserParams()
        self._unchecked.removeHs = self._unchecked.sanitize = False
        self._checked.allowCXSMILES = self._unchecked.allowCXSMILES = False

    def add_smiles(self, text: str, *, where: str, id: str | None = None, target: Any = MISSING) -> None:
        self.add(self._parsed(text), f"{text[:60]!r}, which is not SMILES", where=where, id=id, target=target)

    def add_block(self, text: str, *, where: str, id: str | None = None, target: Any = MISSING) -> None:
        """The text of one molecule of an SDF file."""
        try:
            molecule = self._lenient(self._chem.MolFromMolBlock(text, sanitize=False, removeHs=False))
        except (RuntimeError, ValueError):
            molecule = None
        self.add(molecule, "a molecule that RDKit cannot read", where=where, id=id, target=target)

    def add(self, molecule: Any, wrong: str, *, where: str, id: str | None, target: Any) -> None:
        if molecule is None:
            self._skipped += 1
            if not self._skip:
                raise GraphFormatError(f"{where}: {wrong} (on_error='skip' leaves it out)")
            return
        if self._hydrogens:
            molecule = self._chem.AddHs(molecule)
        bonds = [molecule.GetBondWithIdx(i) for i in range(molecule.GetNumBonds())]
        self._collector.add(
            molecule.GetNumAtoms(),
            [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds],
            node_labels=[molecule.GetAtomWithIdx(i).GetSymbol() for i in range(molecule.GetNumAtoms())],
            edge_labels=[self._bond_name(bond.GetBondType()) for bond in bonds],
            target=target,
            id=id,
            where=where,
        )

    def graph_set(self, *, strict: bool = False, name: str = "") -> GraphSet:
        self._collector.ignore("molecules that cannot be read", self._skipped)
        self._collector.tell_ids_apart()
        return self._collector.graph_set(strict=strict, name=name)

    def _bond_name(self, kind: Any) -> str:
        if kind not in self._bond_names:
            self._bond_names[kind] = str(kind).lower()
        return self._bond_names[kind]

    def _parsed(self, text: str) -> Any:
        if "\0" in text:
            return None
        try:
            molecule = self._chem.MolFromSmiles(text, self._checked)
            if molecule is None:
                molecule = self._lenient(self._chem.MolFromSmiles(text, self._unchecked))
        except (RuntimeError, ValueError):  # surrogates, numbers past all bounds
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


_MOST_GUESSES = 50
_VALENCES = {"B": 3, "N": 3, "O": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1}
_ORDERS = {"single": 1, "double": 2, "triple": 3, "quadruple": 4, "aromatic": 1.5, "dative": 0}


def _smiles(graph: Graph) -> str:
    """The first guess that RDKit reads as this graph; the plainest where none does, which our own reader takes."""
    labels, bonds = graph.node_labels, graph.edge_labels
    if graph.num_edges and bonds is None:
        raise GraphFormatError(f"graph {graph.id!r}: edges without labels, expected types of bonds")
    edges = [(u, v, kind) for (u, v), kind in zip(graph.edges.tolist(), bonds or [], strict=True)]
    for _, _, kind in edges:
        if kind not in _BONDS:
            right = ", ".join(_BONDS)
            raise GraphFormatError(f"graph {graph.id!r}: the edge label {kind!r}, expected one of {right}")
    aromatic = {node for u, v, kind in edges if kind == "aromatic" for node in (u, v)}
    atoms = [_atom(label, node in aromatic, "H" in labels, graph) for node, label in enumerate(labels)]
    for node, order in _orders(edges).items():
        if node not in aromatic and order > _VALENCES.get(labels[node], 99):
            atoms[node] = f"[{labels[node]}{'-' if labels[node] == 'B' else '+'}]"
    plainest = _written(atoms, edges, aromatic)
    degrees = Counter(node for u, v, _ in edges for node in (u, v))
    open_to_change = [node for node in sorted(aromatic) if labels[node] in ("N", "O", "S", "P")]
    everything = len(open_to_change)
    guesses = chain.from_iterable(combinations(open_to_change, count) for count in (0, 1, everything, 2, 3))
    for guess in islice(guesses, _MOST_GUESSES):
        changed = list(atoms)
        for node in guess:
            hydrogen = labels[node] in ("N", "P") and degrees[node] == 2
            changed[node] = f"[{labels[node].lower()}{'H' if hydrogen else '+'}]"
        text = _written(changed, edges, aromatic) if guess else plainest
        if _reads_as(text, edges, "H" in labels):
            return text
    return plainest


def _orders(edges: Sequence[tuple[int, int, str]]) -> Counter[int]:
    orders: Counter[Any] = Counter()
    for u, v, kind in edges:
        orders.update({u: _ORDERS[kind], v: _ORDERS[kind]})
    return orders


def _reads_as(text: str, edges: Sequence[tuple[int, int, str]], hydrogens: bool) -> bool:
    from rdkit import Chem

    parameters: Any = Chem.SmilesParserParams()
    parameters.removeHs = not hydrogens
    molecule = Chem.MolFromSmiles(text, parameters)
    if molecule is None or molecule.GetNumBonds() != len(edges):
        return False
    bonds = (molecule.GetBondBetweenAtoms(u, v) for u, v, _ in edges)
    return all(
        bond is not None and str(bond.GetBondType()).lower() == kind
        for bond, (_, _, kind) in zip(bonds, edges, strict=True)
    )


def _written(atoms: Sequence[str], edges: Sequence[tuple[int, int, str]], aromatic: set[int]) -> str:
    """Each node hangs on the last open node that it has an edge to; all its other edges are ring bonds."""
    text = list(atoms)
    before: list[list[tuple[int, str]]] = [[] for _ in text]
    for u, v, kind in edges:
        before[v].append((u, kind))
    children: list[list[tuple[int, str]]] = [[] for _ in text]
    roots = []
    branch: list[int] = []  # the nodes that are open, each hanging on the one before
    rings: list[tuple[int, int, str]] = []
    for node, earlier in enumerate(before):
        symbols = {u: _bond(kind, {u, node} <= aromatic) for u, kind in earlier}
        while branch and branch[-1] not in symbols:
            branch.pop()
        if branch:
            children[branch[-1]].append((node, symbols.pop(branch[-1])))
        else:
            roots.append(node)
        rings += [(u, node, symbol) for u, symbol in symbols.items()]
        branch.append(node)
    _number_rings(text, rings)
    return ".".join(_joined(root, text, children) for root in roots)


def _number_rings(text: list[str], rings: list[tuple[int, int, str]]) -> None:
    """Puts the number of each ring bond behind its two atoms. A number is free again once its ring is closed."""
    opened: dict[int, list[tuple[int, int, str]]] = {}
    for ring in rings:
        opened.setdefault(ring[0], []).append(ring)
    closed: dict[int, list[tuple[int, int, str]]] = {}
    for ring in rings:
        closed.setdefault(ring[1], []).append(ring)
    used: dict[tuple[int, int], int] = {}
    free: list[int] = []
    for node in range(len(text)):
        done = [used.pop((u, node)) for u, _, _ in closed.get(node, [])]
        text[node] += "".join(_ring_number(number) for number in done)
        for _, v, symbol in opened.get(node, []):
            number = free.pop() if free else len(used) + len(done) + 1
            used[node, v] = number
            text[node] += symbol + _ring_number(number)
        free = sorted([*free, *done], reverse=True)


def _ring_number(number: int) -> str:
    return str(number) if number < 10 else f"%{number}" if number < 100 else f"%({number})"


def _bond(kind: str, between_aromatic: bool) -> str:
    return "-" if kind == "single" and between_aromatic else _BONDS[kind]


def _atom(label: Any, aromatic: bool, complete: bool, graph: Graph) -> str:
    if not isinstance(label, str) or not (label == "*" or (label.isascii() and label.isalpha() and len(label) < 3)):
        raise GraphFormatError(f"graph {graph.id!r}: the node label {label!r}, expected an element such as 'C'")
    if label == "*":
        return label
    said = label.lower() if aromatic else label
    bare = not complete and label in (_AROMATIC if aromatic else _ORGANIC)  # the reader may add hydrogens
    return said if bare else f"[{said}]"


def _joined(root: int, text: list[str], children: list[list[tuple[int, str]]]) -> str:
    """The tree below a node: all branches but the last in brackets. No recursion, chains may be long."""
    pieces: list[str] = []
    pending: list[int | str] = [root]
    while pending:
        entry = pending.pop()
        if isinstance(entry, str):
            pieces.append(entry)
            continue
        pieces.append(text[entry])
        below: list[int | str] = []
        for child, symbol in children[entry][:-1]:
            below += ["(" + symbol, child, ")"]
        below += [part for child, symbol in children[entry][-1:] for part in (symbol, child)]
        pending += reversed(below)
    return "".join(pieces)
