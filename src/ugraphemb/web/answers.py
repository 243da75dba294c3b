"""What responses say: the models of the OpenAPI document. Responses are built as plain dictionaries of these shapes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

Place = list[float]
Label = Any


class Problem(BaseModel):
    code: str
    message: str
    where: str | None


class ErrorAnswer(BaseModel):
    error: Problem


class Health(BaseModel):
    status: Literal["ok"]


class Version(BaseModel):
    version: str
    api: int


class Spread(BaseModel):
    min: int
    mean: float
    max: int


class Counted(BaseModel):
    value: Label
    count: int


class LabelCount(Counted):
    color: str | None


class Column(BaseModel):
    name: str
    type: Literal["integer", "number", "text", "boolean", "other"]
    missing: int
    distinct: int | None
    values: list[Counted] | None
    min: float | int | None
    max: float | int | None


class Model(BaseModel):
    metric: str
    dimension: int
    head: str
    trained_on: dict[str, Any]
    validation_tau: float | None


class MapState(BaseModel):
    status: Literal["ready", "computing", "unavailable"]
    progress: float
    method: str
    version: str


class Info(BaseModel):
    name: str
    graphs: int
    state: str
    molecules: bool
    writable: bool
    nodes: Spread
    edges: Spread
    node_labels: list[LabelCount] | None
    edge_labels: list[LabelCount] | None
    class_column: str | None
    columns: list[Column]
    model: Model
    costs: dict[str, Any] | None
    map: MapState
    limits: dict[str, float]
    version: str


class GraphAnswer(BaseModel):
    id: str
    position: int | None
    num_nodes: int
    num_edges: int
    edges: list[list[int]]
    node_labels: list[Label] | None
    edge_labels: list[Label] | None
    metadata: dict[str, Any]
    coordinates: list[Place] | None
    orders: list[int] | None
    charges: list[int] | None


class Parsed(BaseModel):
    graphs: list[GraphAnswer]
    count: int
    warnings: list[str]


class MatchAnswer(BaseModel):
    rank: int
    id: str
    position: int
    distance: float | None
    lower: float | None
    upper: float | None
    proven: bool
    normalized: float | None
    predicted: float
    num_nodes: int
    num_edges: int
    metadata: dict[str, Any]


class CertificateAnswer(BaseModel):
    proven: bool
    ordered: bool
    scope: Literal["shortlist", "database"]
    graphs: int
    found: int
    removed: dict[str, int]
    undecided: list[str]
    undecided_count: int
    seconds: float
    within: float | None
    text: str


class QueryAnswer(BaseModel):
    graph: GraphAnswer
    place: Place | None


class SearchAnswer(BaseModel):
    mode: str
    seconds: float
    state: str
    query: QueryAnswer
    warnings: list[str]
    matches: list[MatchAnswer]
    certificate: CertificateAnswer | None


class OperationAnswer(BaseModel):
    operation: str
    nodes: list[int]
    old: Label
    new: Label
    cost: float
    text: str


class NodeChange(BaseModel):
    name: int
    left: int | None
    right: int | None
    old: Label
    new: Label
    from_: Place
    to: Place
    change: Literal["kept", "relabeled", "removed", "added"]

    model_config = {"populate_by_name": True, "alias_generator": lambda name: name.rstrip("_")}


class EdgeChange(BaseModel):
    nodes: list[int]
    old: Label
    new: Label
    change: Literal["kept", "relabeled", "removed", "added"]


class Drawings(BaseModel):
    left: str
    right: str
    steps: list[str]


class EditsAnswer(BaseModel):
    left: GraphAnswer
    right: GraphAnswer
    distance: float
    lower: float
    upper: float
    proven: bool
    normalized: float
    mapping: list[int]
    changes: str
    operations: list[OperationAnswer]
    nodes: list[NodeChange]
    edges: list[EdgeChange]
    drawings: Drawings | None


class Embedded(BaseModel):
    vectors: list[list[float]]
    places: list[Place | None]


class Row(BaseModel):
    position: int
    id: str
    num_nodes: int
    num_edges: int
    metadata: dict[str, Any]
    x: float | None
    y: float | None


class LineRow(Row):
    stop: Place


class Line(BaseModel):
    graphs: list[LineRow]


class Cluster(BaseModel):
    x: float
    y: float
    radius: float
    count: int
    members: list[Row]


class Clusters(BaseModel):
    radius: float
    clusters: list[Cluster]


class Rows(BaseModel):
    rows: list[Row]


class Written(BaseModel):
    graphs: int
    state: str
