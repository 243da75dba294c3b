"""`ugraphemb remove`."""

from __future__ import annotations

from typing import TextIO

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.inputs import INDEX
from ugraphemb.errors import amount


@click.command("remove")
@click.argument("index", type=INDEX)
@click.argument("ids", nargs=-1)
@click.option("--from", "file", type=click.File(encoding="utf-8"), help="A file with one id per line; - is stdin.")
def command(index: str, ids: tuple[str, ...], file: TextIO | None) -> None:
    """Remove the graphs with these IDS from an INDEX: all of them or, if one is missing, none.

    \b
    Examples:
      ugraphemb remove index/ 216 2365
      ugraphemb remove index/ --from withdrawn.txt
    """
    from ugraphemb.search import GraphIndex

    names = [*ids, *(line.strip() for line in file or () if line.strip())]
    if not names:
        raise click.UsageError("name the graphs: IDS, or --from a file of ids")
    with user_errors():
        found = GraphIndex.load(index)
        try:
            found.remove(names)
        except KeyError as error:
            raise ValueError(error.args[0]) from None
        found.save()
    click.echo(f"{index}: {amount(len(names), 'graph')} removed, now {len(found)}")
