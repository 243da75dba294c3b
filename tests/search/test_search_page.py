"""docs/search.md says what is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "search.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:.*labels that the model has never seen")
def test_the_examples_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rdkit")
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "search.md", "exec"), names)
    assert len(names["index"]) == 2007
    assert names["certificate"].proven
    assert len(names["elsewhere"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["1", "2", "3"]


def test_the_search_prints_the_table_of_the_page(tmp_path, monkeypatch, capsys):
    """All but the column "predicted" and the counts of the certificate, which depend on the model of the package."""
    pytest.importorskip("rdkit")
    from ugraphemb.cli.main import main

    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^\$ ugraphemb ((?:index|search) .*)\n((?:(?!\$ |```).*\n)+)", PAGE, re.MULTILINE)
    assert len(commands) == 2
    for command, shown in commands:
        with pytest.raises(SystemExit) as end:
            main(shlex.split(command, comments=True))
        assert end.value.code == 0
        printed = capsys.readouterr().out
        assert without_predictions(printed) == without_predictions(shown)


def without_predictions(text: str) -> list[str]:
    lines = [re.sub(r"^( +\d+ +\d+ +\d+ +0\.\d{3}) +\d\.\d{3}", r"\1", line) for line in text.splitlines()]
    return [line.partition("; ruled out by")[0] for line in lines]


def test_the_page_names_every_option_of_search():
    import inspect

    from ugraphemb import GraphIndex

    for name in inspect.signature(GraphIndex.search).parameters:
        assert name in ("self", "progress") or name in PAGE
