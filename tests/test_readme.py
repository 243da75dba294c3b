"""Every block of the README runs, and prints what it says."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from pathlib import Path
from statistics import fmean
from typing import Any

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
    assert len(PYTHON) == 2
    assert len(COMMANDS) == 3
    assert README.count("```python") == len(PYTHON)


def row(record: str, table: str, **entries: object) -> dict[str, Any]:
    """The row of a table of a benchmark's record that has these entries."""
    tables = json.loads((ROOT / "benchmarks" / "results" / f"{record}.json").read_text("utf-8"))["tables"]
    found = [line for name in tables if name.startswith(table) for line in tables[name]]
    return next(line for line in found if entries.items() <= line.items())


def figures() -> dict[str, str]:
    """The figure of each record that the README names, computed from the record."""
    read = [row("read", "Time", set=name, reader=reader)["times ours"]
            for name in ("REDDIT-BINARY", "NCI109") for reader in ("PyTorch Geometric", "grakel")]  # fmt: skip
    peers = {solver: row("ged_peers", "PTC", solver=solver)["µs a pair"] for solver in ("NetworkX", "exact")}
    kernel = row("kernels", "All pairs", kernel="WL, h = 5")
    pairs = kernel["graphs"] * (kernel["graphs"] + 1) / 2
    million = row("search_million", "1,000,000", search="complete, ten nearest")
    return {
        "read": f"{min(read):.0f} to {max(read):.0f} times",
        "ged_peers": f"{peers['NetworkX'] / peers['exact']:,.0f} times",
        "kernels": f"{kernel['ugraphemb CPU s'] / pairs * 1e9:.0f} ns",
        "search_million": f"{million['p50 ms']:.0f} ms",
        "serve": f"{row('serve', 'Milliseconds')['per second']:.0f} searches",
        "ranking": f"{row('ranking', 'All scores')['CPU s']:.1f} s",
        "baselines": f"{row('baselines', 'Kernel', kernel='WL, 5 rounds')['ugraphemb CPU s']:.2f} s",
        "torture": f"{11_112 + 6_904:,} faults",
    }


def test_figures_are_those_of_committed_records() -> None:
    shown = {name: text for text, name in re.findall(r"\[([^\]]*)\]\(benchmarks/results/(\w+)\.md\)", README)}
    assert shown == figures()
    checks = (ROOT / "benchmarks" / "results" / "torture.md").read_text("utf-8")
    assert "11,112 deaths, 6,904 errors" in checks
    trials = (ROOT / "experiments" / "results" / "encoder" / "PTC.jsonl").read_text("utf-8").splitlines()
    default = {entry["split"]: entry["test"]["tau"] for entry in map(json.loads, trials) if entry["row"] == "default"}
    assert len(default) == 5
    tau = f"{fmean(default.values()):.3f}"
    assert f"| {tau} ± " in (ROOT / "docs" / "results.md").read_text("utf-8")
    assert f"[{tau}](docs/results.md)" in README
