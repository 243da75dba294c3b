"""What a release needs agrees: versions, stubs of the compiled core, the type marker."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ugraphemb as ug
from ugraphemb._core import baseline

ROOT = Path(__file__).resolve().parents[1]


def test_all_files_name_one_version() -> None:
    assert f"version: {ug.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    releases = re.findall(r"^## \[?([0-9.]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert releases[0] == ug.__version__


def test_the_committed_stub_is_that_of_the_compiled_core(tmp_path: Path) -> None:
    pytest.importorskip("nanobind")
    assert baseline.__file__ is not None
    stub = tmp_path / "stub.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "baseline", "-o", str(stub)],
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(baseline.__file__).parent)},
    )
    committed = ROOT / "src" / "ugraphemb" / "_core" / "__init__.pyi"
    assert stub.read_text("utf-8") == committed.read_text("utf-8"), "make .venv/.built writes the stub anew: commit it"


def test_the_package_is_marked_as_typed() -> None:
    assert (ROOT / "src" / "ugraphemb" / "py.typed").is_file()


def test_a_wheel_may_hold_every_file_of_the_package() -> None:
    """`make wheels` checks that it does; here that a new kind of file would be noticed before."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    spec = importlib.util.spec_from_file_location("wheels", ROOT / ".ci" / "wheels.py")
    assert spec is not None
    assert spec.loader is not None
    wheels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wheels)
    files = wheels.packaged()
    assert {"ugraphemb/py.typed", "ugraphemb/_core/__init__.pyi", "ugraphemb/plots/map_page.html"} <= files
    assert [name for name in sorted(files) if not wheels.ALLOWED.fullmatch(name)] == []
    assert wheels.ALLOWED.fullmatch("ugraphemb/pretrained/molecules/weights-0123abcd.safetensors")
    assert not wheels.ALLOWED.fullmatch("ugraphemb/tests/test_graphs.pyc")


def test_all_files_name_one_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    source = project["urls"]["Source"]
    for name in ("CITATION.cff", ".github/ISSUE_TEMPLATE/config.yml", "docs/releases.md"):
        text = (ROOT / name).read_text("utf-8")
        found = set(re.findall(r"github\.com/([\w-]+/[\w-]+)", text))
        assert found == {source.removeprefix("https://github.com/")}, name
