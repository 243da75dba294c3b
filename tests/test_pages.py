"""The examples of the how-to pages run, on few graphs and with short trainings; commands have the options shown."""

from __future__ import annotations

import gzip
import re
import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
import pytest

import ugraphemb as ug
from ugraphemb.cli import main as module

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[ct]*/*.md"), ROOT / "README.md"]  # concepts, tutorials
)
SMILES = [head + tail for head in ("CC", "CCC", "c1ccccc1", "CC(C)") for tail in ("O", "N", "C(=O)O", "CCl", "C#N")]
QUICK = "steps=3, dimension=8, threads=1, progress=False"
SMALLER = [  # of what a page says, and what is run instead
    (r'load_dataset\("molecules"\)(?!\[)', 'load_dataset("molecules")[:24]'),
    (r"graphs\[:500\], graphs\[500:600\]", "graphs[:16], graphs[16:]"),
    (r"UGraphEmb\((?=seed=0\))", f"UGraphEmb({QUICK}, "),
    (r"> 15\)", "> 15, steps=2)"),
    (r'ug\.load_dataset\("MUTAG"\)', "graphs_with_classes()"),
    (r"vectors\[:150\]", "vectors[:15]"),
    (r"vectors\[150:\]", "vectors[15:]"),
    (r"clusters\(vectors, 20,", "clusters(vectors, 4,"),
    (r'executor=(8|client|"tcp://head:8786")', "executor=workers"),
    (r"s3://bucket", "graphs"),
    (r"step = 500\n", "step = 8\n"),
    (r', engine="milvus://[^"]*"', ""),
    (r'GraphIndex.load\("milvus://[^"]*"\)', 'GraphIndex.load("index")'),
]


def example_graphs() -> ug.GraphSet:
    return ug.GraphSet.from_smiles(SMILES)


def graphs_with_classes() -> ug.GraphSet:
    return ug.GraphSet.from_smiles(SMILES, targets=[int("c" in text) for text in SMILES])


def prepared(folder: Path) -> dict[str, Any]:
    """Files and names that the pages take for granted."""
    graphs = example_graphs()
    (folder / "molecules.smi").write_text("\n".join(SMILES) + "\n")
    (folder / "graphs").mkdir()
    (folder / "graphs" / "some.smi.gz").write_bytes(gzip.compress("\n".join(SMILES).encode()))
    model = ug.UGraphEmb(steps=3, dimension=8, threads=1, progress=False).fit(graphs)
    model.save(folder / "model")
    ug.GraphIndex(model, threads=1).add(graphs, metadata={"year": [2024] * len(graphs)}).save(folder / "index")
    return {
        "__name__": "page", "ug": ug, "graphs": graphs, "model": model, "query": graphs[3],
        "years": [2024] * len(graphs), "workers": ThreadPoolExecutor(2), "graphs_with_classes": graphs_with_classes,
    }  # fmt: skip


def of_edits(names: dict[str, Any]) -> bool:
    return bool(names["table"].upper.shape == names["table"].lower.shape and (names["near"].upper[:1] >= 0).all())


def of_training(names: dict[str, Any]) -> bool:
    return bool(names["vectors"].shape == (8, 8))


def of_tasks(names: dict[str, Any]) -> bool:
    return bool(len(names["scores"]) == len(names["groups"]) == len(SMILES))


def of_clusters(names: dict[str, Any]) -> bool:
    return bool(names["matches"].certificate.proven and names["done"].graphs == len(SMILES))


def of_engines(names: dict[str, Any]) -> bool:
    return len(names["same"]) == len(SMILES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("page", "true"),
    [
        ("edit-distance.md", of_edits),
        ("training.md", of_training),
        ("tasks.md", of_tasks),
        ("cluster.md", of_clusters),
        ("past-one-machine.md", of_engines),
    ],
)
def test_the_examples_of_a_page_run(
    page: str, true: Callable[[dict[str, Any]], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("rdkit", "matplotlib", "sklearn", "openTSNE"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    names = prepared(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        for said, run in SMALLER:
            block = re.sub(said, run, block)
        exec(compile(block, page, "exec"), names)
    assert true(names)


def commands() -> list[tuple[str, str]]:
    """Every command in the pages and in the help texts, with its place."""
    texts = {page.name: page.read_text("utf-8") for page in PAGES}
    for name in module.COMMANDS:
        command = module.cli.get_command(click.Context(module.cli), name)
        assert command is not None
        for inner in (command, *getattr(command, "commands", {}).values()):
            texts[f"{name} {inner.name} --help"] = inner.help or ""
    found = [
        (place, re.findall(r"^(?:\w*\$ +| +)?(ugraphemb [a-z].*)$", text, re.MULTILINE))
        for place, text in texts.items()
    ]
    return [(f"{place}: {line.strip()}", line) for place, lines in found for line in lines]


@pytest.mark.parametrize("line", [line for _, line in commands()], ids=[name for name, _ in commands()])
def test_a_command_in_the_pages_has_the_options_that_are_shown(line: str) -> None:
    words = shlex.split(re.split(r" [>|] ", line)[0], comments=True)[1:]
    command = module.cli.get_command(click.Context(module.cli), words.pop(0))
    assert command is not None
    if isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    context = click.Context(command)
    given, rest, _ = command.make_parser(context).parse_args(list(words))  # raises for an unknown option
    assert not rest
    assert all(parameter.name in given for parameter in command.params if isinstance(parameter, click.Argument))


def test_the_edits_that_the_page_prints_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rdkit")
    page = (ROOT / "docs" / "edit-distance.md").read_text("utf-8")
    found = re.search(r"^\$ ugraphemb (distance .*)\n((?:[^$`].*\n)+)", page, re.MULTILINE)
    assert found is not None
    with pytest.raises(SystemExit) as end:
        module.main(shlex.split(found[1]))
    assert end.value.code == 0
    assert capsys.readouterr().out == found[2]
