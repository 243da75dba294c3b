"""`ugraphemb distance` and `ugraphemb pairs`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ugraphemb import GraphSet, PairTable, distance, pairwise, write_graphs
from ugraphemb.cli.main import main

GRAPHS = GraphSet.from_edges(
    [3, 4, 2],
    [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (7, 8)],
    node_labels=["C", "N", "C", "C", "C", "O", "N", "C", "C"],
)


@pytest.fixture
def file(tmp_path: Path) -> str:
    write_graphs(GRAPHS, tmp_path / "g.jsonl")
    return str(tmp_path / "g.jsonl")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(exit.value.code or 0), captured.out, captured.err


def test_distance_prints_the_value_its_bounds_and_the_edits(capsys, file: str):
    status, out, err = run(capsys, "distance", f"{file}:0", f"{file}:1", "--method", "exact")
    answer = distance(GRAPHS[0], GRAPHS[1], method="exact")
    value = f"{answer.value:g}"
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert lines[0] == f"{value}  (proven: {value} ≤ distance ≤ {value})"
    assert len(lines) == 1 + len(answer.edit_path()) == 1 + answer.value


def test_distance_as_json_is_one_object(capsys, file: str):
    status, out, _ = run(capsys, "distance", f"{file}:0", f"{file}:2", "--method", "hed", "--json")
    record = json.loads(out)
    assert status == 0
    assert record["value"] == record["lower"] == distance(GRAPHS[0], GRAPHS[2], method="hed").lower
    assert (record["upper"], record["mapping"], record["edits"]) == (None, None, [])


def test_prices_on_the_command_line_are_those_of_edit_costs(capsys, file: str):
    _, out, _ = run(
        capsys, "distance", f"{file}:0", f"{file}:2", "--cost", "node_delete=3", "--cost", "edge_delete=0.5", "--json"
    )
    assert json.loads(out)["value"] == 3.5 + 1  # a node and an edge go, N becomes C
    status, _, err = run(capsys, "distance", f"{file}:0", f"{file}:2", "--cost", "nodes=3")
    assert status == 2
    assert "one of node_insert, node_delete" in err
    status, _, err = run(capsys, "distance", f"{file}:0", f"{file}:2", "--cost", "node_insert=-1")
    assert (status, err) == (2, "Error: node_insert is -1.0; a cost is 0 or from 1e-6 to 1e6\n")


def test_what_is_no_graph_is_answered_in_one_line(capsys, file: str):
    for a, message in [
        (file, "3 graphs; choose one by its position"),
        (f"{file}:3", "positions go from 0 to 2"),
        ("not a molecule", "nor SMILES"),
    ]:
        status, out, err = run(capsys, "distance", a, f"{file}:0")
        assert (status, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1


def test_an_option_of_another_metric_is_a_wrong_call(capsys, file: str):
    status, _, err = run(capsys, "distance", f"{file}:0", f"{file}:1", "--metric", "mcs", "--method", "exact")
    assert status == 2
    assert "metric 'mcs' has no option 'method'; it has connected, edge_labels" in err


def test_pairs_writes_the_table_that_pairwise_gives(capsys, file: str, tmp_path: Path):
    output = str(tmp_path / "pairs.parquet")
    status, out, _ = run(capsys, "pairs", file, "--method", "exact", "-o", output)
    assert status == 0
    assert "3 pairs, ged exact" in out
    table = PairTable.read(output)
    np.testing.assert_array_equal(table.value, pairwise(GRAPHS, method="exact").value)


def test_pairs_of_two_collections_and_random_pairs(capsys, file: str, tmp_path: Path):
    output = str(tmp_path / "pairs.parquet")
    run(capsys, "pairs", file, file, "--metric", "mcs", "-o", output)
    np.testing.assert_array_equal(PairTable.read(output).matrix(), pairwise(GRAPHS, GRAPHS, metric="mcs").matrix())
    run(capsys, "pairs", file, "--pairs", "2", "--seed", "1", "-o", output)
    assert len(PairTable.read(output)) == 2
    status, _, err = run(capsys, "pairs", file, file, "--pairs", "2", "-o", output)
    assert status == 2
    assert "are for one collection" in err


def test_distance_starts_without_torch(file: str):
    script = (
        "import sys\nfrom ugraphemb.cli.main import main\n"
        f"try:\n    main(['distance', '{file}:0', '{file}:1'])\n"
        "except SystemExit:\n    print('torch' in sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "False\n"
