"""GraphML, with NetworkX as the oracle."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import graph_sets, letters, numbers

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.formats.graphml import read_graphml, write_graphml


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphml") / "set.graphml"


@given(
    graphs=graph_sets(
        min_graphs=1, node_labels=st.one_of(letters, numbers), edge_labels=letters, attributes=False, targets=numbers
    )
)
def test_networkx_reads_what_is_written(path: Path, graphs: GraphSet) -> None:
    write_graphml(graphs, path)
    found = list(nx.readwrite.graphml.GraphMLReader(node_type=str)(path=path))
    assert len(found) == len(graphs)
    for graph, ours in zip(found, graphs.to_networkx(), strict=True):
        renamed = nx.relabel_nodes(ours, {node: f"n{node}" for node in ours})
        assert dict(graph.nodes(data="label")) == dict(renamed.nodes(data="label"))
        assert {(*sorted(e[:2]), e[2]) for e in graph.edges(data="label")} == {
            (*sorted(e[:2]), e[2]) for e in renamed.edges(data="label")
        }
        assert graph.graph["target"] == ours.graph["target"]


@given(graphs=graph_sets(min_graphs=1, max_graphs=1, node_labels=numbers, edge_labels=letters, targets=None, ids=False))
def test_what_networkx_writes_is_read(path: Path, graphs: GraphSet) -> None:
    graph = graphs.to_networkx(node_attributes="a")[0]
    for _, data in graph.nodes(data=True):
        row = data.pop("a", (0.5,))
        data["first"] = row[0]
    nx.write_graphml_xml(graph, path)
    read = read_graphml(path)
    assert read[0].node_labels == graphs[0].node_labels
    assert read[0].edges.tolist() == graphs[0].edges.tolist()
    assert (read[0].edge_labels or []) == graphs[0].edge_labels
    if graph:
        assert read.node_attributes is not None
        assert read.node_attributes[:, 0].tolist() == [first for _, first in graph.nodes(data="first")]


def test_directions_and_data_without_a_place_are_told_once_or_refused(path: Path) -> None:
    graph = nx.DiGraph([("a", "b", {"weight": 2.0}), ("b", "a", {"weight": 3.0}), ("a", "a", {"weight": 1.0})])
    graph.nodes["a"]["color"] = "red"
    nx.write_graphml_xml(graph, path)
    with pytest.warns(GraphWarning) as told:
        assert read_graphml(path).num_edges.tolist() == [1]
    assert len(told) == 1
    for part in ("1 self loop", "3 directions of edges", "1 node data 'color'", "3 edge data 'weight'"):
        assert part in str(told[0].message)
    with pytest.raises(GraphFormatError, match="directions"):
        read_graphml(path, strict=True)


def test_the_label_can_be_chosen_and_defaults_fill_in(path: Path) -> None:
    path.write_text(
        '<graphml><key id="c" for="node" attr.name="color" attr.type="string"><default>red</default></key>'
        '<graph edgedefault="undirected"><node id="1"/><node id="2"><data key="c">blue</data></node></graph></graphml>'
    )
    assert read_graphml(path, node_label="color")[0].node_labels == ["red", "blue"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<gxl/>", "the element 'gxl', expected 'graphml'"),
        ("<graphml><key/></graphml>", "a key without an id"),
        ('<graphml><key id="a" attr.type="blob"/></graphml>', "the type 'blob', expected one of boolean, int"),
        (
            '<graphml>\n<graph><node id="a"/>\n<node id="a"/></graph></graphml>',
            "set.graphml:3: node id 'a' for a second",
        ),
        ("<graphml><graph><node/></graph></graphml>", "a node without an id"),
        ('<graphml><graph><edge source="a" target="b"/></graph></graphml>', "whose end is 'a'"),
        (
            '<graphml><graph><node id="a"><data key="k">1</data></node></graph></graphml>',
            "key 'k', which is not declared",
        ),
        (
            '<graphml><key id="k" for="node" attr.type="int"/><graph><node id="a">\n<data key="k">x</data></node>'
            "</graph></graphml>",
            "set.graphml:2: 'x', expected a whole number",
        ),
        ("<graphml><graph id='a'/><graph id='a'/></graphml>", "id 'a'"),
        ('<!DOCTYPE a [<!ENTITY lol "lol">]><graphml/>', "declaration of the entity 'lol'"),
        ("", "well-formed XML"),
    ],
)
def test_bad_files_are_refused(path: Path, text: str, message: str) -> None:
    path.write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        read_graphml(path)


def test_text_that_xml_cannot_say_is_refused(path: Path) -> None:
    with pytest.raises(GraphFormatError, match="XML cannot represent"):
        write_graphml(GraphSet.from_edges([1], [], node_labels=["\x01"]), path)
