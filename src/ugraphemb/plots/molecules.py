"""Graphs that are molecules, drawn as molecules (extra `molecules`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ugraphemb.errors import needs_extra
from ugraphemb.graphs import Graph, GraphSet
from ugraphemb.graphs.convert.chemistry import BONDS, element_of, original_of, rebuilt, repaired
from ugraphemb.plots.marks import Marks, Places, turned

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def are_molecules(graphs: GraphSet) -> bool:
    """Whether node labels are symbols of elements and edge labels bonds (single, double, -, =, 1, 1.5 and so on).

    False where RDKit is not installed: then they are graphs like others.
    """
    if not graphs.node_vocabulary or graphs.edge_labels is None:
        return False
    if not all(str(label).lower() in BONDS for label in graphs.edge_vocabulary):
        return False
    elements = [element_of(label) for label in graphs.node_vocabulary]
    try:
        from rdkit.Chem import GetPeriodicTable
    except ImportError:
        return False
    table = GetPeriodicTable()
    known = {table.GetElementSymbol(number) for number in range(1, 119)}
    return all(element is not None and element[0] in known for element in elements)


def molecule(graph: Graph, toward: Places | None = None) -> Any:
    """The graph as an rdkit Mol, kekulized where chemistry allows, with coordinates; see `are_molecules`.

    Args:
        toward: Preferred place of each atom, nan for none: the drawing is rotated to match.
    """
    with needs_extra("molecules"):
        from rdkit.Chem import rdDepictor
        from rdkit.rdBase import BlockLogs

    with BlockLogs():  # molecules that cannot be sanitized are drawn unchanged
        mol = _sanitized(graph)
    rdDepictor.SetPreferCoordGen(False)
    rdDepictor.Compute2DCoords(mol)
    rdDepictor.StraightenDepiction(mol)
    if toward is not None:
        places = mol.GetConformer()
        for atom, (x, y) in enumerate(turned(places.GetPositions()[:, :2], toward).tolist()):
            places.SetAtomPosition(atom, (x, y, 0.0))
    return mol


def _sanitized(graph: Graph) -> Any:
    """The molecule that the graph was read from, or one with the charges and hydrogens that a graph does not hold.

    Kekulized; unchanged if no charges and hydrogens make it valid.
    """
    from rdkit import Chem

    mol = rebuilt(graph)
    found = original_of(graph) or repaired(mol)
    if found is not None and Chem.SanitizeMol(found, catchErrors=True) == Chem.SanitizeFlags.SANITIZE_NONE:
        Chem.Kekulize(found, clearAromaticFlags=True)
        return found
    for atom in mol.GetAtoms():
        atom.SetNoImplicit(True)
    mol.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(mol)
    return mol


def draw_molecule(
    graph: Graph, axes: Axes, *, marks: Marks | None = None, toward: Places | None = None, side: float = 160.0
) -> None:
    """The structural formula, as lines and outlines, so that it stays sharp in SVG and PDF.

    Args:
        marks: Colors behind atoms and bonds.
        toward: See `molecule`.
        side: Width that the axes show at least; a bond is 45 long. One side for all gives one bond length.
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
    # Small molecules are not enlarged: molecules side by side have one bond length.
    box = axes.get_window_extent()
    tall = box.height / box.width
    side = max(width, height / tall, side)
    axes.set_xlim(width / 2 - side / 2, width / 2 + side / 2)
    axes.set_ylim(height / 2 + side * tall / 2, height / 2 - side * tall / 2)
    axes.set_aspect("equal")
    axes.axis("off")
    points = box.width / axes.figure.dpi * 72 / side  # points per unit of the drawing
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


def common_side(mols: Sequence[Any], tall: float = 1.0) -> float:
    """A width for `draw_molecule` into which each of these molecules fits.

    Args:
        tall: Height of the axes divided by their width.
    """
    spans = [np.ptp(mol.GetConformer().GetPositions()[:, :2], axis=0) for mol in mols if mol.GetNumAtoms()]
    return 55 + 30 * max((max(float(x), float(y) / tall) for x, y in spans), default=0.0)


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
