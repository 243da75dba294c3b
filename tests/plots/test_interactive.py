"""The interactive map: one file, nothing loaded from the network, the data as they were."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ugraphemb.graphs import GraphSet
from ugraphemb.plots.interactive import write_map_page


def data_of(path: Path) -> Any:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S
    )
    assert found
    return json.loads(found[1])


def unpacked(text: str, dtype: str) -> Any:
    return np.frombuffer(base64.b64decode(text), dtype)


def test_a_page_holds_everything_and_asks_for_nothing(tmp_path: Path) -> None:
    graphs = GraphSet.from_edges(
        [3, 0, 2],
        [[0, 1], [1, 2], [3, 4]],
        node_labels=["x", "y", "</script>", "x", "x"],
        targets=["good", "bad", "good"],
        ids=["<b>", "second", "third"],
    )
    path = tmp_path / "map.html"
    write_map_page([[0, 0], [4, 2], [2, 2]], graphs, path, title="A & B <i>")
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\s*=|https?://|@import|fetch\(|XMLHttpRequest|import\(", page)
    assert "<title>A &amp; B &lt;i&gt;</title>" in page
    data = data_of(path)
    assert data["ids"] == ["<b>", "second", "third"]
    assert [(c["name"], c["count"]) for c in data["classes"]] == [("bad", 1), ("good", 2)]
    assert unpacked(data["class_of"], "u1").tolist() == [1, 0, 1]
    assert unpacked(data["node_offsets"], "<u4").tolist() == [0, 3, 3, 5]
    assert unpacked(data["edge_offsets"], "<u4").tolist() == [0, 2, 2, 3]
    assert unpacked(data["edges"], "<u2").reshape(-1, 2).tolist() == [[0, 1], [1, 2], [0, 1]]
    assert unpacked(data["places"], "<f4").reshape(-1, 2).tolist() == [[-1, -0.5], [1, 0.5], [0, 0.5]]
    assert sorted(name for name, _ in data["labels"]) == ["</script>", "x", "y"]
    assert len(unpacked(data["spots"], "<u2")) == 2 * 5


def test_molecules_come_with_symbols_and_orders_of_bonds(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    graphs = GraphSet.from_edges([3], [[0, 1], [1, 2]], node_labels=["C", "C", "O"], edge_labels=["single", "double"])
    write_map_page([[0, 0]], graphs, tmp_path / "m.html")
    data = data_of(tmp_path / "m.html")
    assert [data["symbols"][i] for i in unpacked(data["symbol_of"], "u1")] == ["C", "C", "O"]
    assert unpacked(data["orders"], "u1").tolist() == [1, 2]
    assert len(data["classes"]) == 1


def test_a_page_of_places_that_do_not_fit_is_refused(tmp_path: Path) -> None:
    graphs = GraphSet.from_edges([1] * 300, np.empty((0, 2)), targets=np.arange(300))
    with pytest.raises(ValueError, match=r"expected \(300, 2\)"):
        write_map_page(np.ones((3, 2)), graphs, tmp_path / "m.html")
    with pytest.raises(ValueError, match="300 classes; a page colors at most 255"):
        write_map_page(np.ones((300, 2)), graphs, tmp_path / "m.html")
