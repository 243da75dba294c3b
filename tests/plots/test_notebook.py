"""What notebooks show: drawings, with everything that comes from users escaped."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.search.matches import Match, Matches

GRAPHS = ug.load_dataset("atlas")[30:50]


def drawings(text: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(f"<div>{text}</div>").iter("{http://www.w3.org/2000/svg}svg"))


def test_a_graph_is_drawn_node_by_node() -> None:
    graph = GRAPHS[5]
    (drawing,) = drawings(graph._repr_html_())
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}circle"))) == graph.num_nodes
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}line"))) == graph.num_edges


def test_a_collection_shows_its_first_graphs_and_says_how_many_more() -> None:
    text = GRAPHS._repr_html_()
    assert len(drawings(text)) == 12
    assert "and 8 more" in text
    assert drawings(ug.GraphSet.from_edges([0, 1], [])._repr_html_())


def test_molecules_are_drawn_as_molecules_and_names_are_escaped() -> None:
    pytest.importorskip("rdkit")
    graphs = ug.GraphSet.from_smiles(["c1ccccc1O"], ids=["<script>"])
    text = graphs[0]._repr_html_()
    assert "<script>" not in text
    assert "title='c1ccccc1O'" in text
    assert len(drawings(text)) == 1


def test_matches_are_a_table_with_drawings() -> None:
    found = [
        Match("<b>", 1, 2.0, 2.0, 2.0, True, 0.25, None, {"note": "a & b"}, GRAPHS[0], GRAPHS[1], ug.EditCosts()),
        Match("x", 2, np.nan, np.nan, np.nan, False, 0.5, None, {}, GRAPHS[0], GRAPHS[2], ug.EditCosts()),
    ]
    text = Matches(found)._repr_html_()
    assert len(drawings(text)) == 2
    assert "<td>2</td>" in text
    assert "a &amp; b" in text
    assert "<b>" not in text
