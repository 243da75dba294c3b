"""Fine-tuning on labels: dense layers from the vector to the classes, and cross-entropy (the paper's UGraphEmb-F)."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.model import Network
from ugraphemb.errors import TrainingError
from ugraphemb.training.passes import Passes, embedded

Positions = npt.NDArray[np.int64]


def finetune(
    network: Network,
    collator: Collator,
    classes: Positions,
    training: Positions,
    held_out: Positions,
    *,
    learning_rate: float,
    batch: int,
    steps: int,
    seed: int,
    device: torch.device,
    report: Callable[[int, float, float], None] = lambda step, loss, accuracy: None,
) -> float:
    """Trains `network` in place towards vectors that tell the classes apart; returns the best validation accuracy.

    Args:
        classes: The class of each graph of the collection, from 0.
        training, held_out: Positions; the weights that do best on the held-out graphs are kept.
        batch: Graphs a step.
        report: Called after each validation with the step, the loss and the accuracy.
    """
    torch_generator = torch.Generator().manual_seed(seed)
    generator = np.random.default_rng(seed)
    dimension = network.config.dimension
    top = nn.Sequential(nn.Linear(dimension, dimension), nn.ReLU(), nn.Linear(dimension, int(classes.max()) + 1))
    with torch.no_grad():
        for parameter in top.parameters():
            parameter.uniform_(-(dimension**-0.5), dimension**-0.5, generator=torch_generator)
    top.to(device)
    optimizer = torch.optim.Adam([*network.parameters(), *top.parameters()], learning_rate)
    passes = Passes(network, collator, device)
    every = max(1, min(50, steps // 10))
    best, weights = -1.0, copy.deepcopy(network.state_dict())
    for step in range(1, steps + 1):
        network.train()
        chosen = generator.choice(training, min(batch, len(training)), replace=False)
        scores = top(passes.vectors(chosen))
        loss = nn.functional.cross_entropy(scores, torch.from_numpy(classes[chosen]).to(device))
        if not torch.isfinite(loss):
            raise TrainingError(f"the loss became {float(loss.detach())} at step {step} of fine-tuning")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step % every == 0 or step == steps:
            with torch.inference_mode():
                guesses = top(embedded(network, collator, held_out, device).to(device)).argmax(1).cpu().numpy()
            accuracy = float(np.mean(guesses == classes[held_out]))
            report(step, float(loss.detach()), accuracy)
            if accuracy > best:
                best, weights = accuracy, copy.deepcopy(network.state_dict())
    network.load_state_dict(weights)
    return best
