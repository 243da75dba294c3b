"""The encoder learns from edge labels where they count."""

from __future__ import annotations

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary

GRAPHS = ug.GraphSet.from_edges(
    [3, 3, 4, 3, 2, 4],
    [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (8, 9), (10, 11), (11, 12), (13, 14), (15, 16), (17, 18)],
    node_labels="abcabcabcdabcababcd"[:19],
    edge_labels=["s", "d", "d", "d", "s", "s", "t", "d", "s", "s", "t", "d"],
)


def model(**options: object) -> ug.UGraphEmb:
    settings = {"layers": (4,), "scales": (0, 1), "hidden": 4}
    return ug.UGraphEmb(dimension=4, steps=3, batch=6, settings=settings, threads=1, progress=False, **options)  # type: ignore[arg-type]


def test_each_node_has_the_number_of_its_edges_of_each_label() -> None:
    config = EncoderConfig(edge_counts=True)
    vocabulary = Vocabulary.of(GRAPHS, config)
    counts = vocabulary.features(GRAPHS, config).numbers
    column = {label: i for i, label in enumerate(vocabulary.edge_labels)}
    expected = np.zeros((len(GRAPHS.node_labels), vocabulary.edge_columns))
    for i, graph in enumerate(GRAPHS):
        for ends, label in zip(graph.edges, graph.edge_labels or (), strict=True):
            for node in ends:
                expected[GRAPHS.node_offsets[i] + node, column[label]] += 1
    assert np.array_equal(counts, expected)


def test_labels_that_are_new_or_too_many_share_a_column() -> None:
    config = EncoderConfig(edge_counts=True)
    vocabulary = Vocabulary.of(GRAPHS, config)
    strange = ug.GraphSet.from_edges([2], [(0, 1)], edge_labels=["new"])
    assert vocabulary.features(strange, config).numbers.tolist() == [[0, 0, 0, 1]] * 2
    bare = ug.GraphSet.from_edges([2], [(0, 1)])
    assert vocabulary.features(bare, config).numbers.tolist() == [[0, 0, 0, 1]] * 2
    many = ug.GraphSet.from_edges([41], [(0, i) for i in range(1, 41)], edge_labels=range(40))
    vocabulary = Vocabulary.of(many, config)
    assert vocabulary.features(many, config).numbers[0].tolist() == [1] * 16 + [24]


@pytest.mark.parametrize(
    ("options", "learned"),
    [
        ({}, True),
        ({"costs": ug.EditCosts(edge_relabel=0.5)}, True),
        ({"costs": ug.EditCosts(edge_relabel=0)}, False),
        ({"metric": "mcs"}, False),
    ],
)
def test_fit_uses_edge_labels_where_they_count(options: dict[str, object], learned: bool) -> None:
    fitted = model(**options).fit(GRAPHS)
    assert fitted.network_.config.edge_counts is learned
    same = ug.GraphSet.from_edges(
        GRAPHS.num_nodes, np.concatenate([g.edges + GRAPHS.node_offsets[i] for i, g in enumerate(GRAPHS)]),
        node_labels=[label for graph in GRAPHS for label in graph.node_labels],
        edge_labels=["s"] * int(GRAPHS.num_edges.sum()),
    )  # fmt: skip
    assert np.array_equal(fitted.transform(same), fitted.transform(GRAPHS)) is not learned
    assert model(**options).fit(same).network_.config.edge_counts is False  # a single label carries no information


def test_the_paper_preset_has_no_edge_labels(tmp_path) -> None:  # type: ignore[no-untyped-def]
    paper = ug.UGraphEmb(preset="paper", layers=(4,), dimension=4, steps=2, batch=4, threads=1, progress=False)
    assert not paper.fit(GRAPHS).network_.config.edge_counts
    fitted = model().fit(GRAPHS)
    fitted.save(tmp_path / "model")
    again = ug.UGraphEmb.load(tmp_path / "model")
    assert np.array_equal(again.transform(GRAPHS), fitted.transform(GRAPHS))
