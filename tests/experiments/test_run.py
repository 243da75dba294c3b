"""Runs on a toy set: finite numbers, and the same ones after a kill."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from experiments.__main__ import main, parser
from experiments.cells import Ledger

REPOSITORY = Path(__file__).resolve().parents[2]


def options(folder: Path, name: str) -> list[str]:
    """Where everything is: data and config of the toy; results, cache and page of a run of this name."""
    places = {
        "data": "data",
        "config": "config.toml",
        **{part: f"{name}/{part}" for part in ("results", "cache", "docs")},
    }
    return ["--threads", "1", *(word for key, place in places.items() for word in (f"--{key}", str(folder / place)))]


def values(folder: Path, name: str) -> dict[str, Any]:
    """All that was found, but for how long it took."""
    found = {}
    for experiment in ("ranking", "classification", "datasets"):
        for key, row in Ledger(folder / name / "results", experiment, "TOY").rows().items():
            row["values"].get("training", {}).pop("seconds", None)
            found[key] = (row["method"], row["split"], row["values"])
    return found


def test_a_quick_run_gives_finite_numbers_and_a_page(toy: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["--quick", *options(toy, "quick")]) == 0
    found = {(method, next(iter(scores))): scores for method, _, scores in values(toy, "quick").values()}
    assert found["wl", "tight"]["tight"]["chosen"].startswith(("features", "kernel"))
    for method in ("wl", "hed", "ugraphemb"):
        assert -1 <= found[method, "tight"]["tight"]["tau"] <= 1
        assert 0 <= found[method, "tight"]["tight"]["strict p@10"] <= found[method, "tight"]["tight"]["p@10"] <= 1
    assert math.isfinite(found["ugraphemb", "tight"]["tight"]["mse"])
    assert "mse" not in found["wl", "tight"]["tight"]  # a kernel predicts no distance
    assert found["majority", "accuracy"]["accuracy"] == pytest.approx(50)  # classes are spread in proportion
    assert 0 <= found["ugraphemb", "accuracy"]["accuracy"] <= 100
    assert "(quick)" in (toy / "quick" / "docs" / "results.md").read_text()
    capfd.readouterr()
    assert main(["--quick", *options(toy, "quick")]) == 0
    assert capfd.readouterr().out == ""  # everything is there already


def test_a_killed_run_goes_on_to_the_same_result(toy: Path):
    command = [sys.executable, "-m", "experiments", *options(toy, "killed")]
    ledger = toy / "killed" / "results" / "ranking" / "TOY.jsonl"
    run = subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    try:
        while not (ledger.exists() and ledger.read_text().endswith("\n")) and run.poll() is None:
            time.sleep(0.01)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    before = len(values(toy, "killed"))
    with ledger.open("a") as file:
        file.write('{"key": "truncated')
    assert main(options(toy, "killed")) == 0
    assert main(options(toy, "whole")) == 0
    whole = values(toy, "whole")
    assert 0 < before < len(whole)
    assert values(toy, "killed") == whole


def test_what_is_chosen_is_all_that_runs(toy: Path, capfd: pytest.CaptureFixture[str]):
    chosen = ["--only", "classification", "--methods", "majority", "--splits", "1"]
    assert main([*chosen, *options(toy, "few")]) == 0
    assert [row[:2] for row in values(toy, "few").values()] == [("majority", 0)]
    capfd.readouterr()
    main(["--list", *chosen, *options(toy, "few")])
    assert "not run" not in capfd.readouterr().out


def test_ctrl_c_in_a_training_stops_the_run_and_the_training_goes_on_later(toy: Path, monkeypatch: pytest.MonkeyPatch):
    from torch.optim import AdamW

    model = ["--only", "ranking", "--methods", "ugraphemb", "--splits", "1"]
    steps = itertools.count(1)
    with monkeypatch.context() as patch:
        step = AdamW.step
        patch.setattr(AdamW, "step", lambda self: (_pressed() if next(steps) == 15 else None, step(self)))
        assert main([*model, *options(toy, "stopped")]) == 130
    assert not values(toy, "stopped")
    assert list((toy / "stopped" / "cache" / "models").rglob("checkpoint"))
    assert main([*model, *options(toy, "stopped")]) == 0
    assert main([*model, *options(toy, "through")]) == 0
    assert len(values(toy, "through")) == 1
    assert values(toy, "stopped") == values(toy, "through")


def _pressed() -> None:
    assert signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)


def test_a_cell_that_fails_is_reported_and_the_others_run(toy: Path, capfd: pytest.CaptureFixture[str]):
    config = toy / "config.toml"
    config.write_text(config.read_text().replace("iterations = 1 }", "rounds = 1 }"))
    chosen = ["--only", "classification", "--methods", "wl,majority", "--splits", "1"]
    assert main([*chosen, *options(toy, "broken")]) == 1
    assert "unexpected keyword argument 'rounds'" in capfd.readouterr().err
    assert [row[0] for row in values(toy, "broken").values()] == ["majority"]


def test_help_has_examples():
    assert "Examples:" in parser().format_help()


def test_committed_results_are_whole_lines():
    for file in (REPOSITORY / "experiments" / "results").glob("*/*.jsonl"):
        for line in file.read_text().splitlines():
            is_trial = file.parent.name == "encoder" or file.stem == "trials"
            assert ("split" if is_trial else "key") in json.loads(line)
