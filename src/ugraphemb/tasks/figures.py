"""The paper's figures: maps by class, graphs along a line, clusters, and the answer to a query (extra `plot`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import GraphLike, GraphSet, GraphsLike, graph_of, graphs_of
from ugraphemb.tasks.checks import finite_matrix
from ugraphemb.tasks.drawing import (
    EDGE,
    INK,
    PALETTE,
    LabelColors,
    class_styles,
    draw_graph,
    legend_handles,
    new_figure,
)
from ugraphemb.tasks.molecules import are_molecules
from ugraphemb.tasks.ranking import Proximity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
RED = PALETTE[3]
COLUMNS = 6  # classes in a row of the legend below a map


def map_figure(coordinates: npt.ArrayLike, targets: npt.ArrayLike | None = None, *, title: str = "") -> Figure:
    """A scatter plot of a map, one dot a graph, colored by class."""
    places = _places(coordinates)
    figure = new_figure(6.4, 5.6)
    _scatter(figure.add_axes((0.02, 0.02, 0.8 if targets is not None else 0.96, 0.9)), places, targets, legend=True)
    figure.suptitle(title, x=0.03, y=0.975, ha="left", fontsize=12, color=INK, weight="bold")
    return figure


def along_line(coordinates: npt.ArrayLike, start: int, stop: int, points: int = 12) -> Ints:
    """Graphs nearest to `points` evenly spaced places on the line from one graph to another, all different.

    The ends are `start` and `stop` themselves. A graph that is nearest to two places is given to the first.
    """
    places = _places(coordinates)
    if not 2 <= points <= len(places):
        raise ValueError(f"{points} graphs along a line, out of {len(places)}; it takes at least two and at most all")
    if start == stop:
        raise ValueError(f"the line starts and stops at graph {start}")
    shares = np.linspace(0.0, 1.0, points)[:, None]
    gaps = ((places[None] - (places[start] + shares * (places[stop] - places[start]))[:, None]) ** 2).sum(axis=2)
    chosen = np.full(points, -1)
    chosen[0], chosen[-1] = start, stop
    gaps[:, [start, stop]] = np.inf
    for i in range(1, points - 1):
        chosen[i] = gaps[i].argmin()
        gaps[:, chosen[i]] = np.inf
    return chosen


def farthest_pair(coordinates: npt.ArrayLike) -> tuple[int, int]:
    """Two graphs that lie farthest apart on a map, the left one first."""
    from scipy.spatial.distance import pdist, squareform

    places = _places(coordinates)
    rim = np.unique(np.concatenate([(places @ [np.cos(a), np.sin(a)]).argsort(kind="stable")[[0, -1]]
                                    for a in np.linspace(0, np.pi, 180, endpoint=False)]))  # fmt: skip
    row, column = divmod(int(squareform(pdist(places[rim])).argmax()), len(rim))
    ends = sorted((int(rim[row]), int(rim[column])), key=lambda i: (places[i, 0], i))
    return ends[0], ends[1]


def line_figure(
    coordinates: npt.ArrayLike,
    graphs: GraphsLike,
    *,
    start: int | None = None,
    stop: int | None = None,
    points: int = 12,
    title: str = "",
) -> Figure:
    """A map with a line across it, and beside it the graphs that `along_line` finds, numbered.

    Args:
        start: The graph the line begins at; by default one of the two that lie farthest apart.
        stop: The graph it ends at.
    """
    graphs = graphs_of(graphs)
    places = _places(coordinates, graphs)
    ends = farthest_pair(places)
    first, last = ends[0] if start is None else start, ends[1] if stop is None else stop
    chosen = along_line(places, first, last, points)
    columns = 4 if points <= 12 else 6
    rows = -(-points // columns)
    height = max(4.6, 1.45 * rows + 0.8)
    width = height + 1.45 * columns
    figure = new_figure(width, height)
    share = height / width
    bottom = 0.02 + 0.21 * _legend_rows(graphs) / height
    axes = figure.add_axes((0.01, bottom, share - 0.02, 0.92 - bottom))
    _scatter(axes, places, graphs.targets, legend=False, alpha=0.45)
    axes.plot(*places[[first, last]].T, color=INK, linewidth=1.2, zorder=4)
    stops = np.linspace(places[first], places[last], points)
    for number, (i, stop_at) in enumerate(zip(chosen, stops, strict=True), start=1):
        axes.plot(*np.stack([stop_at, places[i]]).T, color=INK, linewidth=0.9, zorder=4)
        axes.scatter(places[i, 0], places[i, 1], s=26, facecolors="white", edgecolors=INK, linewidths=1.3, zorder=5)
        _badge(axes, stop_at, number)
    _title(figure, title)
    cells = _cells((share + 0.01, 0.06, 0.98 - share, 0.86), rows, columns)
    _grid(figure, graphs, chosen, cells, numbered=True)
    _legends(figure, graphs, chosen, share)
    return figure


def densest_clusters(
    coordinates: npt.ArrayLike, clusters: int = 5, *, radius: float | None = None
) -> tuple[Ints, float]:
    """The graphs at the centers of the most crowded discs of a map, and the radius of the discs.

    The first has most graphs around it; each next one has most among those whose disc meets no disc before it.

    Args:
        clusters: How many; fewer come back where no more discs fit.
        radius: Of the discs; a fifteenth of the map's larger side unless given.
    """
    from scipy.spatial import cKDTree

    places = _places(coordinates)
    reach = float(np.ptp(places, axis=0).max()) / 15 if radius is None else radius
    crowd = np.array([len(found) for found in cKDTree(places).query_ball_point(places, reach)])
    centers: list[int] = []
    while len(centers) < clusters and crowd.max() > 0:
        centers.append(int(crowd.argmax()))
        crowd[np.linalg.norm(places - places[centers[-1]], axis=1) < 2.3 * reach] = 0
    return np.array(centers), reach


def cluster_figure(
    coordinates: npt.ArrayLike,
    graphs: GraphsLike,
    *,
    clusters: int = 5,
    members: int = 12,
    radius: float | None = None,
    title: str = "",
) -> Figure:
    """A map with its most crowded discs circled, and beside it a row of graphs from each, from the center outward."""
    graphs = graphs_of(graphs)
    places = _places(coordinates, graphs)
    if clusters < 1 or members < 1:
        raise ValueError(f"{clusters} clusters of {members} graphs; at least one of each is needed")
    centers, reach = densest_clusters(places, clusters, radius=radius)
    from matplotlib.patches import Circle

    rows = len(centers)
    height = max(4.6, 1.0 * rows + 0.7)
    width = height + 0.95 * members + 0.3
    figure = new_figure(width, height)
    share = height / width
    bottom = 0.02 + 0.21 * _legend_rows(graphs) / height
    axes = figure.add_axes((0.01, bottom, share - 0.02, 0.92 - bottom))
    _scatter(axes, places, graphs.targets, legend=False, alpha=0.45)
    shown = []
    for row, center in enumerate(centers):
        axes.add_patch(Circle(tuple(places[center]), reach, fill=False, edgecolor=RED, linewidth=1.8, zorder=5))
        letter = chr(ord("a") + row) if row < 26 else str(row + 1)
        above = places[center] + [0, reach]
        _badge(axes, above, letter, color=RED)
        gaps = np.linalg.norm(places - places[center], axis=1)
        near = [int(i) for i in np.argsort(gaps, kind="stable")[:members] if gaps[i] <= reach]
        shown += near
        cells = _cells((share + 0.3 / width, 0.06, 0.99 - share - 0.3 / width, 0.86), rows, members)[row * members :]
        _grid(figure, graphs, near, cells)
        x, y, _, cell = cells[0]
        figure.text(
            x - 0.2 / width, y + cell / 2, letter, fontsize=12, weight="bold", color=RED, va="center", ha="center"
        )
    _title(figure, title)
    _legends(figure, graphs, np.array(shown), share)
    return figure


def query_figure(
    query: GraphLike,
    graphs: GraphsLike,
    truth: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    ranks: Sequence[int] | None = None,
    truth_is: Proximity = "distance",
    predicted_is: Proximity = "distance",
    title: str = "",
) -> Figure:
    """A query, the true ranking of the database above, the predicted one below, each graph with its distance.

    Below, each graph also says what its true distance is, so that a wrong place can be told from a near tie.

    Args:
        query: One graph of any kind.
        graphs: The database, of any kind.
        truth: True distance of each graph of the database.
        predicted: Predicted distance of each.
        ranks: Which places to draw, from 1; by default the first six, the middle and the last.
        truth_is: "distance" ranks small values first, "similarity" large ones.
        predicted_is: Likewise.
        title: Written below the query.
    """
    asked, graphs = graph_of(query), graphs_of(graphs)
    query = asked.graphs[[asked.position]]
    values = np.concatenate([finite_matrix(np.atleast_2d(row), "distances") for row in (truth, predicted)])
    size = len(graphs)
    if values.shape[1] != size:
        raise ValueError(f"{values.shape[1]} values for a database of {size} graphs")
    shown = ranks if ranks is not None else sorted({*range(1, 7), (size + 1) // 2, size} & set(range(1, size + 1)))
    if not shown or min(shown) < 1 or max(shown) > size:
        raise ValueError(f"ranks {list(shown)}; they go from 1 to {size}, the size of the database")
    signs = [1.0 if kind == "distance" else -1.0 for kind in (truth_is, predicted_is)]
    orders = [np.argsort(sign * row, kind="stable") for sign, row in zip(signs, values, strict=True)]
    places = np.array(shown) - 1
    colors = LabelColors.of(query + graphs[np.concatenate([order[places] for order in orders])])
    columns = len(shown) + 1.15
    width, height = 1.35 * columns + 0.55, 4.3
    figure = new_figure(width, height)
    unit = 1.35 / width
    tall = unit * width / height  # a square of one unit
    frame = figure.add_axes(
        (0.01, 0.5 - 0.58 * tall, 1.1 * unit, 1.1 * tall), xticks=[], yticks=[], facecolor="#F4F6F8"
    )
    frame.spines[:].set_visible(False)
    draw_graph(query[0], figure.add_axes((0.01 + 0.05 * unit, 0.5 - 0.5 * tall, unit, tall)), colors=colors)
    head = 0.5 + 0.55 * tall
    figure.text(0.01 + 0.55 * unit, head, "query", ha="center", va="bottom", fontsize=10, weight="bold", color=INK)
    figure.text(0.01 + 0.55 * unit, 0.48 - 0.58 * tall, title, ha="center", va="top", fontsize=9, color=EDGE)
    left = 1.15 * unit + 0.5 / width
    for row, (order, name, bottom) in enumerate(zip(orders, ("true", "predicted"), (0.58, 0.14), strict=True)):
        figure.text(left - 0.22 / width, bottom + 0.155, name, rotation=90, ha="center", va="center", fontsize=10,
                    weight="bold", color=INK if row == 0 else PALETTE[0])  # fmt: skip
        for column, place in enumerate(places):
            i = int(order[place])
            x = left + column * unit
            draw_graph(graphs[i], figure.add_axes((x + 0.04 * unit, bottom, 0.92 * unit, 0.31)), colors=colors)
            figure.text(x + unit / 2, bottom - 0.012, _number(values[row, i]), ha="center", va="top", fontsize=9.5,
                        color=INK if row == 0 else PALETTE[0])  # fmt: skip
            if row == 1:
                figure.text(x + unit / 2, bottom - 0.062, f"true {_number(values[0, i])}", ha="center", va="top",
                            fontsize=8, color=EDGE)  # fmt: skip
    for column, rank in enumerate(shown):
        figure.text(
            left + (column + 0.5) * unit, 0.905, f"{rank:,}", ha="center", va="bottom", fontsize=9.5, color=EDGE
        )
        if column and rank > shown[column - 1] + 1:
            figure.text(left + column * unit, 0.905, "…", ha="center", va="bottom", fontsize=10, color=EDGE)
    figure.text(left - 0.22 / width, 0.905, "rank", ha="center", va="bottom", fontsize=9.5, color=EDGE)
    if not are_molecules(graphs) and colors.legend():
        handles = legend_handles(colors.legend())
        figure.legend(handles=handles, loc="lower center", ncols=len(handles), fontsize=8, frameon=False,
                      bbox_to_anchor=(0.5, -0.015), handletextpad=0.1, columnspacing=1.0)  # fmt: skip
    return figure


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) >= 100 else f"{value:.2f}"


def _places(coordinates: npt.ArrayLike, graphs: GraphSet | None = None) -> Floats:
    places = finite_matrix(coordinates, "coordinates")
    if places.shape[1] != 2 or len(places) == 0:
        raise ValueError(f"coordinates of shape {places.shape}; expected (graphs, 2)")
    if graphs is not None and len(graphs) != len(places):
        raise ValueError(f"{len(places)} places on the map for {len(graphs)} graphs")
    return places


def _scatter(axes: Axes, places: Floats, targets: Any, *, legend: bool, alpha: float = 0.8) -> None:
    size = float(np.clip(16000 / len(places), 7, 34))
    if targets is None:
        axes.scatter(
            places[:, 0],
            places[:, 1],
            s=size,
            color=PALETTE[0],
            alpha=alpha,
            linewidths=0,
            rasterized=len(places) > 5000,
        )
    else:
        values = np.asarray(targets)
        if values.shape != (len(places),):
            raise ValueError(f"targets of shape {values.shape} for {len(places)} graphs")
        styles = class_styles(values)
        colors, markers = np.empty(len(places), "U7"), np.empty(len(places), "U1")
        for label, color, marker in styles:
            colors[values == label], markers[values == label] = color, marker
        # In one random order, so that no class lies on top of another.
        order = np.random.default_rng(0).permutation(len(places))
        for marker in dict.fromkeys(marker for _, _, marker in styles):
            rows = order[markers[order] == marker]
            axes.scatter(places[rows, 0], places[rows, 1], s=size, c=colors[rows].tolist(), marker=marker, alpha=alpha,
                         linewidths=0, rasterized=len(places) > 5000)  # fmt: skip
        if legend:
            handles = legend_handles([(str(label), color, marker) for label, color, marker in styles])
            axes.legend(handles=handles, title="class", loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False,
                        fontsize=9, title_fontsize=9, alignment="left", handletextpad=0.2)  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.05)
    for spine in axes.spines.values():
        spine.set_color("#D5D9DE")


def _badge(axes: Axes, place: Floats, text: object, color: str = INK) -> None:
    axes.annotate(str(text), (float(place[0]), float(place[1])), ha="center", va="center", fontsize=8, color="white",
                  weight="bold", zorder=6, bbox={"boxstyle": "circle,pad=0.22", "fc": color, "ec": "white", "lw": 0.8},
                  )  # fmt: skip


def _title(figure: Figure, title: str) -> None:
    figure.text(0.012, 0.975, title, ha="left", va="top", fontsize=12, color=INK, weight="bold")


def _cells(box: tuple[float, float, float, float], rows: int, columns: int) -> list[tuple[float, float, float, float]]:
    """Rectangles of a grid in a box, row after row from the top."""
    left, bottom, width, height = box
    w, h = width / columns, height / rows
    return [(left + c * w, bottom + height - (r + 1) * h, w, h) for r in range(rows) for c in range(columns)]


def _grid(
    figure: Figure, graphs: GraphSet, chosen: Sequence[int] | Ints, cells: Sequence[Any], numbered: bool = False
) -> None:
    colors = LabelColors.of(graphs)
    for number, (i, (x, y, w, h)) in enumerate(zip(chosen, cells, strict=False), start=1):
        draw_graph(graphs[int(i)], figure.add_axes((x + 0.06 * w, y + 0.04 * h, 0.88 * w, 0.88 * h)), colors=colors)
        if numbered:
            figure.text(x + 0.03 * w, y + 0.97 * h, str(number), fontsize=9, weight="bold", color=INK, va="top")


def _legend_rows(graphs: GraphSet) -> int:
    classes = 0 if graphs.targets is None else len(class_styles(graphs.targets))
    return max(1, -(-classes // COLUMNS))


def _legends(figure: Figure, graphs: GraphSet, shown: Ints, share: float) -> None:
    """Classes below the map, node labels below the graphs."""
    common: dict[str, Any] = {"fontsize": 8, "frameon": False, "handletextpad": 0.1, "columnspacing": 1.0}
    if graphs.targets is not None:
        styles = class_styles(graphs.targets)
        handles = legend_handles([(f"class {label}", color, marker) for label, color, marker in styles])
        figure.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 0.0), ncols=min(len(handles), COLUMNS), **common
        )
    entries = LabelColors.of(graphs).legend()
    if entries and not are_molecules(graphs):
        handles = legend_handles(entries)
        figure.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 0.0), ncols=len(handles), **common)
