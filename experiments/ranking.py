"""Similarity ranking: test graphs are queries against training graphs (the paper's second table)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments import methods
from experiments.cells import Cell
from experiments.lab import Lab
from experiments.page import NOT_RUN, PAPER, Book, Found, number, table, title, verdict
from experiments.settings import Settings
from ugraphemb.tasks import ranking

K = 10

TITLE = "Similarity ranking"


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
            for split in settings.splits(data, "ranking", method):
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
    """Means over the queries; the error only where the guess is one of the normalized distance itself."""
    right = lab.distances(cell.data, truth, cell.split, queries, database)
    truth_is: Any = "similarity" if truth in ("mcs", "graphlet") else "distance"
    found = ranking(guess, right, k=min(K, len(database)), predicted_is=kind, truth_is=truth_is).summary()
    names = {"tau": "tau", "rho": "rho", "p@10": f"p@{min(K, len(database))}"}
    names["strict p@10"] = f"strict {names['p@10']}"
    if mse:
        names["mse"] = "mse"
    return {key: found[name][0] for key, name in names.items()} | {"queries": len(queries), "database": len(database)}


def section(book: Book, docs: Path) -> list[str]:
    parts = []
    for data in book.settings["ranking"]["sets"]:
        truths = [truth for truth in ("paper", "tight") if truth in book.settings.sets[data]["truths"]]
        head = ["method", "paper τ", "paper p@10"]
        for truth in truths:
            head += [f"τ, {truth} truth", "p@10", "strict", "MSE"]
        today, target = book.today(data), PAPER["targets"].get(data)
        rows = [_today(today, target, truths)] if today.cells and target else []
        for method in book.methods("ranking", data):
            found = book.find("ranking", data, method)
            theirs = PAPER["ranking"].get(data, {}).get("ugraphemb" if method in methods.EMBEDDINGS else method)
            row = [methods.NAMES[method], *map(number, theirs or (None, None))]
            for truth in truths:
                row += _scores(found, truth)
            rows.append([*row, found.count, _verdict(book, data, method, found, theirs)])
        parts.append(f"### {title(data)}\n\n{table([*head, 'splits', 'verdict (τ; p@10)'], rows)}")
    return [*parts, "### Under exact distances", _exact(book)]


def _today(found: Found, target: Any, truths: list[str]) -> list[str]:
    """The default of today, which was trained and tested on the tight truth only."""
    row = ["UGraphEmb, the default of today", "–", "–"]
    for truth in truths:
        row += _scores(found, truth) if truth == "tight" else ["–"] * 4
    return [*row, found.count, f"target {target[0]}, {target[1]}: {_both(found, 'tight', target)}"]


def _scores(found: Found, truth: str) -> list[str]:
    short = [number(found.mean(truth, name)) if found.cells else NOT_RUN for name in ("strict p@10", "mse")]
    return [found.text(truth, "tau"), found.text(truth, "p@10"), *short]


def _verdict(book: Book, data: str, method: str, found: Found, theirs: Any) -> str:
    """Models of the paper's truth against the paper's UGraphEmb, others against ours of release 0.1."""
    if method == "ugraphemb":
        return "–"
    if method in methods.EMBEDDINGS:
        truth = "tight" if method == "paper@tight" else "paper"
        return _both(found, truth, theirs) if theirs else "–"
    truth, ours = next(
        ((truth, name) for truth, name in (("paper", "ugraphemb@paper"), ("tight", "ugraphemb"))
         if book.find("ranking", data, name).cells), ("", "")
    )  # fmt: skip
    best, tau = book.find("ranking", data, ours).mean(truth, "tau"), found.mean(truth, "tau")
    if tau is None or best is None:
        return NOT_RUN
    return f"τ {'below' if tau < best else 'above'} ours ({truth} truth)"


def _both(found: Found, truth: str, than: Any) -> str:
    tau, precision = (verdict(found.mean(truth, key), value) for key, value in zip(("tau", "p@10"), than, strict=True))
    return tau if tau == precision else f"{tau}; {precision}"


def _exact(book: Book) -> str:
    rows = []
    for data in book.settings["ranking"]["sets"]:
        if "exact" not in book.settings.sets[data]["truths"]:
            continue
        limit = book.settings.cap(data, "exact")["nodes"]
        for method in book.methods("ranking", data):
            found = book.find("ranking", data, method)
            head = [f"{title(data)}, ≤ {limit} nodes", methods.NAMES[method]]
            rows.append([*head, *_scores(found, "exact"), found.count])
    return table(["set", "method", "τ", "p@10", "strict", "MSE", "splits"], rows)
