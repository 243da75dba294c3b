"""How long commands take to start, and how much two processes slow each other; about a minute.

python benchmarks/bench_start.py [start] [together]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from report import Report, parser

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
TIMES = 5
MODULES = ("numpy", "scipy", "pyarrow", "rdkit", "sklearn", "torch")
LIMIT = 1.5  # seconds
FIT = "import ugraphemb as ug; ug.UGraphEmb(steps=300, progress=False).fit(ug.load_dataset('atlas')[100:400])"
DISTANCES = "import ugraphemb as ug; ug.pairwise(ug.load_dataset('molecules')[:300], progress=False)"

PREPARE = """
import ugraphemb as ug
graphs = ug.load_dataset("molecules")
model = ug.UGraphEmb(steps=50, threads=1, progress=False).fit(graphs[:300])
model.save("model")
ug.GraphIndex(model).add(graphs).save("index")
"""
RUN = "import sys\nfrom ugraphemb.cli.main import main\nmain(sys.argv[1:])"


def timed(commands: list[list[str]], folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of processes that start at once, until the last has ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    silent = subprocess.DEVNULL
    running = [subprocess.Popen(command, cwd=folder, stdout=silent, stderr=silent) for command in commands]
    codes = [process.wait() for process in running]
    if any(codes):
        sys.exit(f"{commands[0]} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begin, cpu


def imported(arguments: list[str], folder: Path) -> str:
    """Which large packages a command imports, by -X importtime, with their milliseconds."""
    command = [sys.executable, "-X", "importtime", "-c", RUN, *arguments]
    lines = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stderr.splitlines()
    found = dict.fromkeys(MODULES, 0.0)
    for line in lines:
        parts = line.removeprefix("import time:").split("|")
        package = parts[-1].strip().partition(".")[0]
        if len(parts) == 3 and package in found:
            found[package] += float(parts[0]) / 1e3
    return ", ".join(f"{name} {spent:.0f}" for name, spent in found.items() if spent)


def start(report: Report) -> None:
    commands = {
        "search an index of 4,999 molecules": ["search", "index", ASPIRIN, "-k", "5"],
        "the same, verified": ["search", "index", ASPIRIN, "-k", "5", "--verify"],
        "embed one molecule": ["embed", "model", ASPIRIN, "-o", "z.npy"],
        "embed 4,999 molecules": ["embed", "model", "molecules", "-o", "z.npy"],
        "distance of two molecules": ["distance", ASPIRIN, "CCO"],
        "--version": ["--version"],
    }
    rows = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-W", "ignore", "-c", PREPARE], cwd=folder, check=True)
        for what, arguments in commands.items():
            runs = [timed([[sys.executable, "-c", RUN, *arguments]], folder) for _ in range(TIMES)]
            wall, cpu = (min(times) for times in zip(*runs, strict=True))
            row = {"command": what, "wall, s": wall, "CPU, s": cpu}
            rows.append({**row, "ms of imports, by package": imported(arguments, folder)})
            if what.startswith(("search", "embed one", "the same")):
                report.check(f"{what}: starts and answers in {LIMIT} s", wall < LIMIT, f"{wall:.2f} s")
    report.table(f"One process, the best of {TIMES}", rows)


def together(report: Report) -> None:
    """Alone and in pairs, alternately, the best of three each, so that a busy moment has little effect.

    Work that uses all cores takes twice as long when there is twice as much of it. What two processes cost each other
    shows in CPU time: spinning threads and lost caches add to it, waiting does not.
    """
    rows = []
    for what, code in {"fit, 300 graphs, 300 steps": FIT, "44,850 distances": DISTANCES}.items():
        command = [sys.executable, "-W", "ignore", "-c", code]
        alone, pairs = [], []
        for _ in range(3):
            alone.append(timed([command], Path.cwd()))
            pairs.append(timed([command] * 2, Path.cwd()))
        wall, cpu = (min(times) for times in zip(*alone, strict=True))
        pair_wall, pair_cpu = (min(times) for times in zip(*pairs, strict=True))
        times, extra = pair_wall / wall, pair_cpu / (2 * cpu)
        rows.append({"work": what, "alone, s": wall, "two at once, s": pair_wall, "times": times,
                     "CPU alone, s": cpu, "CPU of the two, s": pair_cpu, "of twice one": extra})  # fmt: skip
        report.check(f"{what}: two at once take at most twice as long, to 5 %", times <= 2.1, f"{times:.2f}")
        report.check(f"{what}: two at once use at most 10 % more CPU time each", extra <= 1.1, f"{extra:.2f}")
    report.table(f"The default number of threads, {len(os.sched_getaffinity(0))} cores", rows)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("parts", nargs="*", choices=["start", "together", []], help="all by default")
    given = arguments.parse_args()
    for part in given.parts or ["start", "together"]:
        title = {"start": "Starting", "together": "Two processes side by side"}[part]
        report = Report(f"start_{part}" if part != "start" else "start", title)
        {"start": start, "together": together}[part](report)
        report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
