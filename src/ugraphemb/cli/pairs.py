"""`ugraphemb pairs`."""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

from ugraphemb.cli.inputs import resolve
from ugraphemb.cli.proximity import metric_from, metric_options
from ugraphemb.proximity import Interrupted, PairTable
from ugraphemb.proximity.pairwise import pairwise
from ugraphemb.proximity.plans import planned_pairs


@click.command("pairs")
@click.argument("graphs")
@click.argument("other", required=False)
@metric_options
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Pair table to write (.parquet).")
@click.option("--pairs", "budget", type=click.IntRange(min=0), help="That many random pairs instead of all.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random pairs.")
@click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses every core.")
def command(
    graphs: str,
    other: str | None,
    output: str,
    budget: int | None,
    seed: int,
    threads: int,
    timeout: float | None,
    **options: Any,
) -> None:
    """Distances of many pairs of GRAPHS, or of every graph of GRAPHS with every graph of OTHER.

    The table goes to a Parquet file; what is printed says what is in it. After Ctrl-C the file holds what was finished.

    \b
    Examples:
      ugraphemb pairs PTC -o ptc.parquet
      ugraphemb pairs NCI109 --method paper --pairs 100000 --seed 1 -o nci.parquet
      ugraphemb pairs queries.smi molecules.smi --metric mcs --timeout 0.1 -o mcs.parquet
    """
    left = resolve(graphs)
    right = None if other is None else resolve(other)
    chosen = None
    if budget is not None:
        if right is not None:
            raise click.UsageError("--pairs is for one collection; with OTHER every pair is computed")
        chosen = planned_pairs(len(left), "random", budget=budget, seed=seed)
    begin = time.monotonic()
    try:
        table = pairwise(left, chosen, other=right, metric=metric_from(**options), threads=threads, timeout=timeout)
    except Interrupted as stop:
        stop.table.write(output)
        click.echo(f"{output}: the {len(stop.table)} pairs that were finished", err=True)
        raise
    table.write(output)
    click.echo(_summary(table, output, time.monotonic() - begin))


def _summary(table: PairTable, output: str, seconds: float) -> str:
    parts = [f"{output}: {len(table)} pairs", f"{table.metric} {table.method or ''}".strip()]
    if len(table):
        parts += [f"mean {table.value.mean():.4g}", f"proven {np.mean(table.proven):.1%}"]
    return ", ".join([*parts, f"{seconds:.3g} s"])
