"""`ugraphemb embed`."""

from __future__ import annotations

from pathlib import Path

import click

from ugraphemb.cli.arrays import told
from ugraphemb.cli.inputs import resolve


@click.command("embed")
@click.argument("model", type=click.Path(exists=True, file_okay=False))
@click.argument("graphs")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    help=".npy, or .parquet with the columns id and vector.",
)
@click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses every core.")
@click.option("--device", help="cpu, cuda, ...; a GPU by default where there is one.")
def command(model: str, graphs: str, output: str, threads: int, device: str | None) -> None:
    """Vectors of GRAPHS, seen in training or not, by a MODEL that `ugraphemb train` wrote.

    \b
    Examples:
      ugraphemb embed model/ new.smi -o new.npy
      ugraphemb embed model/ molecules -o molecules.parquet
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ugraphemb.estimator import UGraphEmb

    if Path(output).suffix.lower() not in (".npy", ".parquet"):
        raise click.UsageError(f"-o {output}: vectors are written as .npy or .parquet")
    with told():
        loaded = UGraphEmb.load(model, device=device).set_params(threads=threads)
        collection = resolve(graphs)
        vectors = loaded.transform(collection)
        if output.lower().endswith(".npy"):
            np.save(output, vectors)
        else:
            rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
            table = pa.table({"id": collection.ids.tolist(), "vector": rows})
            pq.write_table(table.replace_schema_metadata({"ugraphemb.head": loaded.head_}), output)
    click.echo(f"{output}: {len(vectors)} vectors of {vectors.shape[1]} numbers, compared by {loaded.head_}")
