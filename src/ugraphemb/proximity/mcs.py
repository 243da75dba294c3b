"""Maximum common subgraph: the most nodes that two graphs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ugraphemb import _core
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.alignment import edge_labels, node_labels, packed
from ugraphemb.proximity.metrics import Columns, Kind, MappedMetric, Positions, Run


@dataclass(frozen=True)
class CommonSubgraph(MappedMetric):
    """Nodes of a maximum common induced subgraph with equal node labels.

    Args:
        connected: The common subgraph must be connected.
        edge_labels: Labels of its edges must be equal, too.
    """

    connected: bool = False
    edge_labels: bool = False

    name: ClassVar[str] = "mcs"  # type: ignore[misc]
    kind: ClassVar[Kind] = "similarity"  # type: ignore[misc]
    value: ClassVar[Literal["lower", "upper"]] = "lower"  # type: ignore[misc]
    sized: ClassVar[bool] = True  # type: ignore[misc]

    def settings(self) -> dict[str, Any]:
        return {"connected": self.connected, "edge_labels": self.edge_labels}

    def solve(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns,
        mapping: npt.NDArray[np.int32] | None,
    ) -> None:  # fmt: skip
        nodes = node_labels(left, right)
        edges = edge_labels(left, right) if self.edge_labels else None
        _core.mcs_pairs(
            packed(left, nodes.left, None if edges is None else edges.left),
            packed(right, nodes.right, None if edges is None else edges.right),
            left_of,
            right_of,
            connected=self.connected,
            edge_labels=edges is not None,
            threads=run.num_threads,
            timeout=run.seconds,
            lower=out.lower,
            upper=out.upper,
            proven=out.proven,
            done=out.done,
            mapping=mapping,
            tick=run.tick,
        )
