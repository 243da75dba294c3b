"""The checker of language and links finds what it should."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "docs" / "tools"


@pytest.fixture
def language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_language", TOOLS / "language.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    (tmp_path / "docs" / "tools").mkdir(parents=True)
    (tmp_path / "docs" / "tools" / "idioms.txt").write_bytes((TOOLS / "idioms.txt").read_bytes())
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


@pytest.mark.parametrize(
    "text",
    [
        "rows of each graph's nodes", "the rows around it", "values are held in rows", "the caller is told",
        "a matrix that was turned", "a row a node", "a column a name", "so is everybody from everybody",
        "bounds are asked from cheap to dear", "whoever searches", "holds the parts of one moment", '"goes", "comes"',
        "houses, rooms and doors", "it is normalised",
    ],
)  # fmt: skip
def test_idioms_are_found_with_their_line(language: ModuleType, tmp_path: Path, text: str) -> None:
    (tmp_path / "page.md").write_text(f"# Fine\n\nThis is plain.\n{text}\n")
    found = language.idioms(["page.md"])
    assert found
    assert all(line.startswith("page.md:4: ") for line in found)


def test_plain_words_pass(language: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("One row per node; cheap lower bounds are evaluated first.\n")
    assert language.idioms(["page.md"]) == []


def test_links_to_missing_files_and_headings_are_found(language: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n[b](docs/b.md) [c](docs/c.md) [x](docs/b.md#nine-lives) [y](docs/b.md#no)\n")
    (tmp_path / "docs" / "b.md").write_text("## Nine `lives`\n[a](../a.md) [web](https://example.org)\n")
    found = language.links(["a.md", "docs/b.md"])
    assert [line.split(",")[0] for line in found] == ["a.md:2: link to docs/c.md", "a.md:2: link to docs/b.md#no"]
