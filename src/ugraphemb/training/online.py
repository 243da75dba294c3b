"""True distances computed during training: a thread computes the distances in blocks of training and fresh graphs.

The graphs of each block depend on the seed (and, if mined, on the weights); the blocks that a step may use depend only
on its number. A step waits for the block that it draws, so the weights do not depend on the speed of the machine.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ugraphemb.encoder.heads import between
from ugraphemb.encoder.names import Head
from ugraphemb.encoder.rows import Rows
from ugraphemb.graphs import GraphSet
from ugraphemb.proximity.ged import EditDistance
from ugraphemb.proximity.metrics import Metric
from ugraphemb.proximity.pairwise import pairwise
from ugraphemb.proximity.table import PairTable
from ugraphemb.training.config import TrainingConfig
from ugraphemb.training.fresh import FreshGraphs

Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Vectors = Callable[[Positions], Floats]

_NODES_KEPT = 1 << 20  # approximate number of nodes of prepared blocks in the cache
_AHEAD = 8  # blocks whose computation starts before they are needed
_SEARCHED = 1_000  # training graphs that are searched for near neighbors
_AROUND = 7  # near neighbors of each chosen graph of a mined block
_REMEMBERED = 5_000  # maximum number of training graphs for which distances are reused between blocks
_SMALL = 10  # nodes; up to this size, exact distances are as fast as tight ones


@dataclass(frozen=True)
class Truth:
    """How true distances are computed.

    Attributes:
        metric: The metric with all its settings.
        refined: Use exact edit distances if both graphs are small.
        threads, timeout: As in `pairwise`.
    """

    metric: Metric
    refined: bool = False
    threads: int = 1
    timeout: float | None = None

    def of_all_pairs(self, graphs: GraphSet, tick: Callable[[int, int], None], known: Floats | None = None) -> Floats:
        """Normalized proximity of each pair i < j, row by row; values in `known` that are not NaN are reused."""
        first, second = np.triu_indices(len(graphs), 1)
        value = np.full(len(first), np.nan, np.float32) if known is None else known.copy()
        small, wanted = np.zeros(len(first), bool), np.isnan(value)
        if self.refined and isinstance(self.metric, EditDistance):
            few = graphs.num_nodes <= _SMALL
            small = few[first] & few[second]
        for some, metric in ((wanted & ~small, self.metric), (wanted & small, self._exact())):
            pairs = np.stack([first[some], second[some]], axis=1)
            if len(pairs):
                found = pairwise(
                    graphs, pairs, metric=metric, threads=self.threads, timeout=self.timeout, progress=tick
                )
                value[some] = (found.normalized() if found.sizes else found).value
        return value

    def _exact(self) -> Metric:
        return EditDistance("exact", self.metric.costs) if isinstance(self.metric, EditDistance) else self.metric


@dataclass(frozen=True)
class Block:
    """Some graphs and the true proximity of all pairs of them.

    Attributes:
        rows: The graphs as input of the network.
        value: Proximity of each pair i < j, row by row; NaN if unknown.
    """

    rows: Rows
    value: Floats

    @property
    def pairs(self) -> tuple[Positions, Positions, Floats]:
        """First, second and value of each pair whose value is known."""
        first, second = np.triu_indices(self.rows.batch.size, 1)
        known = ~np.isnan(self.value)
        return first[known], second[known], self.value[known]


@dataclass
class OnlineBlocks:
    """The blocks of one run.

    Args:
        graphs: The training graphs.
        config: Number of graphs per block (`batch`), share of fresh graphs in a block (`augment`), steps between new
            blocks (`steps_a_block`), and share of mined blocks (`mined`).
        truth: How true distances are computed.
        prepared: Converts graphs to input of the network.
        share: Share of the steps that use these blocks; the others use a table.
        avoid: Graphs that must not be generated as fresh graphs.
    """

    graphs: GraphSet
    config: TrainingConfig
    truth: Truth
    prepared: Callable[[GraphSet], Rows]
    seed: int
    share: float = 1.0
    avoid: GraphSet | None = None
    _made: list[Future[tuple[GraphSet, Floats]]] = field(default_factory=list, init=False)
    _kept: OrderedDict[int, Rows] = field(default_factory=OrderedDict, init=False)
    _members: list[Positions] = field(default_factory=list, init=False)
    _values: dict[int, Floats] = field(default_factory=dict, init=False)
    _workers: ThreadPoolExecutor | None = field(default=None, init=False)
    _stopped: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._fresh = FreshGraphs(self.graphs, self.avoid)
        count = len(self.graphs) if len(self.graphs) <= _REMEMBERED else 0
        self._remembered = np.full((count, count), np.nan, np.float32)  # entries i < j

    @contextmanager
    def working(self) -> Iterator[None]:
        """Computes distances inside the `with` block; leaving it cancels the computation at once."""
        self._stopped, self._made = False, []
        with ThreadPoolExecutor(1, "truth") as self._workers:
            try:
                yield
            finally:
                self._stopped = True
                self._workers.shutdown(wait=False, cancel_futures=True)
        self._workers = None

    def drawn(self, step: int, generator: np.random.Generator, vectors: Vectors, head: Head) -> Block:
        """The block of this step; `vectors` computes current vectors of training graphs, for mining."""
        every = self.config.steps_a_block
        there = step // every + 1
        last = -(-self.config.steps // every)
        while len(self._made) < min(there + _AHEAD, last):
            self._ask(len(self._made), vectors, head)
        number = int(generator.integers(there))
        graphs, value = self._made[number].result()
        return Block(self._rows(number, graphs), value)

    def _rows(self, number: int, graphs: GraphSet) -> Rows:
        """The block as input of the network, from a cache of limited size: rows take much more memory than graphs."""
        if number not in self._kept:
            self._kept[number] = self.prepared(graphs)
        self._kept.move_to_end(number)
        while len(self._kept) * len(graphs.node_labels) > _NODES_KEPT and len(self._kept) > 1:
            self._kept.popitem(last=False)
        return self._kept[number]

    def _ask(self, number: int, vectors: Vectors, head: Head) -> None:
        assert self._workers is not None
        if number == len(self._members):
            self._members.append(self._chosen(number, vectors, head))
        self._made.append(self._workers.submit(self._make, number))

    def _chosen(self, number: int, vectors: Vectors, head: Head) -> Positions:
        """Random training graphs; in mined blocks random training graphs and their nearest neighbors by vectors."""
        generator = np.random.default_rng([self.seed, number, 0])
        count = len(self.graphs)
        wanted = min(count, max(2, round(self.config.batch * (1 - self.config.augment))))
        if not number or generator.random() >= self.config.mined or wanted >= count:
            return np.sort(generator.choice(count, wanted, replace=False))
        searched = np.sort(generator.choice(count, min(count, _SEARCHED), replace=False))
        found = vectors(searched)
        chosen = generator.choice(len(searched), max(1, wanted // (_AROUND + 1)), replace=False)
        nearest = np.argsort(between(found[chosen], found, head), axis=1, kind="stable")[:, : _AROUND + 1]
        return np.unique(searched[nearest])

    def _make(self, number: int) -> tuple[GraphSet, Floats]:
        """Generates the fresh graphs of a block and computes all its true distances. Runs in the thread."""
        members, value = self._members[number], self._values.get(number)
        old = self.graphs[members]
        count = max(0, self.config.batch - len(members)) if self.config.augment else 0
        fresh = self._fresh.made(members, count, np.random.default_rng([self.seed, number, 1]))
        graphs = old + fresh if len(fresh) else old
        if value is None:
            value = self._truth(graphs, members)
        self._values[number] = value
        return graphs, value

    def _truth(self, graphs: GraphSet, members: Positions) -> Floats:
        """True distances of a block whose first graphs are `members`; distances of members are reused later."""
        if not len(self._remembered):
            return self.truth.of_all_pairs(graphs, self._tick)
        first, second = np.triu_indices(len(graphs), 1)
        old = second < len(members)
        places = members[first[old]], members[second[old]]
        known = np.full(len(first), np.nan, np.float32)
        known[old] = self._remembered[places]
        value = self.truth.of_all_pairs(graphs, self._tick, known)
        self._remembered[places] = value[old]
        return value

    def _tick(self, done: int, of: int) -> None:
        if self._stopped:
            raise CancelledError

    @property
    def pairs(self) -> int:
        """Number of pairs in the blocks computed so far; a pair in several blocks counts several times."""
        return sum(map(len, list(self._values.values())))

    def state(self) -> dict[str, Any]:
        """The members and true distances of all blocks so far, for a checkpoint."""
        values = {str(number): torch.from_numpy(value) for number, value in list(self._values.items())}
        return {"members": [torch.from_numpy(members) for members in self._members], "values": values}

    def restore(self, state: dict[str, Any]) -> None:
        self._members = [members.numpy() for members in state["members"]]
        self._values = {int(number): value.numpy() for number, value in state["values"].items()}

    def identity(self) -> dict[str, Any]:
        """What the true distances depend on in addition to graphs and seed, as JSON."""
        truth = {"metric": self.truth.metric.name, **self.truth.metric.settings(), "refined": self.truth.refined}
        avoided = None if self.avoid is None else self.avoid.fingerprint
        return {**truth, "timeout": self.truth.timeout, "share": self.share, "avoid": avoided}


def is_computed_online(
    asked: str | None, augment: float | None, by_default: float, metric: Metric, given: PairTable | None
) -> bool:
    """Whether true distances are computed during training: by default for edit distances if the preset augments.

    Args:
        asked: "online", "table" or None.
        augment, by_default: Share of fresh graphs, and that of the preset, which is used if `augment` is None.
        given: Given proximities; the metric of fresh graphs must be the same.
    """
    if asked not in (None, "online", "table"):
        raise ValueError(f"truth={asked!r}; it is 'online' or 'table'")
    if asked == "table" and augment:
        raise ValueError("fresh graphs need truth='online'")
    if given is not None and asked == "online" and not augment:
        raise ValueError("truth='online', but proximities are given; augment=0.5 adds fresh graphs to them")
    if asked == "table" or (given is not None and not augment):
        return False
    is_edits = isinstance(metric, EditDistance)
    has_attributes = isinstance(metric, EditDistance) and metric.costs.attributes_count
    if asked is None and augment is None and (not by_default or not is_edits or has_attributes):
        return False
    if asked is None and augment == 0:
        return False
    if has_attributes:
        raise ValueError("fresh graphs have no attributes of their own: costs that count them need truth='table'")
    if metric.uses_targets:
        raise ValueError(f"metric {metric.name!r} needs targets, which fresh graphs do not have")
    if given is not None and (given.metric, given.settings) != (metric.name, metric.settings()):
        raise ValueError(f"proximities by {given.metric!r} {given.settings}, but fresh graphs would be by {metric}")
    return True
