"""Draws the figure of the README: python docs/tools/figures.py. It needs no training."""

from __future__ import annotations

from pathlib import Path

import ugraphemb as ug
from ugraphemb.plots import edit_figure

FIGURES = Path(__file__).resolve().parents[1] / "figures"
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def main() -> None:
    from tutorials import png

    molecules = ug.load_dataset("molecules")
    table = ug.pairwise(ASPIRIN, molecules, method="exact", limit=2)
    near = sorted(table.right[table.upper <= 2].tolist(), key=lambda i: (table.upper[i], i))
    found = [ug.distance(ASPIRIN, molecules[i], method="exact") for i in near]
    figure = edit_figure(
        ASPIRIN,
        [molecules[i] for i in near],
        [answer.mapping for answer in found],
        titles=[f"molecule {molecules[i].id}: distance {table.upper[i]:g}" for i in near],
        title=f"Aspirin and all molecules within two edits among {len(molecules):,}, proven",
    )
    (FIGURES / "search.png").write_bytes(png(figure))


if __name__ == "__main__":
    main()
