"""docs/results.md, written from the finished cells: the paper's number, ours, the verdict. Never by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from experiments.catalog import NAMES, all_cells, experiment
from experiments.cells import Cell, Ledger
from experiments.settings import HERE, MODES, Settings, tomllib

PAPER: dict[str, Any] = tomllib.loads((HERE / "paper.toml").read_text())
TITLES = {
    "PTC": "PTC", "IMDB-MULTI": "IMDBM", "WEB": "WEB", "NCI109": "NCI109",
    "REDDIT-MULTI-12K-SUBSET": "REDDIT12K (subset)", "AIDS": "AIDS", "Alkane": "Alkane",
}  # fmt: skip
NOT_RUN = "not run"
NEW = ("datasets", "ground_truth", "finetuning", "pair_models")
OF_0_1 = "*Computed with the code of release 0.1 and its default, the preset `0.1`.*"
LONG = 16  # lines of a section's tables that are shown without being asked for


@dataclass(frozen=True)
class Found:
    """The finished cells of one experiment, data set and method, one per split, all of one mode."""

    cells: list[tuple[Cell, dict[str, Any]]] = field(default_factory=list)
    expected: int = 0
    mode: str = "full"

    def numbers(self, *path: str) -> list[float]:
        """A value of each split, where it has one."""
        found = []
        for _, row in self.cells:
            value: Any = row["values"]
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            if value is not None:
                found.append(value)
        return found

    def mean(self, *path: str) -> float | None:
        numbers = self.numbers(*path)
        return fmean(numbers) if numbers else None

    def text(self, *path: str, digits: int = 3) -> str:
        """Mean ± standard deviation over the splits."""
        numbers = self.numbers(*path)
        if not numbers:
            return "–" if self.cells else NOT_RUN
        spread = f" ± {stdev(numbers):.{digits}f}" if len(numbers) > 1 else ""
        return f"{fmean(numbers):.{digits}f}{spread}"

    @property
    def value(self) -> dict[str, Any]:
        """The values of the first split; empty where it was not run."""
        return self.cells[0][1]["values"] if self.cells else {}

    @property
    def count(self) -> str:
        """Splits done, of how many; for a trained model the steps; and a mark where the mode was quick."""
        missing = f" of {self.expected}" if len(self.cells) < self.expected else ""
        steps = f", {self.steps:,} steps" if self.steps else ""
        return f"{len(self.cells)}{missing}{steps}{' (quick)' if self.mode == 'quick' and self.cells else ''}"

    @property
    def steps(self) -> int | None:
        """Of training, where a model was trained."""
        if "training" in self.value:
            return int(self.value["training"]["steps"])
        model = self.cells[0][0].settings.get("model") if self.cells else None
        if not model or model["changes"].get("steps_a_graph"):
            return None
        return model["changes"].get("steps", 20_000)


class Book:
    """All finished cells. Those of the full mode count; where there is none, those of the quick mode."""

    def __init__(self, results: Path, settings: Sequence[Settings]) -> None:
        self.results, self.used = results, {}  # type: Path, dict[str, dict[str, Any]]
        self.settings = settings[0]
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        self._found: dict[tuple[str, str, str], Found] = {}
        for mode in settings:
            groups: dict[tuple[str, str, str], list[Cell]] = {}
            for cell in all_cells(mode):
                groups.setdefault((cell.experiment, cell.data, cell.method), []).append(cell)
            for key, cells in groups.items():
                rows = self.rows(*key[:2])
                done = [(cell, rows[cell.key]) for cell in cells if cell.key in rows]
                if key not in self._found or (done and not self._found[key].cells):
                    self._found[key] = Found(done, len(cells), mode.mode)

    def rows(self, experiment: str, data: str) -> dict[str, dict[str, Any]]:
        """Finished cells of an experiment on a set, by key."""
        place = (experiment, data)
        if place not in self._rows:
            self._rows[place] = Ledger(self.results, *place).rows()
        return self._rows[place]

    def find(self, experiment: str, data: str, method: str) -> Found:
        found = self._found.get((experiment, data, method), Found())
        self.used.update({cell.key: row for cell, row in found.cells})
        return found

    def today(self, data: str) -> Found:
        """The default of today on the tight truth, one cell per split, from the trials of encoders."""
        path = self.results / "encoder" / f"{data}.jsonl"
        entries = map(json.loads, path.read_text().splitlines()) if path.exists() else []
        last = {entry["split"]: entry for entry in entries if entry["row"] == "default"}
        rows = [{"values": {"tight": entry["test"], "training": {"steps": entry["steps"]}}} for entry in last.values()]
        return Found([(Cell("encoder", data, "default", split), row) for split, row in zip(last, rows, strict=True)])

    def methods(self, experiment: str, data: str) -> list[str]:
        """In the order of the config, those without one sorted as they are computed."""
        own = [key[2] for key in self._found if key[:2] == (experiment, data)]
        order = self.settings[experiment].get("methods", [])
        return sorted(own, key=lambda name: order.index(name) if name in order else len(order))


def verdict(ours: float | None, theirs: float | None, digits: int = 3) -> str:
    """ "passed" where ours is at least theirs as printed, else by how much it is short."""
    if ours is None:
        return NOT_RUN
    if theirs is None:
        return "–"
    gap = theirs - ours
    return "**passed**" if gap <= 0 else f"short by {max(gap, 10**-digits):.{digits}f}"


def title(data: str) -> str:
    """The paper's name of a data set, where it has one."""
    return TITLES.get(data, data)


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Markdown, with padded columns for readable source."""
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
            for line in lines]  # fmt: skip
    return "\n".join([text[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *text[1:]])


def folded(summary: str, text: str) -> str:
    """Text that a reader opens, on GitHub and on the site."""
    return f'<details markdown="1">\n<summary>{summary}</summary>\n\n{text}\n\n</details>'


def notes(name: str) -> str:
    """What a person wrote about an experiment: experiments/notes/NAME.md."""
    path = HERE / "notes" / f"{name}.md"
    return path.read_text().strip() if path.exists() else ""


def write_page(results: Path, target: Path, config: Path | dict[str, Any] = HERE / "config.toml") -> None:
    """The whole page."""
    from experiments.opening import closing, opening  # which needs the names of this module

    book = Book(results, [Settings(mode, config) for mode in MODES])
    sections = []
    for name in NAMES:
        module = experiment(name)
        text = "\n\n".join(module.section(book, target.parent))
        if len(text.splitlines()) > LONG and "<details" not in text:
            text = folded(f"{module.TITLE}: all tables", text)
        parts = (f"## {module.TITLE}", "" if name in NEW else OF_0_1, notes(name), text)
        sections.append("\n\n".join(part for part in parts if part))
    first, how = notes("head").split("\n\n", 1)
    head = [first, opening(book, target.parent), how, summary(book)]
    text = "\n\n".join([*head, *sections, closing(book), provenance(book)]) + "\n"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def summary(book: Book) -> str:
    """UGraphEmb at a glance: the paper, ours, the target."""
    rows = []
    for data, targets in PAPER["targets"].items():
        same, tight = book.find("ranking", data, "ugraphemb@paper"), book.find("ranking", data, "ugraphemb")
        today = book.today(data)
        for key, theirs, target in zip(("tau", "p@10"), PAPER["ranking"][data]["ugraphemb"], targets, strict=True):
            rows.append([
                title(data), "τ" if key == "tau" else key, number(theirs), same.text("paper", key),
                verdict(same.mean("paper", key), theirs), tight.text("tight", key), today.text("tight", key),
                number(target), verdict(today.mean("tight", key), target),
                f"{same.count}; {tight.count}; {today.count}",
            ])  # fmt: skip
    head = ["set", "", "paper", "0.1, the paper's truth", "verdict", "0.1, tight truth", "today, tight truth", "target",
            "verdict", "splits"]  # fmt: skip
    return f"## At a glance: distances\n\n{folded('All numbers', table(head, rows))}"


def provenance(book: Book) -> str:
    """Where the numbers come from."""
    rows = list(book.used.values())
    if not rows:
        return "## Where the numbers come from\n\nNo cell is finished yet."
    dates = sorted(row["date"] for row in rows)
    kinds = []
    for name in NAMES:
        own = [row for row in rows if row["experiment"] == name]
        if own:
            commits = sorted({row["commit"] for row in own})
            kinds.append([name, len(own), f"{sum(row['seconds'] for row in own) / 60:.1f}", ", ".join(commits)])
    machines = "; ".join(sorted({row["machine"] for row in rows}))
    return (
        f"## Where the numbers come from\n\n{len(rows)} cells, computed from {dates[0][:10]} to {dates[-1][:10]} on "
        f"{machines}. A + marks a commit with changes in the working tree.\n\n"
        + table(["experiment", "cells", "minutes", "commits"], kinds)
    )
