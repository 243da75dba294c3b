"""Graphs larger than any in training: models of small graphs rank large ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import methods, ranking
from experiments.cells import Cell
from experiments.lab import Lab
from experiments.page import Book, table, title
from experiments.settings import Settings
from ugraphemb.tasks import Split

TITLE = "Graphs larger than any in training"
NAMES = {"small": "UGraphEmb, trained on small graphs", "mixed": "UGraphEmb, trained on graphs of all sizes"}
SHARE = 0.6  # this share of the graphs, by size, is called small


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["generalization"]
    for data in own["sets"]:
        for method in (*NAMES, "hungarian", "hed"):
            model = {**settings.model(data, "default", "tight"), "graphs": method} if method in NAMES else None
            for split in settings.splits(data, "generalization"):
                how = {"queries": own["queries"], **({"model": model} if model else {})}
                yield Cell("generalization", data, method, split, how, tier=4)


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    """Queries and database are large graphs. No query is trained on; "small" is trained on no large graph."""
    sizes = lab.graphs(cell.data).num_nodes
    limit = int(np.quantile(sizes, SHARE))
    random = np.random.default_rng([cell.split, 1])
    small, large = np.flatnonzero(sizes <= limit), np.flatnonzero(sizes > limit)
    queries, database = np.split(random.permutation(large), [min(cell.settings["queries"], len(large) // 2)])
    seen = random.permutation(small if cell.method == "small" else np.concatenate([small, database]))[: len(small)]
    validation, training = np.split(seen, [len(seen) // 4])
    chosen = Split(np.sort(training), np.sort(validation), np.sort(queries))
    if cell.method in NAMES:
        trained = lab.learned(cell.data, cell.split, cell.settings["model"], chosen)
        guess = methods.predicted(trained.model(), trained.vectors, queries, database)
    else:
        guess = lab.distances(cell.data, cell.method, cell.split, queries, database)
    return {
        **ranking.scores(guess, "distance", lab, cell, "tight", queries, database, mse=True),
        "trained up to": int(sizes[chosen.fit].max()), "asked from": int(sizes[large].min()),
        "mean nodes": float(sizes[large].mean()),
    }  # fmt: skip


def section(book: Book, docs: Path) -> list[str]:
    rows = []
    for data in book.settings["generalization"]["sets"]:
        for method in (*NAMES, "hungarian", "hed"):
            found = book.find("generalization", data, method)
            sizes = f"{found.value['asked from']}, {found.value['mean nodes']:.1f}" if found.cells else "not run"
            limit = found.value["trained up to"] if found.cells and method in NAMES else "–"
            scores = [found.text(name) for name in ("tau", "p@10", "mse")]
            rows.append([
                title(data), NAMES.get(method, methods.NAMES.get(method)), limit, sizes, *scores, found.count,
            ])  # fmt: skip
    head = ["set", "method", "most nodes in training", "fewest, mean nodes asked", "τ", "p@10", "MSE", "splits"]
    return [table(head, rows)]
