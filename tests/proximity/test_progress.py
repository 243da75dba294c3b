"""Progress: a bar where one can be drawn, lines in a log, nothing where nothing was asked for."""

from __future__ import annotations

import sys

import pytest

from ugraphemb.proximity import progress
from ugraphemb.proximity.progress import progress_of


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
