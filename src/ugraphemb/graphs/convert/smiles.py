"""SMILES from graphs of molecules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.convert.chemistry import charged, element_of, original_of, rebuilt, repaired
from ugraphemb.graphs.convert.molecules import charge_text, quiet
from ugraphemb.graphs.graphset import Graph, GraphSet

_ORGANIC = {"B", "C", "N", "O", "P", "S", "F", "Cl", "Br", "I"}
_AROMATIC = {"B", "C", "N", "O", "P", "S"}
_BONDS = {"single": "", "double": "=", "triple": "#", "quadruple": "$", "aromatic": "", "dative": "->"}


def to_smiles(graphs: GraphSet) -> list[str]:
    """SMILES whose atoms are in the order of the nodes, so that `from_smiles` gives the same graphs.

    Graphs that were read from SMILES give these. For others, node labels must be elements and edge labels types of
    bonds; charges, and hydrogens that are not nodes, are inferred: as few as possible such that RDKit finds the same
    bonds.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.graphs.convert.smiles import to_smiles
        >>> to_smiles(ug.GraphSet.from_smiles(["CCO", "c1ccccc1"]))
        ['CCO', 'c1ccccc1']
    """
    with quiet():
        return [_smiles(graph) for graph in graphs]


def _smiles(graph: Graph) -> str:
    """The SMILES that the graph was read from; without, those of a repaired molecule in the order of the nodes."""
    labels, bonds = graph.node_labels, graph.edge_labels
    if graph.num_edges and bonds is None:
        raise GraphFormatError(f"graph {graph.id!r}: edges without labels, expected types of bonds")
    edges = [(u, v, str(kind)) for (u, v), kind in zip(graph.edges.tolist(), bonds or [], strict=True)]
    for _, _, kind in edges:
        if kind not in _BONDS:
            right = ", ".join(_BONDS)
            raise GraphFormatError(f"graph {graph.id!r}: the edge label {kind!r}, expected one of {right}")
    for label in labels:
        if element_of(label) is None:
            raise GraphFormatError(f"graph {graph.id!r}: the node label {label!r}, expected an element such as 'C'")
    known = original_of(graph)
    if known is not None and (_exactly(known, edges) or "aromatic" not in {kind for _, _, kind in edges}):
        return str(graph.metadata["smiles"])
    molecule = rebuilt(graph)
    aromatic = {node for u, v, kind in edges if kind == "aromatic" for node in (u, v)}
    complete = "H" in labels  # the reader may add no hydrogens
    texts = [
        _written([_atom(atom, complete) for atom in found.GetAtoms()], edges, aromatic)
        for found in (repaired(molecule), charged(molecule))
        if found is not None
    ]
    return next((text for text in texts if _reads_as(text, edges, complete)), texts[-1])  # our reader takes the last


def _reads_as(text: str, edges: Sequence[tuple[int, int, str]], hydrogens: bool) -> bool:
    from rdkit import Chem

    parameters: Any = Chem.SmilesParserParams()
    parameters.removeHs = not hydrogens
    molecule = Chem.MolFromSmiles(text, parameters)
    return molecule is not None and molecule.GetNumBonds() == len(edges) and _exactly(molecule, edges)


def _exactly(molecule: Any, edges: Sequence[tuple[int, int, str]]) -> bool:
    bonds = (molecule.GetBondBetweenAtoms(u, v) for u, v, _ in edges)
    return all(
        bond is not None and str(bond.GetBondType()).lower() == kind
        for bond, (_, _, kind) in zip(bonds, edges, strict=True)
    )


def _written(atoms: Sequence[str], edges: Sequence[tuple[int, int, str]], aromatic: set[int]) -> str:
    """Each node is a child of the last open node that it has an edge to; all its other edges are ring bonds."""
    text = list(atoms)
    before: list[list[tuple[int, str]]] = [[] for _ in text]
    for u, v, kind in edges:
        before[v].append((u, kind))
    children: list[list[tuple[int, str]]] = [[] for _ in text]
    roots = []
    branch: list[int] = []  # the open nodes, each a child of the one before
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


def _atom(atom: Any, complete: bool) -> str:
    symbol: str = atom.GetSymbol()
    if symbol == "*":
        return symbol
    charge, hydrogens, aromatic = atom.GetFormalCharge(), atom.GetNumExplicitHs(), atom.GetIsAromatic()
    written = symbol.lower() if aromatic else symbol
    bare = not complete and not charge and not hydrogens and symbol in (_AROMATIC if aromatic else _ORGANIC)
    return written if bare else f"[{written}{'H' if hydrogens else ''}{charge_text(charge)}]"


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
