"""GraphIndex: find the graphs most like this one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugraphemb.estimator import UGraphEmb
from ugraphemb.files import storage_errors, write_file
from ugraphemb.files.parquet import parquet_bytes
from ugraphemb.graphs import Graph, GraphLike, GraphSet, GraphsLike, graphs_of
from ugraphemb.graphs.convert.adapter import adapted
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.progress import Tick, progress_of
from ugraphemb.search import storage
from ugraphemb.search.answers import Question, plain_matches, verified_matches
from ugraphemb.search.matches import Matches
from ugraphemb.search.metadata import Metadata, Where, checked_ids, joined, rows_of, schema_of
from ugraphemb.search.neighbors import Vectors, chosen_kind
from ugraphemb.search.parts import Database, Part, with_part
from ugraphemb.search.verification import By

if TYPE_CHECKING:
    import networkx as nx

_EMBEDDED_AT_ONCE = 4_096


class GraphIndex:
    """Graphs with their vectors, to be searched.

    Searching never waits for changes: `add` and `remove` make a new state, and whoever searches meanwhile sees the old
    one, whole.

    Args:
        model: A fitted UGraphEmb.
        kind: How vectors are searched: "flat" compares with each one; "hnsw" and "ivf" are faiss's approximate
            structures (extra `search`); "auto" is flat up to 100,000 vectors, and past that ivf if faiss is installed.
        costs: Of edits, for verification; by default those the model was trained with.
        threads: For embedding and for edit distances; 0 uses every core.
    """

    def __init__(
        self, model: UGraphEmb, *, kind: str = "auto", costs: EditCosts | None = None, threads: int = 0
    ) -> None:
        self.model = model
        self.head = model._fitted().config.head
        chosen_kind(kind, 0, self.head)
        self.kind = kind
        self.threads = threads
        self._costs = costs if costs is not None else _costs_of(model.about_.get("distance_settings", {}))
        self._parts: tuple[Part, ...] = ()
        self._writing = threading.RLock()
        self._home: Path | None = None
        self._state = ""

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __contains__(self, id: object) -> bool:
        return any(id in part.position for part in self._parts)

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(part.neighbors.kind for part in self._parts)) or self.kind
        return f"GraphIndex({len(self)} graphs, vectors of {self.model.network_.config.dimension} numbers, {kinds})"

    @property
    def costs(self) -> EditCosts:
        """Of edits.

        Raises:
            ValueError: The model was trained with costs that only a program can tell: functions, mappings, matrices.
        """
        if self._costs is None:
            raise ValueError("the model's edit costs depend on labels; give them as GraphIndex(..., costs=...)")
        return self._costs

    @property
    def ids(self) -> list[str]:
        """Of all graphs, in the order they were added."""
        database = Database(self._parts)
        return [str(name) for part in database.parts for name in _alive_rows(part)["id"].to_pylist()]

    def graphs(self, ids: Sequence[str] | None = None) -> GraphSet:
        """The graphs with these ids, or all.

        Raises:
            KeyError: An id that is not there.
        """
        database = Database(self._parts)
        if ids is None:
            return database.take(database.positions(database.chosen(None)))
        return database.take(np.array([self._position(database, name) for name in ids], np.int64))

    def add(
        self,
        graphs: GraphsLike,
        ids: Sequence[str] | None = None,
        metadata: Metadata | None = None,
        *,
        replace: bool = False,
        vectors: npt.ArrayLike | None = None,
        progress: bool | None = None,
    ) -> GraphIndex:
        """Adds graphs; all of them or, if something is wrong, none.

        Args:
            ids: One string a graph; by default the ids of the graphs.
            metadata: A column a name ({"year": [1999, ...]}), a dictionary a graph, or an Arrow table. The classes of
                the graphs, if they have any, become the column "class" unless there is one; so does other metadata
                of the graphs, such as SMILES, under its own name.
            replace: A graph whose id is there takes the place of the old one; else that is an error.
            vectors: What `model.transform(graphs)` gave, if it is at hand.
            progress: True or False; None shows a bar on a terminal where it takes long.

        Raises:
            ValueError: Ids that repeat or are there already; metadata or vectors of the wrong length.
        """
        collection = graphs_of(graphs)
        names = checked_ids(collection.ids.tolist() if ids is None else ids, len(collection))
        rows = rows_of(names, metadata)
        if collection.targets is not None and "class" not in rows.column_names:
            rows = rows.append_column("class", pa.array(collection.targets.tolist()))
        for name, column in collection.metadata.items():
            if name not in rows.column_names:
                rows = rows.append_column(name, pa.array(column.tolist()))
        if not replace:
            self._refuse_known(names)
        embedded = self._vectors(collection, vectors, progress)
        with self._writing:
            parts = self._parts
            if replace:
                parts = _without(parts, [name for name in names if name in self])
            else:
                self._refuse_known(names)  # somebody may have added meanwhile
            if parts and len(collection):
                _check_attributes(parts[0].graphs, collection)
                schema_of([*(part.rows for part in parts), rows])  # refuses what could not be joined
            if len(collection):
                parts = with_part(parts, Part.of(collection, rows, embedded, self.head, "flat"), self.kind)
            self._parts = parts
        return self

    def remove(self, ids: str | Iterable[str]) -> GraphIndex:
        """Takes graphs out; all of them or, if one is not there, none.

        Raises:
            KeyError: An id that is not there.
        """
        names = [ids] if isinstance(ids, str) else list(ids)
        with self._writing:
            missing = [name for name in names if name not in self]
            if missing:
                raise KeyError(f"no graph has the id {missing[0]!r} ({len(missing)} of {len(names)} are not there)")
            self._parts = _without(self._parts, names)
        return self

    @overload
    def search(
        self,
        query: GraphSet,
        k: int | None = ...,
        *,
        verify: bool = ...,
        shortlist: int = ...,
        complete: bool = ...,
        within: float | None = ...,
        where: Where | None = ...,
        by: By = ...,
        budget: float | None = ...,
        progress: bool | None = ...,
    ) -> list[Matches]: ...
    @overload
    def search(
        self, query: Graph | nx.Graph[Any], k: int | None = ..., *, verify: bool = ..., shortlist: int = ...,
        complete: bool = ..., within: float | None = ..., where: Where | None = ..., by: By = ...,
        budget: float | None = ..., progress: bool | None = ...,
    ) -> Matches: ...  # fmt: skip
    def search(
        self,
        query: GraphLike,
        k: int | None = None,
        *,
        verify: bool = False,
        shortlist: int = 100,
        complete: bool = False,
        within: float | None = None,
        where: Where | None = None,
        by: By = "normalized",
        budget: float | None = 5.0,
        progress: bool | None = None,
    ) -> Matches | list[Matches]:
        """The graphs most like the query.

        By vectors alone, unless `verify`, `complete` or `within` ask for edit distances.

        Args:
            query: One graph of any kind, for its Matches; a collection of any kind, for a list with the Matches of each
                graph. See `ugraphemb.graphs.graphs_of`.
            k: How many; 10 by default, and all of them with `within`.
            verify: Compute the edit distances of the shortlist as far as they can change the answer, rank by them, and
                say what is proven.
            shortlist: How many of the nearest by vectors are verified.
            complete: Verify against the whole database; lower bounds (size, labels, degrees, branch) rule most of it
                out.
            within: All graphs of at most this edit distance, from the whole database.
            where: Only graphs whose metadata have these values: {"class": 3}, or one of several {"class": [1, 3]}.
            by: What verified matches are ranked by: "normalized", the edit distance divided by the mean size of the
                two graphs, which is what models learn; or "edits", the edit distance itself.
            budget: Seconds for a query; past it bounds are what they are. 0 computes no exact distances and ranks by
                `tight`, which is quick and mostly right; None is no limit.
            progress: True or False; None shows a bar on a terminal where it takes long.

        Raises:
            ValueError: A k, shortlist, within or budget that makes no sense; a metadata column that is not there.
        """
        question = Question(k, verify, shortlist, complete, within, by, budget)
        queries, one = adapted(query)
        database = Database(self._parts)
        chosen = database.chosen(where)
        self.model._report_unseen(queries)
        vectors = self._embedded(queries)
        if question.within is None:
            near = database.nearest(vectors, question.candidates, chosen)
        else:  # every graph that its bounds do not rule out is looked at, in any order
            near = [(np.empty(0, np.int64), np.empty(0))] * len(queries)
        if not question.verified:
            costs = self._costs or EditCosts()
            found = [plain_matches(queries[q], database, *near[q], costs) for q in range(len(queries))]
            return found[0] if one else found
        answers: dict[bytes, Matches] = {}  # a graph that is asked for twice is searched for once
        found = []
        with progress_of(len(queries), "queries", progress) as tick:
            for q in range(len(queries)):
                content = _content(queries[[q]])
                if content not in answers:
                    answers[content] = verified_matches(
                        queries[[q]], vectors[q], database, near[q][0], chosen, question, head=self.head,
                        costs=self.costs, threads=self.threads, tick=_at(tick, q),
                    )  # fmt: skip
                found.append(Matches(answers[content], answers[content].certificate))
                tick(q + 1)
        return found[0] if one else found

    def save(self, folder: str | Path | None = None) -> None:
        """Writes a folder with the model, the vectors, the graphs and their metadata.

        The folder changes in one step: a crash leaves what it held before, and whoever has it loaded is not disturbed.

        Args:
            folder: By default the one the index was loaded from, or saved to.

        Raises:
            IndexFormatError: The folder holds something else, or another process changed it since it was loaded.
        """
        target = self._home if folder is None else Path(folder)
        if target is None:
            raise ValueError("say where: save(folder)")
        with self._writing:
            costs = {"node_relabel": "?"} if self._costs is None else self._costs.description()
            stored = storage.Stored(self.model, self._parts, self.kind, costs, self._home, self._state)
            written = storage.write(target, stored)
            self._parts, self._state, self._home = written.parts, written.state, written.home

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        costs: EditCosts | None = None,
        threads: int = 0,
        check: bool = False,
        device: str | None = None,
    ) -> GraphIndex:
        """An index from its folder, memory-mapped. Nothing in it is executed.

        Args:
            costs: Of edits, where the index was made with costs that a file cannot hold (functions, matrices).
            check: Verify every file now, at the price of reading all; by default each is verified when first used.

        Raises:
            IndexFormatError: A folder that is torn, foreign or of an unknown version.
        """
        stored = storage.read(Path(folder), check=check, device=device)
        stored.model.set_params(threads=threads)
        index = cls(stored.model, kind=stored.kind, costs=costs, threads=threads)
        if costs is None:
            index._costs = _costs_of({"costs": stored.costs})
        index._parts, index._state, index._home = stored.parts, stored.state, stored.home
        return index

    def to_table(self) -> pa.Table:
        """Ids, metadata and vectors as an Arrow table with the columns `id`, `vector`, and one for each name."""
        parts = Database(self._parts).parts
        tables = []
        for part in parts:
            rows = _alive_rows(part)
            kept = part.neighbors.vectors
            kept = kept if part.alive is None else kept[part.alive]
            width = kept.shape[1]
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(kept).reshape(-1)), width)
            tables.append(rows.add_column(1, "vector", vectors))
        if not tables:
            width = self.model.network_.config.dimension
            tables = [
                pa.table({"id": pa.array([], pa.string()), "vector": pa.array([], pa.list_(pa.float32(), width))})
            ]
        return joined(tables).replace_schema_metadata({"ugraphemb.head": self.head})

    def export(self, path: str | Path) -> None:
        """Writes ids, vectors and metadata as a Parquet file that vector databases and map viewers read.

        The file is replaced in one step.

        Raises:
            StorageError: It could not be written; what was there still is.
        """
        data = parquet_bytes(self.to_table(), checksum=False)
        with storage_errors(path):
            write_file(Path(path), data)

    def _refuse_known(self, names: Sequence[str]) -> None:
        known = [name for name in names if name in self]
        if known:
            raise ValueError(
                f"the id {known[0]!r} is there already ({len(known)} of {len(names)} are); "
                "replace=True (--replace) replaces them"
            )

    def _vectors(self, graphs: GraphSet, given: npt.ArrayLike | None, progress: bool | None) -> Vectors:
        width = self.model.network_.config.dimension
        if given is not None:
            vectors = np.array(given, np.float32, order="C")
            if vectors.shape != (len(graphs), width) or not np.isfinite(vectors).all():
                raise ValueError(
                    f"vectors of shape {vectors.shape}; they must be finite and of shape {(len(graphs), width)}"
                )
            return vectors
        self.model._report_unseen(graphs)
        vectors = np.empty((len(graphs), width), np.float32)
        with progress_of(len(graphs), "graphs embedded", progress) as tick:
            for begin in range(0, len(graphs), _EMBEDDED_AT_ONCE):
                vectors[begin : begin + _EMBEDDED_AT_ONCE] = self._embedded(graphs[begin : begin + _EMBEDDED_AT_ONCE])
                tick(min(begin + _EMBEDDED_AT_ONCE, len(graphs)))
        return vectors

    def _embedded(self, graphs: GraphSet) -> Vectors:
        return self.model._embedded(graphs)

    def _position(self, database: Database, name: str) -> int:
        for part, start in zip(database.parts, database.starts, strict=False):
            if name in part.position:
                return int(start) + part.position[name]
        raise KeyError(f"no graph has the id {name!r}")


def _check_attributes(there: GraphSet, new: GraphSet) -> None:
    widths = [None if part.node_attributes is None else part.node_attributes.shape[1] for part in (there, new)]
    if widths[0] != widths[1]:
        raise ValueError(
            f"graphs with {widths[1] or 'no'} node attributes; those of the index have {widths[0] or 'none'}"
        )


def _without(parts: tuple[Part, ...], names: Sequence[str]) -> tuple[Part, ...]:
    """The parts without these graphs, wherever they are."""
    left = []
    for part in parts:
        places = [part.position[name] for name in names if name in part.position]
        left.append(part.without(places) if places else part)
    return tuple(part for part in left if len(part))


def _alive_rows(part: Part) -> pa.Table:
    return part.rows if part.alive is None else part.rows.filter(pa.array(part.alive))


def _costs_of(settings: dict[str, Any]) -> EditCosts | None:
    """The costs that a model or a file tells of; None where it cannot: functions, mappings and matrices."""
    described = settings.get("costs")
    return EditCosts() if described is None else EditCosts.from_description(described)


def _content(graph: GraphSet) -> bytes:
    """Equal for equal graphs of one collection."""
    edge_labels = b"" if graph.edge_labels is None else graph.edge_labels.tobytes()
    return b"|".join([graph.node_labels.tobytes(), graph.indptr.tobytes(), graph.indices.tobytes(), edge_labels])


def _at(tick: Tick, done: int) -> Callable[[], None]:
    return lambda: tick(done)
