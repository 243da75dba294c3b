"""What checksums cost: their speed, and loading and first using a saved index of a million graphs.

Graphs are random trees of 16 nodes with vectors of 256 random numbers; files are in the system's memory when they are
read. Each measurement is the first of a fresh process; CPU time and wall time are given.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, parser

import ugraphemb as ug
from ugraphemb.files import Sums, digest

NODES, WIDTH, SEED = 16, 256, 0
_USE = """
import json, sys, time
import faiss
import ugraphemb as ug, ugraphemb.search
query = ug.GraphSet.from_edges([6], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], node_labels=list("CNOCNO"))[0]
ug.UGraphEmb.load(sys.argv[1] + "/warm").transform(query.graphs)  # not measured: what PyTorch does on its first use
steps = {}
def timed(name, work):
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    steps[name] = [time.process_time() - cpu, time.perf_counter() - wall]
    return answer
check = sys.argv[2] == "check"
index = timed("load(check=True)" if check else "load", lambda: ug.GraphIndex.load(sys.argv[1] + "/index", threads=1,
                                                                                  check=check))
if not check:
    timed("first query", lambda: index.search(query, 10))
    timed("second query", lambda: index.search(query, 10))
    timed("first use of all vectors", lambda: index._parts[0].neighbors.vectors)
    timed("first complete query", lambda: index.search(query, 10, complete=True, budget=0))
print(json.dumps(steps))
"""


def speeds() -> list[dict[str, Any]]:
    """Gigabytes per second of CPU time, over 64 MiB, the best of five."""
    data = os.urandom(1 << 26)
    ways = {
        "XXH3, 128 bits (files)": lambda: digest(data),
        "XXH3, 64 bits for each block of 64 KiB (mapped files)": lambda: Sums.of(data),
        "CRC-32 (zlib)": lambda: zlib.crc32(data),
        "BLAKE2b": lambda: hashlib.blake2b(data).digest(),
        "SHA-256": lambda: hashlib.sha256(data).digest(),
    }
    rows = []
    for name, work in ways.items():
        seconds = []
        for _ in range(5):
            begin = time.process_time()
            work()
            seconds.append(time.process_time() - begin)
        rows.append({"checksum": name, "GB/s": len(data) / min(seconds) / 1e9})
    return rows


def trees(count: int) -> ug.GraphSet:
    random = np.random.default_rng(SEED)
    parents = (random.random((count, NODES - 1)) * np.arange(1, NODES)).astype(np.int64)
    starts = np.arange(count)[:, None] * NODES
    edges = np.stack([starts + parents, starts + np.arange(1, NODES)], axis=2).reshape(-1, 2)
    labels = np.array(list("CNO"))[random.integers(0, 3, count * NODES)]
    return ug.GraphSet.from_edges(np.full(count, NODES), edges, node_labels=labels)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--count", type=int, default=1_000_000)
    options.add_argument("--kind", default="auto", help="of the index")
    arguments = options.parse_args()
    report = Report("files", "What checksums cost", seed=SEED)
    report.table("Speed", speeds())
    settings = {"hidden": 16, "scales": (0, 1)}
    small = trees(60)
    model = ug.UGraphEmb(
        dimension=WIDTH, layers=(16,), head="l2", steps=5, batch=16, settings=settings, threads=1, progress=False
    ).fit(small)
    graphs = trees(arguments.count)
    vectors = np.random.default_rng(SEED).normal(size=(arguments.count, WIDTH)).astype(np.float32)
    index = ug.GraphIndex(model, kind=arguments.kind, threads=1).add(graphs, vectors=vectors, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "warm")
        wall, cpu = time.perf_counter(), time.process_time()
        index.save(Path(folder) / "index")
        rows = [{"step": "save", "CPU s": time.process_time() - cpu, "wall s": time.perf_counter() - wall}]
        found = [path for path in (Path(folder) / "index").rglob("*") if path.is_file()]
        sizes = [{"file": path.name.partition("-")[0], "MiB": path.stat().st_size / 2**20} for path in found]
        for how in ("lazy", "check"):
            done = subprocess.run(
                [sys.executable, "-c", _USE, folder, how], stdout=subprocess.PIPE, text=True, check=True
            )
            steps = json.loads(done.stdout.splitlines()[-1])
            rows += [{"step": name, "CPU s": times[0], "wall s": times[1]} for name, times in steps.items()]
    report.table(f"An index of {arguments.count:,} graphs", rows)
    report.table("Its files", [row for row in sizes if row["MiB"] > 0.1])
    load = next(row["wall s"] for row in rows if row["step"] == "load")
    report.check("an index loads within 0.3 s", load <= 0.3, f"{load:.3f} s")
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
