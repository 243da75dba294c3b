"""The commands with a database where they take a folder, and what `serve` leaves behind when it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from search.small_index import graphs, model, queries

import ugraphemb as ug
from ugraphemb import GraphIndex
from ugraphemb.cli.main import cli


def run(*arguments: object) -> str:
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_commands_take_the_url_of_a_database(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model().save("model")
    for name, some in (("first", graphs()[:40]), ("more", graphs()[40:50]), ("query", queries()[:1])):
        ug.write_graphs(some, f"{name}.jsonl")
    url = engine.url()
    run("index", "model", "first.jsonl", "--engine", url)
    assert "now 50" in run("add", url, "more.jsonl")
    assert "now 50" in run("add", url, "more.jsonl")  # again: nothing changes
    assert "1 graph removed, now 49" in run("remove", url, "g3")
    assert "GraphIndex(49 graphs" in run("copy", url, "folder")
    assert GraphIndex.load("folder").ids == [f"g{i}" for i in range(50) if i != 3]
    for asked in (("-k", "5"), ("-k", "3", "--complete"), ("--within", "3")):
        answers = [run("search", place, "query.jsonl", *asked) for place in (url, "folder")]
        assert _matches(answers[0]) == _matches(answers[1]) != []
    run("export", url, "-o", "vectors.parquet")
    assert pq.read_table("vectors.parquet")["id"].to_pylist() == GraphIndex.load("folder").ids


def test_a_path_that_ends_in_lance_is_a_database(tmp_path):
    pytest.importorskip("lancedb")
    place = tmp_path / "some.lance"
    GraphIndex(model(), threads=1, engine=str(place)).add(graphs()[:20])
    assert GraphIndex.load(f"lance://{place}").ids == GraphIndex.load(place).ids == [f"g{i}" for i in range(20)]
    with pytest.raises(ValueError, match=r"engine='some.folder'; it is 'embedded', a URL"):
        GraphIndex(model(), engine="some.folder")


def _matches(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.match(r" *\d+ +g\d+", line)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_of_a_copy_leaves_nothing_behind(tmp_path, number):
    pytest.importorskip("lancedb")
    url, rest = f"lance://{tmp_path}/database", tmp_path / "rest"
    rest.mkdir()
    GraphIndex(model(), threads=1, engine=url).add(graphs()[:20])
    server = subprocess.Popen(
        [sys.executable, "-m", "ugraphemb.cli.main", "serve", url, "--port", "0"], stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(rest)},
    )  # fmt: skip
    try:
        assert server.stderr is not None
        address = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
        assert httpx.get(f"{address}api/info", timeout=120).json()["graphs"] == 20
        assert _served(rest)
        server.send_signal(number)
        assert server.wait(60) in (0, 130, 143, -number)
        assert not _served(rest)
    finally:
        server.kill()
        server.wait()
        server.stderr.close()


def _served(folder: Path) -> list[Path]:
    return list(folder.glob("ugraphemb-serve-*"))
