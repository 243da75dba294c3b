"""Proximity of many pairs of graphs."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph, GraphSet, GraphsLike, graphs_of
from ugraphemb.progress import progress_of
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.distance import checked_timeout
from ugraphemb.proximity.executors import Job, Pieces, away, here
from ugraphemb.proximity.metrics import Columns, Metric, Positions, Run, metric_of
from ugraphemb.proximity.store import Store, targets_mark
from ugraphemb.proximity.table import PairTable
from ugraphemb.workers import Workers

Pairs = npt.ArrayLike | GraphSet


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `pairwise`; `table` contains the finished pairs."""

    def __init__(self, table: PairTable) -> None:
        super().__init__(f"{len(table)} pairs were finished")
        self.table = table


def pairwise(
    graphs: GraphsLike,
    pairs: Pairs | None = None,
    *,
    other: GraphsLike | None = None,
    metric: str | Metric | Callable[[Graph, Graph], float] = "ged",
    method: str | None = None,
    costs: EditCosts | None = None,
    limit: float | None = None,
    threads: int = 0,
    timeout: float | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
    store: str | os.PathLike[str] | None = None,
    executor: Workers | None = None,
    **options: Any,
) -> PairTable:
    """Proximity of each pair of graphs.

    Args:
        graphs: The collection that `pairs` indexes, in any form that `ugraphemb.graphs.graphs_of` takes.
        pairs: Positions in `graphs`, shape (p, 2); None means all pairs i < j. A GraphSet is the same as `other`.
        other: A second collection. The right positions of `pairs` index it; None then means every graph of `graphs`
            with every graph of `other`.
        metric: "ged", "mcs", a kernel ("wl", "sp", "graphlet"), "labels", a metric object, or any function of two
            graphs, together with `kind="distance"` or `kind="similarity"`.
        method: Solver of edit distance. "tight", the default, gives the best bounds for its time; "exact" is exact;
            "beam", "hungarian", "vj", "refine" and "paper" are upper bounds, "hed" is a lower one; "branch" gives both.
        costs: Edit costs; every edit costs 1 by default. `EditCosts(edge_relabel=0)` ignores edge labels.
        limit: For edit distance. If the distance of a pair is at most `limit`, the answer is the same as without a
            limit; otherwise the solver stops as soon as `lower > limit` is proven. With "exact",
            `table.where(table.upper <= limit)` selects exactly the pairs within the limit.
        threads: 0 uses all cores. The result does not depend on it.
        timeout: Seconds per pair; after that the best bounds so far are returned, with proven=False.
        progress: None shows a progress bar on a terminal after two seconds; True and False force it. A function is
            called with the number of finished pairs and the number of pairs.
        store: A folder to which finished pairs are written every few seconds. When the same call is repeated, after a
            crash or with more pairs, stored pairs are not computed again.
        executor: Workers that compute the pairs: a number of processes, a Dask client, the address of a Dask scheduler,
            or any concurrent.futures.Executor. `threads` is then the threads for one piece of work, 1 by default.
        options: Options of the metric: `beam_width=80` for "ged", `connected=False` and `edge_labels=False` for "mcs".

    Raises:
        Interrupted: On Ctrl-C, within a fraction of a second, with the finished pairs. It is a KeyboardInterrupt.
        CostError: Costs that are invalid for these graphs, or that the method does not support.
        TableError: A store of other graphs, settings or another version, or one that cannot be written to.
        ClusterError: Workers of another version, or workers that died.

    Examples:
        >>> import networkx as nx
        >>> import ugraphemb as ug
        >>> table = ug.pairwise([nx.path_graph(3), nx.path_graph(5), nx.cycle_graph(5)], method="exact")
        >>> table
        PairTable(3 pairs of 3 graphs, ged exact, distance)
        >>> table.matrix().tolist()
        [[0.0, 4.0, 5.0], [4.0, 0.0, 1.0], [5.0, 1.0, 0.0]]
    """
    if isinstance(pairs, GraphSet):
        if other is not None:
            raise TypeError("two second collections: give `other` or a GraphSet as `pairs`, not both")
        pairs, other = None, pairs
    graphs = graphs_of(graphs)
    other = None if other is None else graphs_of(other)
    chosen = metric_of(metric, method=method, costs=costs, limit=limit, **options)
    right = graphs if other is None else other
    left_of, right_of = positions(pairs, graphs, other)
    if threads < 0:
        raise ValueError(f"threads is {threads}; it must be at least 1, or 0 for every core")
    out = Columns.empty(len(left_of))
    table = PairTable.of(chosen, graphs, other, left_of, right_of, out)
    seconds = checked_timeout(timeout)
    try:
        with progress_of(len(left_of), "pairs", progress) as tick:
            if store is None and executor is None:
                chosen.compute(graphs, right, left_of, right_of, Run(threads, seconds, tick), out)
            else:
                job = Job(chosen, graphs, right, seconds, threads if executor is None else max(threads, 1))
                _in_pieces(job, table, out, store, executor, tick)
    except KeyboardInterrupt:
        raise Interrupted(table.where(out.done)) from None
    return table


def _in_pieces(
    job: Job, table: PairTable, out: Columns, folder: str | os.PathLike[str] | None, executor: Workers | None,
    tick: Callable[[int], None],
) -> None:  # fmt: skip
    left_of, right_of = table.left, table.right
    with ExitStack() as stack:
        store = None
        if folder is not None:
            details = {
                "timeout": job.timeout,
                "targets": targets_mark(job.left, job.right) if job.metric.uses_targets else None,
            }
            store = stack.enter_context(Store(folder, table, details))
            store.fill(left_of, right_of, out)
        rows = np.flatnonzero(~out.done)
        known = len(out.done) - len(rows)
        pieces = Pieces(job, rows, left_of, right_of)
        hear = lambda done: tick(known + done)  # noqa: E731
        found = (
            here(job, pieces, left_of, right_of, hear)
            if executor is None
            else away(job, pieces, left_of, right_of, hear, executor)
        )
        for part, answers in found:
            if store is not None:
                store.add(left_of[part], right_of[part], answers)
            for name in ("lower", "upper", "proven", "done"):
                getattr(out, name)[part] = getattr(answers, name)


def positions(pairs: npt.ArrayLike | None, graphs: GraphSet, other: GraphSet | None) -> tuple[Positions, Positions]:
    """Left and right positions of each pair, checked; None means all of them."""
    if pairs is None:
        return _all_pairs(len(graphs)) if other is None else _all_across(len(graphs), len(other))
    chosen = np.asarray(pairs)
    if chosen.size == 0:
        chosen = chosen.astype(np.int32).reshape(0, 2)
    if chosen.ndim != 2 or chosen.shape[1] != 2 or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(f"pairs must be whole numbers of shape (p, 2), not {chosen.dtype} of shape {chosen.shape}")
    for side, size in ((0, len(graphs)), (1, len(graphs if other is None else other))):
        wrong = np.flatnonzero((chosen[:, side] < 0) | (chosen[:, side] >= size))
        if len(wrong):
            row = int(wrong[0])
            raise IndexError(f"pair {row} is {tuple(chosen[row].tolist())}, but positions go from 0 to {size - 1}")
    return np.ascontiguousarray(chosen[:, 0], np.int32), np.ascontiguousarray(chosen[:, 1], np.int32)


def _all_pairs(size: int) -> tuple[Positions, Positions]:
    """Every i < j, row by row."""
    each = np.arange(size, dtype=np.int32)
    right = np.concatenate([each[i + 1 :] for i in range(size)]) if size else each
    return np.repeat(each, np.arange(size - 1, -1, -1)), right


def _all_across(left: int, right: int) -> tuple[Positions, Positions]:
    return np.repeat(np.arange(left, dtype=np.int32), right), np.tile(np.arange(right, dtype=np.int32), left)
