"""Progress: a bar on terminals, lines in a log, nothing if it is off."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ugraphemb import progress
from ugraphemb.progress import progress_of


def test_a_log_gets_lines_when_asked_for(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.0)
    with progress_of(1000, "pairs", True) as tick:
        tick(400)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(", ")[0] for line in lines] == ["pairs: 400 of 1,000", "pairs: 1,000 of 1,000"]
    with progress_of(1000, "pairs", None) as tick:
        tick(400)
    assert capsys.readouterr().err == ""


def test_notebooks_have_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not progress._has_bars()
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert progress._has_bars()


def test_transform_tells_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    import ugraphemb as ug

    graphs = ug.load_dataset("atlas")[20:32]
    settings = {"layers": (4,), "scales": (0, 1), "hidden": 4}
    model = ug.UGraphEmb(dimension=4, steps=2, batch=8, settings=settings, threads=1, progress=False).fit(graphs)
    capsys.readouterr()
    model.set_params(progress=True).transform(graphs)
    assert "graphs embedded: 12 of 12" in capsys.readouterr().err


def test_training_writes_lines_into_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    import ugraphemb as ug

    settings = {"layers": (4,), "scales": (0, 1), "hidden": 4}
    model = ug.UGraphEmb(dimension=4, steps=2, batch=8, settings=settings, threads=1, progress=True)
    model.fit(ug.load_dataset("atlas")[20:32])
    assert "training: 2 of 2, loss " in capsys.readouterr().err


def test_a_total_may_become_known_later(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.0)
    with progress_of(None, "a.zip", True, unit="bytes") as tick:
        tick(1_500_000)
        tick(2_000_000, total=4_000_000)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(", ")[0] for line in lines] == [
        "a.zip: 1.5 MB",
        "a.zip: 2.0 MB of 4.0 MB",
        "a.zip: 4.0 MB of 4.0 MB",
    ]


def test_there_is_one_progress_bar() -> None:
    import ugraphemb

    sources = Path(ugraphemb.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if "rich.progress" in path.read_text()] == ["progress.py"]
