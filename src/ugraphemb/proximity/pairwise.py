"""Proximity of many pairs of graphs."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph, GraphSet, GraphsLike, graphs_of
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.distance import checked_timeout
from ugraphemb.proximity.executors import Job, Pieces, away, here
from ugraphemb.proximity.metrics import Columns, Metric, Positions, Run, metric_of
from ugraphemb.proximity.progress import progress_of
from ugraphemb.proximity.store import Store, targets_mark
from ugraphemb.proximity.table import PairTable

Pairs = npt.ArrayLike | GraphSet


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `pairwise`; `table` holds the pairs that were finished."""

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
    executor: Executor | None = None,
    **options: Any,
) -> PairTable:
    """Proximity of each pair of graphs.

    Args:
        graphs: The collection that `pairs` indexes, of any kind: see `ugraphemb.graphs.graphs_of`.
        pairs: Positions in `graphs`, shape (p, 2); None is every i < j. Another GraphSet is the same as `other`.
        other: A second collection: the right positions of `pairs` lie in it, and None is every graph of `graphs` with
            every graph of `other`.
        metric: "ged", "mcs", a kernel ("wl", "sp", "graphlet"), "labels", a metric object, or any function of two
            graphs, together with `kind="distance"` or `kind="similarity"`.
        method: Of edit distance. "tight", the default, gives the best bounds for the time; "exact" is exact; "beam",
            "hungarian", "vj", "refine" and "paper" never go below it, "hed" never above; "branch" gives both bounds.
        costs: Of edits; every edit costs 1 by default. `EditCosts(edge_relabel=0)` lets labels of edges not count.
        limit: Of edit distance, for "which pairs are within this?": up to it the answer is that without a limit;
            beyond, the work on a pair stops as soon as `lower > limit` is shown. With "exact",
            `table.where(table.upper <= limit)` are the pairs within it.
        threads: 0 uses every core. The answer does not depend on it.
        timeout: Seconds for one pair; past it the best bounds so far are returned, unproven.
        progress: None shows a bar on a terminal for anything over two seconds; True and False force it. A function is
            called with the pairs done and the number of pairs.
        store: A folder where finished pairs go every few seconds, and where they are found when the same is run again,
            after a kill or for more pairs: nothing is computed twice but what was under way.
        executor: Workers that compute the pairs: any concurrent.futures.Executor, or a Dask client. `threads` is then
            the threads for one piece of work, 1 by default.
        options: Of the metric: `beam_width=80` for "ged", `connected=False` and `edge_labels=False` for "mcs".

    Raises:
        Interrupted: On Ctrl-C, within a fraction of a second, with what was finished. It is a KeyboardInterrupt.
        CostError: Costs that make no sense for these graphs, or that the method cannot handle.
        TableError: A store of other graphs, settings or another version, or one that cannot be written to.
        ClusterError: Workers of another version, or workers that died.
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
    job: Job, table: PairTable, out: Columns, folder: str | os.PathLike[str] | None, executor: Any,
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
    """Left and right positions of each pair, checked; None is all of them."""
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
