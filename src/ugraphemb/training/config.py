"""How an encoder is trained: settings, saved as JSON beside the weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

Sampling = Literal["blocks", "pairs"]
Schedule = Literal["constant", "cosine"]
Loss = Literal["squared", "interval"]
Selection = Literal["loss", "tau"]


@dataclass(frozen=True)
class TrainingConfig:
    """The loop.

    Attributes:
        sampling: "blocks" takes `batch` graphs and every known pair among them; "pairs" takes `batch` independent
            pairs, which is the paper's way.
        batch: Graphs (blocks) or pairs a step.
        steps: How many steps at most.
        steps_a_graph: Many training graphs get so many steps each, if that is more, but never more than three times
            `steps`. 0 is off, and so it is where `steps` is chosen.
        learning_rate: Adam's, at its highest.
        schedule: "constant", or "cosine": a short warm-up, then down to a hundredth.
        loss: "squared" error, or "interval": zero between an unproven pair's lower and upper bound.
        relative: Makes near pairs count more: an error is divided by (value / mean + relative), the mean being that of
            all pairs; 0 takes errors as they are.
        average: Decay of the running mean of weights that is validated and kept; 0 keeps the weights themselves.
        weight_decay: Adam's decoupled weight decay.
        selection: What "best on validation" means: the lowest "loss" or the highest Kendall "tau".
        validate_every: Steps between validations.
        patience: Validations without a better one after which training stops; 0 never stops early.
        checkpoint_seconds: Seconds between checkpoints, where a folder for them is given.
    """

    sampling: Sampling = "pairs"
    batch: int = 256
    steps: int = 20_000
    steps_a_graph: int = 0
    learning_rate: float = 0.001
    schedule: Schedule = "constant"
    loss: Loss = "squared"
    relative: float = 0.0
    average: float = 0.0
    weight_decay: float = 0.0
    selection: Selection = "loss"
    validate_every: int = 500
    patience: int = 0
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

    def of(self, graphs: int) -> TrainingConfig:
        """With the number of steps for so many training graphs."""
        return replace(self, steps=max(self.steps, min(self.steps_a_graph * graphs, 3 * self.steps)), steps_a_graph=0)
