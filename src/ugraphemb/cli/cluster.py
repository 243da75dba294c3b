"""`ugraphemb cluster`."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click
import numpy as np

from ugraphemb.cli.arrays import head_of, read_vectors, user_errors
from ugraphemb.cli.inputs import check_output
from ugraphemb.encoder.names import Head
from ugraphemb.errors import amount


@click.command("cluster")
@click.argument("vectors")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="File for the clusters: .csv with id and cluster, or .npy."
)
@click.option("-k", "count", type=click.IntRange(min=1), help="Number of clusters; by default HDBSCAN determines it.")
@click.option("--min-size", type=click.IntRange(min=2), default=5, show_default=True,
              help="Minimum size of a cluster of HDBSCAN.")  # fmt: skip
@click.option("--head", type=click.Choice(get_args(Head)),
              help="How vectors are compared; by default as named in the file, else l2.")  # fmt: skip
def command(vectors: str, output: str | None, count: int | None, min_size: int, head: Any) -> None:
    """Cluster graphs by their VECTORS (.npy, .parquet), as written by `ugraphemb embed`.

    Clusters are numbered from 0, the largest first; -1 marks graphs that HDBSCAN assigns to none.

    \b
    Examples:
      ugraphemb embed model/ molecules -o z.npy
      ugraphemb cluster z.npy -o clusters.csv
      ugraphemb cluster z.npy -k 20 -o clusters.csv
    """
    from ugraphemb.files import storage_errors, write_file
    from ugraphemb.tasks.clustering import clusters

    if output is not None:
        check_output(output, ".csv", ".npy")
    with user_errors():
        points, ids = read_vectors(vectors)
        groups = clusters(points, count, head=head or head_of(vectors), min_size=min_size)
    if output is not None:
        names = ids or [str(i) for i in range(len(groups))]
        with storage_errors(output):
            if output.lower().endswith(".npy"):
                write_file(Path(output), lambda file: np.save(file, groups))
            else:
                write_file(Path(output), _table(names, groups.tolist()))
    sizes = np.bincount(groups[groups >= 0])
    shown = ", ".join(map(str, sizes[:10].tolist())) + (", ..." if len(sizes) > 10 else "")
    alone = int(np.count_nonzero(groups < 0))
    click.echo(
        f"{output or vectors}: {amount(len(sizes), 'cluster')} of {shown} graphs"
        + (f"; {alone} in none" if alone else "")
    )


def _table(ids: Sequence[str], groups: Sequence[int]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "cluster"])
    writer.writerows(zip(ids, groups, strict=True))
    return text.getvalue().encode()
