"""How the page opens: the verdict in a few lines, two pictures, and what is not run."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from experiments.catalog import NAMES, all_cells
from experiments.cells import Cell
from experiments.page import PAPER, Book, folded, table, title

SLOWER = 3.0  # a cell of a method that was never run on a set, against the mean of the method on other sets


def opening(book: Book, docs: Path) -> str:
    """Ten lines and two pictures."""
    ranking, classes = _ranking_rows(book), _class_rows(book)
    reached = {
        "Numbers of the paper that the default of 0.1 reaches, with the paper's ground truth": [r[:3] for r in ranking],
        "Ranking targets of release 0.2 that the default of today reaches, tight distances": [
            (name, tight, target) for name, _, _, tight, target in ranking
        ],
        "Classification targets that vectors learned without classes reach, by logistic regression as in the paper": [
            (row.name, row.vectors, row.asked) for row in classes
        ],
        "Classification targets that vectors or features reach, by the classifier that cross-validation chooses": [
            (row.name, row.chosen, row.asked) for row in classes
        ],
        "Classification targets that fine-tuned models reach": [
            (row.name, row.direct, row.asked_of_direct) for row in classes
        ],
    }
    lines = [
        *(_line(words, found, 1 if words.startswith("Class") else 3) for words, found in reached.items()),
        _cost(book), _pairs(book), _against_others(classes, book), _missing(book),
        "- Rankings of all methods, teachers, readouts, ladder and ablation were computed with the code and default of "
        "release 0.1; rankings against the targets, fine-tuning and exact distances with the default of today. Each "
        "table says on how many splits.",
    ]  # fmt: skip
    _draw(docs / "figures" / "verdict-ranking.svg", "Kendall's τ and p@10", [
        (name, [("the paper", theirs), ("0.1, the paper's truth", same), ("today, tight truth", tight)])
        for name, same, theirs, tight, _ in ranking
    ])  # fmt: skip
    _draw(docs / "figures" / "verdict-classification.svg", "test accuracy, %", [
        (row.name, [("vectors", row.chosen), ("predicted, fine-tuned", row.direct),
                    ("best other method", _other(book, row.data))])
        for row in classes
    ])  # fmt: skip
    pictures = [
        "![τ and p@10 of UGraphEmb: the paper, ours](figures/verdict-ranking.svg)",
        "![Accuracy: vectors, fine-tuned, the best other method](figures/verdict-classification.svg)",
    ]
    return "## The verdict\n\n" + "\n".join(line for line in lines if line) + "\n\n" + "\n\n".join(pictures)


Row = tuple[str, float | None, float | None, float | None, float | None]


class ClassRow(NamedTuple):
    """Accuracies on one set: of vectors by logistic regression, of the chosen classifier, of predicted classes."""

    data: str
    vectors: float | None
    chosen: float | None
    asked: float
    direct: float | None
    asked_of_direct: float

    @property
    def name(self) -> str:
        return title(self.data)


def _ranking_rows(book: Book) -> list[Row]:
    """Name; 0.1 on the paper's truth and the paper; today's default on the tight truth and its target."""
    rows: list[Row] = []
    for data, targets in PAPER["targets"].items():
        same, tight = book.find("ranking", data, "ugraphemb@paper"), book.today(data)
        for key, theirs, target in zip(("tau", "p@10"), PAPER["ranking"][data]["ugraphemb"], targets, strict=True):
            name = f"{title(data)} {'τ' if key == 'tau' else key}"
            rows.append((name, same.mean("paper", key), theirs, tight.mean("tight", key), target))
    return rows


def _class_rows(book: Book) -> list[ClassRow]:
    rows = []
    for data in book.settings["finetuning"]["sets"]:
        found, (asked, of_direct) = book.find("finetuning", data, "ugraphemb"), PAPER["asked"][data]
        before = [found.mean("before", key) for key in ("lr", "chosen")]
        rows.append(ClassRow(data, *before, asked, found.mean("direct"), of_direct))
    return rows


def _line(words: str, found: list[tuple[str, float | None, float | None]], digits: int) -> str:
    """How many reach a number, and every one that does not."""
    known = [(name, ours, theirs) for name, ours, theirs in found if ours is not None and theirs is not None]
    missed = [f"{name} {ours:.{digits}f} of {theirs:g}" for name, ours, theirs in known if ours < theirs]
    absent = [name for name, ours, _ in found if ours is None]
    text = f"- **{words}: {len(known) - len(missed)} of {len(found)}.**"
    text += f" Missed: {'; '.join(missed)}." if missed else ""
    return text + (f" Not run: {', '.join(absent)}." if absent else "")


def _cost(book: Book) -> str:
    parts = []
    for data in book.settings["finetuning"]["sets"]:
        found = book.find("finetuning", data, "ugraphemb")
        if found.cells:
            taus = [f"{found.mean(when, 'tau'):.3f}" for when in ("before", "after")]
            parts.append(f"{title(data)} {' → '.join(taus)}")
    return f"- **What fine-tuning costs the distances**, τ before and after: {'; '.join(parts)}." if parts else ""


def _pairs(book: Book) -> str:
    parts = []
    for data in book.settings["pair_models"]["sets"]:
        found = book.find("pair_models", data, "ugraphemb")
        if found.cells:
            numbers = [f"{found.mean('test × training', key):.3f}" for key in ("mae", "tau", "p@10")]
            parts.append(f"{data} {', '.join(numbers)}")
    if not parts:
        return ""
    best = "on AIDS700nef GREED has 0.593, 0.745, 0.695 and GENN-A* 0.507, 0.823, 0.721"
    ours = "; ".join(parts)
    return f"- **Exact distances, one vector per graph** (MAE, τ, p@10): {ours}. Published, similar sets: {best}."


def _other(book: Book, data: str) -> float | None:
    others = [name for name in book.methods("classification", data) if not name.startswith(("ugraphemb", "paper"))]
    means = [book.find("classification", data, name).mean("accuracy") for name in others]
    return max((mean for mean in means if mean is not None), default=None)


def _against_others(classes: list[ClassRow], book: Book) -> str:
    behind = []
    for row in classes:
        other = _other(book, row.data)
        if row.direct is not None and other is not None and row.direct < other:
            behind.append(f"{row.name} ({row.direct:.1f}, other {other:.1f})")
    words = f"behind on {', '.join(behind)}" if behind else "ahead on every set that was run"
    return f"- **Fine-tuned against the best other method measured here**: {words}."


def _missing(book: Book) -> str:
    missing = not_run(book)
    if not missing:
        return "- Every cell of the config is computed."
    hours = sum(seconds for _, seconds in missing) / 3600
    return (
        f"- **Not run: {len(missing)} of {len(all_cells(book.settings))} cells**, about {hours:.0f} hours of one core "
        "([which, and how long each takes](#not-run))."
    )


def not_run(book: Book) -> list[tuple[Cell, float]]:
    """Cells of the config without a result, each with its estimated seconds."""
    known: dict[tuple[str, str], list[tuple[str, float]]] = {}
    missing = []
    for cell in all_cells(book.settings):
        row = book.rows(cell.experiment, cell.data).get(cell.key)
        if row is None:
            missing.append(cell)
        else:
            known.setdefault((cell.experiment, cell.method), []).append((cell.data, row["seconds"]))
    return [(cell, _estimate(cell, known)) for cell in missing]


def _estimate(cell: Cell, known: dict[tuple[str, str], list[tuple[str, float]]]) -> float:
    """The mean of other splits; else of other sets, times `SLOWER`; else of the experiment."""
    own = known.get((cell.experiment, cell.method), [])
    same = [seconds for data, seconds in own if data == cell.data]
    if same:
        return fmean(same)
    if own:
        return SLOWER * fmean(seconds for _, seconds in own)
    everything = [s for (experiment, _), rows in known.items() if experiment == cell.experiment for _, s in rows]
    return SLOWER * fmean(everything) if everything else 600.0


def closing(book: Book) -> str:
    """What is not run, by experiment and set, and how long all of it takes."""
    groups: dict[tuple[str, str], list[tuple[Cell, float]]] = {}
    missing = not_run(book)
    for cell, seconds in missing:
        groups.setdefault((cell.experiment, cell.data), []).append((cell, seconds))
    rows: list[list[Any]] = []
    for (experiment, data), found in groups.items():
        names = ", ".join(dict.fromkeys(cell.method for cell, _ in found))
        rows.append([experiment, title(data), len(found), names, f"{sum(s for _, s in found) / 60:.0f}"])
    done = sum(r["seconds"] for name in NAMES for r in _done(book, name))
    left = sum(seconds for _, seconds in missing)
    text = (
        f"Estimated from the recorded cells: the finished cells took {done / 3600:.1f} hours of one core, those not "
        f"run would take {left / 3600:.1f}; `make experiments` with two processes therefore "
        f"{(done + left) / 7200:.1f} hours. A method that never ran on a set is taken as "
        f"{SLOWER:g} times its mean elsewhere."
    )
    found = table(["experiment", "set", "cells", "methods", "minutes"], rows)
    return f"## Not run\n\n{text}\n\n{folded('By experiment and set', found)}"


def _done(book: Book, name: str) -> list[dict[str, Any]]:
    cells = all_cells(book.settings, [name])
    found = [book.rows(name, cell.data).get(cell.key) for cell in cells]
    return [row for row in found if row is not None]


def _draw(file: Path, label: str, groups: list[tuple[str, list[tuple[str, float | None]]]]) -> None:
    """Bars by group; what is not run has none."""
    if not groups:
        return
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "ugraphemb", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9.0, 2.8), layout="constrained")
        axes = figure.subplots()
        names = [name for name, _ in groups[0][1]]
        for k, (name, color) in enumerate(zip(names, ("#999999", "#0072B2", "#D55E00"), strict=False)):
            for place, (_, bars) in enumerate(groups):
                value = bars[k][1]
                if value is not None:
                    axes.bar(place + 0.27 * (k - 1), value, 0.25, color=color)
                    text = f"{value:.2f}".lstrip("0") if value < 2 else f"{value:.0f}"
                    axes.text(place + 0.27 * (k - 1), value, text, ha="center", va="bottom", fontsize=6)
            axes.bar(0, 0, color=color, label=name)
        axes.set_xticks(range(len(groups)), [name.replace(" (subset)", "").replace(" ", "\n") for name, _ in groups])
        axes.set_ylabel(label)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=3, frameon=False)
        figure.savefig(file, metadata={"Date": None})
