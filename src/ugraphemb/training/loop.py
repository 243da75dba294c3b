"""The training loop."""

from __future__ import annotations

import copy
import math
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.heads import among
from ugraphemb.encoder.model import Network
from ugraphemb.errors import TrainingError
from ugraphemb.proximity.table import PairTable
from ugraphemb.training.checkpoints import identity, read_checkpoint, write_checkpoint
from ugraphemb.training.config import TrainingConfig
from ugraphemb.training.interruptions import HeldSignals
from ugraphemb.training.losses import ERRORS, listwise
from ugraphemb.training.online import OnlineBlocks
from ugraphemb.training.optimizers import optimizer_of
from ugraphemb.training.passes import Passes, embedded
from ugraphemb.training.processes import average, rank
from ugraphemb.training.sampling import Blocks, Pairs, Sampler
from ugraphemb.training.validation import Score, Validation

Positions = npt.NDArray[np.int64]
Column = npt.NDArray[Any]

_WARM_UP = 100  # steps
_LOWEST = 0.01  # factor of the learning rate at the end of the cosine schedule


@dataclass(frozen=True)
class Report:
    """Result of one validation, for the progress line, the CSV file and TensorBoard."""

    step: int
    steps: int
    loss: float
    score: Score
    best: Score
    seconds: float


History = tuple[tuple[int, float, float, float], ...]


@dataclass(frozen=True)
class State:
    """State of a run in addition to weights, optimizer and random generator. A validation replaces it as a whole.

    Attributes:
        step: Steps taken.
        running: Running mean of the training loss.
        best, best_step, best_weights: Score, step and weights of the best validation; step 0 means none so far.
        history: Rows of step, training loss, validation loss and τ.
    """

    step: int = 0
    running: float = float("nan")
    best: Score = field(default_factory=lambda: Score(math.nan, math.nan))
    best_step: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    history: History = ()


@dataclass(frozen=True)
class Outcome:
    """The best validation's score and step; `history` rows are step, training loss, validation loss and τ."""

    best: Score
    best_step: int
    steps: int
    interrupted: bool
    history: list[tuple[int, float, float, float]]


def train(
    network: Network,
    collator: Collator,
    table: PairTable,
    training: Positions,
    held_out: Positions,
    config: TrainingConfig,
    *,
    seed: int,
    device: torch.device,
    online: OnlineBlocks | None = None,
    start: str | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    report: Callable[[Report], None] = lambda report: None,
    tick: Callable[[int, float], None] = lambda step, loss: None,
) -> Outcome:
    """Trains `network` in place and leaves it with the weights that `config.selection` selects.

    Ctrl-C and, if there is a checkpoint, SIGTERM take effect after the current step or validation; a second signal
    takes effect at once. The checkpoint is saved, unless the second signal interrupts a step. After Ctrl-C the best
    network so far is kept; SIGTERM raises SystemExit.

    Args:
        table: Result of `known_pairs` for the collection of the collator.
        training, held_out: Positions in the collection.
        online: Blocks whose true distances are computed during training; used instead of the pairs of training graphs
            in the table, or in addition to them.
        start: Identifies the weights that `network` has, if they are not those of its seed; part of the checkpoint.
        checkpoint: A file; written every `config.checkpoint_seconds`, when interrupted, and at the end. With several
            processes (processes.py) the first one writes it, and all read it.
        resume: Continue from `checkpoint` if it exists; the result is the same as without the interruption. `steps` may
            be larger than when the checkpoint was written; a cosine schedule then ends at the new last step.
        report: Called after each validation.
        tick: Called after each step with its number and the running mean of the loss.
    """
    run = _Run(network, collator, table, training, held_out, config, seed, device, online, start)
    written = checkpoint if rank() == 0 else None
    if resume and checkpoint is not None and checkpoint.exists():
        read_checkpoint(checkpoint, run)
    started = last_written = time.monotonic()
    interrupted = False
    held = HeldSignals(signal.SIGINT, *([] if checkpoint is None else [signal.SIGTERM]))
    with held, nullcontext() if online is None else online.working():
        try:
            while True:
                if run.is_due():  # also after resuming between a step and its validation
                    score = run.validate()
                    seconds = time.monotonic() - started
                    report(Report(run.state.step, config.steps, run.state.running, score, run.state.best, seconds))
                if held.received is not None or run.state.step >= config.steps or run.exhausted():
                    break
                run.one_step()
                tick(run.state.step, run.state.running)
                if written is not None and time.monotonic() - last_written > config.checkpoint_seconds:
                    write_checkpoint(written, run)
                    last_written = time.monotonic()
        except KeyboardInterrupt:
            interrupted = True
        if written is not None and not run.is_mid_step:
            write_checkpoint(written, run)
    if held.received == signal.SIGTERM:
        warnings.warn(f"stopped by SIGTERM at step {run.state.step}; {checkpoint} is saved", stacklevel=3)
        raise SystemExit(128 + signal.SIGTERM)
    if run.state.best_step == 0:  # stopped before the first validation
        run.validate()
    state = run.state
    network.load_state_dict(state.best_weights)
    interrupted = interrupted or held.received is not None
    return Outcome(state.best, state.best_step, state.step, interrupted, list(state.history))


class _Run:
    """Everything that changes during one training run."""

    def __init__(
        self, network: Network, collator: Collator, table: PairTable, training: Positions, held_out: Positions,
        config: TrainingConfig, seed: int, device: torch.device, online: OnlineBlocks | None = None,
        start: str | None = None,
    ) -> None:  # fmt: skip
        self.network, self.collator, self.table, self.training, self.held_out = (
            network, collator, table, training, held_out,
        )  # fmt: skip
        self.config, self.seed, self.device, self.online, self.start = config, seed, device, online, start
        self.average = copy.deepcopy(network) if config.average else network
        self.optimizer = optimizer_of(network, config)
        self.generator = np.random.default_rng(seed)
        sampler = Blocks if config.sampling == "blocks" else Pairs
        if online is None or online.share < 1:
            self.passes = Passes(network, collator, device)
            self.sampler: Sampler = sampler(table, training, config.batch)
        self.validation = Validation(table, training, held_out, seed)
        self.typical = float(np.mean(table.value)) or 1.0
        self.state = State()
        self.is_mid_step = False  # while True, weights and generator are inconsistent and must not be saved

    @cached_property
    def identity(self) -> dict[str, Any]:
        return identity(self)

    def one_step(self) -> None:
        self.is_mid_step = True
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial"] * _rate(self.state.step, self.config)
        loss = self._loss(*self._drawn())
        if not torch.isfinite(loss):
            raise TrainingError(
                f"the loss became {float(loss.detach())} at step {self.state.step + 1}: the learning rate "
                f"({self.config.learning_rate}) may be too high, or the distances hold values that are not finite"
            )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        average(self.network)
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip)
        self.optimizer.step()
        now, state = float(loss.detach()), self.state
        running = now if math.isnan(state.running) else 0.98 * state.running + 0.02 * now
        if self.config.average:
            self._follow(state.step + 1)
        self.state = replace(state, step=state.step + 1, running=running)
        self.is_mid_step = False

    def _drawn(self) -> tuple[Tensor, Positions, Positions, Column, Column, Column]:
        """Vectors of the graphs of a step; first, second, value, lower and upper bound of known pairs of them."""
        is_cuda = self.device.type == "cuda"
        if self.online is not None and (self.online.share == 1 or self.generator.random() < self.online.share):
            head = self.network.config.head
            block = self.online.drawn(self.state.step, self.generator, self._current, head)
            if not self.network.training:
                self.network.train()
            with torch.autocast(self.device.type, enabled=is_cuda):
                vectors = self.network(block.rows.to(self.device))
            first, second, value = block.pairs
            return vectors.float(), first, second, value, value, value
        graphs, first, second, rows = self.sampler.draw(self.generator)
        if not self.network.training:
            self.network.train()
        with torch.autocast(self.device.type, enabled=is_cuda):
            vectors = self.passes.vectors(graphs)
        table = self.table
        return vectors.float(), first, second, table.value[rows], table.lower[rows], table.upper[rows]

    def _current(self, chosen: Positions) -> Column:
        """Vectors of some training graphs with the current weights."""
        return embedded(self.network, self.collator, self.training[chosen], self.device).numpy()

    def _loss(self, vectors: Tensor, *pairs: npt.NDArray[Any]) -> Tensor:
        left, right, value, lower, upper = (torch.from_numpy(column).to(self.device) for column in pairs)
        predicted = among(vectors, left, right, self.network.config.head)
        errors = ERRORS[self.config.loss](predicted, value, lower, upper)
        if self.config.relative:
            errors = errors / (value / self.typical + self.config.relative).square()
        loss = errors.mean()
        if self.config.listwise:
            loss = loss + self.config.listwise * listwise(predicted, value, left, right, len(vectors))
        return loss

    def _follow(self, step: int) -> None:
        decay = min(self.config.average, (step + 1) / (step + 10))
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), self.network.parameters(), strict=True):
                slow.lerp_(fast, 1 - decay)
            for kept, seen in zip(self.average.buffers(), self.network.buffers(), strict=True):
                kept.copy_(seen)

    def validate(self) -> Score:
        """Scores the network and keeps its weights if they are the best so far; if interrupted, nothing is changed."""
        score = self.validation.score(self.average, self.collator, self.device)
        state = self.state
        fresh = replace(state, history=(*state.history, (state.step, state.running, score.loss, score.tau)))
        if state.best_step == 0 or score.is_better_than(state.best, self.config.selection):
            weights = copy.deepcopy(self.average.state_dict())
            fresh = replace(fresh, best=score, best_step=state.step, best_weights=weights)
        self.state = fresh
        return score

    def is_due(self) -> bool:
        """Whether a validation is due after the last step and has not been done."""
        step, history = self.state.step, self.state.history
        seen = bool(history) and history[-1][0] == step
        return step > 0 and not seen and (step % self.config.validate_every == 0 or step == self.config.steps)

    def exhausted(self) -> bool:
        waited = (self.state.step - self.state.best_step) / self.config.validate_every
        return bool(self.config.patience and self.state.best_step and waited >= self.config.patience)


def _rate(step: int, config: TrainingConfig) -> float:
    if config.schedule == "constant":
        return 1.0
    wave = 0.5 * (1 + math.cos(math.pi * step / config.steps))
    return min(1.0, (step + 1) / _WARM_UP) * (_LOWEST + (1 - _LOWEST) * wave)
