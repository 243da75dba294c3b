"""Search: proven answers among standard sets beside Nass, a million real molecules, recall, filters, threads.

    python benchmarks/bench_search.py                      every section, one after the other
    python benchmarks/bench_search.py aids42k pubchem23k   these sections
    python benchmarks/bench_search.py million --count 50000
    python benchmarks/bench_search.py aids42k --quick      a trial with few queries; writes nothing

    aids42k     within 2 to 7 edits beside Nass; ten nearest by nGED           about 5 minutes on 2 cores
    pubchem23k  within 3 and 5 edits beside Nass                               1
    nci109      ten nearest by nGED, labels of nodes only                      5
    filters     how often each bound is computed, what it rules out, its time  2
    million     a million molecules of MOSES (pip install --no-deps molsets)   15, and 5 once for parsing
    threads     eight threads search, alone and while another thread adds      2
    recall      by vectors, verified, complete, and linear scans               10
    vectors     recall by vectors alone, of fully trained models               8

Each section writes results/search_SECTION.{json,md}. Times of sets are CPU time of one thread; those of the million and
of threads are wall time. Models, packed molecules and the large index are kept in --cache and used again.
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch and faiss are loaded

from report import Report, commit, data_root, parser
from search_common import SEED
from search_million import million
from search_recall import RECALL_NOTE, VECTORS_NOTE, recall, vectors
from search_sets import aids42k, filters, nci109, pubchem23k
from search_threads import threads

SECTIONS = {
    "aids42k": (aids42k, "Search among AIDS42K"),
    "pubchem23k": (pubchem23k, "Search among PUBCHEM23K"),
    "nci109": (nci109, "Search among NCI109"),
    "filters": (filters, "Search: what each filter does"),
    "million": (million, "Search among a million molecules"),
    "threads": (threads, "Search from many threads"),
    "recall": (recall, "Search: recall and latency"),
    "vectors": (vectors, "Search: recall of vectors alone"),
}
NOTES = {"recall": RECALL_NOTE, "vectors": VECTORS_NOTE}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("sections", nargs="*", default=list(SECTIONS), help=f"of {', '.join(SECTIONS)}")
    options.add_argument("--queries", type=int, default=100)
    options.add_argument("--train", type=int, default=500, help="graphs to train on")
    options.add_argument("--steps", type=int, default=400, help="of training")
    options.add_argument("--count", type=int, default=1_000_000, help="graphs of the section million")
    options.add_argument("--seconds", type=float, help="duration of each measurement of the section threads")
    options.add_argument(
        "--cache", type=Path, default=Path.home() / ".cache" / "ugraphemb-benchmarks", help="folder for kept files"
    )
    options.add_argument("--quick", action="store_true", help="few queries, little training, 30,000 molecules")
    given = options.parse_args()
    if given.quick:
        given.queries, given.train, given.steps, given.count = min(given.queries, 15), 200, 60, min(given.count, 30_000)
        given.seconds, given.no_write = 3.0, True
    unknown = sorted(set(given.sections) - set(SECTIONS))
    if unknown:
        options.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    print(f"commit {commit()}")
    for name in given.sections:
        section, title = SECTIONS[name]
        report = Report(f"search_{name}", title, seed=SEED, note=NOTES.get(name, ""))
        section(data_root(given.data), given, report)
        report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
