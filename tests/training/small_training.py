"""A training that takes a few hundredths of a second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

import ugraphemb as ug
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.model import Network
from ugraphemb.training.config import TrainingConfig
from ugraphemb.training.known_pairs import known_pairs
from ugraphemb.training.loop import Outcome, train

ENCODER = EncoderConfig(layers=(6,), readout="sum", dimension=8, head="l2", degree=True, batch_norm=True)
TRAINING = TrainingConfig(
    clip=1.0,
    sampling="blocks",
    batch=10,
    steps=6,
    learning_rate=0.01,
    average=0.9,
    validate_every=2,
    checkpoint_seconds=1e9,
)
HELD_OUT = np.arange(0, 30, 5)


@lru_cache
def graphs() -> ug.GraphSet:
    return ug.load_dataset("atlas")[60:90]


@lru_cache
def table() -> ug.PairTable:
    return known_pairs(ug.pairwise(graphs(), progress=False, method="branch"))


def with_values(value: Any) -> ug.PairTable:
    """The same pairs with other values, all proven."""
    return replace(table(), lower=value, upper=value, proven=np.ones(len(value), bool))


@dataclass
class Training:
    """The arguments of `train`, each of which a test may change."""

    config: TrainingConfig = TRAINING
    encoder: EncoderConfig = ENCODER
    held_out: Any = None
    table: Any = None
    vocabulary: Vocabulary | None = None
    seed: int = 0

    def __call__(self, **options: Any) -> tuple[dict[str, torch.Tensor], Outcome]:
        """The weights after training, and its outcome."""
        held_out = HELD_OUT if self.held_out is None else self.held_out
        training = np.setdiff1d(np.arange(len(graphs())), held_out)
        vocabulary = self.vocabulary or Vocabulary.of(graphs(), self.encoder)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            network = Network(self.encoder, vocabulary)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            outcome = train(
                network, Collator(graphs(), vocabulary, self.encoder), self.table or table(), training, held_out,
                self.config, seed=self.seed, device=torch.device("cpu"), **options,
            )  # fmt: skip
        finally:
            torch.set_num_threads(threads)
        return network.state_dict(), outcome

    def but(self, **changes: Any) -> Training:
        return replace(self, **changes)


def same(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(value, right[name]) for name, value in left.items())
