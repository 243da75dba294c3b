"""Runs the tutorials and writes their pages: python docs/tools/tutorials.py [NAME ...]; `make tutorials` runs all.

A tutorial is a script in examples/tutorials, in cells: `# %% [markdown]` begins text (comments), `# %%` begins code. A
page has the text, the code and what it printed; a cell that ends in an expression shows its value, a figure as
a picture. Each tutorial runs in a process and a folder of its own.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES, PAGES = ROOT / "examples" / "tutorials", ROOT / "docs" / "tutorials"
MOST_SECONDS = 120
SKIPPED = 77


def main() -> None:
    names = sys.argv[1:]
    if names and names[0] == "--here":
        from ugraphemb.errors import DatasetNotFoundError

        try:
            write(SOURCES / f"{names[1]}.py")
        except (DatasetNotFoundError, ImportError) as error:
            print(f"{names[1]}: {error}", file=sys.stderr)
            sys.exit(SKIPPED)
        return
    for source in [SOURCES / f"{name}.py" for name in names] or sorted(SOURCES.glob("*.py")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--here", source.stem]
            done = subprocess.run(command, check=False, cwd=folder, timeout=5 * MOST_SECONDS)
        if done.returncode == SKIPPED:
            print(f"{source.stem}: skipped, its data or packages are not available here; its page stays", flush=True)
            continue
        if done.returncode:
            sys.exit(f"{source.stem} failed")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{source.stem}: {seconds:.0f} s of CPU time", flush=True)
        if seconds > MOST_SECONDS:
            sys.exit(f"{source.stem} takes more than {MOST_SECONDS} s")


def cells(text: str) -> Iterator[tuple[str, str]]:
    """("markdown" or "python", content) of each cell of a script."""
    for part in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        if "[markdown]" in head:
            yield "markdown", re.sub(r"^# ?", "", body, flags=re.MULTILINE).strip()
        elif body.strip():
            yield "python", body.strip()


def write(source: Path) -> None:
    """Runs a tutorial in this process and writes its page and its pictures."""
    names: dict[str, Any] = {"__name__": "__main__"}
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    warnings.simplefilter("ignore", DeprecationWarning)
    for kind, content in cells(source.read_text("utf-8")):
        if kind == "markdown":
            parts.append(content)
            continue
        parts.append(f"```python\n{content}\n```")
        printed, value = run(content, names, source.name)
        if hasattr(value, "savefig"):
            name = f"{source.stem}-{len(pictures) + 1}.png"
            pictures[name] = png(value)
            value = None
            parts.append(
                (f"```text\n{printed.rstrip()}\n```\n\n" if printed else "") + f"![{caption(content)}]({name})"
            )
            continue
        if value is not None:
            printed += f"{value!r}\n"
        if printed:
            parts.append(f"```text\n{printed.rstrip()}\n```")
    note = f"<!-- Written by docs/tools/tutorials.py from examples/tutorials/{source.name}. -->"
    for old in PAGES.glob(f"{source.stem}-*.png"):
        old.unlink()
    for name, data in pictures.items():
        (PAGES / name).write_bytes(data)
    (PAGES / f"{source.stem}.md").write_text("\n\n".join([parts[0], note, *parts[1:]]) + "\n", encoding="utf-8")


def run(code: str, names: dict[str, Any], file: str) -> tuple[str, Any]:
    """What a cell printed, and the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, file, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), file, "eval"), names)  # type: ignore[attr-defined]
    return printed.getvalue(), value


def png(figure: Any) -> bytes:
    """A figure as a PNG of at most 256 colors, sharp on high-density screens."""
    from ugraphemb.plots.drawing import indexed_png

    return indexed_png(figure)


def caption(code: str) -> str:
    """The comment that begins the last line of a cell with a figure, or a plain word."""
    found = re.findall(r"# (.+)$", code.splitlines()[-1])
    return found[0].replace("[", "(").replace("]", ")") if found else "Figure"


if __name__ == "__main__":
    main()
