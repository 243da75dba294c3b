"""What a conversion leaves out: directions of edges, and attributes that nothing uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError, amount
from ugraphemb.graphs.collector import Collector

Directed = Literal["refuse", "symmetrize"]


def check_directions(one_way: int, directed: str, where: str) -> None:
    """Refuses edges that have no counterpart in the other direction, unless directions shall be dropped.

    Raises:
        GraphFormatError: There are such edges.
    """
    if directed not in ("refuse", "symmetrize"):
        raise ValueError(f"directed={directed!r}; it is 'refuse' or 'symmetrize'")
    if one_way and directed == "refuse":
        raise GraphFormatError(
            f"{where} is directed: {amount(one_way, 'edge has', 'edges have')} no counterpart in the other direction. "
            "Graphs here are undirected; directed='symmetrize' drops the directions"
        )


def check_pairs(pairs: npt.NDArray[np.int64], directed: str, where: str) -> int:
    """The number of edges that are stored in one direction only, in a graph that stores all of them so.

    A list of pairs is undirected if it has each pair in both directions, or each in only one. Anything between is a
    directed graph: see `check_directions`.
    """
    proper = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(proper) == 0:
        return 0
    size = int(proper.max()) + 1
    forward = np.unique(proper[:, 0] * size + proper[:, 1])
    both = np.isin(proper[:, 1] * size + proper[:, 0], forward)
    one_way = int(np.count_nonzero(~both))
    check_directions(one_way if both.any() else 0, directed, where)
    return one_way if directed == "refuse" else 0


class Unused:
    """Counts what the input holds, and reports what of it was not used."""

    def __init__(self) -> None:
        self._found: dict[str, Counter[str]] = {}

    def add(self, kind: str, names: Mapping[Any, int]) -> None:
        """So many values of each name."""
        counter = self._found.setdefault(kind, Counter())
        for name, count in names.items():
            counter[str(name)] += count

    def count(self, kind: str, entries: Iterable[Mapping[Any, Any]]) -> None:
        """One value for each name of each entry."""
        counter = self._found.setdefault(kind, Counter())
        for entry in entries:
            if entry:
                counter.update(map(str, entry))

    def check(self, kind: str, name: str | None, option: str) -> None:
        """Refuses a name that was given but does not occur ("label" is the default and need not occur)."""
        found = self._found.get(kind, Counter())
        if name not in (None, "label") and name not in found:
            there = ", ".join(map(repr, sorted(found))) or "none"
            raise GraphFormatError(f"{option}={name!r}: no {kind} of that name; there are {there}")

    def report(self, collector: Collector, used: Mapping[str, set[str | None]]) -> None:
        """Reports everything whose name is not in `used` to the collector."""
        for kind, names in self._found.items():
            for name, count in names.items():
                if name not in used.get(kind, ()):
                    collector.ignore(f"value{'' if count == 1 else 's'} of the {kind} {name!r}", count)
