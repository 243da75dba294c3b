"""`ugraphemb add`."""

from __future__ import annotations

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.index import METADATA, THREADS, metadata_of
from ugraphemb.cli.inputs import reader_options, resolve


@click.command("add")
@click.argument("index", type=click.Path(exists=True, file_okay=False))
@click.argument("graphs")
@click.option("--replace", is_flag=True, help="A graph whose id is there takes the place of the old one.")
@METADATA
@reader_options
@THREADS
def command(index: str, graphs: str, replace: bool, metadata: str | None, threads: int) -> None:
    """Put GRAPHS into an INDEX: all of them or, if an id is there already, none.

    Whoever searches meanwhile is not disturbed. After a crash the index is as it was before.

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
    click.echo(f"{index}: {len(collection)} graphs added, now {len(found)}")
