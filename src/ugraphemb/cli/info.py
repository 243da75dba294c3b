"""`ugraphemb info`."""

from __future__ import annotations

import json

import click

from ugraphemb.cli.inputs import reader_options, resolve


@click.command("info")
@click.argument("graphs")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@reader_options
@click.option("--strict", is_flag=True, help="Refuse self loops and repeated edges instead of dropping them.")
def command(graphs: str, as_json: bool, strict: bool) -> None:
    """Describe GRAPHS: a file, a folder or a data set.

    \b
    Examples:
      ugraphemb info molecules
      ugraphemb info graphs.jsonl --json
    """
    from ugraphemb.graphs.summary import statistics

    found = resolve(graphs, strict=strict)
    click.echo(json.dumps(statistics(found), ensure_ascii=False) if as_json else found.summary())
