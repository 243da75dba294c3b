"""Reading SMILES: many atoms at once, as `from_smiles` does for organic molecules, and atom by atom.

CPU time of one thread, the best of three; both ways must give the same graphs. The molecules are the 4,999 that come
with RDKit; with --smiles FILE the first 10,000 of a file (MOSES: train.csv.gz of the package molsets).
"""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

from bench_embed_files import smiles
from report import Report, parser

import ugraphemb as ug
from ugraphemb.graphs.convert import molecules

COUNT = 10_000


def seconds(texts: list[str]) -> tuple[float, ug.GraphSet]:
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        graphs = ug.GraphSet.from_smiles(texts)
        best = min(best, time.process_time() - begin)
    return best, graphs


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--smiles", type=Path, help="a file with SMILES in the first column")
    given = options.parse_args()
    report = Report("smiles", "Reading SMILES")
    sets = {"molecules (RDKit)": [str(text) for text in ug.load_dataset("molecules").metadata["smiles"]]}
    if given.smiles is not None:
        sets["MOSES"] = list(islice(smiles(given.smiles), COUNT))
    rows = []
    for name, texts in sets.items():
        quick, graphs = seconds(texts)
        read = molecules.PlainReader.read
        molecules.PlainReader.read = lambda self, text: None  # type: ignore[method-assign]
        slow, same = seconds(texts)
        molecules.PlainReader.read = read  # type: ignore[method-assign]
        report.check(f"{name}: both ways give the same graphs", graphs == same)
        rows.append({
            "molecules": name, "count": len(texts), "atoms": round(float(graphs.num_nodes.mean()), 1),
            "µs, many atoms at once": round(1e6 * quick / len(texts), 1),
            "µs, atom by atom": round(1e6 * slow / len(texts), 1), "times faster": round(slow / quick, 2),
        })  # fmt: skip
    report.table("CPU time per molecule", rows)
    report.finish(write=not given.no_write)


if __name__ == "__main__":
    main()
