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
        top = y + h / 2 - 10 * len(lines) + 5
        self.text(x + w / 2, top, title, size=16.5, weight=600)
        for number, line in enumerate(lines, start=1):
            self.text(x + w / 2, top + 20 * number, line, color="soft")

    def text(
        self, x: float, y: float, text: str, *, size: float = 15, weight: int = 400, color: str = "ink",
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
    d = Drawing(960, 590, colors, "Data flow of ugraphemb")
    d.box(20, 20, 310, 64, "Inputs", "files, NetworkX, PyG, RDKit, SMILES", kind="user")
    d.box(20, 124, 310, 64, "graphs/", "read, check, pack; write")
    d.box(20, 228, 310, 64, "GraphSet", "all graphs in one set of CSR arrays", kind="data")
    d.arrow((175, 84), (175, 123))
    d.arrow((175, 188), (175, 227))
    d.box(410, 228, 250, 64, "proximity/", "distance, pairwise, metrics")
    d.arrow((330, 260), (409, 260))
    d.box(410, 124, 250, 64, "C++ core", "distances, kernels, filters", kind="core")
    d.arrow((535, 228), (535, 189))
    d.arrow((660, 260), (709, 260))
    d.box(710, 228, 230, 64, "PairTable", "lower ≤ distance ≤ upper", kind="data")
    d.box(710, 332, 230, 64, "training/", "pairs, loss, weights")
    d.arrow((825, 292), (825, 331))
    d.box(410, 332, 250, 64, "encoder/", "features, layers, readout, head")
    d.arrow((710, 364), (661, 364))
    d.arrow((175, 292), (175, 364), (409, 364))
    d.text(186, 354, "batches of graphs", color="soft", anchor="start")
    d.box(410, 436, 250, 64, "Vectors", "one row per graph", kind="data")
    d.arrow((535, 396), (535, 435))
    d.box(20, 436, 310, 64, "search/", "index, verification, engines")
    d.arrow((410, 474), (331, 474))
    d.box(710, 436, 230, 64, "tasks/, plots/", "ranking, classes, maps")
    d.arrow((660, 468), (709, 468))
    d.arrow((410, 156), (365, 156), (365, 450), (331, 450), dashed=True)
    d.text(358, 318, "bounds, verification", color="soft", anchor="end")
    d.box(20, 532, 920, 42, "cli/ · web/ · experiments/", kind="user")
    d.arrow((175, 500), (175, 531))
    d.arrow((825, 500), (825, 531))
    d.text(665, 46, "estimator.py (UGraphEmb) joins proximity/,", color="soft")
    d.text(665, 67, "training/ and encoder/. files/ (atomic writes,", color="soft")
    d.text(665, 88, "checksums) is below all packages.", color="soft")
    return d


def encoder(colors: dict[str, str]) -> Drawing:
    """From a graph to its vector, with the widths of the default preset for sparse graphs."""
    d = Drawing(960, 490, colors, "The encoder")
    d.box(20, 60, 150, 262, "", kind="user")
    d.text(95, 88, "Graph", size=16.5, weight=600)
    nodes = {"a": (60, 134), "b": (120, 122), "c": (135, 184), "d": (80, 209), "e": (60, 270), "f": (128, 266)}
    for u, v in ("ab", "bc", "cd", "da", "de", "cf"):
        (x1, y1), (x2, y2) = nodes[u], nodes[v]
        d.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colors["line"]}" stroke-width="2"/>')
    for name, (x, y) in nodes.items():
        kind = "core" if name in "be" else "data"
        d.parts.append(
            f'<circle cx="{x}" cy="{y}" r="14" fill="{colors[kind]}" stroke="{colors[kind + "-line"]}" '
            'stroke-width="1.6"/>'
        )
        d.text(x, y + 5, "N" if name in "be" else "C", size=14)
    columns = (
        (210, "Features", "label, degree,", "random walks", "64 per node"),
        (374, "GIN layer 1", "1 edge away", "64 per node"),
        (538, "GIN layer 2", "2 edges away", "64 per node"),
        (702, "GIN layer 3", "3 edges away", "64 per node"),
    )
    for number, (x, title, *lines) in enumerate(columns):
        d.box(x, 60, 138, 110, title, *lines)
        d.arrow((x - (40 if number == 0 else 26), 115), (x - 1, 115))
        d.box(x, 212, 138, 46, "Σ over nodes", kind="data")
        d.arrow((x + 69, 170), (x + 69, 211))
        d.arrow((x + 69, 258), (x + 69, 299))
    d.text(525, 38, "node vectors: one row per node", color="soft")
    d.box(210, 300, 630, 44, "Concatenate: log(1 + sums) and means, standardized", kind="code")
    d.text(900, 318, "512", color="soft")
    d.text(900, 337, "per graph", color="soft")
    d.box(210, 384, 210, 64, "Dense layers", "512 units, GELU, 256")
    d.arrow((315, 344), (315, 383))
    d.box(474, 384, 150, 64, "Vector", "256 numbers", kind="data")
    d.arrow((420, 416), (473, 416))
    d.box(700, 384, 240, 64, "Head", "distance of two vectors", kind="core")
    d.arrow((624, 404), (699, 404))
    d.arrow((662, 466), (662, 430), (699, 430), dashed=True)
    d.text(662, 483, "vector of another graph", color="soft")
    return d


def main() -> None:
    for name, draw in (("data-flow", data_flow), ("encoder", encoder)):
        for mode, colors in PALETTES.items():
            (FIGURES / f"{name}-{mode}.svg").write_text(draw(colors).svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
