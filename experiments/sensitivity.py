"""Sensitivity: the dimension of the vectors, and the share of training pairs (the paper's figure of parameters)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from experiments.page import Book, table, title
from experiments.settings import Settings
from experiments.variants import HEAD, columns, quality

TITLE = "Sensitivity: dimension, and share of training pairs"
run = quality


def cells(settings: Settings) -> Iterator[Cell]:
    own = settings["sensitivity"]
    for data in own["sets"]:
        for split in settings.splits(data, "sensitivity"):
            for width in own["dimensions"]:
                spec = settings.model(data, own["preset"], own["truth"], {"dimension": width})
                yield Cell("sensitivity", data, f"dimension {width}", split, {"model": spec}, tier=4)
            for share in own["shares"]:
                spec = settings.model(data, own["preset"], own["truth"], share=share)
                yield Cell("sensitivity", data, f"share {share:.0e}", split, {"model": spec}, tier=4)


def section(book: Book, docs: Path) -> list[str]:
    own, parts = book.settings["sensitivity"], []
    for data in own["sets"]:
        widths = {width: book.find("sensitivity", data, f"dimension {width}") for width in own["dimensions"]}
        shares = {100 * share: book.find("sensitivity", data, f"share {share:.0e}") for share in own["shares"]}
        rows = [[f"dimension {width}", *columns(found)] for width, found in widths.items()]
        rows += [[f"{share:g} % of the training pairs", *columns(found)] for share, found in shares.items()]
        parts += [f"### {title(data)}", table(["", *HEAD], rows)]
        if any(found.cells for found in [*widths.values(), *shares.values()]):
            file = docs / "figures" / f"sensitivity-{data}.svg"
            _draw(file, [("dimension of the vectors", widths), ("share of training pairs, %", shares)])
            parts.append(f"![Accuracy and τ by dimension and by share of training pairs](figures/{file.name})")
    return parts


def _draw(file: Path, panels: list[tuple[str, dict[float, Any]]]) -> None:
    """Two panels, accuracy on the left axis and τ on the right, the horizontal axis logarithmic."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "ugraphemb", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(8.4, 3.0), layout="constrained")
        for axes, (name, found) in zip(figure.subplots(1, 2), panels, strict=True):
            other = axes.twinx()
            for side, key, color, mark, label, span in (
                (axes, "accuracy", "#0072B2", "o", "accuracy, %", 10),
                (other, "tau", "#D55E00", "s", "Kendall's τ", 0.1),
            ):
                points = [(x, cells.numbers(key)) for x, cells in found.items() if cells.numbers(key)]
                for x, values in points:
                    side.plot([x] * len(values), values, mark, color=color, markersize=2.5, alpha=0.5)
                side.plot([x for x, _ in points], [sum(v) / len(v) for _, v in points], mark + "-", color=color)
                low, high = side.get_ylim()
                room = max(0.0, span - (high - low)) / 2  # random variation is not shown as a trend
                side.set_ylim(low - room, high + room)
                side.set_ylabel(label, color=color)
                side.spines["top"].set_visible(False)
            axes.set_xscale("log", base=2 if "dimension" in name else 10)
            axes.set_xlabel(name)
            if "dimension" in name:
                axes.set_xticks(list(found), [str(x) for x in found])
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
