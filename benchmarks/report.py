"""Shared by all benchmarks: the folder of data sets, facts about the machine, and a report as text, JSON and Markdown.

arguments = parser(__doc__).parse_args()
report = Report("read", "Reading TU data sets", seed=0)
report.table("Seconds", rows)                    # rows: dictionaries with the same keys
report.check("five times faster", ratio >= 5, f"{ratio:.1f} times")
report.finish()                                  # prints, writes results/read.{json,md}, fails if a check did
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results"


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    result.add_argument("--data", type=Path, help="folder of data sets; else $UGRAPHEMB_DATA, else ../shared/data")
    result.add_argument("--no-write", action="store_true", help="leave the files in results/ as they are")
    return result


def data_root(given: Path | None = None) -> Path:
    """The folder of data sets; ends the program if it does not exist."""
    named = os.environ.get("UGRAPHEMB_DATA")
    folder = given or (Path(named) if named else REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; name the folder of data sets with --data or $UGRAPHEMB_DATA")
    return folder.resolve()


def machine() -> dict[str, Any]:
    """Processor, cores, system and Python."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def commit() -> str:
    """The current commit, with a + if files under version control differ from it."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Report:
    """Tables and checks of one benchmark."""

    def __init__(self, name: str, title: str, *, seed: int | None = None, note: str = "") -> None:
        self.name = name
        self.title = title
        self.note = note
        self.about = {
            "machine": machine(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "seed": seed,
            "commit": commit(),
        }
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.checks: list[dict[str, Any]] = []

    def table(self, title: str, rows: list[dict[str, Any]]) -> None:
        """Rows with the same keys, which head the columns; printed at once."""
        self.tables[title] = rows
        print(f"\n{title}\n\n{_markdown(rows)}", flush=True)

    def check(self, what: str, holds: bool, found: str = "") -> None:
        """A claim, and whether it holds; `finish` fails if one does not."""
        self.checks.append({"check": what, "holds": bool(holds), "found": found})
        print(f"{'ok  ' if holds else 'FAIL'} {what}{': ' if found else ''}{found}", flush=True)

    def finish(self, *, write: bool = True) -> None:
        """Writes results/NAME.json and results/NAME.md, then exits with 1 if a check failed."""
        if write:
            RESULTS.mkdir(exist_ok=True)
            content = {"title": self.title, **self.about, "tables": self.tables, "checks": self.checks}
            (RESULTS / f"{self.name}.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
            (RESULTS / f"{self.name}.md").write_text(self._text())
        failed = [entry["check"] for entry in self.checks if not entry["holds"]]
        if failed:
            sys.exit(f"failed: {'; '.join(failed)}")

    def _text(self) -> str:
        about = self.about["machine"]
        seed = "" if self.about["seed"] is None else f", seed {self.about['seed']}"
        parts = [
            f"# {self.title}",
            f"{about['cpu']}, {about['cores']} cores, {about['system']}, Python {about['python']}; "
            f"{self.about['date']}, commit {self.about['commit']}{seed}.",
            *([self.note] if self.note else []),
            *(f"## {title}\n\n{_markdown(rows)}" for title, rows in self.tables.items()),
        ]
        if self.checks:
            lines = [f"- {'ok' if c['holds'] else '**failed**'}: {c['check']} ({c['found']})" for c in self.checks]
            parts.append("## Checks\n\n" + "\n".join(lines))
        return "\n\n".join(parts) + "\n"


def _markdown(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "(nothing)"
    keys = list(rows[0])
    cells = [keys, *([_cell(row.get(key)) for key in keys] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(keys))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
