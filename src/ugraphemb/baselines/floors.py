"""Minimal baselines: the most frequent class, and plain counts."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.baselines.protocol import Floats, fitted, some
from ugraphemb.graphs import GraphSet, GraphsLike, graphs_of


@dataclass
class MajorityClass:
    """Every graph is of the class that most training graphs are of; the first in order where classes tie.

    `transform` gives the constant vector 0, on which any classifier does the same.
    """

    _majority: npt.NDArray[Any] | None = field(default=None, init=False, repr=False)

    def fit(self, graphs: GraphsLike) -> MajorityClass:
        targets = some(graphs).targets
        if targets is None:
            raise ValueError("the graphs have no classes (targets)")
        classes, counts = np.unique(targets, return_counts=True)
        self._majority = classes[[counts.argmax()]]
        return self

    def predict(self, graphs: GraphsLike) -> npt.NDArray[Any]:
        """The same class for each graph."""
        return np.repeat(fitted(self._majority, self), len(graphs_of(graphs)))

    def transform(self, graphs: GraphsLike) -> Floats:
        """(graphs, 1), all 0."""
        fitted(self._majority, self)
        return np.zeros((len(graphs_of(graphs)), 1))


@dataclass
class LabelDegreeCounts:
    """How often each node label and each degree occurs in a graph: x = (#{u: label(u) = l})ₗ ‖ (#{u: deg(u) = d})_d.

    No structure beyond degrees; logistic regression on these counts is the minimum for structural methods.
    Labels that no fitted graph has are ignored, degrees beyond the highest of them count as the highest.
    """

    _labels: tuple[Hashable, ...] | None = field(default=None, init=False, repr=False)
    _top: int = field(default=0, init=False, repr=False)

    def fit(self, graphs: GraphsLike) -> LabelDegreeCounts:
        graphs = some(graphs)
        vocabulary = graphs.node_vocabulary or (None,)
        self._labels = tuple(vocabulary[code] for code in np.unique(graphs.node_labels))
        self._top = int(np.diff(graphs.indptr).max(initial=0))
        return self

    def transform(self, graphs: GraphsLike) -> Floats:
        """(graphs, labels + degrees)."""
        graphs, labels = graphs_of(graphs), fitted(self._labels, self)
        column = {(type(label), label): i for i, label in enumerate(labels)}  # 1, 1.0 and True are different labels
        vocabulary = graphs.node_vocabulary or (None,)
        columns = np.array([column.get((type(label), label), -1) for label in vocabulary], np.int64)
        degree = np.minimum(np.diff(graphs.indptr), self._top)
        label_counts = _counted(columns[graphs.node_labels], graphs, len(labels))
        return np.concatenate([label_counts, _counted(degree, graphs, self._top + 1)], axis=1)


def _counted(column: npt.NDArray[np.int64], graphs: GraphSet, width: int) -> Floats:
    """How often each column occurs in each graph; -1 is none."""
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    known = column >= 0
    cells = graph_of[known] * width + column[known]
    return np.bincount(cells, minlength=len(graphs) * width).reshape(len(graphs), width).astype(np.float64)
