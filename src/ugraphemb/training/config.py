"""Settings of training, saved as JSON beside the weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

Sampling = Literal["blocks", "pairs"]
Schedule = Literal["constant", "cosine"]
Loss = Literal["squared", "interval"]
Selection = Literal["loss", "tau", "last"]


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of the training loop.

    Attributes:
        sampling: "blocks" takes `batch` graphs and every known pair among them; "pairs" takes `batch` independent
            pairs, as in the paper.
        batch: Graphs (blocks) or pairs per step.
        steps: Maximum number of steps.
        steps_a_graph: Steps per training graph, if that is more than `steps`, up to three times `steps`. 0 is off. It
            has no effect if `steps` is given.
        learning_rate: Maximum learning rate of Adam.
        muon: Maximum learning rate of Muon for the matrices of the convolutions; 0 uses Adam for them.
        schedule: "constant", or "cosine": a short warm-up, then a decrease to 1%.
        loss: "squared" error, or "interval": zero between an unproven pair's lower and upper bound.
        relative: Gives near pairs more weight: an error is divided by (value / mean + relative), the mean being
            over all pairs; 0 is off.
        muon_dense: Use Muon for the dense layers, too: slower but more effective steps; overfits small collections.
        muon_decay: Muon's decoupled weight decay. All its steps have the same length, so that in long training matrices
            without decay become ever larger, and steps ever smaller relative to them.
        listwise: Weight of the listwise ranking loss: for each graph of a block, the Kullback–Leibler divergence of
            softmax(−distance / 0.1) over the other graphs between true and predicted distances. It gives the nearest
            graphs the most weight. 0 is off.
        average: Decay of the running mean of weights that is validated and kept; 0 keeps the weights themselves.
        weight_decay: Adam's decoupled weight decay.
        clip: Maximum norm of a gradient; larger ones are scaled down to it. 0 is off.
        selection: Which weights are kept: those with the lowest validation "loss" or the highest Kendall "tau"; "last"
            keeps the weights of the last step.
        validate_every: Steps between validations.
        patience: Validations without a better one after which training stops; 0 never stops early.
        augment: Share of fresh graphs, generated from the training graphs, in each block whose true distances are
            computed during training; 0 means none.
        steps_a_block: Number of steps after which a new block becomes available.
        mined: Share of such blocks that consist of training graphs and their nearest neighbors by current vectors.
        checkpoint_seconds: Seconds between checkpoints, if a checkpoint file is given.
    """

    sampling: Sampling = "pairs"
    batch: int = 256
    steps: int = 20_000
    steps_a_graph: int = 0
    learning_rate: float = 0.001
    muon: float = 0.0
    muon_dense: bool = False
    muon_decay: float = 0.0
    schedule: Schedule = "constant"
    loss: Loss = "squared"
    relative: float = 0.0
    listwise: float = 0.0
    average: float = 0.0
    weight_decay: float = 0.0
    clip: float = 0.0
    selection: Selection = "loss"
    validate_every: int = 500
    patience: int = 0
    augment: float = 0.0
    steps_a_block: int = 20
    mined: float = 0.0
    checkpoint_seconds: float = 60.0

    def __post_init__(self) -> None:
        for name, names in (
            ("sampling", Sampling), ("schedule", Schedule), ("loss", Loss), ("selection", Selection),
        ):  # fmt: skip
            if getattr(self, name) not in get_args(names):
                choices = ", ".join(map(repr, get_args(names)))
                raise ValueError(f"{name}={getattr(self, name)!r}; it is one of {choices}")
        if self.batch < 2 or self.steps < 1 or self.learning_rate <= 0 or self.validate_every < 1:
            raise ValueError("batch must be at least 2, steps, learning_rate and validate_every positive")
        if self.muon_decay < 0 or self.weight_decay < 0:
            raise ValueError("muon_decay and weight_decay cannot be negative")
        if not (0 <= self.augment < 1 and 0 <= self.mined <= 1 and self.steps_a_block >= 1):
            raise ValueError("augment and mined are shares, augment below 1; steps_a_block must be positive")

    def of(self, graphs: int) -> TrainingConfig:
        """The same settings, with the number of steps for this many training graphs."""
        return replace(self, steps=max(self.steps, min(self.steps_a_graph * graphs, 3 * self.steps)), steps_a_graph=0)
