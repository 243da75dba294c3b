"""`ugraphemb pairs`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, get_args

import click
import numpy as np

from ugraphemb.cli.inputs import check_output, reader_options, resolve
from ugraphemb.cli.proximity import metric_from, metric_options
from ugraphemb.cli.workers import worker_options
from ugraphemb.errors import amount
from ugraphemb.files import storage_errors, write_file
from ugraphemb.graphs import GraphSet
from ugraphemb.proximity import Interrupted, PairTable
from ugraphemb.proximity.pairwise import pairwise
from ugraphemb.proximity.plans import Plan, planned_pairs


@click.command("pairs")
@click.argument("graphs")
@click.argument("other", required=False)
@metric_options
@reader_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="File for the distances: a pair table (.parquet), one line per pair (.csv), or a matrix (.npy).",
)
@click.option(
    "--plan", type=click.Choice(get_args(Plan)), help="Which pairs; by default random with --budget, else all."
)
@click.option("--budget", "--pairs", "budget", type=click.IntRange(min=0), help="Number of pairs of the plan.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the plan.")
@click.option(
    "--store",
    type=click.Path(file_okay=False),
    help="Folder for finished pairs, from which a repeated run continues.",
)
@worker_options
@click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses all cores.")
def command(
    graphs: str,
    other: str | None,
    output: str | None,
    plan: str | None,
    budget: int | None,
    seed: int,
    store: str | None,
    executor: int | str | None,
    threads: int,
    timeout: float | None,
    **options: Any,
) -> None:
    """Distances of many pairs of GRAPHS, or of every graph of GRAPHS with every graph of OTHER.

    The table is written to a file, to a folder, or both, and summarized on the terminal. After Ctrl-C both contain
    the finished pairs. A second run with the same --store, also after a kill, continues from there.

    \b
    Examples:
      ugraphemb pairs atlas --budget 10000 -o pairs.csv
      ugraphemb pairs molecules --budget 100000 --seed 1 -o molecules.parquet
      ugraphemb pairs queries.smi molecules.smi --metric mcs --timeout 0.1 -o mcs.parquet
      ugraphemb pairs molecules.smi --budget 1000000 --store pairs --workers 8
      ugraphemb pairs large.smi --plan blocks --budget 5000000 --store large-pairs --scheduler tcp://host:8786
    """
    if output is None and store is None:
        raise click.UsageError("name the output: --output FILE, --store FOLDER, or both")
    if output is not None:
        check_output(output, ".parquet", ".csv", ".npy")
    metric = metric_from(**options)
    left = resolve(graphs)
    right = None if other is None else resolve(other)
    chosen = None
    if plan is not None or budget is not None:
        if right is not None:
            raise click.UsageError("--plan and --budget are for one collection; with OTHER every pair is computed")
        chosen = planned_pairs(len(left), plan or "random", budget=budget, seed=seed)
    begin = time.monotonic()
    try:
        table = pairwise(
            left, chosen, other=right, metric=metric, threads=threads, timeout=timeout, store=store, executor=executor
        )
    except Interrupted as stop:
        if output is not None:
            _write(stop.table, output, left, right)
        click.echo(f"{output or store}: the {len(stop.table)} pairs that were finished", err=True)
        raise
    if output is not None:
        _write(table, output, left, right)
    click.echo(_summary(table, output or str(store), time.monotonic() - begin))


def _write(table: PairTable, output: str, left: GraphSet, right: GraphSet | None) -> None:
    """Writes the table in the format of the suffix."""
    suffix = Path(output).suffix.lower()
    if suffix == ".parquet":
        table.write(output)
    elif suffix == ".csv":
        table.to_csv(output, left if right is None else None)
    else:
        with storage_errors(output):
            matrix = np.ma.filled(table.matrix(), np.nan)
            write_file(Path(output), lambda file: np.save(file, matrix))


def _summary(table: PairTable, output: str, seconds: float) -> str:
    parts = [f"{output}: {amount(len(table), 'pair')}", f"{table.metric} {table.method or ''}".strip()]
    if len(table):
        parts += [f"mean {table.value.mean():.4g}", f"proven {np.mean(table.proven):.1%}"]
    return ", ".join([*parts, f"{seconds:.3g} s"])
