"""Graphs that are molecules, drawn as molecules (extra `molecules`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ugraphemb.errors import needs_extra
from ugraphemb.graphs import Graph, GraphSet
from ugraphemb.tasks.marks import Marks, Places, turned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BONDS = {
    **dict.fromkeys(("single", "-", "1", "1.0"), 1),
    **dict.fromkeys(("double", "=", "2", "2.0"), 2),
    **dict.fromkeys(("triple", "#", "3", "3.0"), 3),
    **dict.fromkeys(("aromatic", ":", "4", "1.5"), 4),
    "dative": 5,
}
"""What an edge label may be, in lower case, and the kind of bond it stands for."""


def are_molecules(graphs: GraphSet) -> bool:
    """Whether node labels are symbols of elements and edge labels bonds (single, double, -, =, 1, 1.5 and so on).

    False where RDKit is not installed: then they are graphs like others.
    """
    if not graphs.node_vocabulary or graphs.edge_labels is None:
        return False
    if not all(str(label).lower() in _BONDS for label in graphs.edge_vocabulary):
        return False
    if not all(isinstance(label, str) and re.fullmatch("[A-Z][a-z]?", label) for label in graphs.node_vocabulary):
        return False
    try:
        from rdkit.Chem import GetPeriodicTable
    except ImportError:
        return False
    table = GetPeriodicTable()
    known = {table.GetElementSymbol(number) for number in range(1, 119)}
    return known.issuperset(graphs.node_vocabulary)


def molecule(graph: Graph, toward: Places | None = None) -> Any:
    """The graph as an rdkit Mol, kekulized where chemistry allows, with coordinates; see `are_molecules`.

    Args:
        toward: Where each atom should rather be, nan for anywhere: the drawing is turned accordingly.
    """
    with needs_extra("molecules"):
        from rdkit import Chem
        from rdkit.Chem import rdDepictor
        from rdkit.rdBase import BlockLogs

    kinds = {
        1: Chem.BondType.SINGLE, 2: Chem.BondType.DOUBLE, 3: Chem.BondType.TRIPLE,
        4: Chem.BondType.AROMATIC, 5: Chem.BondType.DATIVE,
    }  # fmt: skip
    editable = Chem.RWMol()
    for symbol in graph.node_labels:
        editable.AddAtom(Chem.Atom(symbol))
    for (u, v), label in zip(graph.edges.tolist(), graph.edge_labels or (), strict=True):
        kind = kinds[_BONDS[str(label).lower()]]
        editable.AddBond(u, v, kind)
        if kind == Chem.BondType.AROMATIC:
            for part in (editable.GetAtomWithIdx(u), editable.GetAtomWithIdx(v), editable.GetBondBetweenAtoms(u, v)):
                part.SetIsAromatic(True)
    with BlockLogs():  # what can't be sanitized is drawn as it is, in silence
        mol = _sanitized(editable.GetMol())
    rdDepictor.SetPreferCoordGen(False)
    rdDepictor.Compute2DCoords(mol)
    rdDepictor.StraightenDepiction(mol)
    if toward is not None:
        places = mol.GetConformer()
        for atom, (x, y) in enumerate(turned(places.GetPositions()[:, :2], toward).tolist()):
            places.SetAtomPosition(atom, (x, y, 0.0))
    return mol


def _sanitized(mol: Any) -> Any:
    """The molecule with the charges and hydrogens that a graph does not hold, as far as one can tell; else as it is."""
    from rdkit import Chem

    trial = Chem.Mol(mol)
    for _ in range(mol.GetNumAtoms() + 1):
        problems = Chem.DetectChemistryProblems(trial)
        if not problems:
            Chem.SanitizeMol(trial)
            Chem.Kekulize(trial, clearAromaticFlags=True)
            return trial
        if not _repaired(trial, problems[0]):
            break
    for atom in mol.GetAtoms():
        atom.SetNoImplicit(True)
    mol.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(mol)
    return mol


def _repaired(mol: Any, problem: Any) -> bool:
    """One charge where an atom has a bond too many, or one hydrogen on the nitrogen of an aromatic ring."""
    from rdkit import Chem

    if problem.GetType() == "KekulizeException":
        ring = [mol.GetAtomWithIdx(i) for i in problem.GetAtomIndices()]
        bare = [a for a in ring if (a.GetAtomicNum(), a.GetDegree(), a.GetNumExplicitHs()) == (7, 2, 0)]
        for atom in bare[:1]:
            atom.SetNumExplicitHs(1)
        return bool(bare)
    if problem.GetType() != "AtomValenceException":
        return False
    atom = mol.GetAtomWithIdx(problem.GetAtomIdx())
    if atom.GetFormalCharge() or atom.GetSymbol() not in ("N", "O", "S", "P"):
        return False
    atom.SetFormalCharge(1)
    for oxygen in atom.GetNeighbors():  # as in a nitro group, N+ beside O-
        bond = mol.GetBondBetweenAtoms(atom.GetIdx(), oxygen.GetIdx())
        if (oxygen.GetSymbol(), oxygen.GetDegree()) == ("O", 1) and bond.GetBondType() == Chem.BondType.SINGLE:
            oxygen.SetFormalCharge(-1)
            break
    return True


def draw_molecule(
    graph: Graph, axes: Axes, *, marks: Marks | None = None, toward: Places | None = None, side: float = 160.0
) -> None:
    """The structural formula, as lines and outlines, so that it stays sharp in SVG and PDF.

    Args:
        marks: Colors behind atoms and bonds.
        toward: See `molecule`.
        side: What the axes show at least; a bond is 45 long.
    """
    with needs_extra("molecules"):
        from rdkit.Chem.Draw import rdMolDraw2D
    from matplotlib.patches import PathPatch

    mol = molecule(graph, toward)
    drawer = rdMolDraw2D.MolDraw2DSVG(-1, -1)  # as large as the molecule needs
    options: Any = drawer.drawOptions()
    options.prepareMolsBeforeDrawing = False
    options.fixedFontSize = 19
    options.scalingFactor = 30
    options.padding = 0.02
    drawer.DrawMolecule(mol)
    drawer.FinishDrawing()
    text = drawer.GetDrawingText()
    width, height = (float(value) for value in re.findall(r"(?:width|height)='([\d.]+)px'", text)[:2])
    # Small molecules are not blown up: twelve beside each other show their sizes.
    side = max(width, height, side)
    axes.set_xlim(width / 2 - side / 2, width / 2 + side / 2)
    axes.set_ylim(height / 2 + side / 2, height / 2 - side / 2)
    axes.set_aspect("equal")
    axes.axis("off")
    box = axes.get_window_extent()
    points = min(box.width, box.height) / axes.figure.dpi * 72 / side  # points a unit of the drawing
    if marks is not None:
        _mark(axes, [drawer.GetDrawCoords(atom) for atom in range(graph.num_nodes)], marks, 26 * points)
    strokes: dict[tuple[str, str], list[str]] = {}  # one patch for all that look the same
    for tag in re.findall(r"<path [^>]*>", text):
        commands = re.search(r" d='([^']*)'", tag)
        fill, stroke = (re.search(rf"[;' ]{name}[:=]'?(#\w+|none)", tag) for name in ("fill", "stroke"))
        if commands is not None:
            look = (fill[1] if fill is not None else "none", stroke[1] if stroke is not None else "none")
            strokes.setdefault(look, []).append(commands[1])
    for (face, line), paths in strokes.items():
        bond = line != "none"
        axes.add_artist(  # limits are set already
            PathPatch(
                _path(" ".join(paths)),
                facecolor=face,
                edgecolor=line if bond else face,  # letters get an outline too: thin strokes would vanish when small
                linewidth=max(0.5, 2.0 * points) if bond else max(0.15, 0.5 * points),
                capstyle="round",
                joinstyle="round",
                snap=False,
            )
        )


def _mark(axes: Axes, places: list[Any], marks: Marks, width: float) -> None:
    """Wide lines behind bonds, wide dots behind atoms."""
    ends = {edge: [(places[node].x, places[node].y) for node in edge] for edge in marks.edges}
    for edge, color in marks.edges.items():
        xs, ys = zip(*ends[edge], strict=True)
        axes.plot(xs, ys, color=color, linewidth=0.62 * width, solid_capstyle="round", zorder=0.5)
    for node, color in marks.nodes.items():
        axes.plot([places[node].x], [places[node].y], "o", color=color, markersize=width, markeredgewidth=0, zorder=0.6)


def _path(commands: str) -> Any:
    """A path of matplotlib from the commands M, L, Q, C and Z of SVG, all of them absolute."""
    from matplotlib.path import Path

    corners: list[tuple[float, float]] = []
    codes: list[Any] = []
    kinds = {"M": (Path.MOVETO, 1), "L": (Path.LINETO, 1), "Q": (Path.CURVE3, 2), "C": (Path.CURVE4, 3)}
    for letter, numbers in re.findall(r"([MLQCZ])([^MLQCZ]*)", commands):
        if letter == "Z":
            corners.append(corners[-1])
            codes.append(Path.CLOSEPOLY)
            continue
        pairs = np.array(re.findall(r"-?[\d.]+(?:e-?\d+)?", numbers), dtype=float).reshape(-1, 2)
        corners += [(x, y) for x, y in pairs.tolist()]
        codes += [kinds[letter][0]] * len(pairs)
    return Path(corners, codes)


def bond_orders(mol: Any) -> list[int]:
    """1, 2, 3 or 4 (aromatic, where it could not be kekulized) for each bond, in order."""
    return [4 if bond.GetIsAromatic() else max(1, int(bond.GetBondTypeAsDouble())) for bond in mol.GetBonds()]
