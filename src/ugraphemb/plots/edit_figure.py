"""Figures of a query, the graphs found, and the edits between them (extra `plot`)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import GraphLike, concatenated, graph_of
from ugraphemb.plots.drawing import EDGE, INK, LabelColors, draw_graph, legend_handles, new_figure
from ugraphemb.plots.layout import layout
from ugraphemb.plots.marks import CHANGED, GONE, NEW, aims_of, edit_marks
from ugraphemb.plots.molecules import are_molecules, common_side, draw_molecule, molecule

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def edit_figure(
    query: GraphLike,
    graphs: Sequence[GraphLike],
    mappings: Sequence[npt.NDArray[np.int32]],
    *,
    titles: Sequence[str],
    notes: Sequence[str] | None = None,
    title: str = "",
    edge_labels: bool = True,
) -> Figure:
    """One column per graph: above the query with what is removed, below the graph with what is added, aligned.

    Args:
        mappings: For each graph the image of each node of the query, -1 if it is removed.
        titles: Written above each column.
        notes: Written below each column.
        title: Title of the figure.
        edge_labels: Whether labels of edges count; not if the cost `edge_relabel` is 0.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.plots import edit_figure, save_figure
        >>> aspirin, acid = "CC(=O)Oc1ccccc1C(=O)O", "O=C(O)c1ccccc1O"
        >>> found = ug.distance(aspirin, acid, method="exact")
        >>> figure = edit_figure(aspirin, [acid], [found.mapping], titles=[f"{found.value:g} edits"])
        >>> save_figure(figure, "edits.svg")
    """
    query, graphs = graph_of(query), [graph_of(graph) for graph in graphs]
    count = len(graphs)
    if not count or not count == len(mappings) == len(titles) == len(notes or titles):
        raise ValueError(f"{count} graphs, {len(mappings)} mappings and {len(titles)} titles; one of each is needed")
    alone = [graph.graphs[[graph.position]] for graph in (query, *graphs)]
    chemical = all(map(are_molecules, alone))
    colors = LabelColors.of(concatenated(alone))
    home = molecule(query).GetConformer().GetPositions()[:, :2] if chemical else layout(query)
    found = list(zip(graphs, mappings, strict=True))
    marks = [edit_marks(query, graph, mapping, edge_labels=edge_labels) for graph, mapping in found]
    aims = [aims_of(home, graph, mapping) for graph, mapping in found]
    drawn = zip((query, *graphs), (home, *aims), strict=True)
    cell, left, head, foot = 2.5, 0.6, 0.75 if title else 0.4, 0.45 if notes is None else 0.85
    mols = [molecule(graph, aim) for graph, aim in drawn] if chemical else []
    down = cell * (float(np.clip(_flatness(mols), 0.6, 1.0)) if chemical else 1.0)
    side = common_side(mols, (down - 0.16) / (cell - 0.16))
    width, height = left + cell * count + 0.1, head + 2 * down + foot
    figure = new_figure(width, height)
    figure.text(0.5, 1 - 0.1 / height, title, ha="center", va="top", fontsize=13, weight="bold", color=INK)
    for column in range(count):
        x = left + column * cell
        middle = (x + cell / 2) / width
        figure.text(
            middle, 1 - (head - 0.06) / height, titles[column], ha="center", va="bottom", fontsize=10.5, color=INK
        )
        for row in (0, 1):
            box = (x + 0.08, foot + (1 - row) * down + 0.08, cell - 0.16, down - 0.16)
            place = (box[0] / width, box[1] / height, box[2] / width, box[3] / height)
            frame = figure.add_axes(place, xticks=[], yticks=[], facecolor="#F7F8FA" if row == 0 else "white")
            frame.spines[:].set_color("#D5DAE0")
            axes = figure.add_axes(
                (place[0] + 0.01 * place[2], place[1] + 0.01 * place[3], 0.98 * place[2], 0.98 * place[3])
            )
            graph, aim = (query, home) if row == 0 else (graphs[column], aims[column])
            if chemical:
                draw_molecule(graph, axes, marks=marks[column][row], toward=aim, side=side)
            else:
                draw_graph(graph, axes, colors=colors, molecules=False, marks=marks[column][row], toward=aim)
        if notes is not None:
            note = textwrap.fill(notes[column], 38)
            figure.text(middle, (foot - 0.02) / height, note, ha="center", va="top", fontsize=9, color=EDGE)
    for row, name in enumerate(("query", "found")):
        y = (foot + (1.5 - row) * down) / height
        figure.text(0.32 / width, y, name, rotation=90, ha="center", va="center", fontsize=11, weight="bold", color=INK)
    _legend(figure, [mark for pair in marks for part in pair for mark in (*part.nodes.values(), *part.edges.values())])
    return figure


def _legend(figure: Figure, used: Sequence[str]) -> None:
    names = {GONE: "removed", CHANGED: "relabeled", NEW: "added"}
    handles = legend_handles([(text, color, "s") for color, text in names.items() if color in used])
    for handle in handles:
        handle.set_markersize(11)
    if handles:
        figure.legend(
            handles=handles, loc="lower center", ncols=len(handles), fontsize=10, frameon=False, handletextpad=0.3
        )


def _flatness(mols: Sequence[Any]) -> float:
    """Largest height of the molecules divided by their largest width."""
    spans = [np.ptp(mol.GetConformer().GetPositions()[:, :2], axis=0) for mol in mols if mol.GetNumAtoms()]
    across, down = np.max([*spans, (1.5, 1.5)], axis=0)
    return float((down + 1.5) / (across + 1.5))
