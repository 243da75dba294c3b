"""Time to compute ranking scores at the size of NCI109: 825 queries against 2,476 graphs, on one thread.

python benchmarks/bench_ranking.py
"""

from __future__ import annotations

import time

import numpy as np
from report import Report, parser
from scipy.stats import kendalltau
from threadpoolctl import threadpool_limits

from ugraphemb.tasks.ranking import ranking

SEED = 0
QUERIES, DATABASE = 825, 2_476


def main() -> None:
    given = parser(__doc__).parse_args()
    report = Report("ranking", "Ranking", seed=SEED)
    random = np.random.default_rng(SEED)
    truth = random.integers(5, 90, (QUERIES, DATABASE)) / random.integers(10, 60, (QUERIES, DATABASE))
    predicted = truth + random.normal(scale=0.5, size=truth.shape)
    with threadpool_limits(1):
        begin = time.process_time()
        scores = ranking(predicted, truth)
        seconds = time.process_time() - begin
    expected = [kendalltau(predicted[q], truth[q]).statistic for q in range(20)]
    report.table("All scores", [{"queries": QUERIES, "database": DATABASE, "CPU s": seconds}])
    report.check("tau is SciPy's", bool(np.allclose(scores.tau[:20], expected)))
    report.check("within 5 s", seconds < 5, f"{seconds:.2f} s")
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
