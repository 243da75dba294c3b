"""The random laws of edit distance (cpp/tests/test_laws.cpp) on the requested number of pairs.

    make laws                                  builds the program, then a million pairs
    make laws PAIRS=10000 SEED=7               fewer and other pairs
    python benchmarks/laws.py --pairs 10000    the same once `make cpp-test` has built it

In most pairs each graph has at most 5 nodes, and brute force gives the true distance; one pair in 32 has up to 20 or 70
nodes, and the bounds of all methods must be consistent. Costs are uniform, whole, fractional, asymmetric or matrices,
with edge labels or without. Every method computes each pair in a fresh and in a used workspace, with the two graphs
exchanged, with nodes permuted and labels renamed, with a limit, and in a batch on 1, 2 or 7 threads. A failure names
the batch:
`build/tests/test_laws 16 SEED BATCH` repeats it.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from report import REPOSITORY, Report, parser


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--pairs", type=int, default=1_000_000, help="(default: %(default)s)")
    options.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    arguments = options.parse_args()
    program = REPOSITORY / "build" / "tests" / "test_laws"
    if not program.is_file():
        sys.exit(f"{program.relative_to(REPOSITORY)} does not exist; run  make laws")
    report = Report("laws", "Random laws of edit distance", seed=arguments.seed, note=" ".join((__doc__ or "").split()))
    done = subprocess.run([program, str(arguments.pairs), str(arguments.seed)], capture_output=True, text=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    sys.stderr.write(done.stderr)
    report.table("Pairs", [{"pairs": arguments.pairs, "seed": arguments.seed, "CPU seconds": round(spent)}])
    report.check("every law holds for every pair", done.returncode == 0, done.stdout.strip())
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
