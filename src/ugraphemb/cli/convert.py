"""`ugraphemb convert`."""

from __future__ import annotations

import click

from ugraphemb.cli.inputs import check_output, reader_options, resolve
from ugraphemb.errors import GraphFormatError, amount


@click.command("convert")
@click.argument("graphs")
@click.argument("output")
@click.option("--to", "to", metavar="NAME", help="Format of OUTPUT, if its suffix does not determine it.")
@reader_options
@click.option("--strict", is_flag=True, help="Refuse input and output that would lose data.")
def command(graphs: str, output: str, to: str | None, strict: bool) -> None:
    """Write GRAPHS, a file, a folder or a data set, to OUTPUT in the format that its suffix names.

    \b
    .jsonl            JSON Lines, stores everything   .graphml  GraphML
    .zip or a folder  TU Dortmund's text files        .gml      GML
    .gxl .cxl         GXL                             .json     node-link JSON
    .smi .csv .sdf    molecules                       .gspan    gSpan text
    .g6 .s6           graph6, sparse6                 .edges    edge lists

    \b
    Examples:
      ugraphemb convert molecules molecules.jsonl
      ugraphemb convert molecules.jsonl molecules.zip
    """
    from ugraphemb.graphs import write_graphs
    from ugraphemb.graphs.formats import output_format

    try:
        output_format(output, to)
    except GraphFormatError as error:
        raise click.BadParameter(str(error).replace("format=...", "--to NAME"), param_hint="OUTPUT") from None
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--to") from None
    check_output(output)
    found = resolve(graphs, strict=strict)
    write_graphs(found, output, format=to, strict=strict)
    click.echo(f"{output}: {amount(len(found), 'graph')}", err=True)
