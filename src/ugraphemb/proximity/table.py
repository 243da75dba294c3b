"""PairTable: proximities of many pairs, with all that is needed to know what they mean."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import TableError, amount, needs_extra
from ugraphemb.files import storage_errors, write_file
from ugraphemb.graphs import GraphSet, GraphsLike, graphs_of
from ugraphemb.proximity.function_keys import refuse_unidentified
from ugraphemb.proximity.lookup import Lookup
from ugraphemb.proximity.table_files import read_table, write_table

if TYPE_CHECKING:
    from ugraphemb.proximity.metrics import Columns, Flags, Floats, Kind, Metric, Positions


@dataclass(frozen=True, eq=False, repr=False)
class PairTable:
    """Proximities of pairs of graphs, one row per pair.

    Attributes:
        left: Position of the left graph in its collection.
        right: Position of the right graph; in the same collection unless there are two.
        lower: Lower bounds, nan if the method computes none.
        upper: Upper bounds, nan if the method computes none.
        proven: Whether each value is known to be the true one.
        metric: "ged", "mcs", ...
        kind: "distance" or "similarity".
        settings: Everything else that the values depend on: method, costs and other options.
        value_is: Which of the two bounds is the value.
        fingerprints: Fingerprints of the collection, or of the left and the right one.
        sizes: Nodes of each graph of the collection(s); empty if the metric is not normalized by sizes.
        counts: Graphs of the collection(s).
        symmetric: Whether the order of the two graphs does not matter.
        is_normalized: Whether values have been divided by the mean size of the two graphs.
        version: Version of ugraphemb that computed the table.

    Examples:
        >>> import ugraphemb as ug
        >>> graphs = ug.load_dataset("atlas")[10:14]
        >>> table = ug.pairwise(graphs, method="exact")
        >>> bool(table.proven.all()), len(table.where(table.value <= 1))
        (True, 2)
        >>> table.write("pairs.parquet")
        >>> ug.PairTable.read("pairs.parquet", graphs)
        PairTable(6 pairs of 4 graphs, ged exact, distance)
    """

    left: Positions
    right: Positions
    lower: Floats
    upper: Floats
    proven: Flags
    metric: str
    kind: Kind
    settings: dict[str, Any]
    value_is: Literal["lower", "upper"]
    fingerprints: tuple[str, ...]
    counts: tuple[int, ...]
    sizes: tuple[npt.NDArray[np.int32], ...] = ()
    symmetric: bool = True
    is_normalized: bool = False
    version: str = ""

    @classmethod
    def of(
        cls, metric: Metric, graphs: GraphSet, other: GraphSet | None, left: Positions, right: Positions,
        columns: Columns,
    ) -> PairTable:  # fmt: skip
        """A table with columns that a metric fills, or has filled."""
        from ugraphemb import __version__

        sets = (graphs,) if other is None else (graphs, other)
        return cls(
            left=left,
            right=right,
            lower=columns.lower,
            upper=columns.upper,
            proven=columns.proven,
            metric=metric.name,
            kind=metric.kind,
            settings=metric.settings(),
            value_is=metric.value,
            fingerprints=tuple(part.fingerprint for part in sets),
            counts=tuple(len(part) for part in sets),
            sizes=tuple(part.num_nodes.astype(np.int32) for part in sets) if metric.sized else (),
            symmetric=other is None and metric.symmetric(graphs, graphs),
            version=__version__,
        )

    @classmethod
    def from_values(
        cls,
        graphs: GraphSet,
        pairs: npt.ArrayLike,
        value: npt.ArrayLike,
        *,
        kind: Kind,
        name: str = "precomputed",
        other: GraphSet | None = None,
    ) -> PairTable:
        """A table of proximities that another program computed.

        Args:
            graphs: The collection that `pairs` indexes.
            pairs: Shape (p, 2); right positions index `other` if it is given.
            value: One per pair, taken as the true value.
            kind: "distance" or "similarity".
            name: What the metric is called.
        """
        from ugraphemb.proximity.pairwise import positions

        left, right = positions(pairs, graphs, other)
        values = np.array(value, dtype=np.float64)
        if values.shape != left.shape:
            raise ValueError(f"values of shape {values.shape} for {len(left)} pairs")
        if kind not in ("distance", "similarity"):
            raise ValueError(f"kind is {kind!r}; it must be 'distance' or 'similarity'")
        sets = (graphs,) if other is None else (graphs, other)
        return cls(
            left, right, values, values, np.ones(len(left), np.bool_), name, kind, {}, "upper",
            tuple(part.fingerprint for part in sets), tuple(len(part) for part in sets),
            tuple(part.num_nodes.astype(np.int32) for part in sets), symmetric=other is None,
        )  # fmt: skip

    @classmethod
    def from_matrix(
        cls,
        graphs: GraphsLike,
        matrix: npt.ArrayLike,
        *,
        kind: Kind = "distance",
        name: str = "precomputed",
        sized: bool = False,
    ) -> PairTable:
        """A table of a square matrix of proximities of all pairs of graphs.

        Args:
            graphs: One per row of the matrix.
            matrix: Symmetric; entries that are nan or masked are unknown and omitted.
            kind: "distance" or "similarity".
            name: What the metric is called.
            sized: Whether values grow with the graphs, as edit distances do, so that `normalized` (and a model that
                learns them) divides by the mean size. By default they are taken as they are.
        """
        if isinstance(matrix, GraphSet):
            raise TypeError("the graphs come first: PairTable.from_matrix(graphs, matrix)")
        collection = graphs_of(graphs)
        values = np.ma.filled(np.ma.asarray(matrix, dtype=np.float64), np.nan)
        if values.shape != (len(collection), len(collection)):
            raise ValueError(
                f"a matrix of shape {values.shape} for {len(collection)} graphs; expected "
                f"({len(collection)}, {len(collection)})"
            )
        if not np.allclose(values, values.T, equal_nan=True):
            row, column = np.argwhere(~np.isclose(values, values.T, equal_nan=True))[0].tolist()
            raise ValueError(
                f"the matrix is not symmetric: entry ({row}, {column}) is {values[row, column]}, "
                f"entry ({column}, {row}) is {values[column, row]}"
            )
        if kind == "distance" and (values < 0).any():
            row, column = np.argwhere(values < 0)[0].tolist()
            raise ValueError(f"the distance ({row}, {column}) is {values[row, column]}; distances are at least 0")
        left, right = np.triu_indices(len(collection), 1)
        known = ~np.isnan(values[left, right])
        pairs = np.stack([left[known], right[known]], axis=1)
        table = cls.from_values(collection, pairs, values[left[known], right[known]], kind=kind, name=name)
        return table if sized else replace(table, sizes=())

    @property
    def value(self) -> Floats:
        """The value of each pair: the bound for which a solution was found."""
        return self.lower if self.value_is == "lower" else self.upper

    @property
    def method(self) -> str | None:
        """The solver, for metrics that have several."""
        return self.settings.get("method")

    @property
    def costs(self) -> dict[str, Any] | None:
        """The edit costs, as `EditCosts.description` writes them; None for metrics without."""
        return self.settings.get("costs")

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        method = f" {self.method}" if self.method else ""
        across = " × ".join(map(str, self.counts))
        return f"PairTable({amount(len(self), 'pair')} of {across} graphs, {self.metric}{method}, {self.kind})"

    def where(self, mask: npt.ArrayLike) -> PairTable:
        """The rows of a mask, a slice, or a list of positions."""
        rows: Any = mask if isinstance(mask, slice) else np.asarray(mask)
        if isinstance(rows, np.ndarray) and rows.dtype == np.bool_ and rows.shape != self.left.shape:
            raise ValueError(f"a mask of shape {rows.shape} for a table of {len(self)} pairs")
        if isinstance(rows, np.ndarray) and rows.size == 0:
            rows = rows.astype(np.int64)
        upper = self.upper[rows]
        return replace(
            self,
            left=self.left[rows],
            right=self.right[rows],
            lower=upper if self.lower is self.upper else self.lower[rows],
            upper=upper,
            proven=self.proven[rows],
        )

    def sample(self, count: int, seed: int | np.random.Generator = 0) -> PairTable:
        """`count` random rows without replacement, in the order of the table."""
        if not 0 <= count <= len(self):
            raise ValueError(f"a sample of {count} from a table of {len(self)} pairs")
        chosen = np.random.default_rng(seed).choice(len(self), count, replace=False)
        return self.where(np.sort(chosen))

    def rows(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """For each of left × right the row of that pair, or −1: (left, right). Of a pair's several rows the last."""
        return self.lookup.matrix(left, right)

    @cached_property
    def lookup(self) -> Lookup:
        """Finds the row of a pair."""
        return Lookup(self.left, self.right, (self.counts[0], self.counts[-1]), symmetric=self.symmetric)

    def among(self, chosen: npt.NDArray[Any], graphs: GraphSet | None = None) -> PairTable:
        """The pairs of which both graphs are chosen.

        Args:
            chosen: Positions, each once.
            graphs: The chosen graphs, in this order; then the table is one of this collection.
        """
        if len(self.counts) > 1:
            raise TableError("a table of two collections has no pairs among graphs of one")
        place = np.full(self.counts[0], -1, np.int32)
        place[chosen] = np.arange(len(chosen), dtype=np.int32)
        inside = self.where((place[self.left] >= 0) & (place[self.right] >= 0))
        if graphs is None:
            return inside
        return replace(
            inside, left=place[inside.left], right=place[inside.right], fingerprints=(graphs.fingerprint,),
            counts=(len(graphs),), sizes=tuple(part[chosen] for part in self.sizes),
        )  # fmt: skip

    def normalized(self) -> PairTable:
        """Values and bounds divided by the mean number of nodes of the two graphs: nGED, nMCS.

        Two empty graphs have distance 0 and similarity 1. A normalized table stays as it is.
        """
        if self.is_normalized:
            return self
        if not self.sizes:
            raise TableError(f"metric {self.metric!r} is not one that sizes of graphs normalize")
        size = (self.sizes[0][self.left] + self.sizes[-1][self.right]) / 2
        empty = size == 0
        size[empty] = 1
        bounds = [self.lower / size, self.upper / size]
        if self.kind == "similarity":
            for bound in bounds:
                bound[empty] = 1
        return replace(self, lower=bounds[0], upper=bounds[1], is_normalized=True)

    def matrix(self) -> npt.NDArray[np.float64] | np.ma.MaskedArray[Any, np.dtype[np.float64]]:
        """Values as a matrix of left × right graphs; a masked array if pairs are missing.

        The matrix is symmetric if the order of the graphs does not matter. The diagonal of a distance is 0 unless the
        table contains other values. If a pair occurs twice, the later row counts.
        """
        if len(self.counts) == 1 and self.kind == "distance":
            matrix = np.full((self.counts[0], self.counts[0]), np.nan)
            np.fill_diagonal(matrix, 0.0)
        else:
            matrix = np.full((self.counts[0], self.counts[-1]), np.nan)
        missing = np.isnan(matrix)
        left, right = self.left, self.right
        if self.symmetric:
            left, right = np.minimum(left, right), np.maximum(left, right)
        matrix[left, right], missing[left, right] = self.value, False
        if self.symmetric:
            matrix[right, left], missing[right, left] = matrix[left, right], False
        return np.ma.MaskedArray(matrix, mask=missing) if missing.any() else matrix

    def merge(self, *others: PairTable) -> PairTable:
        """The union of this table and others of the same collection and settings, each pair once, sorted.

        If two tables contain a pair, for example with different timeouts, the tighter bounds are kept.

        Raises:
            TableError: Tables of different graphs or settings.
        """
        tables = (self, *others)
        refuse_unidentified(self.settings, "a merged table")
        for table in others:
            for name in ("metric", "kind", "settings", "value_is", "fingerprints", "is_normalized"):
                if getattr(table, name) != getattr(self, name):
                    raise TableError(
                        f"tables of different {name} do not merge: {getattr(self, name)!r} and {getattr(table, name)!r}"
                    )
        left, right = (np.concatenate([getattr(t, side) for t in tables]) for side in ("left", "right"))
        if self.symmetric:
            left, right = np.minimum(left, right), np.maximum(left, right)
        keys, place = np.unique(left.astype(np.int64) * max(self.counts) + right, return_inverse=True)
        lower, upper = np.full(len(keys), np.nan), np.full(len(keys), np.nan)
        np.fmax.at(lower, place, np.concatenate([t.lower for t in tables]))
        np.fmin.at(upper, place, np.concatenate([t.upper for t in tables]))
        proven = np.zeros(len(keys), np.bool_)
        np.logical_or.at(proven, place, np.concatenate([t.proven for t in tables]))
        return replace(
            self,
            left=(keys // max(self.counts)).astype(np.int32),
            right=(keys % max(self.counts)).astype(np.int32),
            lower=lower,
            upper=upper,
            proven=proven,
        )

    def check(self, *graphs: GraphSet) -> None:
        """Checks that this table belongs to these graphs.

        Raises:
            TableError: It belongs to others.
        """
        fits = len(graphs) == len(self.fingerprints) and all(
            part.has_fingerprint(mark) for part, mark in zip(graphs, self.fingerprints, strict=True)
        )
        if not fits:
            expected = " and ".join(
                f"{count} graphs ({mark[:8]})" for count, mark in zip(self.counts, self.fingerprints, strict=True)
            )
            given = " and ".join(f"{len(part)} graphs ({part.fingerprint[:8]})" for part in graphs)
            raise TableError(f"the table is of {expected}, not of {given}")

    def to_pandas(self, graphs: GraphsLike | None = None) -> Any:
        """A pandas DataFrame with the columns left, right, value, lower, upper and proven, one row per pair.

        Args:
            graphs: The collection the table is of, for two further columns, left_id and right_id.
        """
        with needs_extra("pandas"):
            import pandas as pd
        return pd.DataFrame(self._columns(graphs))

    def to_csv(self, path: str | os.PathLike[str], graphs: GraphsLike | None = None) -> None:
        """A text file with a header and the columns of `to_pandas`, one line per pair; nan is empty."""
        import pyarrow as pa
        import pyarrow.csv

        columns = {
            name: pa.array(values, from_pandas=True) for name, values in self._columns(graphs).items()
        }  # nan is null
        sink = pa.BufferOutputStream()
        pyarrow.csv.write_csv(pa.table(columns), sink)
        with storage_errors(path):
            write_file(Path(path), sink.getvalue().to_pybytes())

    def _columns(self, graphs: GraphsLike | None) -> dict[str, npt.NDArray[Any]]:
        names = ("left", "right", "value", "lower", "upper", "proven")
        columns: dict[str, npt.NDArray[Any]] = {name: getattr(self, name) for name in names}
        if graphs is None:
            return columns
        if len(self.counts) > 1:
            raise ValueError("a table of two collections; add their ids by the positions left and right")
        collection = graphs_of(graphs)
        self.check(collection)
        ids = {f"{side}_id": collection.ids[columns[side]].astype(object) for side in ("left", "right")}
        return {**ids, **columns}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the table to one Parquet file, atomically.

        Raises:
            StorageError: It could not be written; an existing file is unchanged.
        """
        write_table(Path(path), self)

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], graphs: GraphSet | None = None, other: GraphSet | None = None
    ) -> PairTable:
        """A table from disk.

        Args:
            path: As written by `write`, or the folder of a store.
            graphs: The collection that the table must belong to; None does not check.
            other: The second collection, if there are two.

        Raises:
            TableError: A damaged file, a file of another program, or a table of other graphs.
        """
        if Path(path).is_dir():
            from ugraphemb.proximity.store import read_store

            table = read_store(path)
        else:
            table = read_table(Path(path))
        sets: Sequence[GraphSet] = [part for part in (graphs, other) if part is not None]
        if sets:
            try:
                table.check(*sets)
            except TableError as error:
                raise TableError(f"{os.fspath(path)}: {error}") from None
        return table
