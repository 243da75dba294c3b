"""The page that lists the baselines, against the code."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from ugraphemb.baselines import BASELINES, baseline

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "baselines.md"
ROWS = {
    cells[1].strip(" `"): [cell.strip() for cell in cells]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| `") and len(cells := line.split("|")) == 7
}


def test_the_page_lists_every_baseline_and_no_other() -> None:
    assert set(ROWS) == set(BASELINES)


@pytest.mark.parametrize("name", list(BASELINES))
def test_classes_and_settings_on_the_page_are_those_of_the_code(name: str) -> None:
    made = baseline(name)
    _, _, _, _, where, listed, _ = ROWS[name]
    assert where == f"`{type(made).__module__.rpartition('.')[2]}.{type(made).__name__}`"
    if listed.startswith("as `"):
        return
    settings = {field.name: field.default for field in dataclasses.fields(made) if field.init}  # type: ignore[arg-type]
    for fixed in ("kernel_of", "method"):
        settings.pop(fixed, None)
    found = dict(re.findall(r"`(\w+)`(?: ([\d.]+))?", listed.partition(", and those of")[0]))
    assert set(found) == set(settings)
    for setting, value in found.items():
        assert not value or float(value) == settings[setting]
