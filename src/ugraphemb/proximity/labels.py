"""Whether two graphs are of the same class: the first of the paper's three kinds of proximity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.proximity.metrics import Columns, Kind, Metric, Positions, Run


@dataclass(frozen=True)
class SameClass(Metric):
    """1 for two graphs with equal targets, else 0. There are no settings."""

    name: ClassVar[str] = "labels"  # type: ignore[misc]
    kind: ClassVar[Kind] = "similarity"  # type: ignore[misc]
    value: ClassVar[Literal["lower", "upper"]] = "lower"  # type: ignore[misc]
    sized: ClassVar[bool] = False  # type: ignore[misc]
    uses_targets: ClassVar[bool] = True  # type: ignore[misc]

    def settings(self) -> dict[str, Any]:
        return {}

    def compute(
        self, left: GraphSet, right: GraphSet, left_of: Positions, right_of: Positions, run: Run, out: Columns
    ) -> None:
        left_classes, right_classes = _targets(left), _targets(right)
        if left_classes.dtype.kind != right_classes.dtype.kind:  # numbers and words are never equal
            left_classes, right_classes = left_classes.astype(object), right_classes.astype(object)
        out.lower[:] = left_classes[left_of] == right_classes[right_of]
        out.upper[:] = out.lower
        out.proven[:] = True
        out.done[:] = True


def _targets(graphs: GraphSet) -> npt.NDArray[Any]:
    if graphs.targets is None:
        named = f" {graphs.name}" if graphs.name else ""
        raise ValueError(
            f"the collection{named} of {len(graphs)} graphs has no targets, which metric 'labels' compares"
        )
    return np.asarray(graphs.targets)
