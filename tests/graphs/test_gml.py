"""GML and node-link JSON: what NetworkX writes and reads, and what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from ugraphemb import GraphSet, read_graphs, write_graphs
from ugraphemb.errors import GraphFormatError, GraphWarning


def molecule() -> nx.Graph:
    graph = nx.Graph(name="ethanol")
    graph.add_nodes_from(
        [("a", {"symbol": "C", "charge": 0.5}), ("b", {"symbol": "C", "charge": 0.0}), ("c", {"symbol": "O"})]
    )
    graph.add_edge("a", "b", bond=1)
    graph.add_edge("c", "b", bond=2)
    return graph


def test_gml_of_networkx_is_read(tmp_path: Path):
    nx.write_gml(molecule(), tmp_path / "set.gml")
    graph = read_graphs(tmp_path / "set.gml", strict=True)[0]
    assert graph.node_labels == ["C", "C", "O"]
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_labels == [1, 2]
    assert graph.id == "ethanol"
    assert graph.node_attributes is not None
    assert graph.node_attributes[:2].tolist() == [[0.5], [0.0]]


@pytest.mark.parametrize("edges", ["edges", "links"])
def test_node_link_json_of_networkx_is_read(tmp_path: Path, edges: str):
    document = nx.node_link_data(molecule(), edges=edges)
    (tmp_path / "set.json").write_text(json.dumps(document))
    (tmp_path / "two.txt").write_text(json.dumps([document, document]))
    graph = read_graphs(tmp_path / "set.json", strict=True)[0]
    assert graph.node_labels == ["C", "C", "O"]
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_labels == [1, 2]
    assert graph.id == "ethanol"
    assert len(read_graphs(tmp_path / "two.txt")) == 2


@pytest.mark.parametrize("name", ["set.gml", "set.json"])
def test_networkx_reads_what_is_written(tmp_path: Path, name: str):
    graphs = GraphSet.from_smiles(["CC(=O)O"], ids=["acid"])
    write_graphs(graphs, tmp_path / name)
    text = (tmp_path / name).read_text()
    if name.endswith("gml"):
        found, key = nx.parse_gml(text), "type"
    else:
        found, key = nx.node_link_graph(json.loads(text)[0], edges="edges"), "label"
    assert [label for _, label in found.nodes(data=key)] == ["C", "C", "O", "O"]
    assert sorted(label for _, _, label in found.edges(data="label")) == ["double", "single", "single"]


def test_labels_of_gml_are_names_of_nodes_where_they_all_differ(tmp_path: Path):
    text = 'graph [ node [ id 0 label "a" ] node [ id 1 label "{}" ] edge [ source 0 target 1 ] ]'
    (tmp_path / "names.gml").write_text(text.format("b"))
    (tmp_path / "kinds.gml").write_text(text.format("a"))
    assert read_graphs(tmp_path / "names.gml", strict=True).node_vocabulary == ()
    assert read_graphs(tmp_path / "kinds.gml", strict=True)[0].node_labels == ["a", "a"]
    assert read_graphs(tmp_path / "names.gml", node_label="label")[0].node_labels == ["a", "b"]


def test_gml_has_comments_creators_entities_and_lists(tmp_path: Path):
    (tmp_path / "set.gml").write_text(
        '# a comment\nCreator "me"\nVersion 1\ngraph\n[\n directed 1\n edge [ source 1 target 2 ]\n'
        ' node [ id 1 graphics [ x 1.5 ] type "&quot;&#233;\né" ] node [ id 2 type "x" ]\n]\n'
    )
    with pytest.warns(GraphWarning, match="2 directions|1 directions of edges") as caught:
        graphs = read_graphs(tmp_path / "set.gml")
    assert "graphics" in str(caught[0].message)
    assert graphs[0].node_labels == ['"é\né', "x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph [ node [ id 0 ] ", "ends within a list"),
        ("graph [\n] ]", "2: a ']' without"),
        ("graph [\n node [ id ] ]", "2: a ']' without"),
        ("graph [ node [ label 1 ] ]", "1: a node without an id"),
        ("graph [ node [ id 1 ]\nnode [ id 1 ] ]", "2: node id 1 for a second time"),
        ("graph [ edge [ source 1 target 2 ] ]", "1: an edge whose end is 1"),
        ('graph [ name "a ]', "text that does not end"),
        ("graph [ name a ]", "'a', expected a number"),
        ("graph 1", "no 'graph"),
        ("a [ " * 60, "nested deeper"),
        ("graph [ node [ id [ ] ] edge [ source 0 target 0 ] ]", "an edge whose end is 0"),
    ],
)
def test_gml_that_is_wrong_is_refused_with_its_line(tmp_path: Path, text: str, message: str):
    (tmp_path / "set.gml").write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        read_graphs(tmp_path / "set.gml")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([1], "graph 0: no array \"nodes\""),
        ([{"nodes": {}}], "no array"),
        ([{"nodes": [], "links": 1}], "is no array"),
        ([{"nodes": [1]}], "graph 0, node 0: expected an object"),
        ([{"nodes": [{"id": 1}, {"id": 1}]}], "node 1: node id 1 for a second time"),
        ([{"nodes": [{"id": 1}], "links": [{"source": 1}]}], "link 0: an edge whose end is None"),
        ([{"nodes": [], "graph": {"target": [1]}}], "a target that is an array"),
    ],
)  # fmt: skip
def test_node_link_json_that_is_wrong_is_refused(tmp_path: Path, document: Any, message: str):
    (tmp_path / "set.json").write_text(json.dumps(document))
    with pytest.raises(GraphFormatError, match=message):
        read_graphs(tmp_path / "set.json", format="nodelink")
