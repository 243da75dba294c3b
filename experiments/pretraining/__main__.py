"""Trains an encoder that comes with the package.

    python -m experiments.pretraining molecules --steps 40000
    python -m experiments.pretraining molecules --steps 40000 --resume
    python -m experiments.pretraining molecules --steps 12000 --start FOLDER
    torchrun --nproc-per-node 2 -m experiments.pretraining molecules --steps 40000

Needs, beside what the tests need, `pip install --no-deps molsets chemicals`, and the evaluation sets, whose graphs are
removed from the data. The run can be killed at any time and resumed, also with another number of steps. With torchrun
several processes, on one machine or many, train one model: each makes blocks of its own, and gradients are averaged
(gloo).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

for _threads in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402

import ugraphemb as ug  # noqa: E402
from experiments.pretraining.blocks import SourceBlocks  # noqa: E402
from experiments.pretraining.sources import NETWORKS, TRAINING, source_of  # noqa: E402
from experiments.pretraining.widening import calibrate, widened  # noqa: E402
from ugraphemb.encoder.batches import Collator  # noqa: E402
from ugraphemb.encoder.carrying import carried  # noqa: E402
from ugraphemb.encoder.features import Vocabulary  # noqa: E402
from ugraphemb.encoder.model import Network  # noqa: E402
from ugraphemb.encoder.storage import fingerprint_of, read_model  # noqa: E402
from ugraphemb.proximity.metrics import metric_of  # noqa: E402
from ugraphemb.training.devices import device_of  # noqa: E402
from ugraphemb.training.known_pairs import known_pairs  # noqa: E402
from ugraphemb.training.loop import Report, train  # noqa: E402
from ugraphemb.training.online import Truth  # noqa: E402
from ugraphemb.training.passes import prepared  # noqa: E402
from ugraphemb.training.presets import settings_of  # noqa: E402
from ugraphemb.training.validation import validation_graphs  # noqa: E402

HERE = Path(__file__).resolve().parent


def pretrained(
    source: Any, nodes: tuple[Any, ...], edges: tuple[Any, ...], settings: dict[str, Any], *, steps: int, seed: int,
    checkpoint: Path | None = None, resume: bool = False, device: str | None = None, report: Any = print,
    start: Path | None = None,
) -> ug.UGraphEmb:  # fmt: skip
    """A model trained on blocks of a source; in each of several processes the same one.

    Args:
        start: Folder of a model whose weights are those at the start. Its network may be narrower (widening.py).
    """
    from torch import distributed

    together = distributed.is_available() and distributed.is_initialized()
    rank, world = (distributed.get_rank(), distributed.get_world_size()) if together else (0, 1)
    encoder, loop = settings_of("default", "distance", {**settings, "steps": steps})
    vocabulary = Vocabulary(nodes, edges)
    place = device_of(device)
    torch.manual_seed(seed)
    network = Network(encoder, vocabulary).to(place)
    before = None if start is None else read_model(start)
    if before is not None:
        begin = carried(before.config, before.vocabulary, before.weights, vocabulary)
        widened(network, before.config, begin)
    truth = Truth(metric_of("ged"), True, 1)
    online: Any = SourceBlocks(
        source, loop.batch, steps, loop.steps_a_block, truth, partial(prepared, network, vocabulary), seed,
        rank=rank, world=world,
    )  # fmt: skip
    if before is not None and network.config.layers != before.config.layers:
        calibrate(network, before.config, lambda number: online.prepared(source.block(number, loop.batch, seed)))
    graphs = source.validation(500, seed)
    held_out = np.arange(0, len(graphs), 5)
    training = np.setdiff1d(np.arange(len(graphs)), held_out)
    queries, database = validation_graphs(training, held_out, seed)
    pairs: Any = np.stack(np.meshgrid(queries, database, indexing="ij"), axis=-1).reshape(-1, 2)
    table = ug.pairwise(graphs, pairs, threads=1, progress=False)
    started = time.monotonic()

    def said(at: Report) -> None:
        if rank == 0:
            seconds = time.monotonic() - started
            report(f"{at.step} of {at.steps}: loss {at.loss:.5f}, {at.score}, {seconds:.0f} s, {online.pairs} pairs")

    outcome = train(
        network, Collator(graphs, vocabulary, encoder), known_pairs(table), training, held_out, loop, seed=seed,
        device=place, online=online, checkpoint=checkpoint, resume=resume, report=said,
        start=None if before is None else fingerprint_of(before.config, before.vocabulary, before.weights),
    )  # fmt: skip
    model = ug.UGraphEmb(settings=settings, steps=steps, seed=seed)
    model.network_, model.vocabulary_ = network.eval(), vocabulary
    model.about_ = {
        "metric": table.metric,
        "kind": table.kind,
        "distance_settings": table.settings,
        "graphs": {"name": source.name, "count": source.count, "fingerprint": ""},
        "pairs": online.pairs * world,
        "training": dataclasses.asdict(loop),
        "seed": seed,
        "steps": outcome.steps,
        "best_step": outcome.best_step,
        "validation": {"loss": outcome.best.loss, "tau": outcome.best.tau},
    }
    if before is not None:
        model.about_ |= {key: before.about[key] + model.about_[key] for key in ("steps", "pairs")}
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=list(NETWORKS))
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="continue from the last checkpoint")
    parser.add_argument("--start", type=Path, help="folder of a model whose weights are those at the start")
    parser.add_argument("--device", help="cpu, cuda, ...; by default a GPU if there is one")
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data", help="folder of data sets")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "build" / "pretraining")
    parser.add_argument("--limit", type=int, help="molecules of MOSES that are read; fewer for a trial")
    parser.add_argument("--settings", type=json.loads, default={}, help="JSON of settings that differ")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if "RANK" in os.environ:
        torch.distributed.init_process_group("gloo")
    given.out.mkdir(parents=True, exist_ok=True)
    source = source_of(given.model, given.data, given.limit, given.out / f"{given.model}.pickle")
    (given.out / f"{given.model}-removed.json").write_text(json.dumps(source.counts, indent=1) + "\n")
    model = pretrained(
        source, source.nodes, source.edges, {**NETWORKS[given.model], **TRAINING[given.model], **given.settings},
        steps=given.steps, seed=given.seed, checkpoint=given.out / f"{given.model}.checkpoint", resume=given.resume,
        device=given.device, report=partial(print, flush=True), start=given.start,
    )  # fmt: skip
    if int(os.environ.get("RANK", 0)) == 0:
        model.save(given.out / given.model)
        print(given.out / given.model)


if __name__ == "__main__":
    main()
