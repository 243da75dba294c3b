"""`ugraphemb predict`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.inputs import check_output, reader_options, resolve
from ugraphemb.errors import amount


@click.command("predict")
@click.argument("model")
@click.argument("graphs")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A .csv file; by default the table is printed.")
@reader_options
@click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses all cores.")
@click.option("--device", help="cpu, cuda, ...; by default a GPU if there is one.")
def command(model: str, graphs: str, output: str | None, threads: int, device: str | None) -> None:
    """Class of each of the GRAPHS, with the probability of every class, by a MODEL that `ugraphemb finetune` wrote.

    \b
    Examples:
      ugraphemb predict tuned/ new.smi
      ugraphemb predict tuned/ assays.csv -o predicted.csv
    """
    from ugraphemb.estimator import model_of
    from ugraphemb.files import storage_errors, write_file

    if output is not None:
        check_output(output, ".csv")
    with user_errors():
        loaded = model_of(model, device=device).set_params(threads=threads)
        if not hasattr(loaded, "classes_"):
            raise click.UsageError(f"{model} has no classes: `ugraphemb finetune` makes a model with classes")
        collection = resolve(graphs)
        shares = loaded.predict_proba(collection)
    names = loaded.classes_
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "class", *(f"p({name})" for name in names)])
    for name, row in zip(collection.ids.tolist(), shares, strict=True):
        writer.writerow([name, names[row.argmax()], *(f"{share:.4f}" for share in row)])
    if output is None:
        click.echo(text.getvalue(), nl=False)
        return
    with storage_errors(output):
        write_file(Path(output), text.getvalue().encode())
    click.echo(f"{output}: classes of {amount(len(collection), 'graph')}")
