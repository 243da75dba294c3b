"""An interactive map in one HTML file that needs nothing else: point at a dot and its graph is drawn."""

from __future__ import annotations

import base64
import html
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.files import storage_errors, write_file
from ugraphemb.graphs import GraphSet, GraphsLike, graphs_of
from ugraphemb.plots.drawing import OTHER, PALETTE, LabelColors, class_styles
from ugraphemb.plots.layout import layout
from ugraphemb.plots.molecules import are_molecules, bond_orders, molecule
from ugraphemb.tasks.checks import finite_matrix

_ELEMENT_COLORS = {"N": "#1F5FD0", "O": "#D1220F", "S": "#9A7200", "F": "#0B8A6A", "Cl": "#13801A", "Br": "#8A3B12",
                   "I": "#6B1FA0", "P": "#C25A00"}  # fmt: skip


def write_map_page(coordinates: npt.ArrayLike, graphs: GraphsLike, path: str | Path, *, title: str = "") -> None:
    """Write a map as a page for the browser; pointing draws a graph, a click keeps it, classes can be hidden.

    Args:
        coordinates: Shape (graphs, 2).
        graphs: Their `targets`, if any, determine the colors of the dots; up to 255 classes. A graph has at most
            65,535 nodes.
        path: Ends in .html.
        title: By default the name of the collection.

    Examples:
        >>> import numpy as np
        >>> import ugraphemb as ug
        >>> from ugraphemb.plots import write_map_page
        >>> graphs = ug.load_dataset("atlas")[100:160]
        >>> places = np.random.default_rng(0).normal(size=(60, 2))
        >>> write_map_page(places, graphs, "map.html")
    """
    graphs = graphs_of(graphs)
    page = files("ugraphemb.plots").joinpath("map_page.html").read_text(encoding="utf-8")
    heading = html.escape(title or graphs.name or "Map of graphs")
    data = json.dumps(_data(coordinates, graphs), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    text = page.replace("__TITLE__", heading).replace("__DATA__", data)
    with storage_errors(path):
        write_file(Path(path), text.encode())


def _data(coordinates: npt.ArrayLike, graphs: GraphSet) -> dict[str, Any]:
    places = finite_matrix(coordinates, "coordinates")
    if places.shape != (len(graphs), 2) or len(graphs) == 0:
        raise ValueError(f"coordinates of shape {places.shape}; expected ({len(graphs)}, 2): one place per graph")
    if graphs.num_nodes.max() > 65535:
        raise ValueError(f"a graph of {graphs.num_nodes.max()} nodes; a page draws at most 65,535")
    low, high = places.min(axis=0), places.max(axis=0)
    places = (places - (low + high) / 2) / (max(float((high - low).max()), 1e-12) / 2)  # within -1 ... 1
    drawn = [_drawing(graphs, i) for i in range(len(graphs))]
    chemical = are_molecules(graphs)
    colors = LabelColors.of(graphs)
    paints, paint = _paints(graphs, colors, chemical)
    styles, class_of = _classes(graphs)
    counts = np.bincount(class_of, minlength=len(styles))
    answer: dict[str, Any] = {
        "ids": _names(graphs),
        "places": _packed(places, np.float32),
        "class_of": _packed(class_of, np.uint8),
        "classes": [
            {"name": str(name), "color": color, "marker": marker, "count": int(count)}
            for (name, color, marker), count in zip(styles, counts, strict=True)
        ],
        # One random order, so that no class lies on top of another.
        "order": np.random.default_rng(0).permutation(len(graphs)).tolist(),
        "node_offsets": _packed(graphs.node_offsets, np.uint32),
        "edge_offsets": _packed(np.concatenate([[0], np.cumsum(graphs.num_edges)]), np.uint32),
        "spots": _packed(np.concatenate([spots for spots, _, _ in drawn]), np.uint16),
        "unit": [round(unit, 1) for _, unit, _ in drawn],
        "paint": _packed(paint, np.uint8),
        "paints": paints,
        "edges": _packed(np.concatenate([graph.edges for graph in graphs]), np.uint16),
        "labels": [] if chemical else [list(entry) for entry in colors.legend()],
    }
    if chemical:
        answer["orders"] = _packed(np.concatenate([orders for _, _, orders in drawn]), np.uint8)
        answer["symbols"] = [str(label) for label in graphs.node_vocabulary]
        answer["symbol_of"] = _packed(graphs.node_labels, np.uint8)
    return answer


def _names(graphs: GraphSet) -> list[str]:
    """What is shown of a graph: its id and, of a molecule, the SMILES it was read from."""
    notes = graphs.metadata.get("smiles", np.full(len(graphs), None, object)).tolist()
    return [f"{name}  {note}" if note else name for name, note in zip(graphs.ids.tolist(), notes, strict=True)]


def _drawing(graphs: GraphSet, position: int) -> tuple[npt.NDArray[Any], float, npt.NDArray[Any]]:
    """Coordinates between 0 and 65535, the typical length of an edge in them, and the order of each bond."""
    graph = graphs[position]
    orders = np.empty(0, np.int64)
    if are_molecules(graphs):
        mol = molecule(graph)
        spots = np.array(mol.GetConformer().GetPositions(), dtype=np.float64).reshape(-1, 3)[:, :2]
        orders = np.array(bond_orders(mol), dtype=np.int64)
    else:
        spots = layout(graph)
    if len(spots) == 0:
        return spots, 1.0, orders
    spots = spots - spots.min(axis=0)
    spots = spots * (65535 / max(float(spots.max()), 1e-9))
    lengths = np.linalg.norm(np.diff(spots[graph.edges], axis=1), axis=2)
    return np.round(spots), float(np.median(lengths)) if len(lengths) else 65535.0, orders


def _paints(graphs: GraphSet, colors: LabelColors, chemical: bool) -> tuple[list[str], npt.NDArray[Any]]:
    """The colors of nodes, and which of them each node has."""
    if not chemical and not colors.color:
        return [PALETTE[0]], np.zeros(len(graphs.node_labels), np.uint8)
    if chemical:
        of_label = [_ELEMENT_COLORS.get(str(label), "#262D36") for label in graphs.node_vocabulary]
    else:
        of_label = [colors.color.get(label, OTHER) for label in graphs.node_vocabulary]
    paints, of = np.unique(np.array(of_label), return_inverse=True)
    return paints.tolist(), of.reshape(-1)[graphs.node_labels]


def _classes(graphs: GraphSet) -> tuple[list[tuple[Any, str, str]], npt.NDArray[Any]]:
    if graphs.targets is None:
        return [("all", PALETTE[0], "o")], np.zeros(len(graphs), np.int64)
    styles = class_styles(graphs.targets)
    if len(styles) > 255:
        raise ValueError(f"{len(styles)} classes; a page colors at most 255 (are these values, not classes?)")
    return styles, np.unique(graphs.targets, return_inverse=True)[1].reshape(-1)


def _packed(values: npt.NDArray[Any], dtype: Any) -> str:
    """Little-endian bytes in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<")).tobytes()).decode()
