"""`ugraphemb evaluate` and `ugraphemb plot`, from files to answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from ugraphemb.cli.main import cli
from ugraphemb.graphs import GraphSet
from ugraphemb.proximity import PairTable
from ugraphemb.tasks import classify, random_splits, rank_from_vectors

N = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Paths of 1 to 24 nodes in two classes, their vectors, and the true distances: differences of size."""
    path = tmp_path_factory.mktemp("files")
    sizes = np.arange(1, N + 1)
    classes = (sizes > N // 2).astype(int)
    lines = [
        json.dumps({"id": f"path {n}", "num_nodes": n, "edges": [[i, i + 1] for i in range(n - 1)], "target": c})
        for n, c in zip(sizes.tolist(), classes.tolist(), strict=True)
    ]
    (path / "graphs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    vectors = np.random.default_rng(0).normal(scale=0.1, size=(N, 3)) + sizes[:, None]
    np.save(path / "vectors.npy", vectors)
    truth = np.abs(sizes[:, None] - sizes[None]).astype(float)
    np.save(path / "truth.npy", truth)
    (path / "classes.txt").write_text("\n".join(map(str, classes)), encoding="utf-8")
    order = np.random.default_rng(1).permutation(N)
    table = pa.table({"id": [f"path {n}" for n in sizes[order]], "vector": vectors[order].tolist()})
    pq.write_table(table, path / "shuffled.parquet")
    edges = np.concatenate(
        [
            [[s + i, s + i + 1] for i in range(n - 1)]
            for n, s in zip(sizes, np.cumsum(sizes) - sizes, strict=True)
            if n > 1
        ]
    )
    graphs = GraphSet.from_edges(sizes, edges)
    pairs = np.stack(np.triu_indices(N, 1), axis=1)
    PairTable.from_values(graphs, pairs, truth[pairs[:, 0], pairs[:, 1]], kind="distance").write(path / "truth.parquet")
    return path


def run(folder: Path, *arguments: str) -> Result:
    files = {path.name: str(path) for path in folder.iterdir()}
    return CliRunner().invoke(cli, [files.get(argument, argument) for argument in arguments])


def test_rank_prints_what_the_library_computes(folder: Path) -> None:
    vectors, truth = np.load(folder / "vectors.npy"), np.load(folder / "truth.npy")
    result = run(folder, "evaluate", "rank", "--vectors", "vectors.npy", "--truth", "truth.npy", "-k", "3", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.output)
    scores = rank_from_vectors(vectors, vectors, truth, k=3, exclude_self=True)
    assert (record["queries"], record["database"]) == (N, N)
    for name, (mean, spread) in scores.summary().items():
        assert record[name] == {"mean": pytest.approx(mean), "std": pytest.approx(spread)}
    text = run(folder, "evaluate", "rank", "--vectors", "vectors.npy", "--truth", "truth.npy", "-k", "3").output
    assert "strict p@3" in text


def test_rank_takes_a_pair_table_and_a_split(folder: Path) -> None:
    vectors, truth = np.load(folder / "vectors.npy"), np.load(folder / "truth.npy")
    split = random_splits(N, 5, 1)[0]
    common = ("evaluate", "rank", "--vectors", "vectors.npy", "--truth", "truth.parquet", "--split", "5", "--json")
    sizes = np.arange(1, N + 1)
    for flags, matrix in ((("--raw",), truth), ((), truth / ((sizes[:, None] + sizes[None]) / 2))):
        record = json.loads(run(folder, *common, *flags).output)
        scores = rank_from_vectors(vectors[split.test], vectors[split.train], matrix[np.ix_(split.test, split.train)])
        assert record["tau"]["mean"] == pytest.approx(scores.summary()["tau"][0])
        assert record["mse"]["mean"] == pytest.approx(scores.summary()["mse"][0])


def test_rank_takes_queries_of_their_own(folder: Path) -> None:
    vectors, truth = np.load(folder / "vectors.npy"), np.load(folder / "truth.npy")
    np.save(folder / "queries.npy", vectors[:4])
    np.save(folder / "rows.npy", truth[:4])
    arguments = ("--vectors", "vectors.npy", "--queries", "queries.npy", "--truth", "rows.npy", "--json")
    record = json.loads(run(folder, "evaluate", "rank", *arguments).output)
    assert record["queries"] == 4
    assert record["tau"]["mean"] == pytest.approx(
        rank_from_vectors(vectors[:4], vectors, truth[:4]).summary()["tau"][0]
    )


@pytest.mark.parametrize("targets", ["classes.txt", "graphs.jsonl"])
def test_classify_prints_what_the_library_computes(folder: Path, targets: str) -> None:
    arguments = ("classify", "vectors.npy", targets, "--repeats", "2", "--json")
    record = json.loads(run(folder, "evaluate", *arguments).output)
    classes = np.arange(1, N + 1) > N // 2
    scores = classify(np.load(folder / "vectors.npy"), classes, random_splits(N, 0, 2, classes))
    assert record["splits"] == pytest.approx(scores.accuracy.tolist())
    assert record["accuracy"] == pytest.approx(scores.mean)


def test_classify_compares_two_methods_and_cross_validates(folder: Path) -> None:
    np.save(folder / "constant.npy", np.ones((N, 2)))
    arguments = ("classify", "vectors.npy", "classes.txt", "--folds", "3", "--against", "constant.npy")
    record = json.loads(run(folder, "evaluate", *arguments, "--json").output)
    assert record["against"]["difference"] == pytest.approx(record["accuracy"] - record["against"]["accuracy"])
    assert record["against"]["difference"] > 0.2
    assert "better, equal, worse on" in run(folder, "evaluate", *arguments).output


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("map.html", ()),
        ("map.png", ("--method", "pca")),
        ("line.svg", ("--method", "pca", "--show", "line", "--from", "path 2", "--to", "path 9", "--count", "3")),
        ("clusters.pdf", ("--method", "pca", "--show", "clusters", "--clusters", "2", "--count", "2")),
    ],
)
def test_plot_map_writes_what_the_suffix_says(folder: Path, name: str, flags: Any) -> None:
    result = run(folder, "plot", "map", "shuffled.parquet", "graphs.jsonl", "-o", str(folder / name), *flags)
    assert result.exit_code == 0, result.output
    start = {".html": b"<!doctype", ".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert (folder / name).read_bytes().startswith(start[Path(name).suffix])


def test_vectors_with_ids_are_put_in_the_order_of_the_graphs(folder: Path) -> None:
    places = []
    for source in ("vectors.npy", "shuffled.parquet"):
        target = folder / f"{source}.places.npy"
        flags = ("-o", str(folder / "x.png"), "--method", "pca", "--coordinates", str(target))
        assert run(folder, "plot", "map", source, "graphs.jsonl", *flags).exit_code == 0
        places.append(np.load(target))
    np.testing.assert_allclose(places[0], places[1])


def test_plot_query_draws_a_graph_by_its_id(folder: Path) -> None:
    target = folder / "query.svg"
    flags = ("--query", "path 7", "--truth", "truth.parquet", "--rank", "1", "--rank", "23")
    result = run(folder, "plot", "query", "vectors.npy", "graphs.jsonl", *flags, "-o", str(target))
    assert result.exit_code == 0, result.output
    assert "graph path 7" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "rank", "--vectors", "vectors.npy", "--truth", "truth.npy", "-k", "24"), "k goes from 1 to 23"),
        (("evaluate", "rank", "--vectors", "nowhere.npy", "--truth", "truth.npy"), "nowhere.npy: no such file"),
        (("evaluate", "rank", "--vectors", "vectors.npy", "--truth", "no.parquet"), "no.parquet"),
        (("evaluate", "rank", "--vectors", "vectors.npy", "--truth", "vectors.npy"), "they must agree"),
        (("evaluate", "rank", "--vectors", "classes.txt", "--truth", "truth.npy"), "not an array"),
        (("evaluate", "classify", "truth.npy", "classes.txt", "--folds", "99"), "99 folds of 24 graphs"),
        (("plot", "map", "vectors.npy", "graphs.jsonl", "-o", "map.gif"), "ends in .html, .png, .svg, .pdf"),
        (("plot", "map", "vectors.npy", "graphs.jsonl", "-o", "m.html", "--show", "line"), "--show line is for .png"),
        (
            ("plot", "query", "vectors.npy", "graphs.jsonl", "--query", "7", "--truth", "truth.npy", "-o", "q.png"),
            "no graph has the id '7'; the first is 'path 1'",
        ),
    ],
)
def test_wrong_calls_end_with_a_message_and_no_traceback(folder: Path, arguments: Any, message: str) -> None:
    result = run(folder, *arguments)
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit)
    assert message in result.output.replace("\n", " ")


def test_every_command_has_examples_in_its_help() -> None:
    for group in ("evaluate", "plot"):
        result = CliRunner().invoke(cli, [group, "--help"])
        assert "Examples:" in result.output
        context = click.Context(cli)
        command = cli.get_command(context, group)
        assert isinstance(command, click.Group)
        for name in command.commands:
            assert "Examples:" in CliRunner().invoke(cli, [group, name, "--help"]).output
