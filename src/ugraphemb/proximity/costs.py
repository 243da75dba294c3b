"""Costs of edits, and their arrays for the compiled core."""

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
from ugraphemb.proximity.attributes import Points, Scale, checked_scale, edge_points, node_points
from ugraphemb.proximity.function_keys import function_key

Floats = npt.NDArray[np.float64]
RelabelCost = float | Callable[[Any, Any], float] | Mapping[tuple[Any, Any], float] | npt.ArrayLike

# A function is called once for each pair of labels; the results fill a square matrix of at most this side.
_MOST_LABELS = 5_000
_RANGE = "a cost is 0 or from 1e-6 to 1e6"


@dataclass(frozen=True, eq=False)
class EditCosts:
    """The cost of each edit. By default every edit costs 1, including relabeling.

    Labels count where the graphs have them: where no graph of either collection has edge labels, there is nothing to
    relabel. The paper's definition has no edge labels: `EditCosts(edge_relabel=0)`.

    `node_relabel` and `edge_relabel` may be
    - a number, for any two different labels;
    - a function of two labels;
    - a mapping from pairs of labels, looked up as (a, b), then (b, a); equal labels are free unless it says otherwise;
    - a square matrix in the order of the vocabulary (`graphs.node_vocabulary`; of two collections the left one's
      labels, then those that only the right one has). Rows are the labels of the left graph.

    `node_attributes` times the Euclidean distance of the attributes of two nodes (`graphs.node_attributes`) is added to
    the cost of substituting one for the other; `node_scale`, one number per column, divides the attributes first.
    `edge_attributes` and `edge_scale` do the same for edges whose labels are numbers or tuples of numbers, such as
    weights; relabeling such an edge costs nothing else. Values below 1e-6 count as 0.

    A cost is 0 or between 1e-6 and 1e6: other values would be lost in rounding next to other costs, or overflow. To
    forbid an edit, set its cost to 1e6.

    Costs need not satisfy the triangle inequality: if deleting and inserting a node is cheaper than relabeling it, the
    solvers do that. The distance is symmetric if the costs are.

    `version` identifies functions among the costs in stores of distances. Without it they are identified by their code
    and what it refers to; if that cannot be determined, a store requires a version. Change the version whenever the
    function returns other values.

    Raises:
        CostError: A cost that is neither 0 nor from 1e-6 to 1e6, or a matrix that is not square.

    Examples:
        >>> import ugraphemb as ug
        >>> ug.distance("CCO", "CCN", method="exact", costs=ug.EditCosts(node_relabel=0.25)).value
        0.25
        >>> half = ug.EditCosts(node_relabel=lambda old, new: 0.0 if old == new else 0.5)
        >>> ug.distance("CCO", "CCN", method="exact", costs=half).value
        0.5
    """

    node_insert: float = 1.0
    node_delete: float = 1.0
    node_relabel: RelabelCost = 1.0
    edge_insert: float = 1.0
    edge_delete: float = 1.0
    edge_relabel: RelabelCost = 1.0
    version: str | None = None
    node_attributes: float = 0.0
    edge_attributes: float = 0.0
    node_scale: Scale = None
    edge_scale: Scale = None

    def __post_init__(self) -> None:
        for name in ("node_scale", "edge_scale"):
            object.__setattr__(self, name, checked_scale(getattr(self, name), name))
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
        if self.edge_attributes and not isinstance(self.edge_relabel, float):
            raise CostError("edge_attributes and an edge_relabel that depends on labels exclude each other")

    @property
    def attributes_count(self) -> bool:
        """Whether distances depend on attributes."""
        return self.node_attributes > 0 or self.edge_attributes > 0

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
        scales = {name: described[name] for name in ("node_scale", "edge_scale") if name in described}
        if not all(isinstance(price, int | float) for name, price in described.items() if name not in scales):
            return None
        try:
            return cls(**{"edge_relabel": 0.0, **described})
        except TypeError as error:
            raise CostError(f"edit costs described by {', '.join(map(repr, described))} ({error})") from error

    def description(self) -> dict[str, Any]:
        """What a table of distances says about its costs: JSON, with matrices by their digest and functions by their
        code, or by `version`."""
        prices = {field.name: _described(getattr(self, field.name), self.version) for field in _prices()}
        scales = {name: getattr(self, name) for name in ("node_scale", "edge_scale")}
        later = {name: prices.pop(name) for name in ("node_attributes", "edge_attributes")}
        # What is not used is not named: descriptions of earlier releases stay what they were.
        return {
            **prices,
            **{name: price for name, price in later.items() if price},
            **{name: list(scale) for name, scale in scales.items() if scale is not None},
        }


def _prices() -> list[Field[Any]]:
    return [field for field in fields(EditCosts) if field.name not in ("version", "node_scale", "edge_scale")]


@dataclass(frozen=True)
class ResolvedCosts:
    """Costs for two given collections: constants, and matrices over the codes of their labels."""

    costs: EditCosts
    node_codes: Labels
    edge_codes: Labels | None  # None where labels of edges make no difference
    node_matrix: Floats | None
    edge_matrix: Floats | None
    node_points: Points | None = None  # of the codes, where attributes count; matrices are over labels
    edge_points: Points | None = None

    @cached_property
    def core(self) -> _core.Costs:
        edges_count = self.edge_codes is not None and self.edge_matrix is None and self.edge_points is None
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
        """Whether the costs are symmetric."""
        return (
            self.costs.node_insert == self.costs.node_delete
            and self.costs.edge_insert == self.costs.edge_delete
            and all(m is None or np.array_equal(m, m.T) for m in (self.node_matrix, self.edge_matrix))
        )

    def relabel_node(self, left: int, right: int) -> float:
        """Cost of substituting a node of one code by a node of another."""
        apart = 0.0
        if self.node_points is not None:
            apart = self.node_points.apart(left, right)
            left, right = int(self.node_points.label_of[left]), int(self.node_points.label_of[right])
        return apart + self._relabel_node(left, right)

    def _relabel_node(self, left: int, right: int) -> float:
        if self.node_matrix is not None:
            return float(self.node_matrix[left, right])
        return 0.0 if left == right else _constant(self.costs.node_relabel, 1.0)

    def relabel_edge(self, left: int, right: int) -> float:
        if self.edge_points is not None:
            return self.edge_points.apart(left, right)
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
    of_nodes, of_edges = None, None
    if costs.node_attributes:
        nodes, of_nodes = node_points(left, right, nodes, costs.node_attributes, costs.node_scale)
    if costs.edge_attributes:
        none = np.zeros(0, np.int32)
        edges, of_edges = edge_points(
            left, right, edges or Labels(none, none, ()), costs.edge_attributes, costs.edge_scale
        )
    elif isinstance(costs.edge_relabel, float):
        edges = edges if costs.edge_relabel > 0 else None
    else:
        if edges is None:
            edges = Labels(np.zeros(len(left.indices), np.int32), np.zeros(len(right.indices), np.int32), ())
        edges, edge_matrix = _resolved(costs.edge_relabel, edges, "edge_relabel")
    return ResolvedCosts(costs, nodes, edges, node_matrix, edge_matrix, of_nodes, of_edges)


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
    # The function is called only for labels that occur.
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
            return float(mapping.default_factory())  # [] would insert into a defaultdict of the user
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
