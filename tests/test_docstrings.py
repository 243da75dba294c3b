"""Every name in the reference has a docstring with an example, and the examples are true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ugraphemb as ug

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
PUBLIC = [name for name in ug.__all__ if name not in ("__version__", "errors")]
OTHERS = {"pyg": "torch_geometric", "igraph": "igraph"}  # modules of converters, and the package that each needs


@cache
def shown() -> dict[str, Any]:
    """Every object that the reference shows, by where it is defined."""
    pages = "\n".join(page.read_text("utf-8") for page in sorted(REFERENCE.glob("*.md")))
    entries = [entry for entry in re.findall(r"^::: (\S+)", pages, re.MULTILINE) if entry.count(".") > 1]
    return {entry: getattr(importlib.import_module(entry.rpartition(".")[0]), entry.rpartition(".")[2])
            for entry in entries}  # fmt: skip


def examples(thing: Any, name: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(recurse=False).find(thing, name, globs={})
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example(name: str) -> None:
    assert inspect.getdoc(getattr(ug, name))
    assert examples(getattr(ug, name), name)


@pytest.mark.filterwarnings("ignore:.*labels that the model has never seen")
@pytest.mark.parametrize("name", sorted(shown()))
def test_a_name_of_the_reference_has_an_example_that_prints_what_is_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rdkit")
    pytest.importorskip("matplotlib")
    for module, package in OTHERS.items():
        if f".{module}." in name:
            pytest.importorskip(package)
    run(examples(shown()[name], name), tmp_path, monkeypatch)


def test_the_example_of_errors_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    found = doctest.DocTestFinder().find(ug.errors, "errors", module=ug.errors)
    run([test for test in found if test.examples], tmp_path, monkeypatch)


def run(tests: list[doctest.DocTest], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tests
    monkeypatch.chdir(folder)
    runner = doctest.DocTestRunner(verbose=False)
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
