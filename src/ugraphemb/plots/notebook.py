"""Graphs, collections and matches as HTML with drawings, for notebooks. Needs no matplotlib."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from ugraphemb.graphs import Graph, GraphSet
from ugraphemb.plots.drawing import LabelColors
from ugraphemb.plots.layout import layout
from ugraphemb.plots.molecules import are_molecules, molecule

_SHOWN = 12  # graphs of a collection
_MOST_NODES = 300  # drawings of larger graphs are not readable


def graph_html(graph: Graph, side: int = 220) -> str:
    """One graph: its drawing, and its id and size below."""
    alone = graph.graphs[[graph.position]]
    return f"<figure style='display:inline-block;margin:4px'>{_svg(alone, side)}{_caption(graph)}</figure>"


def graphs_html(graphs: GraphSet) -> str:
    """What a collection holds, and its first graphs."""
    shown = graphs[: min(_SHOWN, len(graphs))]
    more = f"<p>... and {len(graphs) - len(shown)} more</p>" if len(graphs) > len(shown) else ""
    return f"<p>{html.escape(repr(graphs))}</p>" + "".join(graph_html(graph, 140) for graph in shown) + more


def matches_html(matches: Any) -> str:
    """A table: rank, drawing, id, distance, what changes, metadata."""
    names = list(dict.fromkeys(name for match in matches for name in match.metadata))
    head = ["rank", "graph", "id", "edits", "predicted", *names]
    rows = []
    for match in matches:
        known = np.isfinite(match.upper)
        edits = "" if not known else f"{match.distance:g}" if match.proven else f"{match.lower:g}–{match.upper:g}"
        hover = html.escape(match.graph.smiles or match.id, quote=True)
        drawing = f"<span title='{hover}'>{_svg(match.graph.graphs[[match.graph.position]], 120)}</span>"
        about = [html.escape(str(match.metadata.get(name, ""))) for name in names]
        rows.append([str(match.rank), drawing, html.escape(match.id), edits, f"{match.predicted:.3f}", *about])
    note = "" if matches.certificate is None else f"<p>{html.escape(str(matches.certificate))}</p>"
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{html.escape(name)}</th>' for name in head)}</tr>{cells}</table>{note}"


def _caption(graph: Graph) -> str:
    text = graph.smiles or ""
    title = f" title='{html.escape(text, quote=True)}'" if text else ""
    size = f"{graph.num_nodes} nodes, {graph.num_edges} edges"
    return f"<figcaption{title} style='font-size:11px;text-align:center'>{html.escape(graph.id)}: {size}</figcaption>"


def _svg(alone: GraphSet, side: int) -> str:
    """A drawing of the one graph of a collection."""
    graph = alone[0]
    if graph.num_nodes > _MOST_NODES:
        return f"<p>{graph.num_nodes} nodes are too many to draw</p>"
    if graph.num_nodes and are_molecules(alone):
        return _molecule_svg(graph, side)
    colors = LabelColors.of(alone).of_nodes(graph)
    places = np.asarray(layout(graph), dtype=np.float64).reshape(-1, 2)
    low, extent = places.min(axis=0, initial=np.inf), float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    spots = (places - low) / (extent or 1.0) * (side - 24) + 12 if len(places) else places
    lines = [
        f"<line x1='{a[0]:.1f}' y1='{a[1]:.1f}' x2='{b[0]:.1f}' y2='{b[1]:.1f}' stroke='#8A94A0' stroke-width='1.5'/>"
        for a, b in spots[graph.edges].tolist()
    ]
    dots = [
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='5' fill='{color}'><title>{html.escape(str(label))}</title></circle>"
        for (x, y), color, label in zip(spots.tolist(), colors, graph.node_labels, strict=True)
    ]
    drawing = "".join(lines + dots)
    return f"<svg xmlns='http://www.w3.org/2000/svg' width='{side}' height='{side}'>{drawing}</svg>"


def _molecule_svg(graph: Graph, side: int) -> str:
    from rdkit.Chem.Draw import rdMolDraw2D

    drawer = rdMolDraw2D.MolDraw2DSVG(side, side)
    options: Any = drawer.drawOptions()
    options.prepareMolsBeforeDrawing = False
    drawer.DrawMolecule(molecule(graph))
    drawer.FinishDrawing()
    text: str = drawer.GetDrawingText()
    return text[text.index("<svg") :]
