"""JSON Lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.formats.jsonl import read_jsonl, write_jsonl

TRIANGLE = {"id": "t", "num_nodes": 3, "edges": [[0, 1], [1, 2], [0, 2]]}


def written(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_a_graph_needs_only_an_id_its_size_and_its_edges(tmp_path: Path) -> None:
    graphs = read_jsonl(written(tmp_path, TRIANGLE, {"id": 7, "num_nodes": 0, "edges": []}))
    assert graphs.ids.tolist() == ["t", "7"]
    assert graphs.num_edges.tolist() == [3, 0]
    assert graphs.name == "set"
    assert not graphs.node_vocabulary
    assert graphs.edge_labels is None
    assert graphs.targets is None


def test_labels_of_different_kinds_that_compare_equal_stay_apart(tmp_path: Path) -> None:
    labels = [1, 1.0, True, "1", None, [1, "a"]]
    graphs = read_jsonl(written(tmp_path, {"id": 0, "num_nodes": 6, "edges": [], "node_labels": labels}))
    found = graphs[0].node_labels
    assert [type(label) for label in found] == [int, float, bool, str, type(None), tuple]
    assert found[-1] == (1, "a")


@pytest.mark.parametrize(
    ("targets", "kind"), [([0, 1], "i"), ([0.0, 1.0], "f"), (["0", "1"], "U"), ([True, False], "b")]
)
def test_targets_keep_their_kind(tmp_path: Path, targets: list[Any], kind: str) -> None:
    records = [{**TRIANGLE, "id": i, "target": target} for i, target in enumerate(targets)]
    graphs = read_jsonl(written(tmp_path, *records))
    assert graphs.targets is not None
    assert graphs.targets.dtype.kind == kind
    assert graphs.targets.tolist() == targets


def test_labels_that_only_some_graphs_carry_are_none_in_the_others(tmp_path: Path) -> None:
    graphs = read_jsonl(written(tmp_path, TRIANGLE, {**TRIANGLE, "id": "u", "node_labels": ["a", "b", "c"]}))
    assert graphs[0].node_labels == [None] * 3
    assert graphs[1].node_labels == ["a", "b", "c"]


def test_what_is_dropped_is_told_once_or_refused(tmp_path: Path) -> None:
    record = {"id": 0, "num_nodes": 2, "edges": [[0, 0], [0, 1], [0, 1]], "color": "red"}
    path = written(tmp_path, record, {**TRIANGLE, "target": 1})
    with pytest.warns(GraphWarning) as told:
        graphs = read_jsonl(path)
    assert len(told) == 1
    message = str(told[0].message)
    for part in ("1 self loop", "1 repeated edge", "1 fields 'color'", "1 targets"):
        assert part in message
    assert graphs.num_edges.tolist() == [1, 3]
    with pytest.raises(GraphFormatError, match="color"):
        read_jsonl(path, strict=True)


def test_attributes_that_only_some_graphs_carry_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match=r"set.jsonl:2: no node attributes, but other graphs have them"):
        read_jsonl(written(tmp_path, {**TRIANGLE, "id": 0, "node_attributes": [[1], [2], [3]]}, TRIANGLE))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "set.jsonl:2: not JSON"),
        ("[1]", "set.jsonl:2: an array, expected an object"),
        ("[" * 100_000, "set.jsonl:2: JSON that exceeds the limits"),
        ('{"id": 0, "edges": []}', "set.jsonl:2: no num_nodes"),
        ('{"id": 0, "num_nodes": -1, "edges": []}', "num_nodes is -1, expected a whole number, 0 or more"),
        ('{"id": 0, "num_nodes": true, "edges": []}', "num_nodes is true"),
        ('{"id": 0, "num_nodes": 999999999999, "edges": []}', "1000000000002 nodes claimed"),
        ('{"num_nodes": 1, "edges": []}', "set.jsonl:2: no id"),
        ('{"id": null, "num_nodes": 1, "edges": []}', "id is null"),
        ('{"id": 0, "num_nodes": 2, "edges": [[0, 2]]}', r"set.jsonl:2: edge \(0, 2\), but node ids go from 0 to 1"),
        ('{"id": 0, "num_nodes": 0, "edges": [[0, 0]]}', "the graph has no nodes"),
        ('{"id": 0, "num_nodes": 2, "edges": [[0, 1, 2]]}', "edges must be pairs"),
        ('{"id": 0, "num_nodes": 2, "edges": [[0, 0.5]]}', "edges must be pairs"),
        ('{"id": 0, "num_nodes": 2, "edges": [[0, 9223372036854775808]]}', "edges must be pairs"),
        ('{"id": 0, "num_nodes": 2, "edges": {}}', "edges is an object, expected an array"),
        ('{"id": 0, "num_nodes": 2, "edges": [], "node_labels": ["a"]}', "set.jsonl:2: 1 node labels, expected 2"),
        ('{"id": 0, "num_nodes": 1, "edges": [], "node_labels": [{}]}', "a label that is an object"),
        ('{"id": 0, "num_nodes": 2, "edges": [], "node_attributes": [[1], [1, 2]]}', "equally long"),
        ('{"id": 0, "num_nodes": 1, "edges": [], "node_attributes": [["a"]]}', "a row of numbers"),
        ('{"id": 0, "num_nodes": 1, "edges": [], "target": [1]}', "target is an array"),
        ('{"id": "t", "num_nodes": 1, "edges": []}', "id 't'"),
        ('{"ugraphemb": "graphs", "version": 1}', "only the first line may be one"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(TRIANGLE) + "\n" + line + "\n")
    with pytest.raises(GraphFormatError, match=message):
        read_jsonl(path)


def test_a_header_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="version 2, expected 1"):
        read_jsonl(written(tmp_path, {"ugraphemb": "graphs", "version": 2}))


def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(json.dumps(TRIANGLE).encode() + b"\n\n\xe9")
    with pytest.raises(GraphFormatError, match=r"set.jsonl:3: byte 0xe9"):
        read_jsonl(path)


def test_labels_that_json_cannot_say_are_refused(tmp_path: Path) -> None:
    graphs = GraphSet.from_edges([1], [], node_labels=[frozenset()])
    with pytest.raises(GraphFormatError, match="frozenset"):
        write_jsonl(graphs, tmp_path / "set.jsonl")
    assert not (tmp_path / "set.jsonl").exists()
