"""Draws the diagrams of the documentation, light and dark: python docs/tools/diagrams.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

FIGURES = Path(__file__).resolve().parents[1] / "figures"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
PALETTES = {
    "light": {
        "ink": "#1f2430", "soft": "#5b6475", "line": "#7b8496",
        "data": "#e8edf8", "data-line": "#5b78b8", "code": "#ffffff", "code-line": "#9aa3b5",
        "core": "#fdf0e0", "core-line": "#cf8a2e", "user": "#e6f4ec", "user-line": "#3f9a6a",
    },
    "dark": {
        "ink": "#e7eaf2", "soft": "#a9b2c6", "line": "#8f99ad",
        "data": "#26324f", "data-line": "#7f9cdf", "code": "#2a2d3a", "code-line": "#6d768a",
        "core": "#46351c", "core-line": "#e0a354", "user": "#1f3d2e", "user-line": "#62be8e",
    },
}  # fmt: skip


@dataclass
class Drawing:
    """An SVG of boxes and arrows in the colors of a palette."""

    width: int
    height: int
    colors: dict[str, str]
    title: str
    parts: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, w: float, h: float, title: str, *lines: str, kind: str = "code") -> None:
        fill, edge = self.colors[kind], self.colors[f"{kind}-line"]
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="7" fill="{fill}" stroke="{edge}" stroke-width="1.4"/>'
        )
        top = y + h / 2 - 9 * len(lines) + 5
        self.text(x + w / 2, top, title, size=15, weight=600)
        for number, line in enumerate(lines, start=1):
            self.text(x + w / 2, top + 18 * number, line, size=12.5, color="soft")

    def text(
        self, x: float, y: float, text: str, *, size: float = 12.5, weight: int = 400, color: str = "ink",
        anchor: str = "middle",
    ) -> None:  # fmt: skip
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{self.colors[color]}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def arrow(self, *points: tuple[float, float], dashed: bool = False) -> None:
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<path d="{path}" fill="none" stroke="{self.colors["line"]}" stroke-width="1.6"{dash} '
            'marker-end="url(#tip)"/>'
        )

    def svg(self) -> str:
        tip = (
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z" fill="{self.colors["line"]}"/></marker></defs>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="{FONT}" role="img"><title>{escape(self.title)}</title>{tip}'
            + "\n".join(self.parts)
            + "</svg>\n"
        )


def data_flow(colors: dict[str, str]) -> Drawing:
    """Packages and what passes between them, from files to answers."""
    d = Drawing(960, 560, colors, "Data flow of ugraphemb")
    d.box(20, 20, 300, 62, "Inputs", "files, NetworkX, PyG, igraph, RDKit, SMILES", kind="user")
    d.box(20, 122, 300, 62, "graphs/", "read, check, pack; write")
    d.box(20, 224, 300, 62, "GraphSet", "all graphs in one set of CSR arrays", kind="data")
    d.arrow((170, 82), (170, 121))
    d.arrow((170, 184), (170, 223))
    d.box(400, 224, 250, 62, "proximity/", "distance, pairwise, costs, metrics")
    d.arrow((320, 255), (399, 255))
    d.box(400, 122, 250, 62, "C++ core", "edit distance, MCS, kernels, filters", kind="core")
    d.arrow((525, 224), (525, 185))
    d.arrow((650, 255), (699, 255))
    d.box(700, 224, 240, 62, "PairTable", "lower ≤ distance ≤ upper, proven", kind="data")
    d.box(700, 326, 240, 62, "training/", "sampling, loss, loop: sets the weights")
    d.arrow((820, 286), (820, 325))
    d.box(400, 326, 250, 62, "encoder/", "features, convolutions, readout, head")
    d.arrow((700, 357), (651, 357))
    d.arrow((170, 286), (170, 357), (399, 357))
    d.text(262, 349, "batches of graphs", color="soft")
    d.box(400, 428, 250, 48, "Vectors", "one row per graph", kind="data")
    d.arrow((525, 388), (525, 427))
    d.box(20, 428, 300, 48, "search/", "index, verification, engines")
    d.arrow((400, 452), (321, 452))
    d.box(700, 428, 240, 48, "tasks/, plots/, baselines/", "ranking, classes, maps, figures")
    d.arrow((650, 452), (699, 452))
    d.arrow((400, 150), (355, 150), (355, 435), (321, 435), dashed=True)
    d.text(347, 310, "filters and verification", color="soft", anchor="end")
    d.box(20, 508, 920, 38, "cli/ · web/ · experiments/", kind="user")
    d.arrow((170, 476), (170, 507))
    d.arrow((820, 476), (820, 507))
    d.text(700, 60, "estimator.py (UGraphEmb) joins proximity, training and encoder.", color="soft", anchor="middle")
    d.text(700, 80, "files/ (atomic writes, locks, checksums) is below all packages.", color="soft", anchor="middle")
    return d


def encoder(colors: dict[str, str]) -> Drawing:
    """From a graph to its vector, with the widths of the default preset."""
    d = Drawing(960, 470, colors, "The encoder")
    d.box(20, 60, 150, 250, "", kind="user")
    d.text(95, 84, "Graph", size=15, weight=600)
    nodes = {"a": (60, 130), "b": (120, 118), "c": (135, 180), "d": (80, 205), "e": (60, 262), "f": (128, 258)}
    for u, v in ("ab", "bc", "cd", "da", "de", "cf"):
        (x1, y1), (x2, y2) = nodes[u], nodes[v]
        d.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colors["line"]}" stroke-width="2"/>')
    for name, (x, y) in nodes.items():
        kind = "core" if name in "be" else "data"
        d.parts.append(
            f'<circle cx="{x}" cy="{y}" r="12" fill="{colors[kind]}" stroke="{colors[kind + "-line"]}" '
            'stroke-width="1.6"/>'
        )
        d.text(x, y + 4.5, "N" if name in "be" else "C", size=12)
    columns = (
        (215, "Features", "label + degree", "+ random walks", "64 per node"),
        (375, "GIN layer 1", "u + MLP(u + sum", "of its neighbors)", "64 per node"),
        (535, "GIN layer 2", "2 edges away", "64 per node"),
        (695, "GIN layer 3", "3 edges away", "64 per node"),
    )
    for number, (x, title, *lines) in enumerate(columns):
        d.box(x, 60, 130, 104, title, *lines)
        d.arrow((x - (45 if number == 0 else 30), 112), (x - 1, 112))
        d.box(x, 206, 130, 44, "Σ over nodes", kind="data")
        d.arrow((x + 65, 164), (x + 65, 205))
        d.arrow((x + 65, 250), (x + 65, 289))
    d.text(525, 40, "node vectors: one row per node", color="soft")
    d.box(215, 290, 610, 40, "Concatenate: log(1 + sums) and means, standardized", kind="code")
    d.text(885, 316, "512 per graph", color="soft")
    d.box(215, 370, 190, 62, "Dense layers", "512 → 256, GELU → 256")
    d.arrow((310, 330), (310, 369))
    d.box(470, 370, 150, 62, "Vector", "256 numbers", kind="data")
    d.arrow((405, 401), (469, 401))
    d.box(700, 370, 240, 62, "Head", "predicted distance of two vectors", kind="core")
    d.arrow((620, 392), (699, 392))
    d.arrow((660, 452), (660, 412), (699, 412), dashed=True)
    d.text(660, 466, "vector of another graph", color="soft")
    return d


def main() -> None:
    for name, draw in (("data-flow", data_flow), ("encoder", encoder)):
        for mode, colors in PALETTES.items():
            (FIGURES / f"{name}-{mode}.svg").write_text(draw(colors).svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
