"""The examples of docs/web.md run against a server."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from web.small_server import saved
from web.test_life import running

from ugraphemb.cli.main import COMMANDS
from ugraphemb.web.settings import Limits

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "web.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"


def test_the_examples_in_python_run(capsys: pytest.CaptureFixture[str]):
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    with running(saved("molecules")) as port:
        for block in blocks:
            exec(compile(block.replace(ADDRESS, f"http://127.0.0.1:{port}"), "docs/web.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "proven: the 5 nearest of 42 graphs" in printed
    assert "42 ['x', 'y', 'id', 'nodes']" in printed


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_examples_with_curl_run(tmp_path: Path):
    commands = re.findall(r"^(curl .*?[^\\])$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(commands) == 3
    with running(saved("molecules")) as port:
        outputs = [
            subprocess.run(
                command.replace(ADDRESS, f"http://127.0.0.1:{port}"), shell=True, cwd=tmp_path, check=True,
                capture_output=True, text=True,
            ).stdout
            for command in commands
        ]  # fmt: skip
    assert '"certificate":{"proven":true' in outputs[0]
    assert (tmp_path / "drawing.svg").read_text().startswith("<svg")
    assert outputs[2].startswith("event: vectors\n")
    assert "event: done\n" in outputs[2]


def test_every_route_is_in_the_table():
    with running(saved("molecules")) as port:
        import httpx

        paths = httpx.get(f"http://127.0.0.1:{port}/api/openapi.json").json()["paths"]
    assert [path for path in paths if f"`{path}" not in PAGE and f" {path}" not in PAGE] == []


def test_limits_are_those_of_the_code():
    limits = Limits()
    assert (limits.body_bytes, limits.query_nodes, limits.draw_nodes, limits.edit_nodes) == (4 * 2**20, 1_000, 300, 300)
    assert (limits.seconds, limits.searches, limits.waiting, limits.connections) == (60, 2, 64, 256)
    assert "4 MiB for a body, 1,000 nodes for a query, 300 for drawings and edits, 60 s" in PAGE
    assert "serve" in COMMANDS
