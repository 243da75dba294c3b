"""Every block of the README runs, and prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from ugraphemb.cli import main as module

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```\n```\n(.*?)```", README, re.DOTALL)
CONSOLE = "".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL))
COMMANDS = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", CONSOLE, re.MULTILINE)
MAKE = re.findall(r"^make ([a-z-]+)", README, re.MULTILINE)


@pytest.mark.filterwarnings("ignore:.*labels that the model has never seen")
@pytest.mark.parametrize(("code", "output"), PYTHON)
def test_python_prints_what_stands_below(
    code: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rdkit")
    monkeypatch.chdir(tmp_path)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert said.getvalue() == output


@pytest.mark.parametrize(("command", "output"), COMMANDS)
def test_commands_print_what_stands_below(
    command: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rdkit")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command, comments=True)
    assert words[0] == "ugraphemb"
    with pytest.raises(SystemExit) as end:
        module.main(words[1:])
    assert end.value.code == 0
    assert capsys.readouterr().out == output
    if "-o" in words:
        assert (tmp_path / words[words.index("-o") + 1]).stat().st_size > 0


def test_the_make_targets_exist() -> None:
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(MAKE) <= set(targets)


def test_there_are_examples_of_both_kinds() -> None:
    assert len(PYTHON) == 3
    assert len(COMMANDS) == 3
    assert README.count("```python") == len(PYTHON)
