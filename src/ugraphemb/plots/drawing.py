"""One graph on a pair of axes, in colors safe for color vision deficiency (extra `plot`)."""

from __future__ import annotations

import io
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import needs_extra
from ugraphemb.files import storage_errors, write_file
from ugraphemb.graphs import Graph, GraphLike, GraphSet, graph_of
from ugraphemb.plots.layout import layout
from ugraphemb.plots.marks import Marks, Places, turned
from ugraphemb.plots.molecules import are_molecules, draw_molecule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
"""Okabe and Ito (2008): distinguishable with color vision deficiency."""

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
OTHER = "#B8BDC4"
INK = "#333B45"
EDGE = "#6B7580"


@dataclass(frozen=True)
class LabelColors:
    """A color for each of the most frequent node labels; all others share a gray.

    Attributes:
        color: The color of each frequent label; empty if nodes have no labels, or so many different ones that most
            would be gray.
        others: How many labels share the gray.
    """

    color: dict[Hashable, str]
    others: int

    @classmethod
    def of(cls, graphs: GraphSet) -> LabelColors:
        """Colors of the most frequent labels, in a fixed order: elements as in the periodic table, others sorted."""
        vocabulary = graphs.node_vocabulary
        counts = np.bincount(graphs.node_labels, minlength=len(vocabulary))
        found = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i] and vocabulary]
        # Black comes last in the palette and is never reached: dots must differ from the lines.
        room = 7 if len(found) <= 7 else 6
        if counts[found[:room]].sum() < counts.sum() / 2:
            return cls({}, 0)
        shown = sorted(found[:room], key=lambda i: _legend_order(vocabulary[i]))
        return cls({vocabulary[i]: PALETTE[rank] for rank, i in enumerate(shown)}, max(0, len(found) - room))

    def of_nodes(self, graph: Graph) -> list[str]:
        if not self.color:
            return [PALETTE[0]] * graph.num_nodes
        return [self.color.get(label, OTHER) for label in graph.node_labels]

    def legend(self) -> list[tuple[str, str]]:
        """(text, color) of each entry; none if all nodes have one color."""
        entries = [(_label_text(label), color) for label, color in self.color.items()]
        entries += [(f"{self.others} other labels", OTHER)] if self.others else []
        return entries if len(entries) > 1 else []


def _label_text(label: Hashable) -> str:
    """A number alone could be mistaken for a class or a count."""
    return f"label {label}" if isinstance(label, int | float) else str(label)


_ELEMENTS = " H B C N O F Na Mg Al Si P S Cl K Ca Ti Cr Mn Fe Co Ni Cu Zn As Se Br Ag Sn Te I Pt Au Hg Pb "


def _legend_order(label: Hashable) -> tuple[int, float, str]:
    """Sorts elements, then numbers, then everything else by its text."""
    if isinstance(label, str) and f" {label} " in _ELEMENTS:
        return 0, _ELEMENTS.index(f" {label} "), ""
    if isinstance(label, int | float):
        return 1, float(label), ""
    return 2, 0.0, str(label)


def class_styles(targets: npt.ArrayLike) -> list[tuple[Any, str, str]]:
    """(class, color, marker) of each class, sorted: seven colors, then the same ones with another marker."""
    classes = np.unique(np.asarray(targets)).tolist()
    colors = PALETTE[:6] + PALETTE[7:] if len(classes) <= 7 else PALETTE
    return [(c, colors[i % len(colors)], MARKERS[i // len(colors) % len(MARKERS)]) for i, c in enumerate(classes)]


def draw_graph(
    graph: GraphLike,
    axes: Axes,
    *,
    colors: LabelColors | None = None,
    molecules: bool | None = None,
    marks: Marks | None = None,
    toward: Places | None = None,
    side: float = 160.0,
) -> None:
    """Draw a graph into the axes, as large as they allow.

    Args:
        colors: Colors of the node labels; by default those of the graph's collection.
        molecules: Draw a structural formula; by default if the collection consists of molecules, see `are_molecules`.
        marks: Colors behind nodes and edges.
        toward: Preferred place of each node, nan for none: the drawing is rotated to match.
        side: For molecules: minimum width that the axes show, see `draw_molecule`.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.plots import draw_graph, new_figure
        >>> figure = new_figure(4, 2)
        >>> for column, graph in enumerate(ug.load_dataset("atlas")[50:52], start=1):
        ...     draw_graph(graph, figure.add_subplot(1, 2, column))
        >>> len(figure.axes)
        2
    """
    graph = graph_of(graph)
    if are_molecules(graph.graphs) if molecules is None else molecules:
        draw_molecule(graph, axes, marks=marks, toward=toward, side=side)
        return
    with needs_extra("plot"):
        from matplotlib.collections import LineCollection

    colors = LabelColors.of(graph.graphs) if colors is None else colors
    positions, edges = layout(graph), graph.edges
    if toward is not None:
        positions = turned(positions, toward)
    axes.set_aspect("equal")
    axes.axis("off")
    if graph.num_nodes == 0:
        axes.text(0.5, 0.5, "no nodes", ha="center", va="center", color=EDGE, fontsize=7, transform=axes.transAxes)
        return
    low, high = positions.min(axis=0), positions.max(axis=0)
    # Small graphs are not enlarged: a triangle next to a clique of thirty nodes stays small.
    side = max(float((high - low).max()), 2.0) * 1.16
    center = (low + high) / 2
    axes.set_xlim(center[0] - side / 2, center[0] + side / 2)
    axes.set_ylim(center[1] - side / 2, center[1] + side / 2)
    box = axes.get_window_extent()
    points = min(box.width, box.height) / axes.figure.dpi * 72  # of the side of the square
    spacing = points * np.sqrt(0.6 / max(graph.num_nodes, 1))  # what a node would have if all shared the area
    length = (
        points / side * (np.median(np.linalg.norm(np.diff(positions[edges], axis=1), axis=2)) if len(edges) else 1.0)
    )
    radius = float(np.clip(0.26 * min(spacing, length), 0.9, 5.0))
    for (u, v), color in (marks.edges if marks else {}).items():
        axes.plot(*positions[[u, v]].T, color=color, linewidth=2.2 * radius, solid_capstyle="round", zorder=0.5)
    for node, color in (marks.nodes if marks else {}).items():
        axes.plot(*positions[[node]].T, "o", color=color, markersize=4.4 * radius, markeredgewidth=0, zorder=0.6)
    crowd = float(np.clip(2.2 * graph.num_nodes / max(graph.num_edges, 1), 0.25, 1.0))  # dense graphs in lighter lines
    axes.add_collection(
        LineCollection(list(positions[edges]), colors=EDGE, linewidths=max(0.3, 0.32 * radius), alpha=crowd)
    )
    axes.scatter(
        positions[:, 0],
        positions[:, 1],
        s=(2 * radius) ** 2,
        c=colors.of_nodes(graph),
        zorder=3,
        linewidths=0.16 * radius,
        edgecolors="white",
    )


def legend_handles(entries: Sequence[tuple[str, str]] | Sequence[tuple[str, str, str]]) -> list[Any]:
    """Dots for a legend, from (text, color) or (text, color, marker)."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], linestyle="", marker=entry[2] if len(entry) > 2 else "o", markersize=6, color=entry[1],
               markeredgecolor="white", markeredgewidth=0.5, label=entry[0])
        for entry in entries
    ]  # fmt: skip


def graph_figure(graph: GraphLike, *, size: float = 4.0) -> Figure:
    """A figure of one graph, with a legend of its node labels.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.plots import graph_figure, save_figure
        >>> save_figure(graph_figure("CC(=O)Oc1ccccc1C(=O)O"), "aspirin.svg")
    """
    graph = graph_of(graph)
    figure = new_figure(size, size)
    colors = LabelColors.of(graph.graphs[[graph.position]])
    draw_graph(graph, figure.add_axes((0.02, 0.08, 0.96, 0.9)), colors=colors)
    if colors.legend() and not are_molecules(graph.graphs):
        handles = legend_handles(colors.legend())
        figure.legend(handles=handles, loc="lower center", ncols=min(len(handles), 4), fontsize=8, frameon=False)
    return figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, independent of pyplot and its global state.

    Examples:
        >>> from ugraphemb.plots import new_figure
        >>> new_figure(4, 3).get_size_inches().tolist()
        [4.0, 3.0]
    """
    with needs_extra("plot"):
        from matplotlib.figure import Figure

    return Figure(figsize=(width, height), facecolor="white")


def save_figure(figure: Figure, path: str | Path, *, dpi: int = 200) -> None:
    """Write PNG, SVG or PDF, by suffix, atomically; the same figure always gives the same bytes.

    Examples:
        >>> from ugraphemb.plots import graph_figure, save_figure
        >>> save_figure(graph_figure("c1ccccc1"), "benzene.png", dpi=100)
    """
    import matplotlib

    target = Path(path)
    kind = target.suffix.lower()
    stamps = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    if kind not in stamps:
        raise ValueError(f"{target.name}: a figure is written as .png, .svg or .pdf")
    with matplotlib.rc_context({"svg.hashsalt": "ugraphemb", "pdf.fonttype": 42}):
        drawn = io.BytesIO()
        figure.savefig(drawn, format=kind[1:], dpi=dpi, metadata=stamps[kind])
    with storage_errors(target):
        write_file(target, drawn.getvalue())


def indexed_png(figure: Figure, dpi: int = 200) -> bytes:
    """A PNG of at most 256 colors, small enough to be committed; flat areas keep their exact color."""
    from PIL import Image

    drawn, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    with Image.open(drawn) as opened:
        picture = opened.convert("RGB")
    few = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # keeps rare colors
    pixels, codes = np.asarray(picture).reshape(-1, 3), np.asarray(few).ravel().astype(np.int64)
    values = pixels @ np.array([1 << 16, 1 << 8, 1])
    found, counts = np.unique(codes << 24 | values, return_counts=True)
    order = np.argsort(counts, kind="stable")  # the most frequent color of each code is written last
    palette = np.zeros((256, 3), np.uint8)
    palette[found[order] >> 24] = np.stack([found[order] >> shift & 255 for shift in (16, 8, 0)], axis=1)
    few.putpalette(palette.tobytes())
    few.save(packed, format="PNG", optimize=True)
    return packed.getvalue()
