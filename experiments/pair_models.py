"""Exact distances of small graphs, by the protocol of models that predict the distance of a pair (SimGNN, later)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ugraphemb as ug
from experiments.cells import Cell
from experiments.lab import PAPER_COSTS, Lab
from experiments.page import PAPER, Book, folded, number, table
from experiments.settings import Settings
from ugraphemb.tasks import pair_protocol, pair_split

TITLE = "Exact distances: the protocol of pair models"
SCORES = ("mae", "mse", "rho", "tau", "p@10", "p@20")


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["pair_models"]
    for data in own["sets"]:
        how = {"nodes": own["nodes"], "preset": own["preset"], "steps": own["steps"]}
        for split in range(own["splits"]):
            yield Cell("pair_models", data, "ugraphemb", split, how, 1)


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    """One model for a 4:1 split; test graphs against training graphs, and against each other."""
    graphs = lab.graphs(cell.data)
    graphs = graphs[graphs.num_nodes <= cell.settings["nodes"]]
    training = graphs[pair_split(len(graphs), cell.split).train]
    model = ug.UGraphEmb(
        preset=cell.settings["preset"], steps=cell.settings["steps"] or None, method="exact", costs=PAPER_COSTS,
        seed=cell.split, threads=1, progress=False,
    )  # fmt: skip
    model.fit(training, avoid=graphs[pair_split(len(graphs), cell.split).test])
    found = pair_protocol(graphs, split=cell.split, model=model, threads=1, progress=False)
    answer: dict[str, Any] = {name: {**s.as_row(), "pairs": s.pairs, "proven": s.proven} for name, s in found.items()}
    return {
        **answer,
        "graphs": len(graphs),
        "mean nodes": float(np.mean(graphs.num_nodes)),
        "steps": model.about_["steps"],
    }


def section(book: Book, docs: Path) -> list[str]:
    head = [
        "set",
        "method",
        "one vector per graph",
        "MAE of GED",
        "MSE of exp(−nGED)",
        "ρ",
        "τ",
        "p@10",
        "p@20",
        "splits",
    ]
    ours, published = [], []
    for data in book.settings["pair_models"]["sets"]:
        found = book.find("pair_models", data, "ugraphemb")
        size = book.settings["pair_models"]["nodes"]
        for name in ("test × training", "test × test"):
            scores = [found.text(name, score, digits=4 if score == "mse" else 3) for score in SCORES]
            ours.append([f"{data}, ≤ {size} nodes, {name}", "UGraphEmb, ours", "yes", *scores, found.count])
    for data, rows in PAPER["pair_models"].items():
        for method, (kind, mae, tau, p10) in rows.items():
            published.append([data, method, kind, number(mae), "", "", number(tau), number(p10), "", "published"])
    return [
        table(head, ours),
        folded("Published figures of pair models, other sets of the same kind", table(head, published)),
    ]
