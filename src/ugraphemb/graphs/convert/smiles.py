"""SMILES from graphs of molecules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations, islice
from typing import Any

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.convert.molecules import quiet
from ugraphemb.graphs.graphset import Graph, GraphSet

_ORGANIC = {"B", "C", "N", "O", "P", "S", "F", "Cl", "Br", "I"}
_AROMATIC = {"B", "C", "N", "O", "P", "S"}
_BONDS = {"single": "", "double": "=", "triple": "#", "quadruple": "$", "aromatic": "", "dative": "->"}


def to_smiles(graphs: GraphSet) -> list[str]:
    """SMILES whose atoms stand in the order of the nodes, so that `from_smiles` gives the same graphs.

    Node labels must be elements and edge labels types of bonds. Charges, and hydrogens that are no nodes, are guessed:
    so few that RDKit finds the same bonds.
    """
    with quiet():
        return [_smiles(graph) for graph in graphs]


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
