"""The fields of requests. Unknown fields are refused, so that a misspelled option is not ignored."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Id = Annotated[str, StringConstraints(max_length=1_000)]
Position = Annotated[int, Field(ge=0, le=2**53, strict=True)]
Node = Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)]
Theme = Literal["light", "dark"]
Size = Annotated[int, Field(ge=16, le=2_000, strict=True, description="Pixels of the longer side")]
Coordinate = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Plain = str | int | Number | bool | None
Label = Plain | list[Plain]
Mode = Literal["vectors", "verified", "complete", "within"]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class GraphBody(Body):
    """A graph, as a line of a .jsonl file has it."""

    num_nodes: Annotated[int, Field(ge=0, strict=True)]
    edges: list[Annotated[list[Node], Field(min_length=2, max_length=2)]] = []
    node_labels: list[Label] | None = None
    edge_labels: list[Label] | None = None
    node_attributes: list[list[Number]] | None = None
    id: Id | None = None
    metadata: dict[str, Plain] = {}


class FileBody(Body):
    """The content of a text file; the suffix of the name says its format. The name is never opened."""

    name: Annotated[str, StringConstraints(max_length=255)]
    content: str


class StateBody(Body):
    state: str | None = Field(default=None, description="From /api/info; if the index is in another state by now: 409")


class Query(StateBody):
    """A graph: exactly one of id, position, smiles, graph, file."""

    id: Id | None = None
    position: Position | None = None
    smiles: Annotated[str, StringConstraints(max_length=5_000)] | None = None
    graph: GraphBody | None = None
    file: FileBody | None = None
    index: Annotated[int, Field(ge=0, strict=True)] = Field(default=0, description="Which graph of the file")

    @model_validator(mode="after")
    def _one(self) -> Query:
        names = ("id", "position", "smiles", "graph", "file")
        if sum(getattr(self, name) is not None for name in names) != 1:
            raise ValueError(f"exactly one of {', '.join(names)} is needed")
        return self


class SearchBody(StateBody):
    query: Query
    mode: Mode = "vectors"
    k: Annotated[int, Field(ge=1, strict=True)] | None = Field(
        default=None, description="10 by default; all with `within`"
    )
    within: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(default=None, description="Edit distance")
    where: dict[str, Plain | list[Plain]] | None = Field(default=None, description="Only graphs with these metadata")
    by: Literal["normalized", "edits"] = "normalized"
    budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(default=5.0, description="Seconds")
    shortlist: Annotated[int, Field(ge=1, strict=True)] = 100
    place: bool = Field(default=True, description="Whether to say where the query falls on the map")

    @model_validator(mode="after")
    def _radius(self) -> SearchBody:
        if (self.mode == "within") != (self.within is not None):
            raise ValueError("`within` is needed for the mode 'within', and for no other")
        return self


class DrawingBody(StateBody):
    query: Query
    size: Size = 220
    theme: Theme = "light"


class ParseBody(Body):
    """Exactly one of smiles, graph, file."""

    smiles: Annotated[str, StringConstraints(max_length=5_000)] | None = None
    graph: GraphBody | None = None
    file: FileBody | None = None

    @model_validator(mode="after")
    def _one(self) -> ParseBody:
        if sum(value is not None for value in (self.smiles, self.graph, self.file)) != 1:
            raise ValueError("exactly one of smiles, graph, file is needed")
        return self


class EditsBody(StateBody):
    left: Query
    right: Query
    budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(default=2.0, description="Seconds")
    drawings: bool = True
    size: Size = 320
    theme: Theme = "light"


class QueryBody(StateBody):
    query: Query


class EmbedBody(StateBody):
    queries: list[Query]


class LineBody(StateBody):
    start: Query = Field(alias="from")
    stop: Query = Field(alias="to")
    points: Annotated[int, Field(ge=2, le=100, strict=True)] = 12


class ClusterBody(StateBody):
    """A disc (x, y and perhaps its radius), or positions of graphs whose most central members are wanted."""

    x: Coordinate | None = None
    y: Coordinate | None = None
    radius: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | None = None
    positions: Annotated[list[Position], Field(min_length=1, max_length=1_000_000)] | None = None
    members: Annotated[int, Field(ge=1, le=100, strict=True)] = 12

    @model_validator(mode="after")
    def _place(self) -> ClusterBody:
        disc = self.x is not None and self.y is not None
        if disc == (self.positions is not None) or (self.x is None) != (self.y is None):
            raise ValueError("either x and y or positions are needed")
        return self


class RowsBody(StateBody):
    """Exactly one of positions and ids."""

    positions: list[Position] | None = None
    ids: list[Id] | None = None

    @model_validator(mode="after")
    def _one(self) -> RowsBody:
        if (self.positions is None) == (self.ids is None):
            raise ValueError("exactly one of positions, ids is needed")
        return self


class ExportBody(RowsBody):
    format: Literal["csv", "smiles", "jsonl"] = "csv"


class AddBody(Body):
    """Exactly one of graphs, smiles, file; metadata as one object per graph."""

    graphs: list[GraphBody] | None = None
    smiles: list[Annotated[str, StringConstraints(max_length=5_000)]] | None = None
    file: FileBody | None = None
    ids: list[Id] | None = None
    metadata: list[dict[str, Plain]] | None = None
    replace: bool = False

    @model_validator(mode="after")
    def _one(self) -> AddBody:
        if sum(value is not None for value in (self.graphs, self.smiles, self.file)) != 1:
            raise ValueError("exactly one of graphs, smiles, file is needed")
        return self


class RemoveBody(Body):
    ids: list[Id]
