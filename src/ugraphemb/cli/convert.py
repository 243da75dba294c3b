"""`ugraphemb convert`."""

from __future__ import annotations

import click

from ugraphemb.cli.inputs import check_output, reader_options, resolve
from ugraphemb.errors import amount


@click.command("convert")
@click.argument("graphs")
@click.argument("output")
@click.option("--to", "to", metavar="NAME", help="Format of OUTPUT, if its suffix does not determine it.")
@reader_options
@click.option("--strict", is_flag=True, help="Refuse input and output that would lose data.")
def command(graphs: str, output: str, to: str | None, strict: bool) -> None:
    """Write GRAPHS, a file, a folder or a data set, to OUTPUT in the format that its suffix names.

    \b
    .zip or a folder  TU Dortmund's text files      .graphml        GraphML
    .jsonl            JSON Lines, stores everything  .edges          edge lists
    .gxl .cxl         GXL                           .g6 .s6         graph6, sparse6
    .smi .sdf         molecules

    \b
    Examples:
      ugraphemb convert molecules molecules.jsonl
      ugraphemb convert molecules.jsonl molecules.zip
    """
    from ugraphemb.graphs import write_graphs
    from ugraphemb.graphs.formats import FORMATS

    if to is not None and to not in FORMATS:
        raise click.BadParameter(f"{to!r}; there are {', '.join(FORMATS)}", param_hint="--to")
    check_output(output)
    found = resolve(graphs, strict=strict)
    write_graphs(found, output, format=to, strict=strict)
    click.echo(f"{output}: {amount(len(found), 'graph')}", err=True)
