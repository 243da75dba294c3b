"""`ugraphemb export`."""

from __future__ import annotations

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.inputs import INDEX, check_output


@click.command("export")
@click.argument("index", type=INDEX)
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="The file to write (.parquet).")
def command(index: str, output: str) -> None:
    """Write ids, vectors and metadata of an INDEX as a Parquet file, which vector databases and map viewers read.

    The columns are id, vector (a list of floats of fixed length) and one for each name in the metadata.

    \b
    Examples:
      ugraphemb export index/ -o vectors.parquet
    """
    from ugraphemb.search import GraphIndex

    check_output(output, ".parquet")
    with user_errors():
        found = GraphIndex.load(index)
        found.export(output)
    click.echo(f"{output}: {len(found)} vectors of {found.model.dimension_} numbers")
