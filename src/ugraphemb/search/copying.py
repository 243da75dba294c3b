"""Copies an index from one engine to another."""

from __future__ import annotations

from pathlib import Path

from ugraphemb.progress import progress_of
from ugraphemb.search.engines import is_url
from ugraphemb.search.index import GraphIndex
from ugraphemb.search.storage import MANIFEST


def copy_index(
    source: str | Path, target: str | Path, *, overwrite: bool = False, threads: int = 0, progress: bool | None = None
) -> GraphIndex:
    """Copies an index, with its model, a page at a time; vectors are not computed again.

    A copy into a database that was interrupted can be repeated: graphs that are already stored are skipped. A folder
    appears when it is complete.

    Args:
        source: A folder or the URL of a database; see `GraphIndex`.
        target: Likewise.
        overwrite: Replace an index that is in the folder `target`.

    Raises:
        ValueError: An index is in the folder `target`, or the database holds other graphs under these ids.
        IndexFormatError: The database `target` holds vectors of another model.
    """
    if not is_url(target) and (Path(target) / MANIFEST).exists() and not overwrite:
        raise ValueError(f"{target}: an index exists; --overwrite replaces it")
    found = GraphIndex.load(source, threads=threads)
    kind = "auto" if is_url(target) and found.kind == "ivf" else found.kind
    engine = str(target) if is_url(target) else "embedded"
    made = GraphIndex(found.model, kind=kind, costs=found._costs, threads=threads, engine=engine)
    done = 0
    with progress_of(len(found), "graphs copied", progress) as tick:
        for graphs, rows, vectors in found.engine.pages():
            made.engine.add(graphs, rows, vectors, replace=False, progress=False)
            done += len(graphs)
            tick(done)
    if not is_url(target):
        made.save(target)
    return made
