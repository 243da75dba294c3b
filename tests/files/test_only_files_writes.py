"""Nothing in the package writes a file but ugraphemb/files: what appears on disk appears whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "ugraphemb"
MODULES = ("tempfile", "fcntl", "shutil")
CALLS = {
    "os": {"open", "fdopen", "write", "replace", "rename", "renames", "link", "symlink", "unlink", "remove", "mkdir",
           "makedirs", "rmdir", "fsync", "truncate"},
}  # fmt: skip
METHODS = {"write_text", "write_bytes", "mkdir", "unlink", "rmdir", "symlink_to", "hardlink_to", "touch", "tofile"}
WRITERS = {"np.save": 0, "np.savez": 0, "np.savez_compressed": 0, "np.savetxt": 0, "pq.write_table": 1, "torch.save": 1,
           "faiss.write_index": 1, "figure.savefig": 0, "feather.write_feather": 1}  # fmt: skip
"""Functions of libraries that would open a path themselves, and which of their arguments says where to."""
INTO = ("file", "payload", "buffer", "drawn", "faiss.PyCallbackIOWriter(")
"""What they may be given: file objects of this library, and memory."""

# What is not one of our formats, and why it may be written elsewhere.
ALLOWED = {
    "training/display.py": "a log of training, which grows line by line",
    "baselines/graph2vec.py": "input of gensim, in a folder that goes with the call",
    "workers/shared.py": "work for other processes of this run, which goes with it",
    "bulk/pieces.py": "a file of an object store, for readers that need a path; it goes with the call",
    "graphs/download.py": "a download that is looked at before it is kept",
    "search/engines/header.py": "a model on its way to or from a database, in a folder that goes with the call",
    "web/queries.py": "an upload, in a folder that goes with the request",
    "cli/serve.py": "a copy of the index of a database, which goes with the server",
    "cli/main.py": "/dev/null, in place of a closed pipe",
}


def faults(path: Path) -> Iterator[str]:
    """Calls and imports by which a file is written."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        where = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import):
            yield from (f"{where}: import {name.name}" for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield f"{where}: from {node.module}"
        elif isinstance(node, ast.Call):
            yield from (f"{where}: {fault}" for fault in call_faults(node))


def call_faults(call: ast.Call) -> Iterator[str]:
    function, name, owner, place = call.func, "", "", 1
    if isinstance(function, ast.Name):
        name = function.id
    elif isinstance(function, ast.Attribute):
        name, owner, place = function.attr, ast.unparse(function.value), 0
    if name in CALLS.get(owner, ()):
        yield f"{owner}.{name}"
    elif owner and name in METHODS:
        yield f".{name}()"
    elif name == "open":
        mode = [word.value for word in call.keywords if word.arg == "mode"] or call.args[place : place + 1]
        if mode and isinstance(mode[0], ast.Constant) and set(str(mode[0].value)) & set("wax+"):
            yield "open for writing"
    elif f"{owner}.{name}" in WRITERS:
        given = [ast.unparse(argument) for argument in call.args]
        where = given[WRITERS[f"{owner}.{name}"] :][:1]
        if not where or not where[0].startswith(INTO):
            yield f"{owner}.{name}({', '.join(given)})"


def test_only_the_package_files_writes_files():
    found = [
        fault
        for path in sorted(SOURCE.rglob("*.py"))
        if path.parent.name != "files" and str(path.relative_to(SOURCE)) not in ALLOWED
        for fault in faults(path)
    ]
    assert not found, "write through ugraphemb.files instead:\n" + "\n".join(found)
    unused = [name for name in ALLOWED if not (SOURCE / name).exists() or not list(faults(SOURCE / name))]
    assert not unused, f"these need no exception: {unused}"


@pytest.mark.parametrize(
    "text",
    ["open('x', 'w')", "p.open('ab')", "p.open(mode='r+')", "p.write_text('x')", "os.replace(a, b)", "import tempfile",
     "from shutil import rmtree", "np.save(path, array)", "pq.write_table(file, path)", "torch.save(x, path)",
     "faiss.write_index(i, name)", "figure.savefig(target)", "p.mkdir()"],
)  # fmt: skip
def test_the_rule_finds_every_way_to_write(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    (tmp_path / "module.py").write_text(text)
    assert list(faults(tmp_path / "module.py"))


@pytest.mark.parametrize("text", ["open('x')", "p.open('rb')", "np.save(file, array)", "text.replace('a', 'b')",
                                  "x.write(data)", "torch.save(x, payload)"])  # fmt: skip
def test_the_rule_lets_reading_and_memory_pass(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    (tmp_path / "module.py").write_text(text)
    assert not list(faults(tmp_path / "module.py"))
