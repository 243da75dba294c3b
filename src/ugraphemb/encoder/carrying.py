"""Transfers the weights of a trained network to another vocabulary."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import RESERVED, UNSEEN, Vocabulary, slots_of
from ugraphemb.graphs import GraphSet

Weights = Mapping[str, npt.NDArray[Any]]


def with_labels_of(known: Vocabulary, graphs: GraphSet, config: EncoderConfig, *, edges: bool) -> Vocabulary:
    """The vocabulary of a trained network, extended by the labels of some graphs; with `edges`, also by edge labels.

    Without `edges` the result has no edge labels. New node labels follow the known ones, most frequent first.
    """
    own = Vocabulary.of(graphs, config)
    count = np.bincount(graphs.node_labels, minlength=max(1, len(graphs.node_vocabulary)))
    frequent = [(graphs.node_vocabulary or (None,))[code] for code in np.argsort(-count, kind="stable")]
    nodes = _further([label for label in frequent if label in own.node_labels], known.node_labels)
    more = _further(own.edge_labels, known.edge_labels) if graphs.edge_labels is not None else ()
    return replace(
        own, node_labels=known.node_labels + nodes, edge_labels=known.edge_labels + more if edges else ()
    )  # fmt: skip


def carried(
    config: EncoderConfig, before: Vocabulary, weights: Weights, after: Vocabulary, *, by_frequency: bool = False
) -> dict[str, Any]:
    """Converts the weights of a network with vocabulary `before` to vocabulary `after`.

    A new node label starts with the vector of unseen labels. With `by_frequency`, which is for graphs none of whose
    labels are known, the first new label starts with the vector of the first label of `before`, the second with that of
    the second, and so on: new labels and the vocabularies of shipped models are ordered by frequency.
    """
    result = dict(weights)
    table = weights["inputs.label.weight"]
    rows = slots_of(after.node_labels, before.node_labels)
    new = np.flatnonzero(rows == UNSEEN)
    if by_frequency and len(before.node_labels) > 1:
        begin = RESERVED + np.arange(len(new))
        rows[new] = np.where(begin < RESERVED + len(before.node_labels), begin, UNSEEN)
    result["inputs.label.weight"] = np.concatenate([table[:RESERVED], table[rows]])
    if config.label_trust:
        trust = weights["inputs.trust"]
        result["inputs.trust"] = np.concatenate([trust[:RESERVED], np.where(rows[:, None] == UNSEEN, 1, trust[rows])])
    if config.edge_counts:
        numbers = weights["inputs.numbers.weight"]
        first = before.numbers(config) - before.edge_columns - len(before.attribute_mean)
        last = first + before.edge_columns - 1  # column of the labels that have no column of their own
        places = slots_of(after.edge_labels, before.edge_labels)[: after.edge_columns - 1]
        columns = np.where(places == UNSEEN, last, first + places - RESERVED)
        columns = np.where(columns > last, last, columns)
        chosen = [*range(first), *columns.tolist(), *range(last, numbers.shape[1])]
        result["inputs.numbers.weight"] = np.ascontiguousarray(numbers[:, chosen])
    return result


def _further(labels: list[Hashable] | tuple[Hashable, ...], known: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    seen = slots_of(tuple(labels), known)
    return tuple(label for label, slot in zip(labels, seen, strict=True) if slot == UNSEEN)
