"""The map of an index as one file of its folder: `map.arrow`.

A line with format and version, a line with a checksum of the rest, then an Arrow file with one row for each graph:

    id          string
    key         uint64   a digest of the graph's vector: a graph that was replaced under the same id is a new graph
    x, y        float32
    reference   bool     whether t-SNE laid it out; all others were placed

The schema's metadata say `method`. The file is replaced atomically. The index does not list it: when graphs were added
since, those are placed; when many were, or many are gone, the map is computed again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ugraphemb.errors import IndexFormatError
from ugraphemb.files import sealed, storage_errors, unsealed, write_file
from ugraphemb.files.arrays import arrow_table
from ugraphemb.tasks.large_maps import LargeMap, row_keys
from ugraphemb.web.collection import Collection

MAP, FORMAT, VERSION = "map.arrow", "ugraphemb-map", 1
_SCHEMA = pa.schema(
    [("id", pa.string()), ("key", pa.uint64()), ("x", pa.float32()), ("y", pa.float32()), ("reference", pa.bool_())]
)
_MOST_NEW, _LEAST_KEPT = 0.25, 0.75  # share of graphs that are placed, of the reference that is still there


def map_table(collection: Collection, map: LargeMap) -> pa.Table:
    """The map of a collection, with keys that identify its graphs."""
    reference = np.zeros(len(collection), np.bool_)
    reference[map.reference] = True
    x, y = (pa.array(np.ascontiguousarray(map.coordinates[:, axis])) for axis in (0, 1))
    columns = [
        collection.rows["id"].combine_chunks(),
        pa.array(row_keys(collection.vectors())),
        x,
        y,
        pa.array(reference),
    ]
    return pa.table(columns, schema=_SCHEMA.with_metadata({"method": map.method}))


def write_map(folder: Path, table: pa.Table) -> None:
    """Writes the file, atomically.

    Raises:
        StorageError: It could not be written; the old state is kept.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    with storage_errors(folder / MAP):
        write_file(folder / MAP, sealed(FORMAT, VERSION, bytes(sink.getvalue())))


def read_map(folder: Path) -> pa.Table | None:
    """What `write_map` wrote; None where there is no file.

    Raises:
        IndexFormatError: A file that is damaged, foreign or of an unknown version.
    """
    path = folder / MAP
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IndexFormatError(f"{path}: cannot be read ({error.strerror or error})") from error
    _, payload = unsealed(data, FORMAT, [VERSION], str(path), IndexFormatError)
    table = arrow_table(payload, str(path), IndexFormatError)
    if table.schema.names != _SCHEMA.names or table.schema.types != _SCHEMA.types:
        raise IndexFormatError(f"{path}: columns {', '.join(table.schema.names)}; expected {', '.join(_SCHEMA.names)}")
    places = np.stack([table["x"].to_numpy(), table["y"].to_numpy()])
    if sum(column.null_count for column in table.columns) or not np.isfinite(places).all():
        raise IndexFormatError(f"{path}: coordinates that are not finite")
    return table


def map_of(table: pa.Table, collection: Collection) -> LargeMap | None:
    """The map for a collection, which may have changed since: new graphs are placed.

    None where too much has changed for that.
    """
    vectors, head = collection.vectors(), collection.index.head
    row = pc.index_in(collection.rows["id"], value_set=table["id"].combine_chunks())
    found = np.asarray(row.fill_null(-1).to_numpy(), np.int64)
    known = found >= 0
    known[known] = table["key"].to_numpy()[found[known]] == row_keys(vectors)[known]
    stored = table["reference"].to_numpy()
    reference = np.flatnonzero(known)[stored[found[known]]]
    new = np.flatnonzero(~known)
    if len(new) > _MOST_NEW * len(collection) or len(reference) < _LEAST_KEPT * stored.sum():
        return None
    coordinates = np.zeros((len(collection), 2), np.float32)
    for axis, name in enumerate("xy"):
        coordinates[known, axis] = table[name].to_numpy()[found[known]]
    method = (table.schema.metadata or {}).get(b"method", b"tsne").decode()
    map = LargeMap(coordinates, reference, np.asarray(vectors)[reference], head, method)
    if len(new):
        coordinates[new] = map.place(np.asarray(vectors)[new])
    return map
