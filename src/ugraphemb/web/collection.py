"""One state of an index, as the API shows it: graphs by position, by id, with their metadata. Never changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugraphemb.graphs import Graph, GraphSet
from ugraphemb.graphs.convert.chemistry import BONDS, element_of
from ugraphemb.plots.molecules import are_molecules
from ugraphemb.search import GraphIndex
from ugraphemb.search.engines.embedded import Embedded
from ugraphemb.search.metadata import joined
from ugraphemb.search.parts import Database
from ugraphemb.tasks.large_maps import LargeMap
from ugraphemb.tasks.maps import fit_map
from ugraphemb.web.refusals import RefusalError

Ints = npt.NDArray[np.int64]
Floats32 = npt.NDArray[np.float32]

SMILES = "smiles"
_SAMPLE = 2_000  # vectors whose axes the provisional map shows


class Collection:
    """A snapshot.

    Positions count the graphs that are there, from 0, in the order they were added: the rows of the map.

    Attributes:
        name: What it is called.
        state: Changes with the index on disk.
        map: Where each graph lies; None while it is being computed.
    """

    def __init__(self, index: GraphIndex, name: str, map: LargeMap | None = None) -> None:
        self.index, self.name, self.map = index, name, map
        engine = index.engine
        assert isinstance(engine, Embedded)  # what `GraphIndex.load` gives for a folder
        self.state = engine.state
        self._tree: tuple[LargeMap | None, Any] = (None, None)
        self.database = Database(engine.parts)
        self._places = self.database.positions(self.database.chosen(None))

    def __len__(self) -> int:
        return len(self._places)

    @cached_property
    def rows(self) -> pa.Table:
        """Ids and metadata of all graphs."""
        if not self.database.parts:
            return pa.table({"id": pa.array([], pa.string())})
        tables = [
            part.rows if part.alive is None else part.rows.filter(pa.array(part.alive)) for part in self.database.parts
        ]
        return joined(tables)

    @cached_property
    def columns(self) -> list[str]:
        """Names of the metadata."""
        return [name for name in self.rows.column_names if name != "id"]

    @cached_property
    def num_nodes(self) -> Ints:
        return self._counts("num_nodes")

    @cached_property
    def num_edges(self) -> Ints:
        return self._counts("num_edges")

    def _counts(self, name: str) -> Ints:
        counts = [
            getattr(part.graphs, name) if part.alive is None else getattr(part.graphs, name)[part.alive]
            for part in self.database.parts
        ]
        return np.concatenate(counts) if counts else np.empty(0, np.int64)

    @cached_property
    def molecules(self) -> bool:
        """Whether the graphs are molecules."""
        return bool(self.database.parts) and all(are_molecules(part.graphs) for part in self.database.parts)

    @cached_property
    def smiles_options(self) -> dict[str, bool]:
        """How SMILES become graphs like those of the collection."""
        charges, hydrogens = False, 0
        for part in self.database.parts:
            words = part.graphs.node_vocabulary
            charges |= any((element_of(word) or ("", 0))[1] for word in words)
            hydrogens += int((part.graphs.node_labels == words.index("H")).sum()) if "H" in words else 0
        return {"charges": charges, "hydrogens": hydrogens > len(self)}  # a single one does not count

    @cached_property
    def bonds(self) -> dict[str, Any]:
        """What molecules of the collection call each kind of bond."""
        words = [word for part in self.database.parts for word in part.graphs.edge_vocabulary] if self.molecules else []
        return {BONDS[str(word).lower()]: word for word in words}

    def unseen(self, graph: Graph) -> str | None:
        """A message about labels that the model does not know."""
        vocabulary = self.index.model.vocabulary_
        made_for_any = self.index.model._fitted().hashed_labels > 0
        if made_for_any or set(graph.node_labels) <= set(vocabulary.node_labels):
            return None
        return vocabulary.unseen(graph.graphs[[graph.position]])

    def vectors(self) -> Floats32:
        """Of all graphs, by position."""
        if not self.database.parts:
            return np.empty((0, self.index.model.dimension_), np.float32)
        if len(self.database.parts) == 1 and self.database.parts[0].alive is None:
            return self.database.parts[0].neighbors.vectors
        return self.database.vectors(self._places)

    def check_state(self, state: str | None) -> None:
        if state is not None and state != self.state:
            raise RefusalError("changed", "the index has changed; ask /api/info and /api/map again", "state")

    def position_of(self, id: str) -> int:
        for part, start in zip(self.database.parts, self.database.starts, strict=False):
            if id in part.position:
                return int(np.searchsorted(self._places, int(start) + part.position[id]))
        raise RefusalError("not_found", f"no graph has the id {id[:100]!r}", "id")

    def positions_of(self, places: Ints) -> Ints:
        """Positions of graphs from those in the database, which also counts removed ones."""
        return np.searchsorted(self._places, places)

    def check_positions(self, positions: Sequence[int]) -> Ints:
        wrong = next((position for position in positions if not 0 <= position < len(self)), None)
        if wrong is not None:
            raise RefusalError("not_found", f"position {wrong}; there are {len(self)} graphs", "position")
        return np.array(positions, np.int64)

    def graphs(self, positions: Ints) -> GraphSet:
        """Graphs with their ids, and their SMILES where they are known, which drawings need."""
        graphs = self.database.take(self._places[positions])
        if SMILES in self.columns and pa.types.is_string(self.rows.schema.field(SMILES).type):
            known = self.rows[SMILES].take(pa.array(positions)).to_pylist()
            graphs = replace(graphs, metadata={SMILES: np.array([text or "" for text in known], dtype=np.str_)})
        return graphs

    def graph(self, position: int) -> Graph:
        return self.graphs(np.array([position]))[0]

    def metadata(self, positions: Ints) -> list[dict[str, Any]]:
        """What is known of each graph, as JSON can hold it."""
        found = self.rows.take(pa.array(positions)).to_pylist()
        return [
            {name: plain(value) for name, value in row.items() if name != "id" and value is not None} for row in found
        ]

    def row_answers(self, positions: Ints) -> list[dict[str, Any]]:
        """See `answers.Row`."""
        ids = self.rows["id"].take(pa.array(positions)).to_pylist()
        places = [[None, None]] * len(ids) if self.map is None else self.map.coordinates[positions].tolist()
        about = self.metadata(positions)
        nodes, edges = self.num_nodes[positions].tolist(), self.num_edges[positions].tolist()
        return [
            {"position": position, "id": ids[i], "num_nodes": nodes[i], "num_edges": edges[i], "metadata": about[i],
             "x": places[i][0], "y": places[i][1]}
            for i, position in enumerate(positions.tolist())
        ]  # fmt: skip

    @property
    def drawn_map(self) -> LargeMap:
        """The map, as far as it is known."""
        if self.map is None:
            self.map = provisional_map(self)
        return self.map

    def tree(self) -> Any:
        """A k-d tree of the places on the map."""
        from scipy.spatial import cKDTree

        map = self.drawn_map
        if self._tree[0] is not map:
            self._tree = (map, cKDTree(map.coordinates))
        return self._tree[1]


def provisional_map(collection: Collection) -> LargeMap:
    """A preliminary map by the two axes of largest variance, which is shown until t-SNE is done."""
    vectors = np.asarray(collection.vectors())
    sample = np.sort(np.random.default_rng(0).permutation(len(vectors))[:_SAMPLE])
    different = vectors[sample]
    if len(different) < 2 or (different == different[0]).all():
        coordinates = np.zeros((len(vectors), 2), np.float32)
    else:
        coordinates = fit_map(different, "pca").transform(vectors).astype(np.float32)
    return LargeMap(coordinates, sample, different, collection.index.head, "pca")


def plain(value: Any) -> Any:
    """A value of the metadata as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
