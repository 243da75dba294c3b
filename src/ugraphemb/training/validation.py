"""Scores of a network on graphs that it was not trained on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.heads import between
from ugraphemb.encoder.model import Network
from ugraphemb.proximity.table import PairTable
from ugraphemb.training.config import Selection
from ugraphemb.training.kendall import mean_tau
from ugraphemb.training.passes import embedded

Positions = npt.NDArray[np.int64]

_QUERIES, _DATABASE = 128, 1_000  # maximum numbers; more would only make validation slower


@dataclass(frozen=True)
class Score:
    """Mean squared error, and Kendall's τ-b of each query's ranking, averaged over the queries."""

    loss: float
    tau: float

    def is_better_than(self, other: Score, selection: Selection) -> bool:
        """By lower loss or higher τ. NaN is worse than any number; if both τ are NaN, the loss decides."""
        if selection == "last":
            return True
        if selection == "tau" and not (math.isnan(self.tau) and math.isnan(other.tau)):
            return self.tau > other.tau or math.isnan(other.tau)
        return self.loss < other.loss or (math.isnan(other.loss) and not math.isnan(self.loss))


def validation_graphs(train: Positions, held_out: Positions, seed: int) -> tuple[Positions, Positions]:
    """Positions of the queries and the database of `Validation`."""
    generator = np.random.default_rng(seed)
    queries = np.sort(generator.permutation(held_out)[:_QUERIES])
    return queries, np.sort(generator.permutation(train)[:_DATABASE])


class Validation:
    """Validation graphs are the queries, training graphs the database; fixed random samples if there are many."""

    def __init__(self, table: PairTable, train: Positions, held_out: Positions, seed: int) -> None:
        self.queries, self.database = validation_graphs(train, held_out, seed)
        rows = table.rows(self.queries, self.database)
        self.known = rows >= 0
        if not self.known.any():
            raise ValueError("no pair of a validation graph and a training graph has a known proximity")
        self.value = np.where(self.known, table.value[rows], 0.0)

    def score(self, network: Network, collator: Collator, device: torch.device) -> Score:
        queries = embedded(network, collator, self.queries, device).numpy()
        database = embedded(network, collator, self.database, device).numpy()
        predicted = between(queries, database, network.config.head)
        loss = np.square(predicted - self.value)[self.known].mean()
        return Score(float(loss), mean_tau(predicted, self.value, self.known))
