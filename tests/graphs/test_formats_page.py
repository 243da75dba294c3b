"""The page on formats shows what is read."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from ugraphemb.graphs.formats import FORMATS, read_graphs
from ugraphemb.graphs.limits import Limits

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


@pytest.mark.parametrize(
    ("sign", "suffix", "nodes"),
    [
        ('"id": "ethanol"', ".jsonl", [3, 1]),
        ('"name": "drinks"', ".jsonl", []),
        ("<gxl>", ".gxl", [2]),
        ("<graphml", ".graphml", [2]),
        ("# graph first", ".edges", [4, 2]),
        ("D~{", ".g6", [5, 7]),
        ('name "ethanol"', ".gml", [3]),
        ("carbon monoxide", ".json", [2]),
        ("t # ethanol", ".gspan", [3, 1]),
        ("CCO\t", ".smi", [3, 6]),
    ],
)
def test_every_example_is_read(tmp_path: Path, sign: str, suffix: str, nodes: list[int]) -> None:
    if suffix == ".smi":
        pytest.importorskip("rdkit")
    blocks = re.findall(r"```\w*\n(.*?)```", PAGE.read_text(), re.DOTALL)
    path = tmp_path / f"example{suffix}"
    path.write_text(next(block for block in blocks if sign in block))
    assert read_graphs(path, strict=True).num_nodes.tolist() == nodes


def test_every_format_and_suffix_is_on_the_page() -> None:
    table = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    for format in FORMATS.values():
        row = next(line for line in table if line.startswith(f"| `{format.name}` "))
        assert all(f"`{suffix}`" in row for suffix in format.suffixes)


def test_every_limit_is_on_the_page() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d,]+(?: MiB)?) \|", PAGE.read_text(), re.MULTILINE))
    values = {
        name: int(text.replace(",", "").removesuffix(" MiB")) << 20 * text.endswith("MiB")
        for name, text in rows.items()
    }
    assert values == dataclasses.asdict(Limits())
