"""The README's examples run, and print what it says."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from ugraphemb.cli import main as module

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```\n```\n(.*?)```", README, re.DOTALL)
CONSOLE = "".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL))
COMMANDS = [
    (command, output)
    for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", CONSOLE, re.MULTILINE)
    if output
]


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
def test_commands_print_what_stands_below(command: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rdkit")
    words = shlex.split(command, comments=True)
    assert words[0] == "ugraphemb"
    if "out/index" in words:
        pytest.skip("needs what `make demo` leaves")
    with pytest.raises(SystemExit):
        module.main(words[1:])
    assert capsys.readouterr().out == output


def test_there_are_examples_of_both_kinds() -> None:
    assert PYTHON
    assert len(COMMANDS) >= 2
