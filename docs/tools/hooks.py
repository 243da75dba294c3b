"""Pages that are made while the site is built, and links that lead out of docs/."""

from __future__ import annotations

import logging
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(r'(?:src="|<link rel="(?:stylesheet|preconnect|icon)" href=")(https?://[^"]+)"')
LOG = logging.getLogger("mkdocs.hooks.offline")
sys.path.insert(0, str(Path(__file__).parent))

import commands  # noqa: E402
import settings  # noqa: E402

# Files outside docs/ that are pages of the site, by where they appear in it.
FROM_THE_ROOT = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated pages."""
    pages = {place: (ROOT / name).read_text("utf-8") for name, place in FROM_THE_ROOT.items()}
    pages["reference/commands.md"] = commands.page()
    pages["reference/settings.md"] = settings.page()
    records = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    pages |= {f"benchmarks/{record.name}": record.read_text("utf-8") for record in records}
    pages["benchmarks/index.md"] = _list_of(records)
    trials = (ROOT / "experiments" / "results").glob("*.md")
    pages |= {f"experiments/{record.name}": record.read_text("utf-8") for record in trials}
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to files of the repository become links to their pages."""
    at = posixpath.dirname(page.file.src_uri)
    original = next((name for name, place in FROM_THE_ROOT.items() if place == page.file.src_uri), None)
    folder = "." if original else posixpath.join("docs", at)

    def moved(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        wanted = posixpath.normpath(posixpath.join(folder, target))
        place = _place(wanted)
        return match[0] if place is None else f"]({posixpath.relpath(place, at or '.')}{anchor})"

    return re.sub(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)", moved, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """In narrow cells of tables, "0.682 ± 0.014" breaks only before the sign."""
    return re.sub(r"(<td[^>]*>[\d.,]+ ±) (?=[\d.,]+</td>)", r"\1&nbsp;", html)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Warns of scripts, styles and images that a page would load from the network: the site works offline."""
    for address in LOADED.findall(output):
        LOG.warning("%s loads %s from the network", page.file.src_uri, address)
    return output


def _place(path: str) -> str | None:
    """Where a file of the repository is in docs/, if it is a page that was moved there."""
    if path in FROM_THE_ROOT:
        return FROM_THE_ROOT[path]
    if path.startswith("benchmarks/results"):
        rest = path.removeprefix("benchmarks/results").strip("/")
        return f"benchmarks/{rest or 'index.md'}"
    if re.fullmatch(r"experiments/results/[^/]+\.md", path):
        return path.replace("/results/", "/")
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def _list_of(records: list[Path]) -> str:
    lines = [
        "# Benchmarks",
        "",
        "Each record is written by a script in `benchmarks/`, with the machine, the date and the commit.",
        "",
        "| record | file in `benchmarks/results` |",
        "|---|---|",
    ]
    for record in records:
        title = record.read_text("utf-8").partition("\n")[0].lstrip("# ")
        lines.append(f"| [{title}]({record.name}) | `{record.stem}` |")
    return "\n".join(lines) + "\n"
