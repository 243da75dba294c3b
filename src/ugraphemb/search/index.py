"""GraphIndex: search for the graphs most similar to a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugraphemb.encoder.names import Head
from ugraphemb.errors import amount
from ugraphemb.estimator import UGraphEmb
from ugraphemb.files import storage_errors, write_file
from ugraphemb.files.parquet import parquet_bytes
from ugraphemb.graphs import Graph, GraphLike, GraphSet, GraphsLike, graphs_of
from ugraphemb.graphs.convert.adapter import adapted
from ugraphemb.pretrained import suited
from ugraphemb.progress import Progress, Tick, progress_of
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.search import storage
from ugraphemb.search.answers import Question, plain_matches, verified_matches
from ugraphemb.search.engines import engine_at, is_url, opened
from ugraphemb.search.engines.embedded import Embedded, refuse_known
from ugraphemb.search.engines.protocol import Engine
from ugraphemb.search.matches import Matches
from ugraphemb.search.metadata import Metadata, Where, checked_ids, joined, rows_of
from ugraphemb.search.neighbors import Vectors, chosen_kind
from ugraphemb.search.parts import Part
from ugraphemb.search.verification import By
from ugraphemb.workers import Workers, crew_of

if TYPE_CHECKING:
    import networkx as nx

_EMBEDDED_AT_ONCE = 4_096


class GraphIndex:
    """A searchable collection of graphs with their vectors.

    A search works on a snapshot: `add` and `remove` create a new state, and concurrent searches use the previous one.

    Args:
        model: A fitted UGraphEmb. None takes a pre-trained one that suits the graphs that are added first: "molecules"
            if all node labels are elements, otherwise "graphs"; see `UGraphEmb.pretrained`.
        kind: How vectors are searched: "flat" compares with each one; "hnsw" and "ivf" are faiss's approximate
            structures (extra `search`); "auto" is flat up to 100,000 vectors, and past that ivf if faiss is installed.
        costs: Edit costs of verification; by default those that the model was trained with.
        threads: Number of threads for embedding and edit distances; 0 uses all cores.
        engine: Where graphs and vectors are kept: "embedded", in this process; or the URL of a database (extra
            `engines`): milvus://host:19530/collection, postgresql://user@host/database/table, lance://folder (or a path
            that ends in .lance) or s3://bucket/folder. Changes of a database are visible to every client at once;
            `save` is not needed.

    Raises:
        IndexFormatError: A database that holds vectors of another model.

    Examples:
        >>> import ugraphemb as ug
        >>> graphs = ug.load_dataset("atlas")[100:140]
        >>> index = ug.GraphIndex().add(graphs)
        >>> index
        GraphIndex(40 graphs, vectors of 256 numbers, flat, model graphs)
        >>> matches = index.search(graphs[7], k=3, complete=True)
        >>> [(match.id, match.distance) for match in matches][0], matches.certificate.proven
        (('G107', 0.0), True)
    """

    def __init__(
        self,
        model: UGraphEmb | None = None,
        *,
        kind: str = "auto",
        costs: EditCosts | None = None,
        threads: int = 0,
        engine: str = "embedded",
    ) -> None:
        self.kind = kind
        self.threads = threads
        self._place = engine
        self._model: UGraphEmb | None = None
        self._costs = costs
        self._engine: Engine | None = None
        chosen_kind(kind, 0, "l2")
        if model is not None:
            self._use(model)

    def _use(self, model: UGraphEmb) -> None:
        head = model.head_  # raises an error if the model was not fitted
        self._model = model
        if self._costs is None:
            self._costs = _costs_of(model.about_.get("distance_settings", {}))
        self._engine = (
            Embedded(head, self.kind)
            if self._place == "embedded"
            else engine_at(self._place, model, self.kind, _described(self._costs))
        )

    def _suit(self, graphs: GraphSet) -> None:
        """Takes the pre-trained model for such graphs, where there is no model yet."""
        if self._model is None:
            self._use(UGraphEmb.pretrained(suited(graphs), costs=self._costs).set_params(threads=self.threads))

    @property
    def model(self) -> UGraphEmb:
        """The model that computes the vectors.

        Raises:
            ValueError: The index was made without one, and no graphs were added yet.
        """
        if self._model is None:
            raise ValueError("this index has no model yet: add graphs, and a pre-trained one is chosen; or give one")
        return self._model

    @property
    def head(self) -> Head:
        """How the vectors are compared."""
        return self.model.head_

    @property
    def engine(self) -> Engine:
        """The storage of graphs and vectors."""
        if self._engine is None and self._place != "embedded":
            raise ValueError("this index has no model yet: give the one of the database, or add graphs")
        if self._engine is None:
            return Embedded("l2", self.kind)  # as empty as this index
        return self._engine

    @engine.setter
    def engine(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def _parts(self) -> tuple[Part, ...]:
        return self.engine.parts if isinstance(self.engine, Embedded) else ()

    @property
    def _state(self) -> str:
        return self.engine.state if isinstance(self.engine, Embedded) else ""

    def __len__(self) -> int:
        return self.engine.count()

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and bool(self.engine.known([id]))

    def __repr__(self) -> str:
        if self._model is None:
            graphs = f"0 graphs, {self.kind}, " if self._place == "embedded" else ""  # a database may hold some
            return f"GraphIndex({graphs}no model yet)"
        kinds = ", ".join(dict.fromkeys(part.neighbors.kind for part in self._parts)) or self.kind
        kinds = kinds if isinstance(self.engine, Embedded) else self.engine.name
        name = self.model.about_.get("pretrained")
        named = "" if name is None else f", model {name}"
        return f"GraphIndex({amount(len(self), 'graph')}, vectors of {self.model.dimension_} numbers, {kinds}{named})"

    @property
    def costs(self) -> EditCosts:
        """The edit costs of verification.

        Raises:
            ValueError: The model was trained with costs that cannot be stored: functions, mappings, matrices.
        """
        if self._costs is None and self._model is None:
            return EditCosts()
        if self._costs is None:
            raise ValueError("the model's edit costs depend on labels; give them as GraphIndex(..., costs=...)")
        return self._costs

    @property
    def ids(self) -> list[str]:
        """Ids of all graphs, in the order in which they were added."""
        return self.engine.ids()

    def graphs(self, ids: Sequence[str] | None = None) -> GraphSet:
        """The graphs with these ids, or all.

        Raises:
            KeyError: An id that does not exist.
        """
        return self.engine.fetch(ids)

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
            ids: One string per graph; by default the ids of the graphs.
            metadata: Columns by name ({"year": [1999, ...]}), one dictionary per graph, or an Arrow table. Classes of
                the graphs, if they have any, become the column "class" unless there is one; so does other metadata
                of the graphs, such as SMILES, under its own name.
            replace: Whether graphs with ids that are already in the index replace the old ones; otherwise an error.
            vectors: The result of `model.transform(graphs)`, if it is already known.
            progress: True or False; None shows a bar on a terminal where it takes long.

        Raises:
            ValueError: Repeated ids, ids that are already in the index, metadata or vectors of the wrong length.
        """
        collection = graphs_of(graphs)
        names = checked_ids(collection.ids.tolist() if ids is None else ids, len(collection))
        rows = rows_of(names, metadata)
        if collection.targets is not None and "class" not in rows.column_names:
            rows = rows.append_column("class", pa.array(collection.targets.tolist()))
        for name, column in collection.metadata.items():
            if name not in rows.column_names:
                rows = rows.append_column(name, pa.array(column.tolist()))
        if self._model is None and not len(collection):
            return self  # the first graphs that are added choose the model
        chosen = copy(self)  # so that an error leaves an index without a model as it was
        chosen._suit(collection)
        if not replace:
            chosen._refuse_known(names)
        embedded = chosen._vectors(collection, vectors, progress)
        chosen.engine.add(collection, rows, embedded, replace=replace, progress=progress)
        if self._model is None:
            self._model, self._costs, self._engine = chosen._model, chosen._costs, chosen._engine
        return self

    def remove(self, ids: str | Iterable[str]) -> GraphIndex:
        """Removes graphs: all of them or, if one is missing, none.

        Raises:
            KeyError: An id that is not in the index.
        """
        names = [ids] if isinstance(ids, str) else list(ids)
        self.engine.remove(names)
        return self

    @overload
    def search(
        self, query: GraphSet, k: int | None = ..., *, verify: bool = ..., shortlist: int = ...,
        complete: bool = ..., within: float | None = ..., where: Where | None = ..., by: By = ...,
        budget: float | None = ..., executor: Workers | None = ..., progress: Progress = ...,
    ) -> list[Matches]: ...  # fmt: skip
    @overload
    def search(
        self, query: Graph | nx.Graph[Any], k: int | None = ..., *, verify: bool = ..., shortlist: int = ...,
        complete: bool = ..., within: float | None = ..., where: Where | None = ..., by: By = ...,
        budget: float | None = ..., executor: Workers | None = ..., progress: Progress = ...,
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
        executor: Workers | None = None,
        progress: Progress = None,
    ) -> Matches | list[Matches]:
        """The graphs that are most similar to the query.

        Matches are ranked by vectors alone, unless `verify`, `complete` or `within` request edit distances.

        Args:
            query: One graph in any form gives its Matches; a collection gives a list with the Matches of each graph.
                See `ugraphemb.graphs.graphs_of`.
            k: Number of matches; 10 by default, and no limit with `within`.
            verify: Compute the edit distances of the shortlist as far as they can change the answer, rank by them, and
                report what is proven.
            shortlist: Number of nearest graphs by vectors that are verified.
            complete: Verify against the whole database; lower bounds (size, labels, degrees, branch) rule out most of
                it.
            within: All graphs of the database with at most this edit distance.
            where: Only graphs whose metadata have these values: {"class": 3}, or one of several: {"class": [1, 3]}.
            by: Ranking of verified matches: "normalized" is the edit distance divided by the mean size of the two
                graphs, which models learn; "edits" is the edit distance itself.
            budget: Seconds per query; after that the bounds so far are returned. 0 computes no exact distances and
                ranks by `tight`, which is fast and mostly correct; None means no limit.
            executor: Workers that prove, with `complete` and `within`: a number of processes, a Dask client, the
                address of a Dask scheduler, or any concurrent.futures.Executor. Each keeps some of the graphs, which it
                loads from the saved index where it can. The answer is the same.
            progress: True or False; None shows a bar on a terminal where it takes long. A function is called with the
                queries done and their number, every 50 ms, and stops the search by raising.

        Raises:
            ValueError: An invalid k, shortlist, within or budget; a metadata column that does not exist.
            ClusterError: Workers of another version, or workers that die repeatedly.
        """
        question = Question(k, verify, shortlist, complete, within, by, budget)
        if executor is not None and not question.everywhere:
            raise ValueError("executor is for complete=True and within=: a shortlist is verified here")
        queries, one = adapted(query)
        if self._model is None:  # an empty index; the first graphs that are added choose the model, not a query
            empty = copy(self)
            empty._suit(queries)
            found = empty._found(queries, question, where, executor, progress)
        else:
            found = self._found(queries, question, where, executor, progress)
        return found[0] if one else found

    def _found(
        self, queries: GraphSet, question: Question, where: Where | None, executor: Workers | None, progress: Progress
    ) -> list[Matches]:
        """The matches of each query."""
        self.model._report_unseen(queries)
        vectors = self._embedded(queries)
        scopes = self.engine.scopes(queries, vectors, question, where, self._costs)
        if not question.verified:
            costs = self._costs or EditCosts()
            return [plain_matches(queries[q], scope.database, *scope.near, costs) for q, scope in enumerate(scopes)]
        answers: dict[bytes, Matches] = {}  # a graph that occurs twice among the queries is searched once
        found: list[Matches] = []
        with (
            nullcontext() if executor is None else crew_of(executor) as crew,
            progress_of(len(queries), "queries", progress) as tick,
        ):
            for q, scope in enumerate(scopes):
                query = queries[[q]]
                content = _content(query)
                if content not in answers:
                    answers[content] = verified_matches(
                        query, vectors[q], scope.database, scope.near[0], scope.chosen, question,
                        count=scope.count, head=self.head, costs=self.costs, threads=self.threads, crew=crew,
                        tick=_at(tick, q),
                    )  # fmt: skip
                found.append(Matches(answers[content], answers[content].certificate))
                tick(q + 1)
        return found

    def save(self, folder: str | Path | None = None) -> None:
        """Writes a folder with the model, the vectors, the graphs and their metadata.

        The folder is replaced atomically: a crash leaves the previous state, and processes that loaded it keep theirs.

        Args:
            folder: By default the one the index was loaded from, or saved to.

        Raises:
            IndexFormatError: The folder holds something else, or another process changed it since it was loaded.
        """
        engine = self.engine
        if not isinstance(engine, Embedded):
            if folder is None:
                return
            raise ValueError(f"{engine.name} keeps this index; `ugraphemb copy` writes it to a folder")
        target = engine.home if folder is None else Path(folder)
        if target is None:
            raise ValueError("the index has no folder yet: save(folder)")
        with engine.writing:
            costs = _described(self._costs)
            stored = storage.Stored(self.model, engine.parts, self.kind, costs, engine.home, engine.state)
            written = storage.write(target, stored)
            engine.parts, engine.state, engine.home = written.parts, written.state, written.home

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
        """An index from its folder, memory-mapped, or from a database. Nothing in it is executed.

        Args:
            folder: Or the URL of a database, see `GraphIndex`.
            costs: Edit costs, if the index was made with costs that a file cannot store (functions, matrices).
            check: Verify every file now, which reads all of them; by default each is verified when first used.

        Raises:
            IndexFormatError: A folder that is damaged, not an index, or of an unknown version.
        """
        if is_url(folder):
            engine, model, described = opened(str(folder), device)
            model.set_params(threads=threads)
            index = cls(model, kind=engine.kind, costs=costs, threads=threads)
            index.engine = engine
            if costs is None:
                index._costs = _costs_of({"costs": described})
            return index
        stored = storage.read(Path(folder), check=check, device=device)
        stored.model.set_params(threads=threads)
        index = cls(stored.model, kind=stored.kind, costs=costs, threads=threads)
        if costs is None:
            index._costs = _costs_of({"costs": stored.costs})
        embedded = index.engine
        assert isinstance(embedded, Embedded)
        embedded.parts, embedded.state, embedded.home = stored.parts, stored.state, stored.home
        return index

    def to_table(self) -> pa.Table:
        """Ids, metadata and vectors as an Arrow table with the columns `id`, `vector`, and one for each name."""
        tables = []
        for _, rows, kept in self.engine.pages():
            flat = pa.array(np.ascontiguousarray(kept).reshape(-1))
            tables.append(rows.add_column(1, "vector", pa.FixedSizeListArray.from_arrays(flat, kept.shape[1])))
        if not tables:
            width = self.model.dimension_
            tables = [
                pa.table({"id": pa.array([], pa.string()), "vector": pa.array([], pa.list_(pa.float32(), width))})
            ]
        return joined(tables).replace_schema_metadata({"ugraphemb.head": self.head})

    def export(self, path: str | Path) -> None:
        """Writes ids, vectors and metadata as a Parquet file that vector databases and map viewers read.

        The file is replaced atomically.

        Raises:
            StorageError: It could not be written; the old state is kept.
        """
        data = parquet_bytes(self.to_table(), checksum=False)
        with storage_errors(path):
            write_file(Path(path), data)

    def _refuse_known(self, names: Sequence[str]) -> None:
        if isinstance(self.engine, Embedded):  # others say themselves which of them are the same graphs
            refuse_known(self.engine.known(names), names)

    def _vectors(self, graphs: GraphSet, given: npt.ArrayLike | None, progress: bool | None) -> Vectors:
        width = self.model.dimension_
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


def _described(costs: EditCosts | None) -> dict[str, Any]:
    return {"node_relabel": "?"} if costs is None else costs.description()


def _costs_of(settings: dict[str, Any]) -> EditCosts | None:
    """The costs saved with a model or an index; None for functions, mappings and matrices, which are not saved."""
    described = settings.get("costs")
    return EditCosts() if described is None else EditCosts.from_description(described)


def _content(graph: GraphSet) -> bytes:
    """Equal for equal graphs of one collection."""
    edge_labels = b"" if graph.edge_labels is None else graph.edge_labels.tobytes()
    return b"|".join([graph.node_labels.tobytes(), graph.indptr.tobytes(), graph.indices.tobytes(), edge_labels])


def _at(tick: Tick, done: int) -> Callable[[], None]:
    return lambda: tick(done)
