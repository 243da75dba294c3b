"""GXL and CXL."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs.formats.gxl import read_gxl

DOCTYPE = '<!DOCTYPE gxl SYSTEM "http://www.gupro.de/GXL/gxl-1.0.dtd">'
# As in the IAM collection AIDS: symbols padded with spaces, a DTD that must not be fetched.
MOLECULE = """<?xml version="1.0"?>
{doctype}
<gxl><graph id="{id}" edgeids="false" edgemode="{mode}">
<node id="_1"><attr name="symbol"><string>C  </string></attr><attr name="chem"><int>1</int></attr>
<attr name="x"><float>2.5</float></attr></node>
<node id="_2"><attr name="symbol"><string>O  </string></attr><attr name="chem"><int>2</int></attr>
<attr name="x"><float>-1</float></attr></node>
<edge from="_1" to="_2"><attr name="valence"><int>2</int></attr></edge>
</graph></gxl>"""


def write_molecule(path: Path, id: str = "m", mode: str = "undirected", doctype: str = DOCTYPE) -> Path:
    path.write_text(MOLECULE.format(id=id, mode=mode, doctype=doctype))
    return path


def test_a_molecule_of_the_iam_collections_is_read_with_symbols_valences_and_numbers(tmp_path: Path) -> None:
    graphs = read_gxl(write_molecule(tmp_path / "a.gxl"))
    assert graphs[0].node_labels == ["C", "O"]
    assert graphs[0].edge_labels == [2]
    assert np.array_equal(graphs.node_attributes, [[1, 2.5], [2, -1]])
    assert graphs.ids.tolist() == ["m"]


def test_the_label_can_be_chosen(tmp_path: Path) -> None:
    path = write_molecule(tmp_path / "a.gxl")
    with pytest.warns(GraphWarning, match="2 node attributes 'symbol'"):
        graphs = read_gxl(path, node_label="chem", edge_label="valence")
    assert graphs[0].node_labels == [1, 2]
    with pytest.raises(GraphFormatError, match="node_label='color', but there are 'symbol', 'chem', 'x'"):
        read_gxl(path, node_label="color")


def test_lists_give_files_their_classes_and_a_folder_is_all_its_lists(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_molecule(tmp_path / f"{name}.gxl", id=name)
    entries = {"train": [("a", "active"), ("b", "inactive")], "test": [("c", "active"), ("a", "active")]}
    for name, rows in entries.items():
        prints = "".join(f'<print file="{file}.gxl" class="{label}"/>' for file, label in rows)
        text = f'<?xml version="1.0"?><GraphCollection><aids base="/old" count="2">{prints}</aids></GraphCollection>'
        (tmp_path / f"{name}.cxl").write_text(text)
    train = read_gxl(tmp_path / "train.cxl")
    assert train.targets is not None
    assert (train.ids.tolist(), train.targets.tolist()) == (["a", "b"], ["active", "inactive"])
    assert sorted(read_gxl(tmp_path).ids.tolist()) == ["a", "b", "c"]


def test_files_name_the_graphs_where_their_own_ids_are_all_the_same(tmp_path: Path) -> None:
    for name in ("x", "y"):
        write_molecule(tmp_path / f"{name}.gxl", id="molecule")
    assert read_gxl(tmp_path).ids.tolist() == ["x", "y"]


def test_direction_is_ignored_and_told_or_refused(tmp_path: Path) -> None:
    path = write_molecule(tmp_path / "a.gxl", mode="directed")
    with pytest.warns(GraphWarning, match="1 directions of edges"):
        assert read_gxl(path).num_edges.tolist() == [1]
    with pytest.raises(GraphFormatError, match="directions"):
        read_gxl(path, strict=True)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE gxl [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE gxl [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE gxl [<!ENTITY % remote SYSTEM "http://127.0.0.1:9/x.dtd"> %remote;]>',
    ],
)
def test_entities_of_the_files_own_making_are_refused(tmp_path: Path, doctype: str) -> None:
    with pytest.raises(GraphFormatError, match="declaration of the entity"):
        read_gxl(write_molecule(tmp_path / "a.gxl", doctype=doctype))


def test_an_entity_that_only_a_remote_file_could_define_is_refused(tmp_path: Path) -> None:
    path = write_molecule(tmp_path / "a.gxl")
    path.write_text(path.read_text().replace("C  ", "&what;"))
    with pytest.raises(GraphFormatError, match="unknown entity 'what'"):
        read_gxl(path)


@pytest.mark.parametrize("file", ["../a.gxl", "/a.gxl", "sub/../../a.gxl", ""])
def test_a_list_cannot_name_files_outside_its_folder(tmp_path: Path, file: str) -> None:
    write_molecule(tmp_path / "a.gxl")
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "all.cxl").write_text(f'<GraphCollection><print file="{file}" class="a"/></GraphCollection>')
    with pytest.raises(GraphFormatError, match=r"all.cxl:1: file .*, expected one in the folder"):
        read_gxl(folder / "all.cxl")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('to="_2"', 'to="_3"', "a.gxl:8: an edge whose end is '_3', which is no node's id"),
        ('<node id="_2">', '<node id="_1">', "a.gxl:6: node id '_1' for a second time"),
        ("<int>1</int>", "<int>one</int>", "a.gxl:4: 'one', expected a whole number"),
        ("<float>2.5</float>", "<float>2,5</float>", "a.gxl:5: '2,5', expected a number"),
        ("<int>1</int>", "<blob>1</blob>", "a value of type 'blob'"),
        ("</graph>", "", "well-formed XML"),
        ("gxl>", "html>", "the element 'html', expected 'gxl'"),
        ('version="1.0"', 'version="1.0" encoding="klingon"', "encoding"),
        ("<string>C  </string>", "<tup>" * 99 + "</tup>" * 99, "nested deeper"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = write_molecule(tmp_path / "a.gxl")
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(GraphFormatError, match=message):
        read_gxl(path)


def test_a_folder_without_graphs_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match=r"no .cxl and no .gxl"):
        read_gxl(tmp_path)
    with pytest.raises(GraphFormatError, match="No such file"):
        read_gxl(tmp_path / "none.gxl")
