"""`ugraphemb add`."""

from __future__ import annotations

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.index import METADATA, THREADS, metadata_of
from ugraphemb.cli.inputs import INDEX, reader_options, resolve
from ugraphemb.errors import amount


@click.command("add")
@click.argument("index", type=INDEX)
@click.argument("graphs")
@click.option("--replace", is_flag=True, help="Replace graphs whose ids are already in the index.")
@METADATA
@reader_options
@THREADS
def command(index: str, graphs: str, replace: bool, metadata: str | None, threads: int) -> None:
    """Add GRAPHS to an INDEX: all of them or, if an id is already in the index, none.

    Concurrent searches are not affected. After a crash the index is as it was before; an INDEX that is the URL
    of a database has some of the graphs, and the same command adds the others.

    \b
    Examples:
      ugraphemb add index/ new.smi
      ugraphemb add index/ corrected.smi --replace
      ugraphemb add index/ assays.csv --smiles-column structure --on-error skip
    """
    from ugraphemb.search import GraphIndex

    with user_errors():
        found = GraphIndex.load(index, threads=threads)
        collection = resolve(graphs)
        rows = None if metadata is None else metadata_of(metadata, collection)
        found.add(collection, metadata=rows, replace=replace)
        found.save()
    click.echo(f"{index}: {amount(len(collection), 'graph')} added, now {len(found)}")
