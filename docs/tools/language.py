"""Checks the language and the links of the repository: python docs/tools/language.py. Part of `make lint`.

Idioms that a reader would stumble over are in idioms.txt, with what to write instead. Links between Markdown files must
lead to a file that is in git, and their anchors to a heading of it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SOURCES = (".py", ".hpp", ".cpp", ".md", ".toml", ".yml", ".yaml", ".cff", ".html")
NOT_CHECKED = re.compile(
    r"^(benchmarks/results/|experiments/(notes|results)/|tests/formats/|tests/test_language\.py|docs/tools/language\.py)"
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def main() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    found = idioms(files) + links(files)
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


def idioms(files: list[str]) -> list[str]:
    """Each use of an idiom, as FILE:LINE: what, and what to write instead."""
    lines = (ROOT / "docs" / "tools" / "idioms.txt").read_text("utf-8").splitlines()
    listed = [re.split(r"  +", line, maxsplit=1) for line in lines if not line.startswith("#")]
    patterns = [(re.compile(idiom, re.IGNORECASE), instead) for idiom, instead in listed]
    anything = re.compile("|".join(f"(?:{idiom})" for idiom, _ in listed), re.IGNORECASE)
    found = []
    for name in files:
        path = ROOT / name
        if not name.endswith(SOURCES) or NOT_CHECKED.match(name) or not path.is_file():
            continue
        text = path.read_text("utf-8")
        if not anything.search(text):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            for pattern, instead in patterns:
                match = pattern.search(line)
                if match and "language: keep" not in line:
                    found.append(f"{name}:{number}: {match[0]!r}; write: {instead}")
    return found


def links(files: list[str]) -> list[str]:
    """Each link between Markdown files that leads nowhere."""
    known = set(files) | {str(Path(name).parent) for name in files}
    texts = {
        name: (ROOT / name).read_text("utf-8")
        for name in files
        if name.endswith(".md") and not name.startswith("experiments/notes/") and (ROOT / name).is_file()
    }
    anchors = {name: headings(text) for name, text in texts.items()}
    found = []
    for name, text in texts.items():
        for number, line in enumerate(without_code(text).split("\n"), start=1):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                place = (Path(name).parent / path) if path else Path(name)
                wanted = str(Path(*_resolved(place.parts))) if place.parts else "."
                generated = wanted in GENERATED
                if wanted not in known and not generated:
                    found.append(f"{name}:{number}: link to {target}, but there is no {wanted}")
                elif anchor and wanted in anchors and anchor not in anchors[wanted] and not anchor.startswith("only-"):
                    found.append(f"{name}:{number}: link to {target}, but {wanted} has no heading #{anchor}")
    return found


# Pages that exist only on the site: docs/tools/hooks.py makes them.
GENERATED = {
    "docs/reference/commands.md", "docs/reference/settings.md", "docs/contributing.md", "docs/changelog.md",
    "docs/security.md",
}  # fmt: skip


def _resolved(parts: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    for part in parts:
        if part == ".." and kept:
            kept.pop()
        elif part not in (".", ".."):
            kept.append(part)
    return kept


def headings(text: str) -> set[str]:
    """The anchors of a page, as Python-Markdown makes them."""
    titles = re.findall(r"^#+ +(.*?)(?: +\{.*\})?$", without_code(text), re.MULTILINE)
    return {slug(title) for title in titles}


def slug(title: str) -> str:
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def without_code(text: str) -> str:
    """The text with code blocks blanked, line by line."""
    return re.sub(r"^```.*?^```", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    main()
