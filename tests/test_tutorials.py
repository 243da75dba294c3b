"""The tutorials run, on few graphs and with short trainings; `make tutorials` runs them as they are."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import ugraphemb as ug

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "examples" / "tutorials").glob("*.py"))
HEADS, TAILS = ("CC", "CCC", "c1ccccc1", "CC(C)"), ("O", "N", "C(=O)O", "CCl", "C#N", "F")
SMILES = [head + tail for head in HEADS for tail in TAILS]
SMALLER = [  # of what a tutorial says, and what is run instead
    (r'ug\.load_dataset\("(MUTAG|PTC)"\)', "graphs_with_classes()"),
    (r'ug\.load_dataset\("moses", limit=20_000\)', 'ug.load_dataset("molecules")[:60]'),
    (r'load_dataset\("molecules"\)(\[:2000\])?$', 'load_dataset("molecules")[:150]'),
    (r"\[:500\]", "[:60]"),
    (r"np\.arange\(350\), np\.arange\(350, 500\)", "np.arange(40), np.arange(40, 60)"),
    (r"triu_indices\(500, 1\)", "triu_indices(60, 1)"),
    (r"\bsteps=(\d+|steps)", "steps=3, dimension=8, progress=False"),
    (r"gnm_random_graph\(7, 10", "gnm_random_graph(4, 4"),
    (r"timeout=2\)", "timeout=0.1)"),
    (r"search\(asked, 200\)", "search(asked, 20)"),
    (r"repeats=10", "repeats=2"),
]


def graphs_with_classes() -> ug.GraphSet:
    return ug.GraphSet.from_smiles(SMILES, targets=[int("c" in text) for text in SMILES])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_a_tutorial_runs(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("rdkit", "matplotlib", "sklearn", "openTSNE", "faiss"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("docs_tutorials", ROOT / "docs" / "tools" / "tutorials.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, tool)
    spec.loader.exec_module(tool)
    names = {"__name__": "__main__", "graphs_with_classes": graphs_with_classes}
    printed = []
    for kind, content in tool.cells(script.read_text("utf-8")):
        if kind == "python":
            for said, run in SMALLER:
                content = re.sub(said, run, content, flags=re.MULTILINE)
            output, value = tool.run(content, names, script.name)
            printed += [output] if value is None else [output, repr(value)]
    assert any(printed)
