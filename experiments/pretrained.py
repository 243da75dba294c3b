"""The models that come with the package on graphs that they have never seen, and adapted to them.

    python -m experiments.pretrained --rows "molecules, zero-shot" --sets AIDS10 --splits 5
    python -m experiments.pretrained --moses --start-time
    python -m experiments.pretrained --page          only write experiments/results/pretrained.md from what there is

Splits, truth and scores are those of experiments/encoder.py: test graphs are queries against training graphs, edges
have no labels. "Zero-shot" models saw no graph of the set (experiments/pretraining/removal.py); adapted ones and those
trained from the beginning saw the training graphs of the split. Finished rows are in results/pretrained.jsonl with the
digest of the weights, and are not computed again for the same weights.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from experiments.encoder import COSTS, SEED, commit

import numpy as np  # isort: skip  # after experiments.encoder, which sets the number of threads

import ugraphemb as ug
from ugraphemb.encoder.storage import read_model
from ugraphemb.pretrained import folder_of, names
from ugraphemb.tasks import random_splits, ranking

HERE = Path(__file__).resolve().parent
RESULTS, PAGE = HERE / "results" / "pretrained.jsonl", HERE / "results" / "pretrained.md"
# Name of the set, most nodes of its graphs, method of the truth, most queries and most training graphs that they ask.
SETS: dict[str, tuple[str, int | None, str, int, int]] = {
    "AIDS10": ("AIDS", 10, "exact", 1_000, 1_000),
    "PTC_MR": ("PTC_MR", None, "tight", 1_000, 1_000),
    "Mutagenicity": ("Mutagenicity", None, "tight", 100, 1_000),
    "NCI109": ("NCI109", None, "tight", 100, 1_000),
    "IMDB-MULTI": ("IMDB-MULTI", None, "tight", 200, 900),
    "Alkane": ("Alkane", None, "exact", 1_000, 1_000),
    "REDDIT-BINARY": ("REDDIT-BINARY", None, "tight", 40, 200),
}


def _trained(graphs: ug.GraphSet, held_out: Any, avoid: ug.GraphSet, split: int, **settings: Any) -> ug.UGraphEmb:
    start = settings.pop("start", None)
    model = ug.UGraphEmb(costs=COSTS, seed=split, threads=1, progress=False, **settings)
    return model.fit(graphs, held_out=held_out, avoid=avoid, start=start)


def _zero_shot(name: str) -> Callable[..., ug.UGraphEmb]:
    return lambda *_, **__: ug.UGraphEmb.pretrained(name, costs=COSTS if name == "molecules" else None)


# How the model of a row is made; "renamed" and "unlabeled" rows change the graphs first.
ROWS: dict[str, tuple[Callable[..., ug.UGraphEmb], dict[str, Any]]] = {
    "molecules, zero-shot": (_zero_shot("molecules"), {}),
    "graphs, zero-shot": (_zero_shot("graphs"), {}),
    "graphs, renamed, zero-shot": (_zero_shot("graphs"), {}),
    "graphs, unlabeled, zero-shot": (_zero_shot("graphs"), {}),
    "molecules, adapted": (_trained, {"start": "molecules"}),
    "graphs, adapted": (_trained, {"start": "graphs"}),
    "graphs, renamed, adapted": (_trained, {"start": "graphs"}),
    "trained, release 0.1": (_trained, {"preset": "0.1"}),
    "trained, default": (_trained, {}),
    "trained, default, 400 steps": (_trained, {"steps": 400}),
}


def graphs_of(row: str, name: str, data: Path) -> ug.GraphSet:
    source, most, _, _, _ = SETS[name]
    graphs = ug.load_dataset(source, root=data)
    if most is not None:
        graphs = graphs[graphs.num_nodes <= most]
    if "renamed" in row:
        random = np.random.default_rng(7)
        words = tuple(f"word {number}" for number in random.integers(1 << 60, size=len(graphs.node_vocabulary)))
        graphs = replace(graphs, node_vocabulary=words)
    if "unlabeled" in row or name == "Alkane":
        graphs = replace(graphs, node_labels=np.zeros_like(graphs.node_labels), node_vocabulary=())
    return graphs


def measured(row: str, name: str, split: int, data: Path, cache: Path) -> dict[str, Any]:
    """τ, p@10 and MSE of test graphs as queries. Truth has the labels of the set, also where the model has not."""
    _, _, method, queries, database = SETS[name]
    labeled, graphs = graphs_of("", name, data), graphs_of(row, name, data)
    chosen = random_splits(len(graphs), SEED, split + 1, graphs.targets)[split]
    fit = chosen.fit
    make, settings = ROWS[row]
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(
            graphs[fit], np.flatnonzero(np.isin(fit, chosen.validation)), graphs[chosen.test], split, **settings
        )
        seconds = time.process_time() - started
        vectors = model.transform(graphs)
    random = np.random.default_rng([SEED, split])
    known = np.sort(random.permutation(chosen.train)[:database])
    asked = np.sort(random.permutation(chosen.test)[:queries])
    pairs = np.stack(np.meshgrid(asked, known, indexing="ij"), axis=-1).reshape(-1, 2)
    table = ug.pairwise(
        labeled, pairs, method=method, costs=COSTS, store=cache / f"{name}-{method}", threads=1, progress=False
    )
    truth = table.normalized().value.reshape(len(asked), len(known))
    found = ranking(model.proximity(vectors[asked], vectors[known]), truth, k=10).summary()
    scores = {key: float(f"{found[key][0]:.5g}") for key in ("tau", "p@10", "strict p@10", "mse")}
    return {**scores, "queries": len(asked), "steps": model.about_["steps"] if settings else 0,
            "cpu seconds": round(seconds, 1)}  # fmt: skip


def measured_on_moses(queries: int, count: int, seconds: float) -> dict[str, Any]:
    """Recall@10 of vectors alone among held-out molecules, ties counted as found; mean error of predicted edits."""
    from experiments.pretraining.molecules import held_out_moses

    graphs = held_out_moses(count)
    model = ug.UGraphEmb.pretrained("molecules").set_params(threads=1, progress=False)
    vectors = model.transform(graphs)
    random = np.random.default_rng(0)
    pairs = random.integers(len(graphs), size=(4_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    truth = ug.pairwise(graphs, pairs, threads=1, progress=False)
    size = graphs.num_nodes[pairs].mean(1)
    from ugraphemb.encoder.heads import between

    guess = np.array([between(vectors[[a]], vectors[[b]], model.head_)[0, 0] for a, b in pairs]) * size
    errors = np.abs(guess - truth.value)
    index = ug.GraphIndex(model, threads=1).add(graphs, vectors=vectors)
    recalls, proven = [], 0
    for query in random.choice(len(graphs), queries, replace=False).tolist():
        exact = index.search(graphs[query], k=11, complete=True, budget=seconds)
        proven += bool(exact.certificate is not None and exact.certificate.proven)
        last = max(match.normalized for match in exact)
        near = [match for match in index.search(graphs[query], k=11) if match.id != graphs.ids[query]][:10]
        held = [match.id for match in near]
        far = ug.pairwise(
            graphs, np.array([(query, int(np.flatnonzero(graphs.ids == name)[0])) for name in held]), threads=1,
            progress=False,
        ).normalized()  # fmt: skip
        recalls.append(float(np.mean(far.value <= last + 1e-9)))
    return {
        "molecules": len(graphs), "queries": queries, "recall@10": round(fmean(recalls), 4), "proven": proven,
        "mean absolute error": round(float(errors.mean()), 4), "pairs": len(pairs),
        "mean distance": round(float(truth.value.mean()), 3),
    }  # fmt: skip


def start_time() -> dict[str, Any]:
    """Seconds of a fresh process that reads 4,999 molecules, adds them to an index and asks one of them."""
    code = (
        "import sys, ugraphemb as ug; graphs = ug.load_dataset('molecules'); index = ug.GraphIndex().add(graphs); "
        "index.search(graphs[7]); print(len(graphs), 'torch' in sys.modules)"
    )
    seconds, of_cpu = [], []
    for _ in range(3):
        started, before = time.perf_counter(), os.times()
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        after = os.times()
        seconds.append(round(time.perf_counter() - started, 2))
        used = after.children_user + after.children_system - before.children_user - before.children_system
        of_cpu.append(round(used, 2))
    return {"graphs": int(said[0]), "torch": said[1] == "True", "seconds": seconds, "cpu seconds": of_cpu}


def digest_of(row: str) -> str:
    """Of the weights that a row depends on, and whether their vectors are anchored."""
    found = []
    for name in names():
        if row.startswith(name):
            config = json.loads((folder_of(name) / "config.json").read_text())
            found.append(config["weights"]["name"] + (" anchored" if config["encoder"].get("anchored") else ""))
    return " ".join(found)


def finished() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def keep(entry: dict[str, Any]) -> None:
    entry |= {"commit": commit(), "date": datetime.now(UTC).isoformat(timespec="seconds")}
    with RESULTS.open("a") as file:
        file.write(json.dumps(entry) + "\n")
    print(entry, flush=True)


def write_page() -> None:
    """Means over splits with their standard deviation, for the weights that are shipped."""
    lines = ["# Pre-trained models", "", *(__doc__ or "").splitlines(), ""]
    for name in names():
        saved = read_model(folder_of(name))
        count = sum(array.size for array in saved.weights.values())
        lines.append(f"- `{name}`: {saved.about['steps']} steps, {saved.about['pairs']} pairs, {count} numbers")
    head = ["set", "model", "splits", "τ", "p@10", "MSE", "steps", "CPU s"]
    lines += ["", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    known = [entry for entry in finished() if entry.get("weights") == digest_of(entry["row"])]
    for name in SETS:
        for row in ROWS:
            last = {entry["split"]: entry for entry in known if (entry["row"], entry.get("set")) == (row, name)}
            if last:
                found = list(last.values())
                cells = [_mean(found, key, digits) for key, digits in (("tau", 3), ("p@10", 3), ("mse", 4))]
                cells += [_mean(found, "steps", 0), _mean(found, "cpu seconds", 0)]
                lines.append(f"| {name} | {row} | {len(found)} | {' | '.join(cells)} |")
    for row in ("molecules, MOSES", "molecules, start"):
        some = [entry for entry in known if entry["row"] == row]
        if some:
            left_out = ("row", "weights", "commit", "date")
            values = {key: value for key, value in some[-1].items() if key not in left_out}
            lines += ["", f"{row}: " + ", ".join(f"{key} {value}" for key, value in values.items())]
    PAGE.write_text("\n".join(lines) + "\n")


def _mean(entries: list[dict[str, Any]], key: str, digits: int) -> str:
    numbers = [entry[key] for entry in entries]
    spread = f" ± {stdev(numbers):.{digits}f}" if len(numbers) > 1 and digits else ""
    return f"{fmean(numbers):,.{digits}f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=[], choices=list(ROWS))
    parser.add_argument("--sets", nargs="+", default=["AIDS10"], choices=list(SETS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--moses", action="store_true", help="recall among held-out molecules, error of edits")
    parser.add_argument("--molecules", type=int, default=100_000, help="for --moses")
    parser.add_argument("--queries", type=int, default=20, help="for --moses")
    parser.add_argument("--budget", type=float, default=60.0, help="for --moses: seconds for the proof of a query")
    parser.add_argument("--start-time", action="store_true", help="time of a fresh process")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data", help="folder of data sets")
    parser.add_argument("--cache", type=Path, default=HERE.parent / "build" / "encoder", help="folder of distances")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    for split in range(0 if given.page else given.splits):
        for name in given.sets:
            for row in given.rows:
                about = {"row": row, "set": name, "split": split, "weights": digest_of(row)}
                if not any(all(entry.get(key) == value for key, value in about.items()) for entry in finished()):
                    keep({**about, **measured(row, name, split, given.data, given.cache)})
    if given.moses:
        about = {"row": "molecules, MOSES", "weights": digest_of("molecules")}
        keep({**about, **measured_on_moses(given.queries, given.molecules, given.budget)})
    if given.start_time:
        keep({"row": "molecules, start", "weights": digest_of("molecules"), **start_time()})
    write_page()


if __name__ == "__main__":
    main()
