"""Graphs of evaluation sets, which must not be in training data: how they are recognized and counted.

Two molecules are the same here if their graphs of heavy atoms are isomorphic, whatever their bonds. Sets whose labels
have no names are compared up to a renaming of labels, which removes more than isomorphism would.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ugraphemb as ug
from ugraphemb.graphs.packing import Coded, offsets_of
from ugraphemb.training.fresh import graph_marks

NAMED = ("PTC_MR", "AIDS", "MUTAG", "Mutagenicity", "Acyclic", "Alkane")
UNNAMED = ("NCI109", "AIDS42K")
STRUCTURES = ("Alkane", "IMDB-MULTI", "REDDIT-BINARY", "REDDIT-MULTI-12K-SUBSET")
_NUMBERS = {"6": "C", "8": "O", "16": "S"}  # labels of Acyclic and Alkane

Marks = npt.NDArray[np.uint64]


def without_bonds(graphs: ug.GraphSet) -> ug.GraphSet:
    """The graphs with labels of nodes only."""
    return ug.GraphSet(graphs.node_offsets, graphs.indptr, graphs.indices, graphs.node_labels, graphs.node_vocabulary)


def without_labels(graphs: ug.GraphSet) -> ug.GraphSet:
    return replace(without_bonds(graphs), node_labels=np.zeros_like(graphs.node_labels), node_vocabulary=())


def heavy(graphs: ug.GraphSet) -> ug.GraphSet:
    """Without hydrogens and without bond orders."""
    graphs = without_bonds(graphs)
    if "H" not in graphs.node_vocabulary:
        return graphs
    kept = graphs.node_labels != graphs.node_vocabulary.index("H")
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    node = np.repeat(np.arange(len(kept)), np.diff(graphs.indptr))
    neighbor = graphs.indices + graphs.node_offsets[graph_of[node]]
    new = np.cumsum(kept) - 1
    chosen = kept[node] & kept[neighbor] & (node < neighbor)
    return ug.GraphSet.from_edges(
        np.bincount(graph_of[kept], minlength=len(graphs)),
        np.stack([new[node[chosen]], new[neighbor[chosen]]], axis=1),
        node_labels=Coded(graphs.node_labels[kept], graphs.node_vocabulary),
    )


def anonymous(graphs: ug.GraphSet) -> ug.GraphSet:
    """Each label is replaced by the number of nodes with it in the graph, so that names of labels do not matter."""
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    width = max(1, len(graphs.node_vocabulary))
    place = graph_of * width + graphs.node_labels
    _, position, count = np.unique(place, return_inverse=True, return_counts=True)
    labels = count[position].astype(np.int32)
    return replace(
        without_bonds(graphs), node_labels=labels, node_vocabulary=tuple(range(int(labels.max(initial=0)) + 1))
    )


def named_set(name: str, data: Path) -> ug.GraphSet:
    """An evaluation set of molecules, heavy atoms with element symbols."""
    graphs = ug.load_dataset(name, root=data)
    return heavy(
        replace(graphs, node_vocabulary=tuple(_NUMBERS.get(str(label), str(label)) for label in graphs.node_vocabulary))
    )


class Removal:
    """Recognizes graphs of evaluation sets.

    Args:
        kind: "molecules" or "graphs": which sets, and whether labels count.
        data: Folder of the sets.
    """

    def __init__(self, kind: str, data: Path) -> None:
        self.sets: dict[str, tuple[Marks, ug.GraphSet]] = {}
        self._exact, self._renamed = set[str](), set[str]()
        if kind == "molecules":
            for name in NAMED:
                graphs = named_set(name, data)
                self.sets[name] = (graph_marks(graphs), graphs)
            for name in UNNAMED:
                graphs = anonymous(ug.load_dataset(name, root=data))
                self.sets[name] = (graph_marks(graphs), graphs)
        else:
            for name in STRUCTURES:
                graphs = without_labels(ug.load_dataset(name, root=data))
                self.sets[name] = (graph_marks(graphs), graphs)
        self.kind = kind
        self._named = np.unique(np.concatenate([m for name, (m, _) in self.sets.items() if name not in UNNAMED]))
        unnamed = [marks for name, (marks, _) in self.sets.items() if name in UNNAMED]
        self._unnamed = np.unique(np.concatenate(unnamed)) if unnamed else np.empty(0, np.uint64)

    def found(self, graphs: ug.GraphSet) -> npt.NDArray[np.bool_]:
        """Which of these graphs equal one of an evaluation set."""
        plain = heavy(graphs) if self.kind == "molecules" else without_labels(graphs)
        is_found = np.isin(graph_marks(plain), self._named)
        if len(self._unnamed):
            is_found |= np.isin(graph_marks(anonymous(plain)), self._unnamed)
        return is_found

    def count(self, graphs: ug.GraphSet) -> dict[str, Any]:
        """For each set: how many of its graphs are among `graphs`, and how many of `graphs` equal one of them.

        Graphs whose colors equal those of a graph of the set are compared with it by an edit path; those at distance 0
        are isomorphic.
        """
        plain = heavy(graphs) if self.kind == "molecules" else without_labels(graphs)
        marks, renamed = graph_marks(plain), None
        counts: dict[str, Any] = {}
        for name, (of_set, members) in self.sets.items():
            own, compared = marks, plain
            if name in UNNAMED:
                renamed = (graph_marks(anonymous(plain)), anonymous(plain)) if renamed is None else renamed
                own, compared = renamed
            order = np.argsort(of_set, kind="stable")
            place = np.minimum(np.searchsorted(of_set[order], own), len(of_set) - 1)
            ours = np.flatnonzero(of_set[order][place] == own)
            theirs = order[place[ours]]
            isomorphic = _at_zero(members[theirs], compared[ours])
            counts[name] = {
                "graphs of the set": len(members),
                "of these in the data": int(np.isin(of_set, own).sum()),
                "removed": len(ours),
                "of these at distance 0": int(isomorphic.sum()),
            }
        return counts


def _at_zero(left: ug.GraphSet, right: ug.GraphSet) -> npt.NDArray[np.bool_]:
    if not len(left):
        return np.empty(0, bool)
    both = left + right
    pairs = np.stack([np.arange(len(left)), len(left) + np.arange(len(left))], axis=1)
    return np.asarray(ug.pairwise(both, pairs, threads=1, progress=False).value == 0)


def recoded(graphs: ug.GraphSet, nodes: tuple[Any, ...], edges: tuple[Any, ...]) -> ug.GraphSet:
    """The same graphs with these vocabularies; a label that is not in them is an error."""
    labels = np.array([nodes.index(label) for label in graphs.node_vocabulary] or [0], np.int32)[graphs.node_labels]
    bonds, known = graphs.edge_labels, graphs.edge_vocabulary
    if bonds is not None:
        bonds = np.array([edges.index(label) for label in known] or [0], np.int32)[bonds]
    return ug.GraphSet(
        graphs.node_offsets, graphs.indptr, graphs.indices, labels, nodes, bonds, () if bonds is None else edges
    )


def joined(parts: list[ug.GraphSet]) -> ug.GraphSet:
    """Graphs with equal vocabularies in one collection, without ids; faster than `+`."""
    first = parts[0]
    bonds = None if first.edge_labels is None else np.concatenate([p.edge_labels for p in parts])  # type: ignore[misc]
    return ug.GraphSet(
        offsets_of(np.concatenate([part.num_nodes for part in parts])),
        offsets_of(np.concatenate([np.diff(part.indptr) for part in parts])),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.node_labels for part in parts]),
        first.node_vocabulary,
        bonds,
        first.edge_vocabulary,
    )
