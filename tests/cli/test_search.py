"""index, search, add, remove and export, as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from search.small_index import graphs, model, queries

import ugraphemb as ug
from ugraphemb.cli.main import cli
from ugraphemb.errors import GraphFormatError, IndexFormatError


@pytest.fixture
def files(tmp_path: Path) -> Path:
    ug.write_graphs(graphs()[:50], tmp_path / "graphs.jsonl")
    ug.write_graphs(queries(), tmp_path / "queries.jsonl")
    model().save(tmp_path / "model")
    return tmp_path


@pytest.fixture
def index(files: Path) -> Path:
    assert run("index", files / "model", files / "graphs.jsonl", "-o", files / "index", "--threads", 1)[0] == 0
    return files / "index"


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if isinstance(result.exception, ug.errors.UGraphEmbError):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def search(index: Path, query: object, *options: object) -> tuple[int, str, str]:
    return run("search", index, query, "--threads", 1, *options)


def test_index_says_what_it_wrote_and_does_not_overwrite(files: Path, index: Path):
    assert len(ug.GraphIndex.load(index)) == 50
    again = ["index", files / "model", files / "queries.jsonl", "-o", index, "--threads", 1]
    code, _, err = run(*again)
    assert code == 2
    assert "ugraphemb add" in err
    code, out, _ = run(*again, "--overwrite")
    assert (code, out) == (0, f"{index}: GraphIndex(10 graphs, vectors of 8 numbers, flat)\n")


def test_search_prints_a_line_a_match_and_the_certificate(files: Path, index: Path):
    expected = ug.GraphIndex.load(index, threads=1).search(queries()[3], 4, complete=True)
    code, out, _ = search(index, f"{files / 'queries.jsonl'}:3", "-k", 4, "--complete")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].split() == ["rank", "id", "edits", "per", "node", "predicted", "class", "what", "changes"]
    for line, match in zip(lines[1:5], expected, strict=True):
        assert line.split()[:3] == [str(match.rank), match.id, f"{match.distance:g}"]
        assert line.endswith(match.changes())
    assert lines[5:] == ["", str(expected.certificate)]


def test_search_as_json_is_an_object_a_query(files: Path, index: Path):
    code, out, _ = search(index, files / "queries.jsonl", "--within", 4, "--json")
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["query"] for record in records] == queries().ids.tolist()
    found = ug.GraphIndex.load(index, threads=1).search(queries(), within=4)
    for record, matches in zip(records, found, strict=True):
        assert [match["id"] for match in record["matches"]] == [match.id for match in matches]
        assert record["certificate"]["proven"]
        for match in record["matches"]:
            assert match["lower"] <= match["distance"] == match["upper"] <= 4
            assert sum(edit["cost"] for edit in match["edits"]) == match["distance"]


def test_without_verification_matches_have_bounds_and_no_certificate(files: Path, index: Path):
    code, out, _ = search(index, files / "queries.jsonl", "-k", 2, "--json")
    assert code == 0
    first = json.loads(out.splitlines()[0])
    assert first["certificate"] is None
    for match in first["matches"]:
        exact = ug.distance(queries()[0], graphs()[int(match["id"][1:])], method="exact").value
        assert match["lower"] <= exact <= match["upper"]
    assert search(index, files / "queries.jsonl", "-k", 2)[1].count("rank") == 10


def test_filters_by_name_and_value(files: Path, index: Path):
    query = f"{files / 'queries.jsonl'}:0"
    records = [
        json.loads(search(index, query, "-k", 50, "--json", *options)[1])["matches"]
        for options in ((), ("--where", "class=2"), ("--where", "class=2", "--where", "class=0"))
    ]
    classes = [{match["metadata"]["class"] for match in matches} for matches in records]
    assert classes == [{0, 1, 2}, {2}, {0, 2}]
    code, _, err = search(index, query, "--where", "class")
    assert (code, "NAME=VALUE" in err) == (2, True)
    code, _, err = search(index, query, "--where", "year=3")
    assert (code, "no metadata column 'year'" in err) == (2, True)
    assert "nothing found" in search(index, query, "--where", "class=7")[1]


def test_a_query_may_be_a_smiles_string(index: Path):
    pytest.importorskip("rdkit")
    code, out, _ = search(index, "CCO", "-k", 1, "--json")
    assert code == 0
    assert json.loads(out)["query"] == "CCO"
    with pytest.raises(GraphFormatError, match="nor SMILES"):
        search(index, "nothing!")


def test_add_and_remove_change_the_index_or_leave_it(files: Path, index: Path):
    code, out, _ = run("add", index, files / "queries.jsonl", "--threads", 1)
    assert (code, out) == (0, f"{index}: 10 graphs added, now 60\n")
    code, _, err = run("add", index, files / "queries.jsonl", "--threads", 1)
    assert (code, "'g50' is already in the index" in err) == (2, True)
    assert run("add", index, files / "queries.jsonl", "--replace", "--threads", 1)[0] == 0
    assert len(ug.GraphIndex.load(index)) == 60
    code, out, _ = run("remove", index, "g1", "g2")
    assert (code, out) == (0, f"{index}: 2 graphs removed, now 58\n")
    code, _, err = run("remove", index, "g1", "g3")
    assert (code, "no graph has the id 'g1'" in err) == (2, True)
    (files / "ids.txt").write_text("g3\n\ng4\n")
    assert run("remove", index, "--from", files / "ids.txt")[0] == 0
    assert len(ug.GraphIndex.load(index)) == 56
    assert run("remove", index)[0] == 2


def test_metadata_come_from_a_file_by_id_or_by_position(files: Path):
    (files / "by_id.csv").write_text("id,year\n" + "".join(f"g{i},{1950 + i}\n" for i in reversed(range(50))))
    (files / "by_place.csv").write_text("year\n" + "".join(f"{1950 + i}\n" for i in range(50)))
    for name in ("by_id", "by_place"):
        made = ["index", files / "model", files / "graphs.jsonl", "-o", files / name, "--threads", 1]
        assert run(*made, "--metadata", files / f"{name}.csv")[0] == 0
        answer = json.loads(search(files / name, f"{files / 'graphs.jsonl'}:7", "--where", "year=1957", "--json")[1])
        assert [match["id"] for match in answer["matches"]] == ["g7"]
    (files / "short.csv").write_text("id,year\ng0,1\n")
    code, _, err = run(*made[:-3], files / "x", "--metadata", files / "short.csv")
    assert (code, "no row for graph 'g1' (49 of 50" in err) == (2, True)


def test_export_writes_a_row_a_graph(files: Path, index: Path):
    code, out, _ = run("export", index, "-o", files / "v.parquet")
    assert (code, out) == (0, f"{files / 'v.parquet'}: 50 vectors of 8 numbers\n")
    table = pq.read_table(files / "v.parquet")
    assert table.column_names == ["id", "vector", "class"]
    assert table["id"].to_pylist() == [f"g{i}" for i in range(50)]
    assert run("export", index, "-o", files / "v.txt")[0] == 2


def test_a_folder_that_is_no_index_is_refused(files: Path):
    with pytest.raises(IndexFormatError, match="not an index"):
        search(files / "model", "CCO")
