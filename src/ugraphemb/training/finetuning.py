"""Fine-tuning on classes: cross-entropy through the network, then class layers (UGraphEmb-F in the paper)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.heads import among
from ugraphemb.encoder.model import Network
from ugraphemb.errors import TrainingError
from ugraphemb.graphs import GraphSet
from ugraphemb.training.class_fitting import fit_classes
from ugraphemb.training.passes import Passes, embedded

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Finetuning:
    """Settings of fine-tuning; experiments/results/finetuning.md shows the effect of each.

    Attributes:
        epochs: Passes through the training graphs.
        most_steps: Maximum number of steps.
        batch: Graphs per step.
        learning_rate: Maximum learning rate of AdamW for the layers after the vector; a cosine decreases it to 0.
        encoder_rate: Maximum learning rate of the network.
        weight_decay: Weight decay of AdamW.
        dropout: Dropout of the hidden layer after the vector; the vector has half of it.
        keep: Weight of the loss that penalizes relative changes of the distances between the graphs of a batch.
        trusting: Let rare labels learn as fast as others (see `label_trust` of EncoderConfig); vectors start the same.
    """

    epochs: int = 15
    most_steps: int = 2_000
    batch: int = 64
    learning_rate: float = 0.002
    encoder_rate: float = 0.0005
    weight_decay: float = 0.01
    dropout: float = 0.5
    keep: float = 10.0
    trusting: bool = True

    def steps(self, graphs: int) -> int:
        """Number of steps for this many training graphs."""
        return max(1, min(self.most_steps, self.epochs * graphs // min(self.batch, graphs)))


def finetune(
    network: Network,
    collator: Collator,
    graphs: GraphSet,
    classes: Positions,
    training: Positions,
    held_out: Positions,
    *,
    settings: Finetuning,
    steps: int,
    seed: int,
    device: torch.device,
    report: Callable[[int, float, float], None] = lambda step, loss, accuracy: None,
) -> dict[str, float]:
    """Trains `network` in place and adds class layers to it.

    Args:
        classes: The class of each graph of the collection, from 0.
        training, held_out: Positions in `graphs`, the collection of `collator`; the weights with the highest accuracy
            on the held-out graphs are kept.
        report: Called after each validation with the step, the loss and the accuracy.

    Returns:
        Accuracies: "network" on the held-out graphs, "classes" as `fit_classes` returns it.
    """
    everything = np.arange(len(graphs))
    before = embedded(network, collator, everything, device).numpy()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if settings.trusting:
            network.inputs.trust_all_labels()
        stage = _Stage(network, collator, classes, settings, device)
        accuracy = stage.train(training, held_out, steps, np.random.default_rng(seed), report) if steps else 0.0
    vectors = embedded(network, collator, everything, device).numpy()
    learned = fit_classes(network, graphs, vectors, classes, held_out, seed, before=before)
    return {"network": accuracy, "classes": learned}


class _Stage:
    """Trains the network through temporary layers after the vector, which are discarded afterwards."""

    def __init__(
        self, network: Network, collator: Collator, classes: Positions, settings: Finetuning, device: torch.device
    ) -> None:
        width, dropout = network.config.dimension, settings.dropout
        hidden = [
            nn.BatchNorm1d(width),
            nn.Dropout(dropout / 2),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(dropout),
        ]
        network.classes = None
        self.top = nn.Sequential(*hidden, nn.Linear(width, int(classes.max()) + 1)).to(device)
        self.network, self.collator, self.settings, self.device = network, collator, settings, device
        self.classes = torch.from_numpy(classes).to(device)

    def train(
        self, training: Positions, held_out: Positions, steps: int, generator: np.random.Generator,
        report: Callable[[int, float, float], None],
    ) -> float:  # fmt: skip
        settings, network = self.settings, self.network
        before = embedded(network, self.collator, np.arange(len(self.classes)), self.device).to(self.device)
        optimizer = torch.optim.AdamW(
            [
                {"params": list(self.top.parameters()), "lr": settings.learning_rate},
                {"params": list(network.parameters()), "lr": settings.encoder_rate},
            ],
            weight_decay=settings.weight_decay,
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min(1, 10 * (step + 1) / steps) * (1 + cos(pi * step / steps)) / 2
        )
        passes = Passes(network, self.collator, self.device)
        every, batch = max(1, steps // 10), min(settings.batch, len(training))
        best, weights, order = -1.0, copy.deepcopy(network.state_dict()), np.empty(0, np.int64)
        for step in range(1, steps + 1):
            network.train()
            self.top.train()
            if len(order) < batch:
                order = generator.permutation(training)
            chosen, order = order[:batch], order[batch:]
            loss = self._loss(passes.vectors(chosen), before[torch.from_numpy(chosen)], chosen)
            if not torch.isfinite(loss):
                raise TrainingError(f"the loss became {float(loss.detach())} at step {step} of fine-tuning")
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if step % every == 0 or step == steps:
                accuracy = self._accuracy(held_out)
                report(step, float(loss.detach()), accuracy)
                if accuracy > best:
                    best, weights = accuracy, copy.deepcopy(network.state_dict())
        network.load_state_dict(weights)
        return best

    def _loss(self, vectors: Tensor, before: Tensor, chosen: Positions) -> Tensor:
        loss = nn.functional.cross_entropy(self.top(vectors), self.classes[torch.from_numpy(chosen)])
        if self.settings.keep:
            left, right = torch.triu_indices(len(chosen), len(chosen), 1)
            old, new = (among(which, left, right, self.network.config.head) for which in (before, vectors))
            loss = loss + self.settings.keep * ((new - old) / (old.abs() + old.abs().mean() / 5)).square().mean()
        return loss

    def _accuracy(self, chosen: Positions) -> float:
        self.top.eval()
        with torch.inference_mode():
            vectors = embedded(self.network, self.collator, chosen, self.device).to(self.device)
            guesses = self.top(vectors).argmax(1)
            return float((guesses == self.classes[torch.from_numpy(chosen)]).double().mean())
