"""The documentation is true: examples run and print what is shown, generated pages are complete."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import io
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLOCKS = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["index.md", "get-started.md", "concepts/bounds.md", "concepts/heads.md"])
def test_examples_print_what_stands_below(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    blocks = BLOCKS.findall((DOCS / page).read_text("utf-8"))
    assert blocks
    with warnings.catch_warnings():
        for code, output in blocks:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, page, "exec"), names)
            assert printed.getvalue() == output


def test_the_pages_of_tutorials_are_those_of_their_scripts() -> None:
    tutorials = tool("tutorials")
    scripts = sorted(tutorials.SOURCES.glob("*.py"))
    assert len(scripts) >= 8
    for script in scripts:
        page = (tutorials.PAGES / f"{script.stem}.md").read_text("utf-8")
        for kind, content in tutorials.cells(script.read_text("utf-8")):
            shown = f"```python\n{content}\n```" if kind == "python" else content
            assert shown in page, f"{script.name}: `make tutorials TUTORIALS={script.stem}` writes its page anew"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (DOCS.parent / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert {page for page in pages if not re.search(rf"[ :-] {re.escape(page)}$", navigation, re.MULTILINE)} == set()


def test_the_search_of_the_site_works_from_files() -> None:
    """The plugin `offline` needs a shim for web workers; it is a file of the site, not loaded from the network."""
    settings = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    shims = re.findall(r"^  polyfills: \[(.*)\]", settings, re.MULTILINE)
    assert re.search(r"^  - offline$", settings, re.MULTILINE)
    assert len(shims) == 1
    assert (DOCS / shims[0]).is_file()


def test_every_public_name_is_in_the_reference() -> None:
    import ugraphemb as ug
    from ugraphemb import baselines, plots, search, tasks

    pages = "\n".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
    shown = {entry.rpartition(".")[2] for entry in re.findall(r"^::: (\S+)", pages, re.MULTILINE)}
    for module in (ug, baselines, plots, search, tasks):
        assert set(module.__all__) - {"__version__", "BASELINES"} <= shown


def test_every_setting_is_in_the_table() -> None:
    from ugraphemb.encoder.config import EncoderConfig
    from ugraphemb.estimator import UGraphEmb
    from ugraphemb.training.config import TrainingConfig

    page = tool("settings").page()
    fields = [field.name for kind in (EncoderConfig, TrainingConfig) for field in dataclasses.fields(kind)]
    for name in {*fields, *UGraphEmb().get_params()}:
        row = re.findall(rf"^\| `{name}` \|.*\| (.+) \|$", page, re.MULTILINE)
        assert len(row) == 1, name
        assert row[0].strip(), name


def test_every_command_and_option_is_in_the_reference() -> None:
    import click

    from ugraphemb.cli.main import COMMANDS, cli

    page = tool("commands").page()
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        below = getattr(command, "commands", {"": command})
        for part, inner in below.items():
            title = f"ugraphemb {name} {part}".rstrip()
            section = page.partition(f"# {title}\n")[2].partition("\n#")[0]
            for parameter in inner.params:
                assert isinstance(parameter, click.Argument) or parameter.opts[0] in section, (title, parameter.opts)


def test_the_diagrams_are_those_that_the_script_draws() -> None:
    diagrams = tool("diagrams")
    for name, draw in (("data-flow", diagrams.data_flow), ("encoder", diagrams.encoder)):
        for mode, colors in diagrams.PALETTES.items():
            assert (DOCS / "figures" / f"{name}-{mode}.svg").read_text("utf-8") == draw(colors).svg()
