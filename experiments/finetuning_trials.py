"""Trials of fine-tuning on validation graphs; test graphs are not used.

    python -m experiments.finetuning_trials --sets PTC NCI109 --rows default "no colors"
    python -m experiments.finetuning_trials --page      only write experiments/results/finetuning.md

The encoder is trained on the training graphs of a split (6:2:2) without classes, once for all rows of a set. Then it is
fine-tuned on the classes of the training graphs, a quarter of which is held out by the fine-tuning, and the classes of
the validation graphs are predicted: by the class layers, and by logistic regression on the vectors after fine-tuning.
τ and p@10 are those of validation graphs as queries against training graphs; "before" is before fine-tuning. Finished
rows are in results/finetuning/trials.jsonl.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch

import ugraphemb as ug
from experiments.encoder import COSTS, HERE, SEED, commit
from ugraphemb.encoder.batches import Collator
from ugraphemb.tasks import Split, classify, random_splits, ranking
from ugraphemb.training.finetuning import Finetuning, finetune
from ugraphemb.training.threads import torch_threads

LEDGER, PAGE = HERE / "results" / "finetuning" / "trials.jsonl", HERE / "results" / "finetuning.md"
# Steps of the encoder's training: fewer than by default, because there are many trials.
SETS = {"PTC": 4_000, "IMDB-MULTI": 1_000, "NCI109": 1_000, "WEB": 700}
ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "class layers alone": {"epochs": 0},
    "distances not kept": {"keep": 0.0},
    "distances kept less": {"keep": 1.0},
    "rare labels learn slowly": {"trusting": False},
    "encoder's rate 0.0002": {"encoder_rate": 0.0002},
    "encoder's rate 0.001": {"encoder_rate": 0.001},
    "5 epochs": {"epochs": 5},
    "40 epochs": {"epochs": 40, "most_steps": 4_000},
    "no dropout": {"dropout": 0.0},
}


def encoder(name: str, split: int, steps: int, data: Path, cache: Path) -> tuple[ug.UGraphEmb, ug.GraphSet, Split]:
    """Trained on the training graphs of the split without classes; kept on disk."""
    graphs = ug.load_dataset(name, root=data)
    chosen = random_splits(len(graphs), SEED, split + 1, graphs.targets)[split]
    folder = cache / f"{name}-{split}-{steps}"
    if not (folder / "config.json").exists():
        fit = chosen.fit
        model = ug.UGraphEmb(costs=COSTS, seed=split, threads=1, progress=False, steps=steps)
        held_out = np.flatnonzero(np.isin(fit, chosen.validation))
        model.fit(graphs[fit], held_out=held_out, avoid=graphs[chosen.test]).save(folder)
    return ug.UGraphEmb.load(folder).set_params(threads=1, progress=False), graphs, chosen


def measured(name: str, row: str, split: int, data: Path, cache: Path) -> dict[str, Any]:
    model, graphs, chosen = encoder(name, split, SETS[name], data, cache)
    classes = np.unique(graphs.targets, return_inverse=True)[1].astype(np.int64)
    rehearsal = Split(chosen.train, np.empty(0, np.int64), chosen.validation)
    before = model.transform(graphs)
    scores: dict[str, Any] = {"vectors before": 100 * classify(before, classes, [rehearsal], folds=3).mean}
    scores["ranking before"] = ranks(model, before, graphs, chosen, cache / f"{name}-pairs")
    network, settings = model.network_, Finetuning(**ROWS[row])
    started, curve, own, inner = time.process_time(), [], graphs[chosen.train], classes[chosen.train]
    held_out = np.random.default_rng(split).permutation(len(own))[: len(own) // 4]
    training = np.setdiff1d(np.arange(len(own)), held_out)
    with torch_threads(1):
        scores["held out"] = finetune(
            network, Collator(own, model.vocabulary_, network.config), own, inner, training, held_out,
            settings=settings, steps=settings.steps(len(training)) if settings.epochs else 0, seed=split,
            device=torch.device("cpu"), report=lambda step, loss, accuracy: curve.append(round(100 * accuracy, 2)),
        )  # fmt: skip
    network.eval()
    model.about_["finetuned"] = {"classes": np.unique(classes).tolist()}
    direct = 100 * float((model.predict(graphs[chosen.validation]) == classes[chosen.validation]).mean())
    layers = network.classes
    assert layers is not None
    scores |= {"direct": direct, "curve": curve, "mixture": np.round(layers.mixture.numpy(), 2).tolist()}
    scores["cpu seconds"] = round(time.process_time() - started, 1)
    after = model.transform(graphs)
    scores["vectors after"] = 100 * classify(after, classes, [rehearsal], folds=3).mean
    scores["ranking after"] = ranks(model, after, graphs, chosen, cache / f"{name}-pairs")
    return {"settings": dataclasses.asdict(settings), **scores}


def ranks(model: ug.UGraphEmb, vectors: Any, graphs: ug.GraphSet, chosen: Split, store: Path) -> list[float]:
    """τ and p@10 of 60 validation graphs against 400 training graphs."""
    random = np.random.default_rng(SEED)
    queries, known = random.permutation(chosen.validation)[:60], random.permutation(chosen.train)[:400]
    pairs = np.stack(np.meshgrid(queries, known, indexing="ij"), axis=-1).reshape(-1, 2)
    table = ug.pairwise(graphs, pairs, costs=COSTS, store=store, threads=1, progress=False)
    truth = table.normalized().value.reshape(len(queries), len(known))
    found = ranking(model.proximity(vectors[queries], vectors[known]), truth, k=10).summary()
    return [float(f"{found[key][0]:.4g}") for key in ("tau", "p@10")]


def write_page() -> None:
    rows = [json.loads(line) for line in LEDGER.read_text().splitlines()] if LEDGER.exists() else []
    lines = ["# Trials of fine-tuning", "", *(__doc__ or "").splitlines(), ""]
    head = ["trial", "split", "predicted, %", "vectors before", "vectors after", "τ, p@10 before", "after", "CPU s"]
    for name in SETS:
        own = [row for row in rows if row["set"] == name]
        if own:
            lines += [f"## {name}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        for row in own:
            old, new = (", ".join(f"{x:.3f}" for x in row[key]) for key in ("ranking before", "ranking after"))
            numbers = [f"{row[key]:.1f}" for key in ("direct", "vectors before", "vectors after")]
            cells = [row["row"], str(row["split"]), *numbers, old, new, f"{row['cpu seconds']:.0f}"]
            lines.append(f"| {' | '.join(cells)} |")
        lines += [""] if own else []
    PAGE.write_text("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--rows", nargs="+", default=["default"], choices=list(ROWS))
    parser.add_argument("--splits", nargs="+", type=int, default=[0])
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data", help="folder of data sets")
    parser.add_argument("--cache", type=Path, default=HERE.parent / "build" / "finetuning", help="folder of models")
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    LEDGER.parent.mkdir(parents=True, exist_ok=True)
    for name in [] if given.page else given.sets:
        for row in given.rows:
            for split in given.splits:
                values = measured(name, row, split, given.data, given.cache)
                date = datetime.now(UTC).isoformat(timespec="seconds")
                entry = {"set": name, "row": row, "split": split, **values, "commit": commit(), "date": date}
                with LEDGER.open("a") as file:
                    file.write(json.dumps(entry) + "\n")
                print(name, row, split, {key: values[key] for key in values if key != "settings"}, flush=True)
    write_page()


if __name__ == "__main__":
    main()
