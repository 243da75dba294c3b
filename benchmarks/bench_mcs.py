"""Maximum common subgraph: how many random pairs are solved within 10 ms, and how long the median pair takes.

1000 pairs of different graphs of each set, drawn with a seed; labels of nodes must be equal. The clock is CPU time of
one thread. A pair counts as solved within 10 ms if it is proven in at most that CPU time, measured in a separate call;
pairs that take less than a millisecond are run many times in one call, so that the call itself does not count. Answers
are checked by a law: if the two graphs are exchanged, the value is the same, and if one of the two answers is proven,
it lies within the bounds of the other.
"""

from __future__ import annotations

import time

import numpy as np
from report import Report, data_root, parser

import ugraphemb as ug

PAIRS, SEED, LIMIT = 1000, 0, 0.010
TARGETS = {"IMDB-MULTI": (0.97, 30e-6), "NCI109": (0.80, 400e-6)}  # share within the limit, median in seconds


def random_pairs(size: int) -> np.ndarray:
    random = np.random.default_rng(SEED)
    left = random.integers(0, size, PAIRS)
    right = random.integers(0, size - 1, PAIRS)
    return np.column_stack([left, right + (right >= left)])


def seconds(pair: ug.GraphSet, repeats: int, timeout: float) -> tuple[float, ug.PairTable]:
    chosen = np.tile([[0, 1]], (repeats, 1))
    start = time.process_time()
    table = ug.pairwise(pair, chosen, metric="mcs", threads=1, timeout=timeout, progress=False)
    return (time.process_time() - start) / repeats, table


def measured(graphs: ug.GraphSet, name: str, report: Report) -> dict:
    taken, proven = np.empty(PAIRS), np.empty(PAIRS, bool)
    values = np.empty((PAIRS, 2))
    pairs = random_pairs(len(graphs))
    for row, (i, j) in enumerate(pairs):
        pair = graphs[[i, j]]
        taken[row], table = seconds(pair, 1, 20 * LIMIT)  # on a busy machine wall time exceeds CPU time
        proven[row], values[row] = table.proven[0], (table.lower[0], table.upper[0])
        if proven[row] and taken[row] < 1e-3:
            taken[row], _ = seconds(pair, 50, 20 * LIMIT)
    turned = ug.pairwise(graphs, pairs[:200, ::-1], metric="mcs", threads=1, timeout=LIMIT, progress=False)
    agree = (turned.lower <= values[:200, 1]) & (turned.upper >= values[:200, 0])
    report.check(f"{name}: pairs the other way round agree", bool(agree.all()), f"{int(agree.sum())} of 200")
    share, middle = float(np.mean(proven & (taken <= LIMIT))), float(np.median(taken))
    least, most = TARGETS[name]
    report.check(f"{name}: {least:.0%} of pairs within 10 ms", share >= least, f"{share:.1%}")
    report.check(f"{name}: median at most {most * 1e6:g} µs", middle <= most, f"{middle * 1e6:.1f} µs")
    return {
        "set": name, "pairs": PAIRS, "within 10 ms": f"{share:.1%}", "median µs": round(middle * 1e6, 1),
        "90 % µs": round(float(np.quantile(taken, 0.9)) * 1e6, 1), "mean value": round(float(values[:, 0].mean()), 3),
    }  # fmt: skip


def main() -> None:
    arguments = parser(__doc__).parse_args()
    report = Report("mcs", "Maximum common subgraph", seed=SEED, note=" ".join((__doc__ or "").split()))
    root = data_root(arguments.data)
    report.table("Random pairs", [measured(ug.load_dataset(name, root=root), name, report) for name in TARGETS])
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
