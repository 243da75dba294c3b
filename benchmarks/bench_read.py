"""Reading REDDIT-BINARY and NCI109 from their zips: ugraphemb beside PyTorch Geometric and grakel.

Each reader runs in a process of its own, on one thread. The clock is CPU time, the best of several runs, unpacking
included (ugraphemb reads the zip itself, the others read the folder it is unpacked to). Memory is the highest resident
size while reading, minus the size before. All three must give the same graphs, labels and classes.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, data_root, parser

SETS = ("REDDIT-BINARY", "NCI109")
FASTER, LARGER = 5.0, 10.0  # times faster at least; size at most, as a multiple of the packed arrays


def with_ugraphemb(path: Path) -> Any:
    from ugraphemb import read_graphs

    return read_graphs(path)


def with_pyg(path: Path) -> Any:
    from torch_geometric.io import read_tu_data

    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(path).extractall(folder)
        return read_tu_data(f"{folder}/{path.stem}", path.stem)


def with_grakel(path: Path) -> Any:
    from grakel.datasets.base import read_data

    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(path).extractall(folder)
        os.chdir(folder)  # it reads files of the current folder only
        try:
            return read_data(path.stem)
        finally:
            os.chdir(before)


READERS: dict[str, Callable[[Path], Any]] = {
    "ugraphemb": with_ugraphemb,
    "PyTorch Geometric": with_pyg,
    "grakel": with_grakel,
}


def digest(sizes: Any, starts: Any, stops: Any, labels: Any, targets: Any) -> str:
    """The same for the same graphs: nodes are numbered consecutively, labels and classes in sorted order."""
    sizes = np.asarray(sizes, np.int64)
    keys = np.sort(np.asarray(starts, np.int64) * sizes.sum() + np.asarray(stops, np.int64))
    result = hashlib.blake2b(digest_size=8)
    for array in (sizes, keys, np.unique(labels, return_inverse=True)[1], np.unique(targets, return_inverse=True)[1]):
        result.update(np.ascontiguousarray(array, np.int64).tobytes())
    return result.hexdigest()


def digest_of(reader: str, answer: Any) -> str:
    if reader == "ugraphemb":
        graph_starts = np.repeat(answer.node_offsets[:-1], np.diff(answer.indptr[answer.node_offsets]))
        starts = np.repeat(np.arange(len(answer.node_labels)), np.diff(answer.indptr))
        stops = answer.indices + graph_starts
        return digest(answer.num_nodes, starts, stops, answer.node_labels, answer.targets)
    if reader == "PyTorch Geometric":
        data, slices, _ = answer
        edges = slices["edge_index"].numpy()
        sizes = np.diff(slices["x"].numpy()) if data.x is not None else np.array(data._num_nodes)
        shift = np.repeat(np.cumsum(sizes) - sizes, np.diff(edges))
        starts, stops = data.edge_index.numpy() + shift
        labels = data.x.argmax(1).numpy() if data.x is not None else np.zeros(sizes.sum())
        return digest(sizes, starts, stops, labels, data.y.numpy())
    starts, stops = np.array([edge for graph in answer.data for edge in graph[0]]).T - 1
    labels = [label for graph in answer.data for label in graph[1].values()]
    if labels:
        sizes = [len(graph[1]) for graph in answer.data]
    else:  # without labels it keeps no nodes but those of edges: the highest of each graph and its neighbors count
        highest = [max((max(edge) for edge in graph[0]), default=0) for graph in answer.data]
        sizes = np.diff([0, *highest])
        labels = np.zeros(int(np.sum(sizes)))
    return digest(sizes, starts, stops, labels, answer.target)


def resident(field: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def measure(reader: str, path: Path, warm_up: Path, runs: int) -> dict[str, Any]:
    """Runs in a process of its own."""
    if reader == "PyTorch Geometric":
        import torch

        torch.set_num_threads(1)
    read = READERS[reader]
    read(warm_up)
    gc.collect()
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the highest resident size is measured from here
    answer = read(path)
    peak = resident("VmHWM") - before
    packed = None
    if reader == "ugraphemb":
        arrays = [value for value in vars(answer).values() if isinstance(value, np.ndarray)]
        packed = sum(array.nbytes for array in arrays)
    found = digest_of(reader, answer)
    del answer
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        read(path)
        times.append(time.process_time() - start)
    return {"seconds": min(times), "peak": peak, "packed": packed, "digest": found}


def measured(reader: str, path: Path, warm_up: Path, runs: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", reader, str(path), str(warm_up), str(runs)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=3, help="runs of which the best counts")
    arguments = options.parse_args()
    root = data_root(arguments.data)
    warm_up = root / "MUTAG" / "MUTAG.zip"
    report = Report("read", "Reading TU data sets", note=" ".join((__doc__ or "").split()))
    rows = []
    for name in SETS:
        path = root / name / f"{name}.zip"
        found = {reader: measured(reader, path, warm_up, arguments.runs) for reader in READERS}
        ours = found["ugraphemb"]
        rows += [
            {
                "set": name,
                "reader": reader,
                "CPU s": round(entry["seconds"], 3),
                "times ours": round(entry["seconds"] / ours["seconds"], 1),
                "peak MB": round(entry["peak"] / 1e6, 1),
                "times packed arrays": round(entry["peak"] / ours["packed"], 1),
            }
            for reader, entry in found.items()
        ]
        digests = {entry["digest"] for entry in found.values()}
        report.check(f"{name}: all readers agree", len(digests) == 1, f"digest {', '.join(sorted(digests))}")
        for reader in ("PyTorch Geometric", "grakel"):
            ratio = found[reader]["seconds"] / ours["seconds"]
            report.check(f"{name}: {FASTER:g} times faster than {reader}", ratio >= FASTER, f"{ratio:.1f} times")
        size = ours["peak"] / ours["packed"]
        report.check(f"{name}: memory below {LARGER:g} times the packed arrays", size < LARGER, f"{size:.1f} times")
    report.table("Time and memory", rows)
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        _, _, chosen, file, warm, count = sys.argv
        print(json.dumps(measure(chosen, Path(file), Path(warm), int(count))))
    else:
        main()
