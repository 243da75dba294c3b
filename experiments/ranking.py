"""Similarity ranking: test graphs ask for training graphs (the paper's second table)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments import methods
from experiments.cells import Cell
from experiments.lab import Lab
from experiments.settings import Settings
from ugraphemb.tasks import ranking

K = 10


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["ranking"]
    for data in own["sets"]:
        truths = settings.sets[data]["truths"]
        for method in own["methods"]:
            if method in settings.sets[data].get("skip", []):
                continue
            sources = [*truths, method] if method in methods.SOLVERS else truths
            caps = {source: settings.cap(data, source) for source in sources if settings.cap(data, source)}
            how = {**methods.settings(method, settings, data), "truths": truths, **({"caps": caps} if caps else {})}
            for split in settings.splits(data, "ranking"):
                yield Cell("ranking", data, method, split, how, methods.tier(method))


def run(cell: Cell, lab: Lab) -> dict[str, Any]:
    """Scores under each truth; of several ways to run the method the one that ranks best for validation graphs."""
    values: dict[str, Any] = {}
    for truth in cell.settings["truths"]:
        if cell.method in methods.SOLVERS:
            queries, database = lab.asked(cell.data, cell.split, truth, cell.method)
            guess = lab.distances(cell.data, cell.method, cell.split, queries, database)
            values[truth] = scores(guess, "distance", lab, cell, truth, queries, database, mse=True)
        elif cell.method in methods.EMBEDDINGS:
            queries, database = lab.asked(cell.data, cell.split, truth)
            trained = lab.learned(cell.data, cell.split, cell.settings["model"])
            guess = methods.predicted(trained.model(), trained.vectors, queries, database)
            values[truth] = scores(guess, "distance", lab, cell, truth, queries, database, mse=True)
            values["training"] = trained.run
        else:
            values[truth] = _best(cell, lab, truth)
    return values


def _best(cell: Cell, lab: Lab, truth: str) -> dict[str, Any]:
    asked = lab.asked(cell.data, cell.split, truth, test=False)
    tests = lab.asked(cell.data, cell.split, truth)
    best: tuple[float, str, Any, str] | None = None
    for candidate in methods.candidates(lab, cell):
        guesses = zip(
            methods.proximities(candidate, *asked), methods.proximities(candidate, *tests), strict=True
        )  # fmt: skip
        for (name, guess, kind), (_, guess_of_tests, _) in guesses:
            tau = scores(guess, kind, lab, cell, truth, *asked)["tau"]
            if best is None or tau > best[0]:
                best = (tau, f"{candidate.name} {name}".strip(), guess_of_tests, kind)
    assert best is not None
    return {**scores(best[2], best[3], lab, cell, truth, *tests), "chosen": best[1], "validation tau": best[0]}


def scores(
    guess: Any, kind: Any, lab: Lab, cell: Cell, truth: str, queries: Any, database: Any, *, mse: bool = False
) -> dict[str, Any]:
    """Means over the queries; the error only where the guess is one of the normalised distance itself."""
    right = lab.distances(cell.data, truth, cell.split, queries, database)
    found = ranking(guess, right, k=min(K, len(database)), predicted_is=kind).summary()
    names = {"tau": "tau", "rho": "rho", "p@10": f"p@{min(K, len(database))}"}
    names["strict p@10"] = f"strict {names['p@10']}"
    if mse:
        names["mse"] = "mse"
    return {key: found[name][0] for key, name in names.items()} | {"queries": len(queries), "database": len(database)}
