"""Graph classification: logistic regression on vectors, support vector machines on kernels (table 1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import methods
from experiments.cells import Cell
from experiments.lab import Lab
from experiments.page import PAPER, Book, number, table, title, verdict
from experiments.settings import Settings
from ugraphemb.tasks import Split, classify, classify_kernel

TITLE = "Graph classification"


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["classification"]
    for data in own["sets"]:
        for method in own["methods"]:
            if method in settings.sets[data].get("skip", []):
                continue
            how = methods.settings(method, settings, data)
            if method == "counts":
                how["columns"] = settings["methods"]["columns"]
            for split in settings.splits(data, "classification", method):
                yield Cell("classification", data, method, split, how, methods.tier(method))


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    """Test accuracy of each scheme. Settings, and the scheme of the main result, are chosen on validation graphs."""
    targets, split = lab.graphs(cell.data).targets, lab.split(cell.data, cell.split)
    rehearsal = Split(split.train, np.empty(0, np.int64), split.validation)
    best: dict[str, tuple[float, methods.Candidate]] = {}
    found = list(methods.candidates(lab, cell))
    if cell.method == "counts":
        found[0].vectors = methods.frequent(found[0].vectors, cell.settings["columns"])
    for candidate in found:
        alone = len(found) == 1
        score = 0.0 if alone else accuracy(candidate, targets, rehearsal, folds=2)["accuracy"]
        if candidate.scheme not in best or score > best[candidate.scheme][0]:
            best[candidate.scheme] = (score, candidate)
    results = {scheme: accuracy(candidate, targets, split) for scheme, (_, candidate) in best.items()}
    scheme = max(best, key=lambda name: best[name][0])
    answer: dict[str, Any] = {**results[scheme], "chosen": best[scheme][1].name}
    if len(best) > 1:
        answer["schemes"] = {name: result["accuracy"] for name, result in results.items()}
        answer["validation"] = {name: score for name, (score, _) in best.items()}
    return answer


def accuracy(candidate: methods.Candidate, targets: Any, split: Split, **options: Any) -> dict[str, float]:
    """Accuracies in percent, with that of the most frequent class."""
    if candidate.vectors is not None:
        scores = classify(candidate.vectors, targets, [split], **options)
    else:
        scores = classify_kernel(candidate.kernel, targets, [split], **options)
    return {"accuracy": 100 * scores.mean, "majority": 100 * float(scores.majority.mean())}


def section(book: Book, docs: Path) -> list[str]:
    parts = []
    for data in book.settings["classification"]["sets"]:
        paper, rows = PAPER["classification"].get(data, {}), []
        ours = book.find("classification", data, "ugraphemb").mean("accuracy")
        for method in book.methods("classification", data):
            found = book.find("classification", data, method)
            theirs = paper.get("ugraphemb" if method == "paper" else method)
            mean = found.mean("accuracy")
            if method in methods.EMBEDDINGS or mean is None or ours is None:
                judged = verdict(mean, theirs, 1)
            else:
                judged = "below ours" if mean < ours else "above ours"
            schemes = {name: found.mean("schemes", name) for name in found.value.get("schemes", {})}
            ranked = sorted(schemes.items(), key=lambda item: -(item[1] or 0))
            each = ", ".join(f"{name} {number(value, 1)}" for name, value in ranked)
            accuracy = found.text("accuracy", digits=1)
            rows.append([methods.NAMES[method], number(theirs, 2), accuracy, each, found.count, judged])
        head = ["method", "paper", "ours, %", "each scheme, best first", "splits", "verdict"]
        parts.append(f"### {title(data)}\n\n{table(head, rows)}")
    return parts
