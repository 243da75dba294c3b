"""docs/proximities.md says what is true."""

from __future__ import annotations

import re
from pathlib import Path

from ugraphemb.proximity import metric_names, metric_of

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    for block in blocks("proximities.md"):
        exec(compile(block, "proximities.md", "exec"), names)
    assert len(names["table"]) == 700
    assert names["later"].shape == (10, names["matrix"].shape[1])


def test_the_table_names_every_metric_and_its_kind():
    page = (DOCS / "proximities.md").read_text()
    for name in metric_names():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}`"))
        assert f"| {metric_of(name).kind} |" in row
