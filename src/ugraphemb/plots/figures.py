"""The paper's figures: maps by class, graphs along a line, clusters, and the answer to a query (extra `plot`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import GraphLike, GraphSet, GraphsLike, graph_of, graphs_of
from ugraphemb.plots.drawing import (
    EDGE,
    INK,
    PALETTE,
    LabelColors,
    class_styles,
    draw_graph,
    legend_handles,
    new_figure,
)
from ugraphemb.plots.molecules import are_molecules, common_side, molecule
from ugraphemb.tasks.checks import finite_matrix
from ugraphemb.tasks.ranking import Proximity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
RED = PALETTE[3]
COLUMNS = 6  # classes in a row of the legend below a map
WIDTH = 8.4  # inches: figures of a map and graphs are as wide as a page, so that text stays readable


def map_figure(coordinates: npt.ArrayLike, targets: npt.ArrayLike | None = None, *, title: str = "") -> Figure:
    """A scatter plot of a map, one dot per graph, colored by class.

    Examples:
        >>> import numpy as np
        >>> from ugraphemb.plots import map_figure, save_figure
        >>> places = np.random.default_rng(0).normal(size=(60, 2))
        >>> save_figure(map_figure(places, np.repeat(["chain", "ring"], 30)), "map.png")
    """
    places = _places(coordinates)
    head = 0.5 if title else 0.1
    across = 6.0
    down = across * float(np.clip(1 / _aspect(places), 0.5, 1.1))
    width, height = across + (1.2 if targets is not None else 0.2), down + head + 0.1
    figure = new_figure(width, height)
    axes = figure.add_axes((0.1 / width, 0.1 / height, across / width, down / height))
    _scatter(axes, places, targets, legend=True)
    _title(figure, title)
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
    """A map with a line across it, and below it the graphs that `along_line` finds, numbered.

    Args:
        start: The graph the line begins at; by default one of the two that lie farthest apart.
        stop: The graph it ends at.

    Examples:
        >>> import numpy as np
        >>> import ugraphemb as ug
        >>> from ugraphemb.plots import line_figure, save_figure
        >>> graphs = ug.load_dataset("atlas")[100:160]
        >>> places = np.random.default_rng(0).normal(size=(60, 2))
        >>> save_figure(line_figure(places, graphs), "line.png")
    """
    graphs = graphs_of(graphs)
    places = _places(coordinates, graphs)
    ends = farthest_pair(places)
    first, last = ends[0] if start is None else start, ends[1] if stop is None else stop
    chosen = along_line(places, first, last, points)
    columns = min(points, 6)
    figure, axes, cells = _map_over_grid(places, graphs, -(-points // columns), columns, title)
    _scatter(axes, places, graphs.targets, legend=False, alpha=0.45)
    axes.plot(*places[[first, last]].T, color=INK, linewidth=1.2, zorder=4)
    stops = np.linspace(places[first], places[last], points)
    for number, (i, stop_at) in enumerate(zip(chosen, stops, strict=True), start=1):
        axes.plot(*np.stack([stop_at, places[i]]).T, color=INK, linewidth=0.9, zorder=4)
        axes.scatter(places[i, 0], places[i, 1], s=26, facecolors="white", edgecolors=INK, linewidths=1.3, zorder=5)
        _badge(axes, stop_at, number)
    _grid(figure, graphs, chosen, cells, numbered=True, side=_side(graphs, chosen, _tall(figure, cells[0])))
    return figure


def densest_clusters(
    coordinates: npt.ArrayLike, clusters: int = 5, *, radius: float | None = None
) -> tuple[Ints, float]:
    """The graphs at the centers of the most crowded discs of a map, and the radius of the discs.

    The first disc contains the most graphs; each further one contains the most among those that overlap no earlier one.

    Args:
        clusters: How many; fewer are returned if no more discs fit.
        radius: Radius of the discs; by default a fifteenth of the map's larger side.
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
    members: int = 6,
    radius: float | None = None,
    title: str = "",
) -> Figure:
    """A map with circles around its densest regions, and below it a row of graphs from each, from the center outward.

    Examples:
        >>> import numpy as np
        >>> import ugraphemb as ug
        >>> from ugraphemb.plots import cluster_figure, save_figure
        >>> graphs = ug.load_dataset("atlas")[100:160]
        >>> places = np.random.default_rng(0).normal(size=(60, 2))
        >>> save_figure(cluster_figure(places, graphs, clusters=2, members=4), "clusters.png")
    """
    graphs = graphs_of(graphs)
    places = _places(coordinates, graphs)
    if clusters < 1 or members < 1:
        raise ValueError(f"{clusters} clusters of {members} graphs; at least one of each is needed")
    centers, reach = densest_clusters(places, clusters, radius=radius)
    from matplotlib.patches import Circle

    figure, axes, cells = _map_over_grid(places, graphs, len(centers), members, title, margin=0.35)
    _scatter(axes, places, graphs.targets, legend=False, alpha=0.45)
    shown = []
    for row, center in enumerate(centers):
        axes.add_patch(Circle(tuple(places[center]), reach, fill=False, edgecolor=RED, linewidth=1.8, zorder=5))
        letter = chr(ord("a") + row) if row < 26 else str(row + 1)
        above = places[center] + [0, reach]
        _badge(axes, above, letter, color=RED)
        gaps = np.linalg.norm(places - places[center], axis=1)
        near = [int(i) for i in np.argsort(gaps, kind="stable")[:members] if gaps[i] <= reach]
        shown.append(near)
    side = _side(graphs, [i for near in shown for i in near], _tall(figure, cells[0]))
    for row, near in enumerate(shown):
        letter = chr(ord("a") + row) if row < 26 else str(row + 1)
        row_cells = cells[row * members : (row + 1) * members]
        _grid(figure, graphs, near, row_cells, side=side)
        x, y, _, cell = row_cells[0]
        figure.text(x / 2, y + cell / 2, letter, fontsize=12, weight="bold", color=RED, va="center", ha="center")
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

    Graphs of the predicted ranking also show their true distance, to distinguish errors from near ties.

    Args:
        query: One graph of any kind.
        graphs: The database, of any kind.
        truth: True distance of each graph of the database.
        predicted: Predicted distance of each.
        ranks: Which places to draw, from 1; by default the first six, the middle and the last.
        truth_is: "distance" ranks small values first, "similarity" large ones.
        predicted_is: Likewise.
        title: Written below the query.

    Examples:
        >>> import ugraphemb as ug
        >>> from ugraphemb.plots import query_figure, save_figure
        >>> graphs = ug.load_dataset("atlas")[20:40]
        >>> truth = ug.pairwise(graphs[0], graphs, method="exact").upper
        >>> save_figure(query_figure(graphs[0], graphs, truth, graphs.num_edges, ranks=[1, 2, 20]), "query.png")
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
    colors = LabelColors.of(query + graphs)
    drawn = query + graphs[np.unique(np.concatenate([order[places] for order in orders]))]
    side = _side(drawn, range(len(drawn)))
    columns = len(shown) + 1.15
    width, height = 1.35 * columns + 0.55, 4.3
    figure = new_figure(width, height)
    unit = 1.35 / width
    tall = unit * width / height  # a square of one unit
    frame = figure.add_axes(
        (0.01, 0.5 - 0.58 * tall, 1.1 * unit, 1.1 * tall), xticks=[], yticks=[], facecolor="#F4F6F8"
    )
    frame.spines[:].set_visible(False)
    draw_graph(query[0], figure.add_axes((0.01 + 0.05 * unit, 0.5 - 0.5 * tall, unit, tall)), colors=colors, side=side)
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
            cell = figure.add_axes((x + 0.04 * unit, bottom, 0.92 * unit, 0.31))
            draw_graph(graphs[i], cell, colors=colors, side=side)
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
    axes.axis("off")  # neither directions nor units of a map mean anything


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


def _map_over_grid(
    places: Floats, graphs: GraphSet, rows: int, columns: int, title: str, margin: float = 0.1
) -> tuple[Figure, Axes, list[tuple[float, float, float, float]]]:
    """A figure with axes for a map, and below them the cells of a grid of graphs with a margin on its left."""
    head, between = 0.45 if title else 0.1, 0.2 + 0.22 * _legend_rows(graphs)
    foot = 0.35 if LabelColors.of(graphs).legend() and not are_molecules(graphs) else 0.1
    down = WIDTH / float(np.clip(_aspect(places), 1.6, 3.4))
    cell = _cell_height(graphs, (WIDTH - margin - 0.1) / columns)
    height = head + down + between + cell * rows + foot
    figure = new_figure(WIDTH, height)
    axes = figure.add_axes((0.01, (foot + cell * rows + between) / height, 0.98, down / height))
    grid = (margin / WIDTH, foot / height, 1 - (margin + 0.1) / WIDTH, cell * rows / height)
    _title(figure, title)
    _legends(figure, graphs, (foot + cell * rows + 0.1) / height)
    return figure, axes, _cells(grid, rows, columns)


def _grid(
    figure: Figure, graphs: GraphSet, chosen: Sequence[int] | Ints, cells: Sequence[Any], *, side: float,
    numbered: bool = False,
) -> None:  # fmt: skip
    colors = LabelColors.of(graphs)
    for number, (i, (x, y, w, h)) in enumerate(zip(chosen, cells, strict=False), start=1):
        axes = figure.add_axes((x + 0.06 * w, y + 0.04 * h, 0.88 * w, 0.88 * h))
        draw_graph(graphs[int(i)], axes, colors=colors, side=side)
        if numbered:
            figure.text(x + 0.03 * w, y + 0.97 * h, str(number), fontsize=9, weight="bold", color=INK, va="top")


def _tall(figure: Figure, cell: tuple[float, float, float, float]) -> float:
    """Height of a cell divided by its width."""
    width, height = figure.get_size_inches()
    return float(cell[3] * height / (cell[2] * width))


def _cell_height(graphs: GraphSet, width: float) -> float:
    """Height of a cell of this width, in inches; formulas are rarely higher than wide."""
    return min(width * (0.72 if are_molecules(graphs) else 0.95), 1.3)


def _legend_rows(graphs: GraphSet) -> int:
    classes = 0 if graphs.targets is None else len(class_styles(graphs.targets))
    return max(1, -(-classes // COLUMNS))


def _side(graphs: GraphSet, chosen: Iterable[int], tall: float = 1.0) -> float:
    """One width for the drawings of these graphs, so that molecules have one bond length."""
    return common_side([molecule(graphs[int(i)]) for i in chosen], tall) if are_molecules(graphs) else 160.0


def _aspect(places: Floats) -> float:
    """Width of a map divided by its height."""
    across, down = np.ptp(places, axis=0).tolist()
    return across / down if across > 0 and down > 0 else 1.0


def _legends(figure: Figure, graphs: GraphSet, below_map: float) -> None:
    """Classes below the map, node labels below the graphs."""
    common: dict[str, Any] = {"fontsize": 9, "frameon": False, "handletextpad": 0.1, "columnspacing": 1.2}
    if graphs.targets is not None:
        styles = class_styles(graphs.targets)
        handles = legend_handles([(f"class {label}", color, marker) for label, color, marker in styles])
        figure.legend(
            handles=handles, loc="lower center", bbox_to_anchor=(0.5, below_map), borderaxespad=0,
            ncols=min(len(handles), COLUMNS), **common,
        )  # fmt: skip
    entries = LabelColors.of(graphs).legend()
    if entries and not are_molecules(graphs):
        handles = legend_handles(entries)
        figure.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 0.0), ncols=len(handles), **common)
