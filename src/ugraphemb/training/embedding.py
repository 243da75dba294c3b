"""Embedding of graphs by workers."""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import GraphSet
from ugraphemb.progress import progress_of
from ugraphemb.workers import Workers, crew_of

Vectors = npt.NDArray[np.float32]

_GRAPHS_A_TASK = 16_384


class Model(Protocol):
    """The part of the interface of UGraphEmb that workers need."""

    @property
    def dimension_(self) -> int: ...

    def _embedded(self, collection: GraphSet, /) -> Vectors: ...


def for_workers(model: Any) -> Any:
    """A copy of a UGraphEmb to send to workers: on the CPU, with `threads` threads per worker, 1 by default."""
    copied = copy.copy(model).set_params(threads=max(model.threads, 1), progress=False, device="cpu")
    network = model._network
    if network is not None and next(network.parameters()).device.type != "cpu":
        copied.network_ = copy.deepcopy(network).cpu()
    return copied


def embedded_on_workers(model: Model, graphs: GraphSet, executor: Workers, progress: bool | None) -> Vectors:
    """The vector of each graph, computed by workers.

    Raises:
        ClusterError: Workers of another version, or workers that die repeatedly.
    """
    vectors = np.empty((len(graphs), model.dimension_), np.float32)
    with crew_of(executor) as crew, progress_of(len(graphs), "graphs embedded", progress) as tick:
        step = max(1, min(_GRAPHS_A_TASK, -(-len(graphs) // (2 * crew.size))))
        starts = iter(range(0, len(graphs), step))
        done = 0
        found = crew.results(
            _vectors,
            crew.share(for_workers(model)),
            lambda: next(starts, None),
            lambda start: (graphs[start : start + step],),
            glance=lambda: tick(done),
        )
        for start, part in found:
            vectors[start : start + step] = part
            done += len(part)
    return vectors


def _vectors(model: Model, graphs: GraphSet) -> Vectors:
    """Runs on a worker."""
    return model._embedded(graphs)
