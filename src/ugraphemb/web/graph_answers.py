"""Graphs and matches as JSON."""

from __future__ import annotations

import math
from typing import Any

from ugraphemb.graphs import Graph
from ugraphemb.search import Match
from ugraphemb.search.matches import Certificate
from ugraphemb.web.collection import plain

_UNDECIDED = 100  # ids that are listed


def graph_answer(graph: Graph, position: int | None = None, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """See `answers.GraphAnswer`; without coordinates."""
    labeled, edge_labels = bool(graph.graphs.node_vocabulary), graph.edge_labels
    known = graph.metadata if metadata is None else metadata
    return {
        "id": graph.id,
        "position": position,
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "edges": graph.edges.tolist(),
        "node_labels": [label_answer(label) for label in graph.node_labels] if labeled else None,
        "edge_labels": None if edge_labels is None else [label_answer(label) for label in edge_labels],
        "metadata": {name: plain(_item(value)) for name, value in known.items() if _item(value) not in (None, "")},
        "coordinates": None,
        "orders": None,
        "charges": None,
    }


def label_answer(label: Any) -> Any:
    """A label as JSON: tuples as lists, what JSON has no place for as text."""
    if type(label) is str:
        return label
    if isinstance(label, tuple):
        return [label_answer(part) for part in label]
    if isinstance(label, float) and not math.isfinite(label):
        return str(label)
    return label if label is None or isinstance(label, str | int | float | bool) else str(label)


def match_answer(match: Match, position: int) -> dict[str, Any]:
    """See `answers.MatchAnswer`."""
    return {
        "rank": match.rank,
        "id": match.id,
        "position": position,
        "distance": number(match.distance),
        "lower": number(match.lower),
        "upper": number(match.upper),
        "proven": match.proven,
        "normalized": number(match.normalized),
        "predicted": match.predicted,
        "num_nodes": match.graph.num_nodes,
        "num_edges": match.graph.num_edges,
        "metadata": {name: plain(value) for name, value in match.metadata.items()},
    }


def certificate_answer(certificate: Certificate | None) -> dict[str, Any] | None:
    """See `answers.CertificateAnswer`."""
    if certificate is None:
        return None
    return {
        "proven": certificate.proven,
        "ordered": certificate.ordered,
        "scope": certificate.scope,
        "graphs": certificate.graphs,
        "found": certificate.found,
        "removed": certificate.removed,
        "undecided": list(certificate.undecided[:_UNDECIDED]),
        "undecided_count": len(certificate.undecided),
        "seconds": certificate.seconds,
        "within": certificate.within,
        "text": str(certificate),
    }


def number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _item(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
