"""From SMILES to vectors in Parquet: the total time, the time of each stage, and the gain from a second process.

The molecules are the first of MOSES (PyPI: molsets), in one gzipped file of lines, which is cut into partitions of
50,000. The model has the default architecture; its weights do not change the time. Processes are started, and the model
is loaded, before timing starts. Seconds of work are those of all workers together, including the time spent waiting for
the disk.

    python benchmarks/bench_embed_files.py --smiles train.csv.gz             # or with molsets installed
    python benchmarks/bench_embed_files.py --count 1000000 --workers 2 --folder FOLDER   # continues a stopped run
"""

from __future__ import annotations

import gzip
import itertools
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from report import Report, parser

import ugraphemb as ug

ROWS = 50_000
PAIR = 100_000  # molecules of the comparison of one process with two
FASTER = 1.8


def smiles(given: Path | None) -> Iterator[str]:
    path = given
    if path is None:
        try:
            path = Path(str(distribution("molsets").locate_file("moses/dataset/data/train.csv.gz")))
        except PackageNotFoundError:
            print("skipped: name a file of SMILES with --smiles, or run  pip install --no-deps molsets")
            sys.exit(0)  # `make bench` continues with the others
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            text = line.partition(",")[0].strip()
            if text and text.lower() != "smiles":
                yield text


def model() -> ug.UGraphEmb:
    return ug.UGraphEmb(seed=0, steps=5, threads=1, progress=False).fit(ug.load_dataset("molecules")[:200])


def timed(source: Path, folder: Path, encoder: ug.UGraphEmb, workers: int) -> dict[str, object]:
    begin = time.perf_counter()
    done = ug.embed_files(source, folder, encoder, executor=workers, rows=ROWS, progress=True)
    wall = time.perf_counter() - begin
    size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
    shares = {f"{name}, s": round(seconds, 1) for name, seconds in done.seconds.items()}
    return {
        "molecules": done.graphs, "processes": workers, "wall, s": round(wall, 1),
        "molecules/s": round(done.graphs / wall), **shares, "partitions": done.partitions, "kept": done.kept,
        "MB": round(size / 1e6),
    }  # fmt: skip


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--smiles", type=Path, help="a file with SMILES in the first column; else the package molsets")
    options.add_argument("--count", type=int, default=1_000_000, help="molecules of the large run; 0: none")
    options.add_argument("--workers", type=int, default=2, help="processes of the large run")
    options.add_argument("--folder", type=Path, help="output of the large run, to continue it later; else temporary")
    options.add_argument("--no-pair", action="store_true", help="leave out the comparison of one process with two")
    given = options.parse_args()
    report = Report("embed_files", "From SMILES to vectors in Parquet", seed=0)
    encoder = model()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)

        def source_of(count: int) -> Path:
            path = root / f"moses{count}.smi.gz"
            with gzip.open(path, "wt", compresslevel=1) as file:
                file.writelines(f"{text}\n" for text in itertools.islice(smiles(given.smiles), count))
            return path

        few = source_of(1_000)
        workers = {given.workers} if given.no_pair else {1, 2, given.workers}
        for number in sorted(workers):  # start them
            for turn in range(2):
                ug.embed_files(few, root / f"warm{number}-{turn}", encoder, executor=number, rows=500, progress=False)
        if not given.no_pair:
            source = source_of(PAIR)
            rows = [timed(source, root / f"pair{number}", encoder, number) for number in (1, 2)]
            report.table(f"{PAIR:,} molecules, by one process and by two", rows)
            ratio = float(rows[0]["wall, s"]) / float(rows[1]["wall, s"])  # type: ignore[arg-type]
            report.check(
                f"two processes embed at least {FASTER} times as fast as one", ratio >= FASTER, f"{ratio:.2f} times"
            )
            for number in (1, 2):
                shutil.rmtree(root / f"pair{number}")
        if given.count:
            folder = given.folder or root / "all"
            row = timed(source_of(given.count), folder, encoder, given.workers)
            report.table(f"{given.count:,} molecules", [row])
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
