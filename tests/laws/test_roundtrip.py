"""What was written reads back the same, as far as each format can hold it."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import graph_sets, letters, numbers, one_kind_of_label, reals, scalars, words

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.formats import read_graphs, write_graphs

few = settings(max_examples=60, deadline=None)
simple_labels = st.one_of(words, numbers, reals, st.booleans())
ALL = ("ids", "node labels", "edge labels", "node attributes", "targets")


def held(graphs: GraphSet, parts: tuple[str, ...]) -> GraphSet:
    """The collection without the parts that a format cannot hold."""
    changes: dict[str, Any] = {}
    if "ids" not in parts:
        changes["ids"] = None
    if "node labels" not in parts:
        changes |= {"node_labels": np.zeros_like(graphs.node_labels), "node_vocabulary": ()}
    if "edge labels" not in parts or not len(graphs.indices):
        changes |= {"edge_labels": None, "edge_vocabulary": ()}
    if "node attributes" not in parts or not len(graphs.node_labels):
        changes["node_attributes"] = None
    if "targets" not in parts or not len(graphs):
        changes["targets"] = None
    return dataclasses.replace(graphs, **changes)


def assert_same(left: GraphSet, right: GraphSet) -> None:
    assert left == right
    for a, b in zip(left, right, strict=True):
        assert [repr(x) for x in a.node_labels] == [repr(x) for x in b.node_labels]  # 1, 1.0, True and "1" differ
        assert [repr(x) for x in a.edge_labels or []] == [repr(x) for x in b.edge_labels or []]
        assert repr(a.target) == repr(b.target)


def written_and_read(graphs: GraphSet, name: str, **options: Any) -> GraphSet:
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        path = Path(folder) / name
        write_graphs(graphs, path, **options)
        return read_graphs(path, **options)


@few
@given(graph_sets())
def test_json_lines_hold_everything(graphs: GraphSet) -> None:
    read = written_and_read(graphs, "set.jsonl")
    assert_same(read, graphs)
    assert read.fingerprint == graphs.fingerprint
    assert (read.node_vocabulary, read.edge_vocabulary) == (graphs.node_vocabulary, graphs.edge_vocabulary)


@few
@given(graph_sets(), st.data())
def test_json_lines_hold_any_part_of_a_collection_and_its_name(graphs: GraphSet, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(graphs) - 1), unique=True)) if len(graphs) else []
    part = dataclasses.replace(graphs[chosen], name=data.draw(words))
    read = written_and_read(part, "set.jsonl")
    assert_same(read, part)
    assert read.name == part.name


@pytest.mark.parametrize("name", ["set.gxl", "set.cxl", "set.graphml"])
@few
@given(graph_sets(node_labels=simple_labels, edge_labels=simple_labels))
def test_markup_holds_labels_of_every_plain_kind(name: str, graphs: GraphSet) -> None:
    if name == "set.cxl" and not len(graphs):
        return  # an empty list is an empty collection, too, but its folder would have no graphs
    assert_same(written_and_read(graphs, name), held(graphs, ALL))


@few
@given(graph_sets(targets=scalars))
def test_node_link_json_holds_everything(graphs: GraphSet) -> None:
    assert_same(written_and_read(graphs, "set.json"), held(graphs, ALL))


@few
@given(graph_sets(node_labels=words | numbers | reals, edge_labels=words | numbers | reals, targets=words))
def test_gml_holds_text_and_numbers(graphs: GraphSet) -> None:
    if len(graphs):
        assert_same(written_and_read(graphs, "set.gml"), held(graphs, ALL))


@few
@given(graph_sets(min_graphs=1, node_labels=simple_labels, edge_labels=None))
def test_a_folder_of_gxl_files_holds_what_one_file_does(graphs: GraphSet) -> None:
    assert_same(written_and_read(graphs, "folder", format="gxl"), held(graphs, ALL))


@few
@given(graph_sets())
def test_edge_lists_hold_edge_labels_of_every_kind(graphs: GraphSet) -> None:
    assert_same(written_and_read(graphs, "set.edges"), held(graphs, ("ids", "edge labels")))


@pytest.mark.parametrize("name", ["set.g6", "set.s6"])
@few
@given(graph_sets(max_nodes=9))
def test_graph6_and_sparse6_hold_the_edges(name: str, graphs: GraphSet) -> None:
    assert_same(written_and_read(graphs, name), held(graphs, ()))


@pytest.mark.parametrize("name", ["set.smi", "set.csv", "set.sdf"])
@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["CCO", "c1ccccc1", "C1CC1N", "c1cc[nH]c1", "[Na+].[Cl-]", "CC(=O)[O-]", "C#N"])))
def test_molecules_read_back_with_their_bonds(name: str, smiles: list[str]) -> None:
    pytest.importorskip("rdkit")
    graphs = GraphSet.from_smiles(smiles, ids=[f"m {i}" for i in range(len(smiles))])
    assert_same(written_and_read(graphs, name), graphs if len(graphs) else held(graphs, ()))


@few
@given(graph_sets(node_labels=numbers, edge_labels=numbers, targets=numbers, ids=False, min_graphs=1))
def test_tu_folders_and_zips_hold_whole_numbers_as_labels(graphs: GraphSet) -> None:
    if graphs.num_nodes.min() == 0:
        return  # the format lists graphs by their nodes
    for name in ("set", "set.zip"):
        read = written_and_read(graphs, name)
        assert np.array_equal(read.indptr, graphs.indptr)
        assert np.array_equal(read.indices, graphs.indices)
        assert [g.node_labels for g in read] == [g.node_labels for g in graphs]
        assert read.targets is not None
        assert graphs.targets is not None
        assert read.targets.tolist() == graphs.targets.tolist()


@pytest.mark.parametrize("library", ["networkx", "igraph"])
@few
@given(graph_sets())
def test_objects_of_other_libraries_hold_everything(library: str, graphs: GraphSet) -> None:
    pytest.importorskip(library)
    to: Callable[[], Any] = getattr(graphs, f"to_{library}")
    assert_same(getattr(GraphSet, f"from_{library}")(to()), held(graphs, ALL))


@few
@given(graph_sets())
def test_pyg_data_hold_everything_alone_and_in_a_batch(graphs: GraphSet) -> None:
    from torch_geometric.data import Batch

    listed = graphs.to_pyg()
    read = GraphSet.from_pyg(listed)
    assert_same(read, held(graphs, ALL) if len(graphs.indices) else dataclasses.replace(
        held(graphs, ALL), edge_labels=read.edge_labels, edge_vocabulary=()
    ))  # fmt: skip
    if listed:
        assert_same(GraphSet.from_pyg(Batch.from_data_list(listed)), read)


@pytest.mark.parametrize("name", ["set.edges", "set.g6", "set.s6", "set.graphml"])
@few
@given(graph_sets(min_graphs=1, min_nodes=1, node_labels=st.tuples(letters)))
def test_what_would_be_lost_is_told_or_refused(name: str, graphs: GraphSet) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        with pytest.raises(GraphFormatError, match="lost"):
            write_graphs(graphs, path, strict=True)
        assert not path.exists()
        with pytest.warns(GraphWarning, match="lost"):
            write_graphs(graphs, path)


@few
@given(graph_sets(node_labels=one_kind_of_label.flatmap(lambda kind: kind), targets=scalars))
def test_gxl_loses_nothing_but_none_where_labels_mix(graphs: GraphSet) -> None:
    read = written_and_read(graphs, "set.gxl")
    for a, b in zip(read, graphs, strict=True):
        kept = [(x, y) for x, y in zip(a.node_labels, b.node_labels, strict=True) if "None" not in repr(y)]
        assert [repr(x) for x, _ in kept] == [repr(y) for _, y in kept]
