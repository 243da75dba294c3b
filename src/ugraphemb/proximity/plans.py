"""Which pairs to compute, because large collections have too many pairs.

Every plan is a sequence that its seed fixes: a larger budget continues it, so that computed pairs are reused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

Plan = Literal["all", "random", "blocks"]
PairArray = npt.NDArray[np.int32]

_ROUNDS = 6  # of the shuffle; four are enough for a random order


def planned_pairs(
    size: int, plan: str = "all", *, budget: int | None = None, seed: int = 0, block: int = 128
) -> PairArray:
    """Pairs i < j among `size` graphs, shape (p, 2), none twice.

    Args:
        plan: "all"; "random": `budget` pairs, each as likely as any other; "blocks": the graphs shuffled and cut into
            blocks, all pairs inside each block, then shuffled again, until there are `budget` pairs. Blocks serve
            training best: one forward pass over the graphs of a block serves all of its pairs.
        budget: Maximum number of pairs; None means all.
        seed: The same seed gives the same pairs, and a larger budget begins with the same pairs.
        block: Graphs per block.

    Examples:
        >>> from ugraphemb.proximity.plans import planned_pairs
        >>> planned_pairs(4).tolist()
        [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
        >>> len(planned_pairs(1000, "blocks", budget=5000))
        5000
    """
    if plan not in get_args(Plan):
        raise ValueError(f"plan={plan!r}; it is one of {', '.join(map(repr, get_args(Plan)))}")
    if size < 0 or block < 2 or (budget is not None and budget < 0):
        raise ValueError("size and budget must not be negative, and a block holds at least 2 graphs")
    possible = size * (size - 1) // 2
    count = possible if budget is None else min(budget, possible)
    if plan == "all":
        return _unranked(np.arange(count), size)
    if plan == "random":
        return _unranked(_shuffled(np.arange(count), possible, seed), size)
    ranks = np.empty(0, np.int64)
    for fresh in _blocks(size, block, seed):
        both = np.concatenate([ranks, fresh])
        first = np.unique(both, return_index=True)[1]
        ranks = both[np.sort(first)]
        if len(ranks) >= count:
            break
    return _unranked(ranks[:count], size)


def cross_pairs(queries: int, database: int) -> PairArray:
    """Every query with every graph of a database: positions in two collections."""
    left, right = np.divmod(np.arange(queries * database), max(database, 1))
    return np.stack([left, right], axis=1).astype(np.int32)


def _blocks(size: int, block: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Ranks of the pairs of one partition after the other, and in the end of all pairs, for those that never met."""
    for partition in range(-(-2 * size // block)):
        order = np.random.default_rng([seed, partition]).permutation(size)
        pairs = []
        for start in range(0, size, block):
            members = np.sort(order[start : start + block])
            i, j = np.triu_indices(len(members), 1)
            pairs.append(_ranked(members[i], members[j], size))
        yield np.concatenate(pairs)
    possible = size * (size - 1) // 2
    yield _shuffled(np.arange(possible), possible, seed)


def _ranked(low: npt.NDArray[np.int64], high: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Place of (low, high) in the list of all pairs, row by row."""
    return low * (2 * size - low - 1) // 2 + high - low - 1


def _unranked(ranks: npt.NDArray[np.int64], size: int) -> PairArray:
    starts = np.arange(size) * (2 * size - np.arange(size) - 1) // 2
    low = np.searchsorted(starts, ranks, side="right") - 1
    # The last row is empty and starts where the list ends, so no rank falls into it.
    high = ranks - starts[low] + low + 1 if size else ranks
    return np.stack([low, high], axis=1).astype(np.int32)


def _shuffled(values: npt.NDArray[np.int64], count: int, seed: int) -> npt.NDArray[np.int64]:
    """A permutation of 0 … count − 1, at some points: a Feistel network, iterated until the value is in range."""
    if count == 0:
        return values
    half = max(1, (int(count - 1).bit_length() + 1) // 2)
    mask = np.uint64((1 << half) - 1)
    shift = np.uint64(half)
    keys = np.random.default_rng(seed).integers(0, 2**63, _ROUNDS, dtype=np.uint64)
    result = values.astype(np.uint64)
    outside = np.ones(len(result), bool)
    while outside.any():
        left, right = result[outside] >> shift, result[outside] & mask
        for key in keys:
            mixed = (right + key) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            left, right = right, left ^ ((mixed >> np.uint64(32)) & mask)
        result[outside] = (left << shift) | right
        outside = result >= count
    return result.astype(np.int64)
