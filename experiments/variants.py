"""Variants of UGraphEmb: each is trained, then ranks and classifies like the model of the main tables."""

from __future__ import annotations

from typing import Any

from experiments import classification, methods, ranking
from experiments.cells import Cell
from experiments.lab import Lab
from experiments.page import Found

HEAD = ["accuracy, %", "τ", "p@10", "MSE", "splits"]


def quality(cell: Cell, lab: Lab) -> dict[str, Any]:
    """Accuracy, and the ranking of test queries under the distances that the model learned (or those of `judge`)."""
    spec = cell.settings["model"]
    truth = cell.settings.get("judge", spec["truth"])
    trained = lab.learned(cell.data, cell.split, spec)
    queries, database = lab.asked(cell.data, cell.split, truth)
    guess = methods.predicted(trained.model(), trained.vectors, queries, database)
    kind = "similarity" if truth in ("mcs", "graphlet") else "distance"
    split, targets = lab.split(cell.data, cell.split), lab.graphs(cell.data).targets
    return {
        **classification.accuracy(methods.Candidate("", "", trained.vectors), targets, split),
        **ranking.scores(guess, kind, lab, cell, truth, queries, database, mse=True),
        "training": trained.run,
    }


def columns(found: Found) -> list[str]:
    """A row of a table under HEAD."""
    return [found.text("accuracy", digits=1), *(found.text(name) for name in ("tau", "p@10", "mse")), found.count]


def gains(found: Found, before: Found) -> list[str]:
    """By how much τ and p@10 differ from those of another row."""
    both = ((found.mean(key), before.mean(key)) for key in ("tau", "p@10"))
    return ["–" if now is None or then is None else f"{now - then:+.3f}" for now, then in both]
