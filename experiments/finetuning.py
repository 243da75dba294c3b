"""Classification with the current default: from its vectors, and by fine-tuning; and the effect on distances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ugraphemb as ug
from experiments.cells import Cell
from experiments.lab import PAPER_COSTS, SEED, Lab
from experiments.page import PAPER, Book, Found, number, table, title, verdict
from experiments.settings import Settings
from ugraphemb.tasks import Split, classify, classify_svm, ranking, stratified_folds

TITLE = "Classification, and what fine-tuning costs"
WAYS = ("lr", "svm", "features lr", "features svm")


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["finetuning"]
    for data in own["sets"]:
        how = {key: own[key] for key in ("preset", "queries", "database")}
        how["steps"] = own["steps"].get(data, 0)
        for split in settings.splits(data, "finetuning"):
            yield Cell("finetuning", data, "ugraphemb", split, how, 1)


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    """Test accuracy of each way; everything is chosen on training and validation graphs."""
    graphs, split = lab.graphs(cell.data), lab.split(cell.data, cell.split)
    model = encoder(lab, cell, split).set_params(threads=1, progress=False)
    answer: dict[str, Any] = {"steps": model.about_["steps"], "before": scores(lab, cell, model, split)}
    model.finetune(graphs[split.fit], graphs.targets[split.fit])
    answer["after"] = scores(lab, cell, model, split)
    answer["direct"] = 100 * float(np.mean(model.predict(graphs[split.test]) == graphs.targets[split.test]))
    return answer


def encoder(lab: Lab, cell: Cell, split: Split) -> ug.UGraphEmb:
    """Trained on the training graphs of the split without classes; kept on disk."""
    how, graphs, fit = cell.settings, lab.graphs(cell.data), split.fit
    folder = lab.cache / "models" / cell.data / f"{how['preset']}-{cell.split}-{how['steps']}"
    if not (folder / "config.json").exists():
        model = ug.UGraphEmb(
            preset=how["preset"],
            steps=how["steps"] or None,
            costs=PAPER_COSTS,
            seed=cell.split,
            threads=1,
            progress=False,
        )
        held_out = np.flatnonzero(np.isin(fit, split.validation))
        model.fit(graphs[fit], held_out=held_out, avoid=graphs[split.test]).save(folder)
    return ug.UGraphEmb.load(folder)


def scores(lab: Lab, cell: Cell, model: ug.UGraphEmb, split: Split) -> dict[str, float]:
    """Accuracy of classifiers of the vectors, and τ and p@10 of some test graphs against some training graphs.

    "chosen" is the accuracy on the test graphs of the one of `WAYS` that is best in cross-validation on the others.
    """
    graphs = lab.graphs(cell.data)
    vectors = model.transform(graphs)
    described = {"": vectors, "features ": model.features(graphs)}

    def accuracy(splits: list[Split]) -> dict[str, float]:
        found = {}
        for name, matrix in described.items():
            found[f"{name}lr"] = 100 * classify(matrix, graphs.targets, splits, folds=3).mean
            svm = classify_svm(matrix, graphs.targets, splits, strengths=(1, 10), folds=2)
            found[f"{name}svm"] = 100 * svm.mean
        return found

    inner = accuracy(within(split, graphs.targets))
    result = accuracy([split])
    result["chosen"] = result[max(WAYS, key=lambda way: inner[way])]
    random = np.random.default_rng([SEED, cell.split])
    queries = random.permutation(split.test)[: cell.settings["queries"]]
    known = random.permutation(split.train)[: cell.settings["database"]]
    pairs = np.stack(np.meshgrid(queries, known, indexing="ij"), axis=-1).reshape(-1, 2)
    found = lab.pairwise(cell.data, "tight", pairs, ("finetuning", cell.split))
    truth = found.normalized().value.reshape(len(queries), len(known))
    ranks = ranking(model.proximity(vectors[queries], vectors[known]), truth, k=10).summary()
    return result | {key: ranks[key][0] for key in ("tau", "p@10")}


def within(split: Split, targets: Any, folds: int = 4) -> list[Split]:
    """Splits of the fitting graphs of a split alone, each fold once the part that is predicted."""
    none = np.empty(0, np.int64)
    return [
        Split(split.fit[np.concatenate([part.train, part.validation])], none, split.fit[part.test])
        for part in stratified_folds(targets[split.fit], SEED, folds)
    ]


def section(book: Book, docs: Path) -> list[str]:
    head = ["set", "vectors: LR", "SVM", "features: LR", "SVM", "chosen", "predicted", "tuned vectors: LR", "SVM",
            "features: LR", "SVM", "asked", "verdict", "paper", "best other here", "τ before, after",
            "p@10 before, after", "splits"]  # fmt: skip
    rows = []
    for data in book.settings["finetuning"]["sets"]:
        found = book.find("finetuning", data, "ugraphemb")
        asked, paper = PAPER["asked"][data], PAPER["classification"][data]
        both = [" → ".join(number(found.mean(when, key)) for when in ("before", "after")) for key in ("tau", "p@10")]
        rows.append([
            title(data), *(found.text("before", way, digits=1) for way in (*WAYS, "chosen")),
            found.text("direct", digits=1),
            *(found.text("after", way, digits=1) for way in WAYS), f"{asked[0]} / {asked[1]}",
            judged(found, asked), f"{paper['ugraphemb']} / {paper['ugraphemb-f']}", best_other(book, data), *both,
            found.count,
        ])  # fmt: skip
    return [table(head, rows)]


def judged(found: Found, asked: list[float]) -> str:
    """Verdicts on logistic regression and on the chosen classifier before fine-tuning, and on the predicted classes."""
    means = found.mean("before", "lr"), found.mean("before", "chosen"), found.mean("direct")
    return "; ".join(verdict(mean, target, 1) for mean, target in zip(means, (asked[0], *asked), strict=True))


def best_other(book: Book, data: str) -> str:
    """The best mean of a method that is not ours, on the same splits as far as they were run."""
    others = [name for name in book.methods("classification", data) if not name.startswith(("ugraphemb", "paper"))]
    means = {name: book.find("classification", data, name).mean("accuracy") for name in others}
    known = {name: mean for name, mean in means.items() if mean is not None}
    if not known:
        return "–"
    best = max(known, key=lambda name: known[name])
    return f"{known[best]:.1f} ({best})"
