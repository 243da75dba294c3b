"""Weisfeiler-Lehman colors, against refinement by sorted tuples, and the laws that they keep."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.encoder.colors import Bags, bags, colors, known_colors, sketch
from ugraphemb.encoder.hashing import label_digest


def refined(graphs: ug.GraphSet, rounds: int) -> list[list[object]]:
    """The color of each node of all graphs after each round, as nested tuples."""
    one = graphs.to_networkx()
    now = [{node: (graph.nodes[node].get("label"),) for node in graph} for graph in one]
    answer = [[colored[node] for colored in now for node in colored]]
    for _ in range(rounds):
        now = [
            {
                node: (colored[node], tuple(sorted((colored[other] for other in graph[node]), key=repr)))
                for node in graph
            }
            for graph, colored in zip(one, now, strict=True)
        ]
        answer.append([colored[node] for colored in now for node in colored])
    return answer


def of_graphs(graphs: ug.GraphSet, rounds: int = 3) -> list[list[set[int]]]:
    """The distinct colors of each graph, round by round."""
    found = colors(graphs, rounds, edge_labels=True)
    return [[set(color[place == i].tolist()) for i in range(len(graphs))] for place, color in found]


@pytest.fixture(scope="module")
def graphs() -> ug.GraphSet:
    atlas = ug.load_dataset("atlas")[60:100]
    labels = np.random.default_rng(0).integers(0, 3, len(atlas.node_labels))
    one = atlas.to_networkx()
    names = iter(labels.tolist())
    for graph in one:
        for node in graph:
            graph.nodes[node]["label"] = "CNO"[next(names)]
    return ug.GraphSet.from_networkx(one, node_label="label")


def test_graphs_share_as_many_colors_as_refinement_by_tuples_says(graphs):
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    for ours, theirs in zip(of_graphs(graphs), refined(graphs, 3), strict=True):
        sets = [{theirs[i] for i in np.flatnonzero(graph_of == k)} for k in range(len(graphs))]
        for i in range(len(graphs)):
            for j in range(i, len(graphs)):
                assert len(ours[i] & ours[j]) == len(sets[i] & sets[j])


def test_colors_depend_neither_on_the_order_of_nodes_nor_on_the_other_graphs(graphs):
    import networkx as nx

    one = graphs[[7]].to_networkx()[0]
    order = np.random.default_rng(1).permutation(len(one)).tolist()
    renamed = nx.Graph()
    renamed.add_nodes_from((order[node], one.nodes[node]) for node in sorted(one, key=lambda node: order[node]))
    renamed.add_edges_from((order[u], order[v]) for u, v in one.edges)
    alone = ug.GraphSet.from_networkx([renamed], node_label="label")
    assert [k[0] for k in of_graphs(alone)] == [k[7] for k in of_graphs(graphs)]


def test_labels_of_edges_count_where_they_are_asked_for():
    single, double = ug.GraphSet.from_smiles(["CCO"]), ug.GraphSet.from_smiles(["CC=O"])
    with_labels = [colors(g, 1, edge_labels=True)[1][1].tolist() for g in (single, double)]
    without = [colors(g, 1, edge_labels=False)[1][1].tolist() for g in (single, double)]
    assert with_labels[0] != with_labels[1]
    assert without[0] == without[1]


def test_bags_hold_the_known_colors_of_each_graph(graphs):
    found = colors(graphs, 2, edge_labels=False)
    known, rounds = known_colors(found, least=2)
    everything = np.concatenate([color for _, color in found])
    assert set(known.tolist()) == {c for c in everything.tolist() if (everything == c).sum() >= 2}
    for number, (_, color) in enumerate(found):
        assert set(known[rounds == number].tolist()) <= set(color.tolist())
    whole = bags(found, known, len(graphs))
    expected = [set().union(*sets) & set(known.tolist()) for sets in zip(*of_graphs(graphs, 2), strict=True)]
    for i in (0, 5, len(graphs) - 1):
        assert set(known[whole.of(np.array([i])).color].tolist()) == expected[i]
    some = whole.of(np.array([9, 2, 9]))
    parts = [whole.of(np.array([i])) for i in (9, 2, 9)]
    np.testing.assert_array_equal(some.color, np.concatenate([part.color for part in parts]))
    np.testing.assert_array_equal(some.offsets, np.cumsum([0, len(parts[0].color), len(parts[1].color)]))


def test_a_row_of_the_matrix_has_equal_entries_at_the_colors_that_count_and_length_one():
    three = Bags(np.array([0, 2, 3, 1]), np.array([0, 3, 3]))  # the second graph has none
    found = three.matrix(np.array([True, True, False, True])).toarray()
    half = 0.5**0.5
    np.testing.assert_allclose(found, [[half, 0, 0, half], [0, 0, 0, 0], [0, 1, 0, 0]], rtol=1e-6)


def test_a_graph_without_nodes_or_known_colors_has_an_empty_bag():
    empty = ug.GraphSet.from_edges([0, 2], [np.empty((0, 2), int)] * 2)
    found = colors(empty, 3, edge_labels=False)
    whole = bags(found, np.empty(0, np.uint64), 2)
    assert len(whole.color) == 0
    assert whole.offsets.tolist() == [0, 0]


def test_scalar_products_of_sketches_approximate_the_similarity_of_color_sets(graphs):
    sets = of_graphs(graphs, rounds=3)

    def similarity(i: int, j: int) -> float:
        return sum(4.0**-r * len(a[i] & a[j]) / np.sqrt(len(a[i]) * len(a[j])) for r, a in enumerate(sets))

    exact = np.array([[similarity(i, j) for j in range(40)] for i in range(40)])
    rows = sketch(graphs, 1 << 16, edge_labels=True)  # so wide that few colors share a position
    assert np.abs(rows @ rows.T - exact).max() < 0.05
    narrow = sketch(graphs, 1024, edge_labels=True)
    assert np.corrcoef((narrow @ narrow.T).ravel(), exact.ravel())[0, 1] > 0.95


def test_a_sketch_depends_neither_on_the_order_of_graphs_nor_on_the_other_graphs(graphs):
    everything = sketch(graphs, 64, edge_labels=False)
    order = np.random.default_rng(2).permutation(len(graphs))
    assert np.array_equal(sketch(graphs[order], 64, edge_labels=False), everything[order])
    assert np.array_equal(sketch(graphs[[5]], 64, edge_labels=False)[0], everything[5])


def test_the_sketch_of_a_graph_without_nodes_is_zero():
    assert not sketch(ug.GraphSet.from_edges([0], [[]]), 8, edge_labels=False).any()


def test_edges_without_labels_have_the_same_colors_beside_edges_with_labels():
    bare = ug.GraphSet.from_edges([3, 2], [(0, 1), (1, 2), (3, 4)], node_labels=list("CCOCN"))
    both = bare + ug.GraphSet.from_smiles(["C=CC"])
    assert of_graphs(both)[1][:2] == of_graphs(bare)[1]
    np.testing.assert_array_equal(sketch(both, 16, edge_labels=True)[:2], sketch(bare, 16, edge_labels=True))


def test_equal_labels_of_one_type_have_one_hash():
    assert label_digest((np.int64(1), "a")) == label_digest((1, "a"))
    assert label_digest(frozenset("abc")) == label_digest(frozenset("cba"))
    different = [1, True, "1", 1.0, None, (1,), frozenset([1])]
    assert len({label_digest(label) for label in different}) == len(different)


def test_the_hash_of_a_label_is_the_same_in_every_process():
    code = "from ugraphemb.encoder.hashing import label_digest; print(label_digest(frozenset('abcdef')).hex())"
    for seed in ("1", "2"):
        asked = [sys.executable, "-c", code]
        found = subprocess.run(asked, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == label_digest(frozenset("abcdef")).hex()
