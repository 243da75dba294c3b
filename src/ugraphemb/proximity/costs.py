"""What edits cost, and how that becomes arrays for the compiled core."""

from __future__ import annotations

import hashlib
import numbers
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import Field, dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb import _core
from ugraphemb.errors import CostError
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.graphs.packing import Vocabulary
from ugraphemb.proximity.alignment import Labels, edge_labels, node_labels
from ugraphemb.proximity.function_keys import function_key

Floats = npt.NDArray[np.float64]
RelabelCost = float | Callable[[Any, Any], float] | Mapping[tuple[Any, Any], float] | npt.ArrayLike

# A function of two labels is asked once for each pair of labels, and the answers fill a square of this side at most.
_MOST_LABELS = 5_000
_RANGE = "a cost is 0 or from 1e-6 to 1e6"


@dataclass(frozen=True, eq=False)
class EditCosts:
    """The price of each edit. By default every edit costs 1, relabeling included.

    Labels count where the graphs have them: where no graph of either collection has edge labels, there is nothing to
    relabel. The paper's definition has no edge labels: `EditCosts(edge_relabel=0)`.

    `node_relabel` and `edge_relabel` may be
    - a number, for any two different labels;
    - a function of two labels;
    - a mapping from pairs of labels, looked up as (a, b), then (b, a); equal labels are free unless it says otherwise;
    - a square matrix in the order of the vocabulary (`graphs.node_vocabulary`; of two collections the left one's
      labels, then those that only the right one has). Rows are the labels of the left graph.

    A cost is 0 or from 1e-6 to 1e6: what lies outside would be lost in rounding beside other costs, or overflow. For an
    edit that must not happen 1e6 is as good as infinity.

    Costs need not be a metric: where deleting and inserting is cheaper than relabeling, that is what is done. The
    distance is symmetric where the costs are.

    `version` names the functions among the costs for stores of distances, which otherwise tell two functions apart by
    their code and what it refers to; where that cannot be determined, a store asks for it. Give another version
    whenever the function gives other numbers.

    Raises:
        CostError: A cost that is neither 0 nor from 1e-6 to 1e6, or a matrix that is not square.
    """

    node_insert: float = 1.0
    node_delete: float = 1.0
    node_relabel: RelabelCost = 1.0
    edge_insert: float = 1.0
    edge_delete: float = 1.0
    edge_relabel: RelabelCost = 1.0
    version: str | None = None

    def __post_init__(self) -> None:
        if self.version is not None and not isinstance(self.version, str):
            raise CostError(f"version is {self.version!r}; it must be a string")
        for field in _prices():
            value = getattr(self, field.name)
            if isinstance(value, numbers.Real):
                object.__setattr__(self, field.name, _checked(value, field.name))
            elif not field.name.endswith("_relabel"):
                raise CostError(f"{field.name} is {value!r}; it must be a number")
            elif not (callable(value) or isinstance(value, Mapping)):
                object.__setattr__(self, field.name, _matrix(value, field.name))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EditCosts):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        return hash((self.node_insert, self.node_delete, self.edge_insert, self.edge_delete))

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> EditCosts | None:
        """The costs that `description` gave; None where they are functions, mappings or matrices.

        An edge relabeling that the description does not name is free, as in the releases that did not write it.
        """
        if not isinstance(described, Mapping):
            raise CostError(f"edit costs described by {type(described).__name__}, expected names and numbers")
        if not all(isinstance(price, int | float) for price in described.values()):
            return None
        try:
            return cls(**{"edge_relabel": 0.0, **described})
        except TypeError as error:
            raise CostError(f"edit costs described by {', '.join(map(repr, described))} ({error})") from error

    def description(self) -> dict[str, Any]:
        """What a table of distances says about its costs: JSON, with matrices by their digest and functions by their
        code, or by `version`."""
        return {field.name: _described(getattr(self, field.name), self.version) for field in _prices()}


def _prices() -> list[Field[Any]]:
    return [field for field in fields(EditCosts) if field.name != "version"]


@dataclass(frozen=True)
class ResolvedCosts:
    """Costs for two given collections: constants, and matrices over the codes of their labels."""

    costs: EditCosts
    node_codes: Labels
    edge_codes: Labels | None  # None where labels of edges make no difference
    node_matrix: Floats | None
    edge_matrix: Floats | None

    @cached_property
    def core(self) -> _core.Costs:
        edges_count = self.edge_codes is not None and self.edge_matrix is None
        return _core.Costs(
            node_insert=self.costs.node_insert,
            node_delete=self.costs.node_delete,
            node_relabel=_constant(self.costs.node_relabel, 1.0),
            edge_insert=self.costs.edge_insert,
            edge_delete=self.costs.edge_delete,
            edge_relabel=_constant(self.costs.edge_relabel, 0.0) if edges_count else 0.0,
            node_matrix=self.node_matrix,
            edge_matrix=self.edge_matrix,
        )

    @property
    def symmetric(self) -> bool:
        """Whether the way back costs the same."""
        return (
            self.costs.node_insert == self.costs.node_delete
            and self.costs.edge_insert == self.costs.edge_delete
            and all(m is None or np.array_equal(m, m.T) for m in (self.node_matrix, self.edge_matrix))
        )

    def relabel_node(self, left: int, right: int) -> float:
        """Cost of making a node with the one code a node with the other."""
        if self.node_matrix is not None:
            return float(self.node_matrix[left, right])
        return 0.0 if left == right else _constant(self.costs.node_relabel, 1.0)

    def relabel_edge(self, left: int, right: int) -> float:
        if self.edge_matrix is not None:
            return float(self.edge_matrix[left, right])
        return 0.0 if left == right else _constant(self.costs.edge_relabel, 0.0)


def resolve(costs: EditCosts, left: GraphSet, right: GraphSet) -> ResolvedCosts:
    """The costs as arrays over the labels that the two collections have in common vocabulary.

    Raises:
        CostError: A matrix of the wrong shape, a function or mapping that gives no valid cost for some pair of labels.
    """
    nodes, node_matrix = _resolved(costs.node_relabel, node_labels(left, right), "node_relabel")
    edges = edge_labels(left, right)
    edge_matrix: Floats | None = None
    if isinstance(costs.edge_relabel, float):
        edges = edges if costs.edge_relabel > 0 else None
    else:
        if edges is None:
            edges = Labels(np.zeros(len(left.indices), np.int32), np.zeros(len(right.indices), np.int32), ())
        edges, edge_matrix = _resolved(costs.edge_relabel, edges, "edge_relabel")
    return ResolvedCosts(costs, nodes, edges, node_matrix, edge_matrix)


def _resolved(cost: RelabelCost, labels: Labels, name: str) -> tuple[Labels, Floats | None]:
    if isinstance(cost, float):
        return labels, None
    vocabulary: Vocabulary = labels.vocabulary or (None,)
    if isinstance(cost, np.ndarray):
        if cost.shape != (len(vocabulary), len(vocabulary)):
            raise CostError(
                f"{name} is a matrix of shape {cost.shape}, but there are {len(vocabulary)} labels: "
                f"it must be {len(vocabulary)} by {len(vocabulary)}"
            )
        if labels.order is None:
            return labels, cost
        by_code = np.empty_like(cost)
        by_code[np.ix_(labels.order, labels.order)] = cost
        return labels, by_code
    # Only labels that occur are asked for.
    left_used, right_used = np.unique(labels.left), np.unique(labels.right)
    used = np.union1d(left_used, right_used)
    if len(used) > _MOST_LABELS:
        raise CostError(
            f"{name} as a function or mapping of {len(used)} labels; at most {_MOST_LABELS} are possible, past that "
            "give a matrix"
        )
    ask = _lookup(cost, name) if isinstance(cost, Mapping) else cost
    matrix = np.zeros((len(used), len(used)))
    columns = np.searchsorted(used, right_used)
    for row, code in zip(np.searchsorted(used, left_used), left_used, strict=True):
        first = vocabulary[code]
        for column, other in zip(columns, right_used, strict=True):
            second = vocabulary[other]
            matrix[row, column] = _checked(ask(first, second), name, (first, second))  # type: ignore[operator]
    codes = Labels(
        np.searchsorted(used, labels.left).astype(np.int32),
        np.searchsorted(used, labels.right).astype(np.int32),
        tuple(vocabulary[code] for code in used),
    )
    return codes, matrix


def _lookup(mapping: Mapping[tuple[Any, Any], float], name: str) -> Callable[[Hashable, Hashable], float]:
    def cost(first: Hashable, second: Hashable) -> float:
        for key in ((first, second), (second, first)):
            if key in mapping:
                return mapping[key]
        if first == second:
            return 0.0
        if isinstance(mapping, defaultdict) and mapping.default_factory is not None:
            return float(mapping.default_factory())  # by [] it would be written into the user's mapping
        try:
            return mapping[first, second]
        except KeyError:
            raise CostError(f"{name} has no entry for {(first, second)!r}") from None

    return cost


def _constant(cost: RelabelCost, otherwise: float) -> float:
    return cost if isinstance(cost, float) else otherwise


def _checked(value: Any, name: str, entry: tuple[Any, Any] | None = None) -> float:
    where = name if entry is None else f"{name} of {entry[0]!r} to {entry[1]!r}"
    try:
        cost = float(value)
    except (TypeError, ValueError):
        raise CostError(f"{where} is {value!r}; it must be a number") from None
    if not _in_range(cost):
        raise CostError(f"{where} is {cost}; {_RANGE}")
    return cost


def _in_range(cost: Any) -> Any:
    """Whether a number, or each of an array, is a cost that solvers can represent."""
    return (cost == 0) | ((cost >= _core.least_cost) & (cost <= _core.most_cost))


def _matrix(value: Any, name: str) -> Floats:
    try:
        matrix = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise CostError(f"{name} is {value!r}; it must be a number, a function, a mapping or a matrix") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise CostError(f"{name} is an array of shape {matrix.shape}; a matrix of costs must be square")
    wrong = np.argwhere(~_in_range(matrix))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise CostError(f"{name}[{row}, {column}] is {matrix[row, column]}; {_RANGE}")
    matrix.flags.writeable = False
    return matrix


def _same(left: RelabelCost, right: RelabelCost) -> bool:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and np.array_equal(left, right)
    return bool(left == right)


def _described(cost: RelabelCost, version: str | None) -> Any:
    if isinstance(cost, float):
        return cost
    if isinstance(cost, np.ndarray):
        digest = hashlib.blake2b(cost.tobytes(), digest_size=16).hexdigest()
        return {"matrix": digest, "labels": len(cost)}
    if isinstance(cost, Mapping):
        entries = sorted([repr(a), repr(b), float(value)] for (a, b), value in cost.items())
        if type(cost) in (dict, MappingProxyType):
            return {"mapping": entries}
        answering = cost.default_factory if isinstance(cost, defaultdict) else type(cost)  # for pairs it does not list
        return {"mapping": entries, **(function_key(answering, version) if answering is not None else {})}
    return function_key(cost, version)  # type: ignore[arg-type]
