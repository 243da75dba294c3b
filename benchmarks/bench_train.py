"""Training: steps and pairs per second, the time of each part, and the time to the best validation.

    python benchmarks/bench_train.py                                  everything; NCI109's distances take half an hour
    python benchmarks/bench_train.py --sets PTC --steps 300           a first impression
    python benchmarks/bench_train.py --cache FOLDER                   with distances that were computed before

Each set is split 6:2:2 at random; networks learn from all pairs of training graphs, and validation graphs are queries
against training graphs. Three ways to train are timed over the same few steps, CPU time of one thread: the default
preset, whose step takes every pair among 128 graphs; the same network with the paper's 256 independent pairs per step;
and the paper's preset. Then the default preset is trained in full. Its time is CPU time of one thread too, which equals
wall time on an idle machine; both are given. The τ of the validation must be above the τ of the paper on test queries;
otherwise the speed would mean nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from report import REPOSITORY, Report, data_root, parser
from threadpoolctl import threadpool_limits

from ugraphemb import EditCosts, PairTable, load_dataset, pairwise
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.model import Network
from ugraphemb.tasks.splits import random_splits
from ugraphemb.training.config import TrainingConfig
from ugraphemb.training.known_pairs import known_pairs
from ugraphemb.training.loop import _Run, train
from ugraphemb.training.presets import PRESETS

CPU = torch.device("cpu")
PARTS = ("sampling", "batching", "forward", "loss and backward", "optimizer")
NEAR = 0.002  # of τ: as good as the best


@dataclass(frozen=True)
class Goal:
    """τ of the paper on test queries, and our limit for the seconds to the best validation."""

    tau: float
    seconds: float | None


GOALS = {"PTC": Goal(0.840, 120), "IMDB-MULTI": Goal(0.853, 600), "NCI109": Goal(0.476, 600), "WEB": Goal(0.618, None)}


@dataclass(frozen=True)
class Task:
    graphs: Any
    table: PairTable
    training: np.ndarray[Any, Any]
    validation: np.ndarray[Any, Any]

    def network(self, config: EncoderConfig) -> tuple[Network, Collator]:
        vocabulary = Vocabulary.of(self.graphs[self.training], config)
        torch.manual_seed(0)
        return Network(config, vocabulary), Collator(self.graphs, vocabulary, config)


def task_of(name: str, root: Path, cache: Path, limit: int | None) -> Task:
    """A split with the distances of all pairs of training graphs, and of validation with training graphs."""
    graphs = load_dataset(name, root=root)
    split = random_splits(len(graphs), seed=0, repeats=1)[0]
    training, validation = split.train[:limit], split.validation[:limit]
    first, second = np.triu_indices(len(training), 1)
    across = np.stack(np.meshgrid(validation, training), axis=-1).reshape(-1, 2)
    pairs = np.concatenate([np.stack([training[first], training[second]], axis=1), np.sort(across, axis=1)])
    print(f"{name}: {len(pairs):,} distances", flush=True)
    start, said = time.monotonic(), 0.0

    def progress(done: int, of: int) -> None:
        nonlocal said
        if time.monotonic() > max(said, start) + 20:
            said = time.monotonic()
            print(f"{name}: {done:,} of {of:,} distances, {said - start:.0f} s", flush=True)

    table = pairwise(
        graphs,
        pairs,
        method="tight",
        costs=EditCosts(edge_relabel=0),
        store=cache / f"store-{name}-tight",
        progress=progress,
    )
    return Task(graphs, known_pairs(table), training, validation)


class Laps:
    """CPU seconds between the marks of a step, by the name of the part that ends at the mark."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = {}
        self._last = time.process_time()

    def __call__(self, name: str) -> None:
        now = time.process_time()
        self.taken[name] = self.taken.get(name, 0.0) + now - self._last
        self._last = now

    def after(self, call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def marked(*arguments: Any) -> Any:
            result = call(*arguments)
            self(name)
            return result

        return marked


def timed_steps(task: Task, encoder: EncoderConfig, config: TrainingConfig, steps: int) -> dict[str, Any]:
    """Trains for some steps with marks between the parts, then validates once."""
    network, collator = task.network(encoder)
    run = _Run(network, collator, task.table, task.training, task.validation, config, 0, CPU)
    for _ in range(max(2, steps // 10)):  # the first ones allocate
        run.one_step()
    laps, pairs = Laps(), 0

    def drawn(draw: Callable[..., Any] = run.sampler.draw) -> Callable[..., Any]:
        def counted(generator: np.random.Generator) -> Any:
            nonlocal pairs
            found = draw(generator)
            pairs += len(found[1])
            return found

        return counted

    run.sampler.draw = laps.after(drawn(), "sampling")  # type: ignore[method-assign]
    run.passes.batch = laps.after(run.passes.batch, "batching")  # type: ignore[method-assign]
    run.passes.vectors = laps.after(run.passes.vectors, "forward")  # type: ignore[method-assign]
    step = run.optimizer.step

    def timed_step() -> None:
        laps("loss and backward")
        step()
        laps("optimizer")

    run.optimizer.step = timed_step  # type: ignore[assignment,method-assign]
    for _ in range(steps):
        run.one_step()
        laps("optimizer")  # the running mean of weights, where there is one
    seconds = sum(laps.taken.values())
    parts = dict(laps.taken)
    start = time.process_time()
    run.validate()
    validation = (time.process_time() - start) * steps / config.validate_every
    whole = seconds + validation
    return {
        "steps/s": round(steps / seconds, 1),
        "pairs/s": round(pairs / seconds),
        **{f"{part} %": round(100 * parts[part] / whole, 1) for part in PARTS},
        "validation %": round(100 * validation / whole, 1),
    }


def full_training(task: Task, steps: int | None) -> tuple[list[tuple[int, float, float, float]], int]:
    """Step, τ, CPU seconds and wall seconds of each validation of the default preset; and the steps taken."""
    encoder, config = PRESETS["default"]
    if steps is not None:
        config = replace(
            config, steps=steps, steps_a_graph=0, validate_every=max(1, min(config.validate_every, steps // 5))
        )
    config = config.of(len(task.training))
    network, collator = task.network(encoder)
    start, rows = time.process_time(), []
    outcome = train(
        network, collator, task.table, task.training, task.validation, config, seed=0, device=CPU,
        report=lambda r: rows.append((r.step, r.score.tau, time.process_time() - start, r.seconds)),
    )  # fmt: skip
    return rows, outcome.steps


@contextmanager
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sets", nargs="+", default=list(GOALS), choices=list(GOALS), help="(default: all)")
    cache = REPOSITORY / "build" / "distances"
    options.add_argument("--cache", type=Path, default=cache, help="folder that keeps distances (default: %(default)s)")
    options.add_argument("--steps", type=int, help="steps of the full training (default: the preset's)")
    options.add_argument("--timed", type=int, default=100, help="steps that are timed by part (default: 100)")
    options.add_argument("--graphs", type=int, help="maximum number of training graphs, and of validation graphs")
    arguments = options.parse_args()
    root = data_root(arguments.data)
    report = Report("train", "Training", seed=0, note=" ".join((__doc__ or "").split()))
    (encoder, blocks), paper = PRESETS["default"], PRESETS["paper"]
    ways = {
        f"default: {blocks.batch} graphs": (encoder, blocks),
        "default, 256 pairs": (encoder, replace(blocks, sampling="pairs", batch=256)),
        "paper: 256 pairs": paper,
    }
    speeds, trainings = [], []
    for name in arguments.sets:
        task, goal = task_of(name, root, arguments.cache, arguments.graphs), GOALS[name]
        with one_thread():
            for way, (network, training) in ways.items():
                speeds.append({"set": name, "way": way, **timed_steps(task, network, training, arguments.timed)})
                print(speeds[-1], flush=True)
            rows, steps = full_training(task, arguments.steps)
        best = max(rows, key=lambda row: row[1])
        near = next(row for row in rows if row[1] >= best[1] - NEAR)
        trainings.append(
            {"set": name, "training graphs": len(task.training), "steps": steps, "best τ": round(best[1], 4),
             "best step": best[0], "to the best, CPU s": round(best[2], 1), "to the best, wall s": round(best[3], 1),
             f"to within {NEAR}, CPU s": round(near[2], 1), "whole, CPU s": round(rows[-1][2], 1)}
        )  # fmt: skip
        print(trainings[-1], flush=True)
        report.check(f"{name}: validation τ above the paper's {goal.tau}", best[1] > goal.tau, f"{best[1]:.3f}")
        if goal.seconds is not None:
            report.check(
                f"{name}: best validation within {goal.seconds:g} s of one core", best[2] <= goal.seconds,
                f"{best[2]:.0f} s",
            )  # fmt: skip
    report.table("Speed, one thread; share of CPU time by part, validation as often as in training", speeds)
    report.table("The default preset, trained", trainings)
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
