"""Maps of the sets by all methods, graphs along a line, clusters, and the answer to a query (the paper's figures)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import methods
from experiments.cells import Cell, digest
from experiments.lab import Lab
from experiments.page import Book, table, title
from experiments.settings import Settings
from ugraphemb.tasks import fit_map, ranking

TITLE = "Maps"
PICTURES = {"map": "every method", "line": "a line across the map", "clusters": "clusters", "query": "a query"}
SHORT = {"ugraphemb": "UGraphEmb (0.1)"}  # names that fit above a panel
ASKED = 500  # graphs whose neighbors on a map are evaluated


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["maps"]
    for data in own["sets"]:
        shown = [name for name in own["methods"] if name not in settings.sets[data].get("skip", [])]
        how = {name: methods.settings(name, settings, data) for name in shown}
        for method in shown:
            yield Cell("maps", data, method, 0, {**how[method], "points": own["points"]}, tier=4)
        yield Cell("maps", data, "figures", 0, {"methods": how, "points": own["points"]}, tier=4)


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    if cell.method == "figures":
        return {"files": _draw(cell, lab)}
    places, chosen = placed(lab, cell)
    random = np.random.default_rng(0)
    asked = random.permutation(len(chosen))[:ASKED]
    gaps = np.linalg.norm(places[asked][:, None] - places, axis=2)
    gaps[np.arange(len(asked)), asked] = np.inf
    near = np.argsort(gaps, axis=1, kind="stable")[:, :10]
    pairs = np.stack([np.repeat(asked, 10), near.ravel()], axis=1)
    others = (pairs[:, :1] + random.integers(1, len(chosen), (len(pairs), 1))) % len(chosen)
    both = np.concatenate([pairs, np.concatenate([pairs[:, :1], others], axis=1)])
    table = lab.pairwise(cell.data, "tight", np.unique(np.sort(chosen[both], axis=1), axis=0), digest(both.tolist()))
    found = table.normalized().matrix()[tuple(chosen[both].T)]
    return {"near": float(found[: len(pairs)].mean() / found[len(pairs) :].mean()), "graphs": len(chosen)}


def placed(lab: Lab, cell: Cell) -> tuple[Any, Any]:
    """Coordinates of the graphs (of a sample if there are very many), and their positions in the set."""
    graphs = lab.graphs(cell.data)
    count = min(len(graphs), cell.settings["points"])
    chosen = np.sort(np.random.default_rng(0).permutation(len(graphs))[:count])

    def coordinates() -> Any:
        vectors = next(found.vectors for found in methods.candidates(lab, cell) if found.vectors is not None)
        return fit_map(vectors[chosen], seed=0).coordinates

    mark = digest([cell.method, cell.settings])
    return lab.kept(lab.cache / "maps" / cell.data / mark / "places.npy", coordinates), chosen


def _draw(cell: Cell, lab: Lab) -> list[str]:
    from ugraphemb.plots import figures

    graphs, points = lab.graphs(cell.data), cell.settings["points"]
    drawn = []
    for method, how in cell.settings["methods"].items():
        places, chosen = placed(lab, Cell("maps", cell.data, method, 0, {**how, "points": points}))
        drawn.append((SHORT.get(method, methods.NAMES[method]), places))
        strip = figures.line_figure(places, graphs[chosen], title=f"{title(cell.data)}, {drawn[-1][0]}")
        # The line figures of all methods are drawn, but only that of UGraphEmb is committed.
        _saved(strip, lab.cache / "figures" / f"line-{cell.data}-{method}.png")
        if method == "ugraphemb":
            drawing = {
                "line": strip,
                "clusters": figures.cluster_figure(
                    places, graphs[chosen], members=6, title=f"{title(cell.data)}, clusters"
                ),
                "query": _query(lab, cell, how["model"]),
            }
    drawing["map"] = _sheet(drawn, graphs.targets[chosen])
    return [_saved(drawing[name], lab.figures / f"{name}-{cell.data}.png") for name in PICTURES]


def _sheet(maps: list[tuple[str, Any]], targets: Any) -> Any:
    """All maps on one sheet, one dot per graph, colored by class, with a legend."""
    from ugraphemb.plots.drawing import INK, class_styles, legend_handles, new_figure

    columns = next((count for count in (5, 4, 3) if len(maps) % count == 0), min(4, len(maps)))  # no empty panels
    rows = -(-len(maps) // columns)
    shapes = [np.ptp(places, axis=0) for _, places in maps]
    panel = 2.4 * float(np.clip(np.median([down / across for across, down in shapes]), 0.5, 1.0))
    styles = class_styles(targets)
    foot = 0.3 + 0.2 * (len(styles) > 8) + 0.2 * (len(styles) > 16)
    height = (panel + 0.35) * rows + foot
    figure = new_figure(2.4 * columns, height)
    size = float(np.clip(6000 / len(targets), 3, 14))
    order = np.random.default_rng(0).permutation(len(targets))  # no class is drawn on top of all others
    for number, (name, places) in enumerate(maps):
        row, column = divmod(number, columns)
        bottom = height - (panel + 0.35) * (row + 1)
        axes = figure.add_axes((column / columns + 0.01, bottom / height, 1 / columns - 0.02, panel / height))
        axes.set_title(name, fontsize=10, color=INK)
        axes.axis("off")
        axes.set_aspect("equal", adjustable="datalim")
        look = {target: (color, marker) for target, color, marker in styles}
        for marker in dict.fromkeys(marker for _, _, marker in styles):
            chosen = [i for i in order if look[targets[i]][1] == marker]
            colors = [look[targets[i]][0] for i in chosen]
            axes.scatter(*places[chosen].T, s=size, c=colors, marker=marker, linewidths=0, alpha=0.8)
    handles = legend_handles([(f"class {target}", color, marker) for target, color, marker in styles])
    figure.legend(handles=handles, loc="lower center", ncols=min(len(handles), 8), fontsize=9, frameon=False)
    return figure


def _query(lab: Lab, cell: Cell, spec: dict[str, Any]) -> Any:
    """The test query of median τ: neither the best nor the worst case."""
    from ugraphemb.plots.figures import query_figure

    graphs, trained = lab.graphs(cell.data), lab.learned(cell.data, 0, spec)
    queries, database = lab.asked(cell.data, 0, "tight")
    guess = methods.predicted(trained.model(), trained.vectors, queries, database)
    truth = lab.distances(cell.data, "tight", 0, queries, database)
    tau = np.nan_to_num(ranking(guess, truth, k=1).tau)
    row = int(np.argsort(tau, kind="stable")[len(tau) // 2])
    return query_figure(graphs[[int(queries[row])]], graphs[database], truth[row], guess[row], title=title(cell.data))


def _saved(figure: Any, path: Path) -> str:
    """A PNG of 256 colors, small enough to be kept with the code."""
    from ugraphemb.plots.drawing import indexed_png

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(indexed_png(figure))
    return path.name


def section(book: Book, docs: Path) -> list[str]:
    own, parts = book.settings["maps"], []
    rows = []
    for method in own["methods"]:
        found = [book.find("maps", data, method) for data in own["sets"]]
        rows.append([methods.NAMES[method], *(entry.text("near") for entry in found)])
    parts.append(table(["mean distance to the ten nearest on the map", *(title(data) for data in own["sets"])], rows))
    for data in own["sets"]:
        files = book.find("maps", data, "figures").value.get("files", [])
        for name, words in PICTURES.items():
            if f"{name}-{data}.png" in files and (docs / "figures" / f"{name}-{data}.png").exists():
                parts.append(f"![{title(data)}: {words}](figures/{name}-{data}.png)")
    return parts
