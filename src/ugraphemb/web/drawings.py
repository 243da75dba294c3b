"""Graphs as SVG: structural formulas by RDKit for molecules, our own layout for others.

Colors stand in attributes, never in style="...": a page with a strict Content-Security-Policy may put the text into its
document. Backgrounds are transparent.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph
from ugraphemb.graphs.convert.chemistry import BONDS
from ugraphemb.plots.drawing import OTHER, PALETTE, LabelColors
from ugraphemb.plots.layout import layout
from ugraphemb.plots.marks import CHANGED, GONE, NEW, Marks, turned
from ugraphemb.plots.molecules import bond_orders, molecule
from ugraphemb.web.bodies import Theme

Places = npt.NDArray[np.float64]
Edge = tuple[int, int]

INK: dict[Theme, str] = {"light": "#333B45", "dark": "#E4E8ED"}
LINE: dict[Theme, str] = {"light": "#6B7580", "dark": "#9AA5B1"}
PAPER: dict[Theme, str] = {"light": "#FFFFFF", "dark": "#14181D"}
NAMES = {GONE: "removed", CHANGED: "relabeled", NEW: "added"}
# Behind drawings: what was light enough for dark letters is dark enough for light ones.
MARKS: dict[Theme, dict[str, str]] = {
    "light": {"removed": GONE, "relabeled": CHANGED, "added": NEW},
    "dark": {"removed": "#9A4A12", "relabeled": "#7A6A00", "added": "#1F5F93"},
}
_MARGIN = 0.9  # around nodes, in units of the layout
_NUMBER = ".1f"


@dataclass(frozen=True, eq=False)
class Look:
    """How a graph is drawn.

    Attributes:
        places: Coordinates of each node, y upward; an edge is about 1 long, a bond about 1.5.
        orders: For molecules: bond order of each edge: 1, 2, 3, or 4 (aromatic without a Kekulé structure).
        charges: For molecules: charge of each node.
    """

    places: Places
    orders: list[int] | None = None
    charges: list[int] | None = None

    @classmethod
    def of(cls, graph: Graph, chemical: bool, toward: Places | None = None) -> Look:
        if not graph.num_nodes:
            return cls(np.empty((0, 2)))
        if not chemical:
            places = np.asarray(layout(graph), np.float64)
            return cls(places if toward is None else turned(places, toward))
        mol = molecule(graph, toward)
        ends = [tuple(sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))) for bond in mol.GetBonds()]
        order = dict(zip(ends, bond_orders(mol), strict=True))
        return cls(
            np.asarray(mol.GetConformer().GetPositions()[:, :2]),
            [order.get((u, v), 1) for u, v in graph.edges.tolist()],
            [atom.GetFormalCharge() for atom in mol.GetAtoms()],
        )


def shown(look: Look, places: Places | None = None) -> dict[str, Any]:
    """What an answer says of it: coordinates, orders, charges."""
    where = look.places if places is None else places
    return {"coordinates": where.tolist(), "orders": look.orders, "charges": look.charges}


def drawing(
    graph: Graph, *, chemical: bool, colors: LabelColors, size: int, theme: Theme, marks: Marks | None = None,
    toward: Places | None = None,
) -> str:  # fmt: skip
    """One graph, at most `size` pixels wide and high."""
    if chemical and graph.num_nodes:
        return _formula(graph, size, theme, marks or Marks(), toward)
    scene = Scene.of(graph, Look.of(graph, False, toward).places, marks or Marks())
    return sketch(scene, colors=colors, chemical=False, size=size, theme=theme)


def _formula(graph: Graph, size: int, theme: Theme, marks: Marks, toward: Places | None) -> str:
    from rdkit.Chem.Draw import rdMolDraw2D

    mol = molecule(graph, toward)
    drawer = rdMolDraw2D.MolDraw2DSVG(size, size)
    options: Any = drawer.drawOptions()
    if theme == "dark":
        rdMolDraw2D.SetDarkMode(options)
    options.updateAtomPalette(_atom_palette(theme))
    options.prepareMolsBeforeDrawing = False
    options.clearBackground = False
    options.padding = 0.06
    options.fixedBondLength = 0.16 * size if size < 260 else 42  # small molecules are not enlarged
    options.highlightBondWidthMultiplier = 12
    options.highlightRadius = 0.32
    tints = MARKS[theme]
    atoms = {node: _rgb(tints[NAMES[color]]) for node, color in marks.nodes.items()}
    bonds = {
        mol.GetBondBetweenAtoms(u, v).GetIdx(): _rgb(tints[NAMES[color]])
        for (u, v), color in marks.edges.items()
        if mol.GetBondBetweenAtoms(u, v) is not None
    }
    drawer.DrawMolecule(
        mol,
        highlightAtoms=list(atoms),
        highlightAtomColors=atoms,
        highlightBonds=list(bonds),
        highlightBondColors=bonds,
    )
    drawer.FinishDrawing()
    text: str = drawer.GetDrawingText()
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->|<rect [^>]*>\s*</rect>", "", text, flags=re.DOTALL)
    text = re.sub(r"style='([^']*)'", lambda found: _attributes(found[1]), text)
    spots = np.array([(spot.x, spot.y) for spot in map(drawer.GetDrawCoords, range(mol.GetNumAtoms()))])
    return _cropped(re.sub(r"\n+", "\n", text).strip(), spots, size)


def _cropped(text: str, spots: Places, size: int) -> str:
    """The picture without empty margins, so that wide boxes show it large; small molecules are not enlarged."""
    low, high = spots.min(axis=0) - 0.1 * size, spots.max(axis=0) + 0.1 * size
    middle, extent = (low + high) / 2, np.minimum(np.maximum(high - low, (0.62 * size, 0.46 * size)), size)
    (x, y), (width, height) = middle - extent / 2, extent
    box = f"width='{width:.0f}px' height='{height:.0f}px' viewBox='{x:.0f} {y:.0f} {width:.0f} {height:.0f}'"
    return re.sub(r"width='\d+px' height='\d+px' viewBox='[^']*'", box, text, count=1)


def _box(spots: Sequence[tuple[float, float]], size: int, margin: float) -> str:
    """Attributes of an SVG that shows what is drawn at these spots, without empty margins."""
    places = np.array(spots, np.float64).reshape(-1, 2)
    if not len(places):
        return f"width='{size}' height='{size}' viewBox='0 0 {size} {size}'"
    low = np.clip(np.floor(places.min(axis=0) - margin), 0, size)
    width, height = (np.clip(np.ceil(places.max(axis=0) + margin), 0, size) - low).tolist()
    return f"width='{width:g}' height='{height:g}' viewBox='{low[0]:g} {low[1]:g} {width:g} {height:g}'"


def _attributes(style: str) -> str:
    """fill:none;stroke:#000 as fill='none' stroke='#000'."""
    pairs = [entry.partition(":") for entry in style.split(";") if ":" in entry]
    return " ".join(f"{name.strip()}='{value.strip()}'" for name, _, value in pairs)


def _rgb(color: str) -> tuple[float, float, float]:
    return (int(color[1:3], 16) / 255, int(color[3:5], 16) / 255, int(color[5:7], 16) / 255)


@dataclass(frozen=True, eq=False)
class Scene:
    """What to draw: nodes by name, where they are and what they are called.

    Attributes:
        frame: Lowest and highest corner that the picture shows; None is what the nodes need.
    """

    places: Mapping[int, Sequence[float]]
    labels: Mapping[int, Any]
    edges: Mapping[Edge, Any]
    marks: Marks
    frame: tuple[Places, Places] | None = None

    @classmethod
    def of(cls, graph: Graph, places: Places, marks: Marks) -> Scene:
        edges = [(int(u), int(v)) for u, v in graph.edges]
        labels = graph.edge_labels or [None] * len(edges)
        return cls(
            dict(enumerate(places.tolist())), dict(enumerate(graph.node_labels)),
            dict(zip(edges, labels, strict=True)), marks,
        )  # fmt: skip


def sketch(scene: Scene, *, colors: LabelColors, chemical: bool, size: int, theme: Theme) -> str:
    """Nodes as dots in the colors of their labels, or as the letters of atoms; edges as lines, bonds by their order."""
    places = np.array(list(scene.places.values()), np.float64).reshape(-1, 2)
    low, high = scene.frame or ((places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(2), np.zeros(2)))
    side = max(float((high - low).max()) + 2 * _MARGIN, 4.0)
    scale, middle = size / side, (low + high) / 2
    spot = {
        name: (size / 2 + scale * (x - middle[0]), size / 2 - scale * (y - middle[1]))
        for name, (x, y) in scene.places.items()
    }
    radius = float(np.clip(scale * (0.24 if not chemical else 0.32), 2.0, 11.0))
    tints, ink = MARKS[theme], INK[theme]
    whole = f"width='{size}' height='{size}' viewBox='0 0 {size} {size}'"
    box = whole if scene.frame is not None else _box(list(spot.values()), size, 2.0 * radius + 2)
    parts = [f"<svg xmlns='http://www.w3.org/2000/svg' {box}>"]
    for edge, color in scene.marks.edges.items():
        if edge in scene.edges:
            parts.append(_line(spot[edge[0]], spot[edge[1]], tints[NAMES[color]], 2.2 * radius, NAMES[color]))
    for node, color in scene.marks.nodes.items():
        if node in spot:
            x, y = spot[node]
            parts.append(
                f"<circle class='{NAMES[color]}' cx='{x:{_NUMBER}}' cy='{y:{_NUMBER}}' r='{2.0 * radius:{_NUMBER}}' "
                f"fill='{tints[NAMES[color]]}'/>"
            )
    width = max(1.0, 0.3 * radius) if not chemical else max(1.2, 0.055 * scale)
    for (u, v), label in scene.edges.items():
        orders = _order(label) if chemical else 1
        parts += _strokes(spot[u], spot[v], orders, LINE[theme] if not chemical else ink, width, label)
    for name, label in scene.labels.items():
        parts.append(
            _atom(spot[name], label, radius, theme) if chemical else _dot(spot[name], label, radius, colors, theme)
        )
    parts.append("</svg>")
    return "\n".join(part for part in parts if part)


def _dot(spot: tuple[float, float], label: Any, radius: float, colors: LabelColors, theme: Theme) -> str:
    fill = label_color(label, colors)
    title = "" if label is None else f"<title>{_text(label)}</title>"
    return (
        f"<circle cx='{spot[0]:{_NUMBER}}' cy='{spot[1]:{_NUMBER}}' r='{radius:{_NUMBER}}' fill='{fill}' "
        f"stroke='{PAPER[theme]}' stroke-width='1'>{title}</circle>"
    )


def _atom(spot: tuple[float, float], label: Any, radius: float, theme: Theme) -> str:
    if label == "C":
        return ""
    x, y, size = spot[0], spot[1], 1.9 * radius
    wide = 0.62 * size * max(1, len(str(label))) / 2 + 1
    color = _ELEMENTS[theme].get(str(label), INK[theme])
    return (
        f"<circle cx='{x:{_NUMBER}}' cy='{y:{_NUMBER}}' r='{max(0.62 * size, wide):{_NUMBER}}' fill='{PAPER[theme]}' "
        f"fill-opacity='0.82'/><text x='{x:{_NUMBER}}' y='{y:{_NUMBER}}' fill='{color}' "
        f"font-family='sans-serif' font-size='{size:{_NUMBER}}' text-anchor='middle' dominant-baseline='central'>"
        f"{_text(label)}</text>"
    )


_ELEMENTS: dict[Theme, dict[str, str]] = {
    "light": {"N": "#1F4FD8", "O": "#C8102E", "S": "#8A6D00", "Cl": "#16803C", "F": "#16803C", "Br": "#8B3A1A",
              "I": "#6B21A8", "P": "#B45309"},
    "dark": {"N": "#8AB4FF", "O": "#FF8A80", "S": "#E5C84A", "Cl": "#6EE7A0", "F": "#6EE7A0", "Br": "#F0A070",
             "I": "#D0A0FF", "P": "#FFB86B"},
}  # fmt: skip


@cache
def _atom_palette(theme: Theme) -> dict[int, tuple[float, float, float]]:
    """Colors of RDKit's letters: its own green, and its blue on dark paper, are hard to read."""
    from rdkit.Chem import GetPeriodicTable

    number = GetPeriodicTable().GetAtomicNumber
    return {number(element): _rgb(color) for element, color in _ELEMENTS[theme].items()}


def _order(label: Any) -> float:
    kind = BONDS.get(str(label).lower(), "SINGLE")
    return {"DOUBLE": 2, "TRIPLE": 3, "QUADRUPLE": 4, "AROMATIC": 1.5}.get(kind, 1)


def _strokes(
    start: tuple[float, float], stop: tuple[float, float], order: float, color: str, width: float, label: Any
) -> list[str]:
    """The lines of one edge; the second line of an aromatic bond is dashed."""
    length = float(np.hypot(stop[0] - start[0], stop[1] - start[1])) or 1.0
    across = np.array([start[1] - stop[1], stop[0] - start[0]]) / length * (2.4 * width)
    title = "" if label is None else f"<title>{_text(label)}</title>"
    lines = []
    for i in range(int(np.ceil(order))):
        shift = across * (i - (np.ceil(order) - 1) / 2)
        ends = [(start[0] + shift[0], start[1] + shift[1]), (stop[0] + shift[0], stop[1] + shift[1])]
        dashed = " stroke-dasharray='3 3'" if order == 1.5 and i == 1 else ""
        lines.append(_line(ends[0], ends[1], color, width, "", dashed, title))
        title = ""
    return lines


def _line(
    start: tuple[float, float], stop: tuple[float, float], color: str, width: float, name: str, more: str = "",
    title: str = "",
) -> str:  # fmt: skip
    named = f"class='{name}' " if name else ""
    return (
        f"<line {named}x1='{start[0]:{_NUMBER}}' y1='{start[1]:{_NUMBER}}' x2='{stop[0]:{_NUMBER}}' "
        f"y2='{stop[1]:{_NUMBER}}' stroke='{color}' stroke-width='{width:{_NUMBER}}' stroke-linecap='round'{more}"
        + (f">{title}</line>" if title else "/>")
    )


def _text(value: Any) -> str:
    """Of a label, in XML: without characters that XML does not allow."""
    return html.escape(re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", str(value)))


def label_color(label: Any, colors: LabelColors) -> str:
    """The color of a node label in drawings."""
    return colors.color.get(label, OTHER) if colors.color else PALETTE[0]
