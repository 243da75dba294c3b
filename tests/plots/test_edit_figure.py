"""Marks on two graphs say what the edits say, and the figure is drawn for any graphs."""

from __future__ import annotations

import numpy as np
import pytest
from proximity.oracle import random_graph

import ugraphemb as ug
from ugraphemb import EditCosts, GraphSet
from ugraphemb.plots.drawing import save_figure
from ugraphemb.plots.edit_figure import edit_figure
from ugraphemb.plots.marks import CHANGED, GONE, NEW, edit_marks, turned


def test_there_is_a_mark_for_every_edit():
    random = np.random.default_rng(0)
    for edge_labels in (0, 2):
        costs = EditCosts(edge_relabel=1.0 if edge_labels else 0.0)
        for _ in range(30):
            left, right = (random_graph(random, int(random.integers(1, 7)), 0.5, 2, edge_labels) for _ in range(2))
            answer = ug.distance(left, right, method="exact", costs=costs)
            first, second = edit_marks(left, right, answer.mapping, edge_labels=bool(edge_labels))
            counts = dict.fromkeys(("delete", "insert", "relabel"), 0)
            for step in answer.edit_path():
                counts[step.operation.partition(" ")[0]] += 1
            marks = [[*part.nodes.values(), *part.edges.values()] for part in (first, second)]
            assert marks[0].count(GONE) == counts["delete"]
            assert marks[1].count(NEW) == counts["insert"]
            assert marks[0].count(CHANGED) == marks[1].count(CHANGED) == counts["relabel"]
            assert marks[0].count(NEW) == marks[1].count(GONE) == 0


def test_turning_keeps_shapes_and_comes_as_close_as_possible():
    random = np.random.default_rng(0)
    places = random.normal(size=(9, 2))
    angle = 1.1
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for mirror in (np.eye(2), np.diag([1.0, -1.0])):
        aim = places @ rotation @ mirror + 5
        aim[2] = np.nan
        found = turned(places, aim)
        shift = (aim - found)[[0, 1, 3, 4, 5, 6, 7, 8]]
        assert np.allclose(shift, shift[0])
    only_one = np.full((9, 2), np.nan)
    only_one[0] = 1
    assert np.array_equal(turned(places, only_one), places)


@pytest.mark.parametrize("molecules", [True, False])
def test_a_figure_is_the_same_every_time_and_has_a_legend_of_what_happens(tmp_path, molecules):
    if molecules:
        pytest.importorskip("rdkit")
        graphs = GraphSet.from_smiles(["CC(=O)Oc1ccccc1C(=O)O", "O=C(O)c1ccccc1O", "CC(=O)Nc1ccccc1C(=O)O"])
    else:
        random = np.random.default_rng(1)
        graphs = [random_graph(random, size, 0.4, 3) for size in (6, 5, 7)]
    answers = [ug.distance(graphs[0], graphs[i]) for i in (1, 2)]
    files = []
    for name in ("a.png", "b.png"):
        figure = edit_figure(
            graphs[0], [graphs[1], graphs[2]], [answer.mapping for answer in answers],
            titles=["first", "second"], notes=["a note", "b"], title="all",
        )  # fmt: skip
        save_figure(figure, tmp_path / name, dpi=40)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    assert {"first", "second", "a note", "all", "query", "found"} <= {text.get_text() for text in figure.texts}
    assert "removed" in [text.get_text() for text in figure.legends[0].texts]
    with pytest.raises(ValueError, match="1 mappings"):
        edit_figure(graphs[0], [graphs[1], graphs[2]], [answers[0].mapping], titles=["a", "b"])
