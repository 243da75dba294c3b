"""`ugraphemb models`."""

from __future__ import annotations

import json

import click

from ugraphemb.cli.arrays import user_errors


@click.command("models")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per model instead of text.")
def command(name: str | None, as_json: bool) -> None:
    """List the pre-trained models, or print the card of the one with this NAME: its data, figures and limits.

    \b
    Examples:
      ugraphemb models
      ugraphemb models molecules
      ugraphemb models --json
    """
    from ugraphemb.encoder.storage import read_card, read_model
    from ugraphemb.pretrained import folder_of, names

    with user_errors():
        if name is not None and not as_json:
            click.echo(read_card(folder_of(name)).rstrip())
            return
        for known in names() if name is None else [name]:
            saved = read_model(folder_of(known))
            size = sum(array.nbytes for array in saved.weights.values())
            record = {
                "name": known, "about": saved.about.get("summary", ""), "dimension": saved.config.dimension,
                "head": saved.config.head, "bytes": size, "pairs": saved.about["pairs"], "steps": saved.about["steps"],
            }  # fmt: skip
            if as_json:
                click.echo(json.dumps(record))
            else:
                click.echo(f"{known:<12}{record['about']} ({saved.config.dimension} numbers, {size / 1e6:.1f} MB)")
