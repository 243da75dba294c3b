"""`ugraphemb copy`."""

from __future__ import annotations

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.inputs import INDEX, check_output
from ugraphemb.search.engines import is_url


@click.command("copy")
@click.argument("source", metavar="FROM", type=INDEX)
@click.argument("target", metavar="TO")
@click.option("--overwrite", is_flag=True, help="Replace an existing index in the folder TO.")
def command(source: str, target: str, overwrite: bool) -> None:
    """Copy an index, with its model, from one engine to another.

    FROM and TO are folders or URLs of databases: milvus://host:19530/collection,
    postgresql://user@host/database/table, lance://folder, s3://bucket/folder. Vectors are not computed again. If
    copying into a database is interrupted, run the same command again.

    \b
    Examples:
      ugraphemb copy index/ milvus://localhost:19530/molecules
      ugraphemb copy postgresql://localhost/chemistry/molecules index/
    """
    from ugraphemb.search.copying import copy_index

    if not is_url(target):
        check_output(target)
    with user_errors():
        made = copy_index(source, target, overwrite=overwrite)
        click.echo(f"{made.engine.name if is_url(target) else target}: {made}")
