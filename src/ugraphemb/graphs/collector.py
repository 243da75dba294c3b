"""Collects graphs one by one into a GraphSet."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import GraphFormatError, warned
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.limits import limits, refusal
from ugraphemb.graphs.packing import offsets_of, text_array

MISSING: Any = object()


_MOST_NOTES = 10


class Reading(NamedTuple):
    """What a file or a list of objects holds.

    Attributes:
        notes: What was dropped or ignored on the way, with counts.
    """

    graphs: GraphSet
    notes: list[str]


class Collector:
    """Takes graphs one at a time; `graph_set` packs them.

    Labels that only some graphs carry are None in the others. Targets that only some carry are dropped, ids that
    only some carry are filled with row numbers. Everything that was ignored is reported in one GraphWarning.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._sizes: list[int] = []
        self._edges: list[npt.NDArray[np.int64]] = []
        self._node_labels: list[Sequence[Hashable] | None] = []
        self._edge_labels: list[Sequence[Hashable] | None] = []
        self._attributes: list[npt.NDArray[np.float64] | None] = []
        self._places: list[str] = []
        self._targets: list[Any] = []
        self._ids: list[str | None] = []
        self._rows: list[int] = []
        self._metadata: list[Mapping[str, Any]] = []
        self._ignored: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._sizes)

    def add(
        self,
        num_nodes: int,
        edges: Any,
        *,
        node_labels: Sequence[Hashable] | None = None,
        edge_labels: Sequence[Hashable] | None = None,
        attributes: npt.ArrayLike | None = None,
        target: Any = MISSING,
        id: str | None = None,
        where: str | None = None,
        row: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds a graph.

        Args:
            edges: Pairs of its own nodes.
            id: None for the row number.
            where: Its place in the input, for messages.
            row: Its row number in the input, counting rows that were skipped; the number of graphs before it if None.
            metadata: What else is known of it.
        """
        place = where or f"{self.source}: graph {len(self)}"
        try:
            pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
        except (ValueError, TypeError, OverflowError) as error:
            raise GraphFormatError(f"{place}: edges must be pairs of node ids, whole numbers") from error
        outside = np.flatnonzero((pairs < 0).any(1) | (pairs >= num_nodes).any(1))
        if len(outside):
            u, v = pairs[outside[0]]
            right = f"node ids go from 0 to {num_nodes - 1}" if num_nodes else "the graph has no nodes"
            raise GraphFormatError(f"{place}: edge ({u}, {v}), but {right}")
        for found, expected, what in (
            (node_labels, num_nodes, "node labels"),
            (edge_labels, len(pairs), "edge labels"),
        ):
            if found is not None and len(found) != expected:
                raise GraphFormatError(f"{place}: {len(found)} {what}, expected {expected}")
        matrix = None if attributes is None else _matrix(attributes, num_nodes, place)
        self.append(
            num_nodes, pairs, node_labels, edge_labels, target=target, id=id, where=place,
            row=len(self._rows) if row is None else row, metadata=metadata or {}, attributes=matrix,
        )  # fmt: skip

    def append(
        self,
        num_nodes: int,
        pairs: npt.NDArray[np.int64],
        node_labels: Sequence[Hashable] | None,
        edge_labels: Sequence[Hashable] | None,
        *,
        target: Any,
        id: str | None,
        where: str,
        row: int,
        metadata: Mapping[str, Any],
        attributes: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Adds a graph that needs no checks; see `add`."""
        self._sizes.append(num_nodes)
        self._edges.append(pairs)
        self._node_labels.append(node_labels)
        self._edge_labels.append(edge_labels)
        self._attributes.append(attributes)
        self._places.append(where)
        self._targets.append(target)
        self._ids.append(id)
        self._rows.append(row)
        self._metadata.append(metadata)

    def ignore(self, what: str, count: int = 1) -> None:
        """Counts something in the input that a GraphSet cannot hold."""
        if count:
            self._ignored[what] = self._ignored.get(what, 0) + count

    def tell_ids_apart(self) -> None:
        """Repeated ids get the suffixes #2, #3 and so on."""
        taken = {given for given in self._ids if given is not None}
        seen: set[str] = set()
        turn: dict[str, int] = {}
        for position, given in enumerate(self._ids):
            wanted = str(self._rows[position]) if given is None else given
            if wanted in seen or (given is None and wanted in taken):
                turn[wanted] = turn.get(wanted, 1) + 1
                while f"{wanted}#{turn[wanted]}" in taken or f"{wanted}#{turn[wanted]}" in seen:
                    turn[wanted] += 1
                self._ids[position] = wanted = f"{wanted}#{turn[wanted]}"
                self.ignore("repeats of an id (made different with #2, #3, ...)")
            seen.add(wanted)

    def graph_set(
        self,
        *,
        strict: bool = False,
        name: str = "",
        targets: Any = None,
        ids: Iterable[str] | None = None,
    ) -> GraphSet:
        """What was collected, with one GraphWarning for all notes; see `reading`."""
        graphs, notes = self.reading(strict=strict, name=name, targets=targets, ids=ids)
        if notes:
            warned("; ".join(notes))
        return graphs

    def reading(
        self,
        *,
        strict: bool = False,
        name: str = "",
        targets: Any = None,
        ids: Iterable[str] | None = None,
    ) -> Reading:
        """What was collected. With `strict`, what would be dropped or ignored is a GraphFormatError."""
        if targets is None:
            targets = self._joined_targets()
        ignored = [f"{count} {what}" for what, count in [*self._ignored.items()][:_MOST_NOTES]]
        if len(self._ignored) > _MOST_NOTES:
            ignored.append(f"{len(self._ignored) - _MOST_NOTES} other kinds of data")
        if strict and ignored:
            raise GraphFormatError(f"{self.source}: {' and '.join(ignored)} (strict=False ignores them)")
        if ids is None:
            ids = [str(row) if given is None else given for row, given in zip(self._rows, self._ids, strict=True)]
        notes: list[str] = []
        sizes = np.array(self._sizes, np.int64)
        starts = np.repeat(offsets_of(sizes)[:-1], [len(edges) for edges in self._edges])
        graphs = GraphSet.from_edges(
            sizes,
            np.concatenate([np.empty((0, 2), np.int64), *self._edges]) + starts[:, None],
            node_labels=_joined(self._node_labels, self._sizes),
            edge_labels=_joined(self._edge_labels, [len(edges) for edges in self._edges]),
            node_attributes=self._joined_attributes(),
            targets=targets,
            ids=ids,
            name=name,
            metadata=self._joined_metadata(),
            strict=strict,
            source=self.source,
            notes=notes,
        )
        if ignored:
            notes.append(f"ignored {' and '.join(ignored)}")
        return Reading(graphs, [f"{self.source}: {', '.join(notes)}"] if notes else [])

    def _joined_metadata(self) -> dict[str, npt.NDArray[Any]]:
        columns = {}
        names = dict.fromkeys(name for entry in self._metadata for name in entry)
        cells, most = len(names) * len(self), limits().cells
        if cells > most and cells > most + 16 * sum(map(len, self._metadata)):
            what = f"a table of {len(self)} graphs and {len(names)} columns of metadata, most of them missing"
            raise refusal(self.source, what, "cells")
        for name in names:
            columns[name] = np.empty(len(self), object)
            columns[name][:] = [entry.get(name) for entry in self._metadata]
        return columns

    def _joined_attributes(self) -> npt.NDArray[np.float64] | None:
        rows = [matrix for matrix in self._attributes if matrix is not None]
        if not rows:
            return None
        for matrix, size, place in zip(self._attributes, self._sizes, self._places, strict=True):
            if matrix is None and size:
                raise GraphFormatError(f"{place}: no node attributes, but other graphs have them")
        widths = {matrix.shape[1] for matrix in rows if len(matrix)} or {max(matrix.shape[1] for matrix in rows)}
        if len(widths) > 1:
            raise GraphFormatError(f"{self.source}: node attributes of widths {sorted(widths)}, expected one width")
        return np.concatenate([matrix for matrix in rows if len(matrix)] or [np.empty((0, widths.pop()))])

    def _joined_targets(self) -> npt.NDArray[Any] | None:
        given = [target for target in self._targets if target is not MISSING]
        if not given:
            return None
        if len(given) < len(self._targets):
            self.ignore(f"targets, because {len(self._targets) - len(given)} graphs have none", len(given))
            return None
        return target_array(given)


def target_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Whole numbers, numbers, truth values or text as such an array; anything mixed as objects, kinds kept."""
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in values}
    if kinds == {str}:
        return text_array(values, "targets")
    if kinds in ({int}, {float}, {bool}, {int, float}):
        try:
            array = np.array(values)
        except OverflowError:  # an integer that float cannot represent
            array = np.empty(0, object)
        if array.dtype.kind in "bi" or (array.dtype.kind == "f" and float in kinds):
            return array
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects


def _matrix(rows: npt.ArrayLike, size: int, place: str) -> npt.NDArray[np.float64]:
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise GraphFormatError(f"{place}: node attributes must be rows of numbers, equally long") from error
    if size == 0:
        matrix = matrix.reshape(0, matrix.shape[1] if matrix.ndim == 2 else 0)
    if matrix.ndim != 2 or len(matrix) != size:
        raise GraphFormatError(f"{place}: node attributes of shape {matrix.shape}, expected ({size}, width)")
    return matrix


def _joined(parts: Sequence[Sequence[Hashable] | None], counts: Sequence[int]) -> list[Hashable] | None:
    if all(part is None for part in parts):
        return None
    joined: list[Hashable] = []
    for part, count in zip(parts, counts, strict=True):
        joined.extend([None] * count if part is None else part)
    return joined
