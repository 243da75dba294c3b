"""`ugraphemb embed`."""

from __future__ import annotations

import click

from ugraphemb.cli.arrays import user_errors, write_vectors
from ugraphemb.cli.inputs import check_output, reader_options, resolve


@click.command("embed")
@click.argument("model", type=click.Path(exists=True, file_okay=False))
@click.argument("graphs")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    help=".npy, with ids and head in a .json beside it, or .parquet with the columns id and vector.",
)
@reader_options
@click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses every core.")
@click.option("--device", help="cpu, cuda, ...; a GPU by default where there is one.")
def command(model: str, graphs: str, output: str, threads: int, device: str | None) -> None:
    """Vectors of GRAPHS, seen in training or not, by a MODEL that `ugraphemb train` wrote.

    \b
    Examples:
      ugraphemb embed model/ new.smi -o new.npy
      ugraphemb embed model/ molecules -o molecules.parquet
    """
    from ugraphemb.estimator import UGraphEmb

    check_output(output, ".npy", ".parquet")
    with user_errors():
        loaded = UGraphEmb.load(model, device=device).set_params(threads=threads)
        collection = resolve(graphs)
        vectors = loaded.transform(collection)
        write_vectors(output, vectors, collection.ids.tolist(), loaded.head_)
    click.echo(f"{output}: {len(vectors)} vectors of {vectors.shape[1]} numbers, compared by {loaded.head_}")
