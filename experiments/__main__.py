"""Runs the experiments: every cell that is not finished yet, the most valuable first.

Stop it at any moment (Ctrl-C, kill, power) and start it again: finished cells stay, a training continues from
its last checkpoint. Start it several times at once, with the same or other options: no two work on one cell.

Examples:
  python -m experiments --quick                               a meaningful part, 20 minutes on two cores
  python -m experiments --jobs 2                              everything, a night
  python -m experiments --only ranking,classification --sets PTC,IMDB-MULTI
  python -m experiments --only ranking --methods ugraphemb,hed,wl --splits 3
  python -m experiments --list --only ranking --sets PTC      list the cells, finished and not finished
  python -m experiments --page                                only write docs/results.md, from the finished cells
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

for _threads in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")  # one process per core is faster than one process on all

from experiments.catalog import NAMES, all_cells, experiment  # noqa: E402
from experiments.cells import Cell, Ledger, lock  # noqa: E402
from experiments.lab import Lab  # noqa: E402
from experiments.page import write_page  # noqa: E402
from experiments.settings import HERE, Settings  # noqa: E402

REPOSITORY = HERE.parent
STOPPED = 130


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    chosen = parser().parse_args(given)
    if chosen.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # | head
        return show(chosen_cells(chosen), chosen.results)
    failed = 0 if chosen.page else computed(chosen, given)
    if failed != STOPPED and not chosen.no_page:
        write_page(chosen.results, chosen.docs / "results.md", chosen.config)
    return failed


def computed(chosen: argparse.Namespace, given: list[str]) -> int:
    """Computes the cells, in several processes if requested; returns 0 if all succeeded."""
    cells = chosen_cells(chosen)
    figures = chosen.docs / "figures"
    lab = Lab(settings_of(chosen), data_root(chosen.data), chosen.cache, figures, chosen.threads)
    command = [sys.executable, "-m", "experiments", *given, "--jobs", "1", "--no-page"]
    helpers = [subprocess.Popen(command, cwd=REPOSITORY) for _ in range(chosen.jobs - 1)]
    try:
        failed = work(cells, lab, chosen)
        return int(any([failed, *(helper.wait() for helper in helpers)]))
    except KeyboardInterrupt:
        print("stopped; run the same command again to continue", file=sys.stderr)
        return STOPPED
    finally:
        for helper in helpers:
            helper.terminate()
            helper.wait()


def settings_of(chosen: argparse.Namespace) -> Settings:
    return Settings("quick" if chosen.quick else "full", chosen.config)


def chosen_cells(chosen: argparse.Namespace) -> list[Cell]:
    """Cells of the requested experiments, sets, methods and splits, the most valuable first."""
    return [
        cell
        for cell in all_cells(settings_of(chosen), chosen.only or NAMES)
        if (not chosen.sets or cell.data in chosen.sets)
        and (not chosen.methods or cell.method in chosen.methods)
        and (chosen.splits is None or cell.split < chosen.splits)
    ]


def parser() -> argparse.ArgumentParser:
    about, _, examples = (__doc__ or "").partition("\nExamples:")
    result = argparse.ArgumentParser(
        prog="python -m experiments", description=about, epilog="Examples:" + examples, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip

    def names(text: str) -> list[str]:
        return [part for part in text.split(",") if part]

    result.add_argument("--only", type=names, help=f"experiments, of {', '.join(NAMES)}")
    result.add_argument("--sets", type=names, help="data sets")
    result.add_argument("--methods", type=names, help="methods, as --list shows them")
    result.add_argument("--splits", type=int, help="number of splits; the first ones are used")
    result.add_argument("--quick", action="store_true", help="fewer sets, splits and steps: [quick] of the config")
    result.add_argument("--minutes", type=float, default=float("inf"), help="begin no cell after this many minutes")
    result.add_argument("--jobs", type=int, default=1, help="processes at once (1)")
    result.add_argument("--threads", type=int, default=0, help="threads for distances; 0 is every core (0)")
    result.add_argument("--again", action="store_true", help="compute finished cells again")
    result.add_argument("--list", action="store_true", help="print the cells, do nothing")
    result.add_argument("--page", action="store_true", help="compute nothing, only write docs/results.md")
    result.add_argument("--no-page", action="store_true", help="leave docs/results.md as it is")
    result.add_argument("--data", type=Path, help="folder of data sets; else $UGRAPHEMB_DATA, else ../shared/data")
    result.add_argument("--config", type=Path, default=HERE / "config.toml", help="(experiments/config.toml)")
    result.add_argument("--results", type=Path, default=HERE / "results", help="(experiments/results)")
    result.add_argument("--cache", type=Path, default=HERE / "cache", help="(experiments/cache)")
    result.add_argument("--docs", type=Path, default=REPOSITORY / "docs", help="where results.md goes (docs)")
    return result


def work(cells: list[Cell], lab: Lab, chosen: argparse.Namespace) -> int:
    """Computes cells that are neither finished nor running in another process; returns the number that failed."""
    started, failed, about = time.monotonic(), 0, {"commit": commit(), "machine": machine()}
    for number, cell in enumerate(cells, start=1):
        ledger = Ledger(chosen.results, cell.experiment, cell.data)
        with lock(lab.cache / "locks" / cell.key, wait=False) as mine:
            if not mine or (cell.key in ledger.rows() and not chosen.again):
                continue
            if time.monotonic() - started > 60 * chosen.minutes:
                print(f"{chosen.minutes:g} minutes are over; run the same command again to continue", file=sys.stderr)
                break
            begun = time.monotonic()
            try:
                values = experiment(cell.experiment).run(cell, lab)
            except Exception:
                failed += 1
                print(f"{number}/{len(cells)} {cell}: FAILED\n{traceback.format_exc()}", file=sys.stderr, flush=True)
                continue
            seconds = time.monotonic() - begun
            date = datetime.now(UTC).isoformat(timespec="seconds")
            ledger.add(cell, values, {"seed": cell.split, "seconds": round(seconds, 2), "date": date, **about})
            print(f"{number}/{len(cells)} {cell}: {seconds:.1f} s  {brief(values)}", flush=True)
    return failed


def show(cells: list[Cell], results: Path) -> int:
    for cell in cells:
        row = Ledger(results, cell.experiment, cell.data).rows().get(cell.key)
        state = f"{row['seconds']:9.1f} s  {brief(row['values'])}" if row else "     not run"
        print(f"{cell.experiment:15s} {cell.data:24s} {cell.method:20s} {cell.split:3d} {state}")
    return 0


def brief(values: dict[str, Any]) -> str:
    """The first few numbers, one level deep."""
    flat = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat.update({f"{key} {name}": number for name, number in list(value.items())[:3]})
        else:
            flat[key] = value
    return ", ".join(f"{k} {v:.4g}" for k, v in flat.items() if isinstance(v, int | float))[:150]


def data_root(given: Path | None) -> Path | None:
    """The folder of data sets, or None: `load_dataset` then uses its default."""
    beside = REPOSITORY.parent / "shared" / "data"
    return given or (beside if "UGRAPHEMB_DATA" not in os.environ and beside.is_dir() else None)


def machine() -> str:
    """The processor and its number of cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


def commit() -> str:
    """The current commit, with a + if files of src differ from it."""
    try:
        git = ["git", "-C", str(REPOSITORY)]
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        same = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "src", "cpp", "experiments/*.py"], check=False)
        return head.stdout.strip() + ("+" if same.returncode else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


if __name__ == "__main__":
    sys.exit(main())
