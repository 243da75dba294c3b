"""Figures: what they show is right; how they look was judged by eye."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from ugraphemb.graphs import GraphSet
from ugraphemb.plots.drawing import (
    LabelColors,
    class_styles,
    draw_graph,
    graph_figure,
    indexed_png,
    new_figure,
    save_figure,
)
from ugraphemb.plots.figures import (
    along_line,
    cluster_figure,
    densest_clusters,
    farthest_pair,
    line_figure,
    map_figure,
    query_figure,
)
from ugraphemb.plots.molecules import are_molecules, bond_orders, molecule

MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    parts = [nx.cycle_graph(3 + i % 5) for i in range(20)]
    sizes = [part.number_of_nodes() for part in parts]
    edges = np.concatenate([np.array(g.edges()) + s for g, s in zip(parts, np.cumsum([0, *sizes[:-1]]), strict=True)])
    labels = [f"label {i % 9}" for i in range(sum(sizes))]
    return GraphSet.from_edges(sizes, edges, node_labels=labels, targets=np.arange(20) % 3, name="cycles")


@pytest.fixture(scope="module")
def places() -> Any:
    return np.random.default_rng(0).normal(size=(20, 2))


def texts(figure: Any) -> list[str]:
    """Every text of a figure, in its axes too."""
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")) if text.get_text()]


def test_a_line_is_followed_from_end_to_end_by_different_graphs() -> None:
    on_line = np.stack([np.linspace(0, 11, 12), np.zeros(12)], axis=1)
    noise = np.stack([np.linspace(0, 11, 40), np.full(40, 5.0)], axis=1)
    order = np.random.default_rng(0).permutation(52)
    places = np.concatenate([on_line, noise])[order]
    position = np.argsort(order)
    chosen = along_line(places, int(position[0]), int(position[11]))
    assert chosen.tolist() == position[:12].tolist()
    crowd = along_line(np.random.default_rng(1).normal(size=(12, 2)), 3, 7)
    assert sorted(crowd.tolist()) == list(range(12))
    assert (crowd[0], crowd[-1]) == (3, 7)


def test_the_farthest_pair_is_the_farthest() -> None:
    places = np.random.default_rng(2).normal(size=(200, 2))
    a, b = farthest_pair(places)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert gaps[a, b] > 0.999 * gaps.max()
    assert places[a, 0] <= places[b, 0]


def test_clusters_are_found_where_the_crowds_are_largest_first() -> None:
    random = np.random.default_rng(0)
    centers, sizes = np.array([[0, 0], [20, 0], [0, 30]]), (50, 80, 20)
    places = np.concatenate([c + 0.3 * random.normal(size=(s, 2)) for c, s in zip(centers, sizes, strict=True)])
    found, radius = densest_clusters(places, 3)
    np.testing.assert_allclose(places[found], centers[[1, 0, 2]], atol=radius)
    assert len(densest_clusters(places, 10)[0]) == 3


@pytest.mark.parametrize("suffix", MAGIC)
def test_every_figure_is_written_in_every_format(graphs: GraphSet, places: Any, tmp_path: Path, suffix: str) -> None:
    gaps = np.arange(20.0)
    figures = {
        "map": map_figure(places, graphs.targets, title="a title"),
        "line": line_figure(places, graphs, points=4),
        "clusters": cluster_figure(places, graphs, clusters=2, members=3),
        "query": query_figure(graphs[[0]], graphs, gaps, gaps, ranks=[1, 20]),
        "graph": graph_figure(graphs[3]),
    }
    for name, figure in figures.items():
        path = tmp_path / f"{name}{suffix}"
        save_figure(figure, path, dpi=40)
        assert path.read_bytes().startswith(MAGIC[suffix])


def test_the_same_figure_gives_the_same_bytes(places: Any, tmp_path: Path) -> None:
    for suffix in MAGIC:
        files = [tmp_path / f"{i}{suffix}" for i in range(2)]
        for path in files:
            save_figure(map_figure(places, np.arange(20) % 2), path, dpi=40)
        assert files[0].read_bytes() == files[1].read_bytes()
    with pytest.raises(ValueError, match=r"\.png, \.svg or \.pdf"):
        save_figure(map_figure(places), tmp_path / "map.gif")


def test_the_query_figure_shows_both_rankings_with_their_distances(graphs: GraphSet) -> None:
    truth = np.arange(20.0) / 10
    predicted = truth[::-1] + 0.05
    shown = texts(query_figure(graphs[[5]], graphs, truth, predicted))
    assert {"query", "true", "predicted", "1", "6", "10", "20", "…"} <= set(shown)
    assert "0.00" in shown  # the truly nearest
    assert "0.05" in shown  # the one predicted nearest
    assert "true 1.90" in shown  # which is truly the farthest
    similar = texts(query_figure(graphs[[5]], graphs, truth, predicted, truth_is="similarity", ranks=[1]))
    assert "1.90" in similar
    assert "0.00" not in similar


def test_figures_that_cannot_be_drawn_say_why(graphs: GraphSet, places: Any) -> None:
    with pytest.raises(ValueError, match="21 graphs along a line, out of 20"):
        line_figure(places, graphs, points=21)
    with pytest.raises(ValueError, match="starts and stops at graph 4"):
        line_figure(places, graphs, start=4, stop=4)
    with pytest.raises(ValueError, match="5 places on the map for 20 graphs"):
        cluster_figure(places[:5], graphs)
    with pytest.raises(ValueError, match="they go from 1 to 20"):
        query_figure(graphs[[0]], graphs, np.ones(20), np.ones(20), ranks=[21])
    with pytest.raises(ValueError, match="19 values for a database of 20"):
        query_figure(graphs[[0]], graphs, np.ones(19), np.ones(19))
    with pytest.raises(ValueError, match="a collection of 2 graphs where one graph"):
        query_figure(graphs[[0, 1]], graphs, np.ones(20), np.ones(20))
    with pytest.raises(ValueError, match="NaN"):
        map_figure(np.full((3, 2), np.nan))


def test_frequent_labels_get_colors_of_their_own_and_the_rest_share_one(graphs: GraphSet) -> None:
    colors = LabelColors.of(graphs)
    assert len(set(colors.color.values())) == 6
    assert colors.legend()[-1][0] == "3 other labels"
    assert len(colors.of_nodes(graphs[0])) == graphs[0].num_nodes
    plain = LabelColors.of(GraphSet.from_edges([2], [[0, 1]]))
    assert plain.legend() == []
    assert len(plain.of_nodes(GraphSet.from_edges([2], [[0, 1]])[0])) == 2


def test_no_two_classes_look_alike() -> None:
    for count in (2, 7, 11, 20, 50):
        assert len({style[1:] for style in class_styles(np.arange(count))}) == count


def test_graphs_of_no_nodes_and_no_edges_are_drawn() -> None:
    empty = GraphSet.from_edges([0, 1, 3], np.empty((0, 2)))
    for graph in empty:
        figure = new_figure(1, 1)
        axes = figure.add_axes((0, 0, 1, 1))
        draw_graph(graph, axes)
        assert sum(len(dots.get_offsets()) for dots in axes.collections[1:]) == graph.num_nodes


def test_molecules_are_recognized_by_elements_and_bonds() -> None:
    pytest.importorskip("rdkit")
    formula = {"num_nodes": [3], "edges": [[0, 1], [1, 2]]}
    assert are_molecules(GraphSet.from_edges(**formula, node_labels=["C", "C", "O"], edge_labels=["single", "double"]))
    assert are_molecules(GraphSet.from_edges(**formula, node_labels=["C", "Cl", "O"], edge_labels=[1, 2]))
    assert not are_molecules(GraphSet.from_edges(**formula, node_labels=["C", "C", "O"]))
    assert not are_molecules(GraphSet.from_edges(**formula, node_labels=["C", "Xy", "O"], edge_labels=[1, 2]))
    assert not are_molecules(GraphSet.from_edges(**formula, node_labels=[1, 2, 3], edge_labels=[1, 2]))
    assert not are_molecules(
        GraphSet.from_edges(**formula, node_labels=["C", "C", "O"], edge_labels=["loves", "hates"])
    )


@pytest.mark.parametrize(
    "smiles",
    ["CCO", "c1ccccc1", "c1cc[nH]c1", "O=[N+]([O-])c1ccccc1", "c1ccc2[nH]ccc2c1", "C[N+](C)(C)C", "c1cnc[nH]1"],
)
def test_a_graph_is_drawn_as_the_molecule_it_came_from(smiles: str) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    source = chem.MolFromSmiles(smiles)
    bonds = list(source.GetBonds())
    graphs = GraphSet.from_edges(
        [source.GetNumAtoms()],
        [[b.GetBeginAtomIdx(), b.GetEndAtomIdx()] for b in bonds],
        node_labels=[atom.GetSymbol() for atom in source.GetAtoms()],
        edge_labels=[str(b.GetBondType()).lower() for b in bonds],
    )
    found = molecule(graphs[0])
    assert chem.CanonSmiles(chem.MolToSmiles(found)) == chem.CanonSmiles(smiles)
    assert 4 not in bond_orders(found)
    assert [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in found.GetBonds()] == [tuple(e) for e in graphs[0].edges]


def test_a_formula_has_its_letters_and_impossible_chemistry_is_drawn_too() -> None:
    pytest.importorskip("rdkit")
    odd = GraphSet.from_edges(
        [7, 2],
        [[0, i] for i in range(1, 7)] + [[7, 8]],
        node_labels=["C"] + ["O"] * 6 + ["N", "F"],
        edge_labels=["double"] * 7,
    )
    assert are_molecules(odd)
    for graph in odd:
        figure = new_figure(1, 1)
        axes = figure.add_axes((0, 0, 1, 1))
        draw_graph(graph, axes)
        assert len(axes.patches) >= 2  # bonds and letters


def test_molecules_of_a_figure_have_one_bond_length() -> None:
    pytest.importorskip("rdkit")
    molecules = GraphSet.from_smiles(["CCO", "c1ccccc1", "c1ccc2cc3ccccc3cc2c1", "CCCCCCCCCCCC", "CC(C)C"] * 3)
    figure = line_figure(np.random.default_rng(0).normal(size=(15, 2)), molecules, points=8)
    drawn = figure.axes[1:]
    assert len(drawn) == 8
    assert len({round(float(np.ptp(axes.get_xlim())), 6) for axes in drawn}) == 1


def test_legends_have_a_fixed_order() -> None:
    pytest.importorskip("rdkit")
    first, second = (LabelColors.of(GraphSet.from_smiles(text)) for text in (["OCN", "SCC"], ["SOOO", "NNNC"]))
    assert list(first.color) == list(second.color) == ["C", "N", "O", "S"]
    assert first.color == second.color


def test_flat_areas_keep_their_color_and_rare_colors_stay_in_a_small_png() -> None:
    image = pytest.importorskip("PIL.Image")
    figure = new_figure(1, 1)
    figure.set_facecolor("#F7F8FA")
    axes = figure.add_axes((0.2, 0.2, 0.6, 0.6))
    axes.imshow(np.random.default_rng(0).random((60, 60, 3)))  # far more than 256 colors
    axes.axis("off")
    picture = image.open(io.BytesIO(indexed_png(figure)))
    assert picture.mode == "P"
    assert picture.convert("RGB").getpixel((2, 2)) == (0xF7, 0xF8, 0xFA)
