"""The command line: what it prints, how it exits."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from ugraphemb import GraphSet, __version__, read_graphs, write_graphs
from ugraphemb.cli import main as module
from ugraphemb.cli.inputs import resolve
from ugraphemb.errors import GraphFormatError, MissingExtraError, StorageError
from ugraphemb.graphs.summary import statistics

GRAPHS = GraphSet.from_edges([3, 2], [(0, 1), (1, 2), (3, 4)], node_labels=["a", "b", "a", "a", "c"], targets=[0, 1])


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit:
        module.main(list(arguments))
    captured = capsys.readouterr()
    return int(exit.value.code or 0), captured.out, captured.err


@pytest.fixture
def file(tmp_path: Path) -> str:
    write_graphs(GRAPHS, tmp_path / "g.zip")
    return str(tmp_path / "g.zip")


def test_info_prints_the_summary(capsys, file: str):
    status, out, err = run(capsys, "info", file)
    assert (status, out, err) == (0, read_graphs(file).summary() + "\n", "")


def test_info_as_json_is_one_object_with_the_statistics(capsys, file: str):
    status, out, _ = run(capsys, "info", file, "--json")
    assert status == 0
    assert json.loads(out) == statistics(read_graphs(file))
    assert json.loads(out)["nodes"] == {"min": 2, "max": 3, "mean": 2.5, "std": 0.5}


def test_convert_writes_the_same_graphs(capsys, file: str, tmp_path: Path):
    for name in ("h.jsonl", "h.zip", "h"):
        status, out, err = run(capsys, "convert", file, str(tmp_path / name))
        assert (status, out) == (0, "")
        assert "2 graphs" in err
        assert read_graphs(tmp_path / name) == GRAPHS
    status, _, err = run(capsys, "convert", file, str(tmp_path / "h.foo"))
    assert (status, err.count("\n")) == (2, 1)
    status, _, _ = run(capsys, "convert", file, str(tmp_path / "h.foo"), "--to", "jsonl")
    assert status == 0
    assert run(capsys, "convert", file, str(tmp_path / "i"), "--to", "foo")[0] == 2


def test_an_argument_is_a_path_or_the_name_of_a_set(file: str, away: Path):
    assert resolve(file) == GRAPHS
    assert len(resolve("atlas")) == 1253
    with pytest.raises(GraphFormatError, match="no such file or folder"):
        resolve(str(away / "none.zip"))


def test_wrong_input_is_one_line_and_exits_with_2(capsys, away: Path):
    for name in ("nothing.zip", "NOTHING"):
        status, out, err = run(capsys, "info", name)
        assert (status, out) == (2, "")
        assert err.startswith("Error: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (StorageError("out.jsonl: No space left on device"), 1, "out.jsonl: No space left on device"),
        (MissingExtraError("this needs the package 'rdkit'"), 1, "this needs the package 'rdkit'"),
        (OSError(errno.EIO, "Input/output error", "in.zip"), 1, "in.zip: input/output error"),
        (RuntimeError("two\nlines"), 1, "two lines (RuntimeError; UGRAPHEMB_DEBUG=1 shows where)"),
        (FileNotFoundError(errno.ENOENT, "No such file", "in.npy"), 2, "in.npy: no such file"),
        (ValueError("k is 0"), 2, "k is 0"),
    ],
)
def test_the_exit_code_says_whether_the_input_is_wrong(capsys, monkeypatch, error: Exception, status: int, line: str):
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("ugraphemb.cli.info.resolve", failing)
    assert run(capsys, "info", "atlas") == (status, "", f"Error: {line}\n")


def test_without_arguments_the_help_is_printed(capsys):
    for arguments in ([], ["plot"]):
        status, out, err = run(capsys, *arguments)
        assert status in (0, 2)
        assert "Commands:\n" in out + err


def test_with_debug_errors_come_with_their_traceback(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UGRAPHEMB_DEBUG", "1")
    with pytest.raises(GraphFormatError):
        module.main(["info", "nothing.zip"])


def test_wrong_calls_exit_with_2(capsys):
    for arguments in (["info"], ["nonsense"], ["info", "a", "--nonsense"]):
        status, _, err = run(capsys, *arguments)
        assert status == 2
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert "--help`" in err


def test_interrupts_exit_with_130(capsys, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ugraphemb.cli.info.resolve", interrupted)
    assert run(capsys, "info", "atlas")[0] == 130


def test_warnings_are_a_line_on_the_error_stream(tmp_path: Path):
    (tmp_path / "loop.edges").write_text("0 0\n0 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "ugraphemb.cli.main", "info", str(tmp_path / "loop.edges")],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONWARNINGS": ""},
    )  # fmt: skip
    assert done.stderr.startswith("Warning: ")
    assert "dropped 1 self loop" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout.startswith("loop\ngraphs       1\n")


def test_every_command_is_where_the_list_says_and_explains_itself(capsys):
    for name, entry in module.COMMANDS.items():
        command = import_module(entry.module).command
        assert isinstance(command, click.Command)
        status, out, _ = run(capsys, name, "--help")
        assert status == 0
        assert f"ugraphemb {name}" in out.partition("Examples:")[2]
        for inner in (command, *getattr(command, "commands", {}).values()):
            options = [parameter for parameter in inner.params if isinstance(parameter, click.Option)]
            assert [option.name for option in options if not option.help] == []


def test_help_lists_every_command_and_loads_nothing_heavy():
    code = (
        "import sys; from ugraphemb.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('torch', 'numpy', 'pyarrow', 'rich', 'ugraphemb.cli.info') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(f"  {name}  " in done.stdout for name in module.COMMANDS)


def test_the_version_is_the_packages(capsys):
    assert run(capsys, "--version")[1] == f"ugraphemb {__version__}\n"


def test_every_command_is_named_in_the_readme():
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    assert [name for name in module.COMMANDS if f"`{name}`" not in readme] == []
