"""`ugraphemb train`."""

from __future__ import annotations

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.inputs import check_output, reader_options, resolve
from ugraphemb.cli.proximity import COSTS
from ugraphemb.proximity import EditCosts, PairTable, metric_names
from ugraphemb.proximity.ged import METHODS


@click.command("train")
@click.argument("graphs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Folder of the model to write.")
@click.option(
    "--start", metavar="MODEL", help="Adapt a pre-trained model, or that of a folder, in a tenth of the steps."
)
@click.option("--table", type=click.Path(exists=True), help="Known distances, as written by `ugraphemb pairs`.")
@click.option(
    "--preset",
    default="default",
    show_default=True,
    help="default, paper (the published model) or 0.1 (the former default).",
)
@click.option("--metric", type=click.Choice(metric_names()), help="What the vectors represent; ged by default.")
@click.option("--method", type=click.Choice(METHODS), help="Solver of edit distance; tight by default.")
@click.option("--dimension", type=click.IntRange(min=1), help="Length of a vector; 256 by default.")
@click.option("--steps", type=click.IntRange(min=1), help="Steps of training; by default those of the preset.")
@click.option(
    "--validation",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of the graphs held out to select the best model.",
)
@COSTS
@reader_options
@click.option("--overwrite", is_flag=True, help="Replace an existing model.")
@click.option(
    "--checkpoint", type=click.Path(dir_okay=False), help="File for the state of training, saved every minute."
)
@click.option("--resume", is_flag=True, help="Continue from --checkpoint; --steps may be larger than before.")
@click.option("--log", type=click.Path(), help="A .csv file, or a folder for TensorBoard.")
@click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses all cores.")
@click.option("--device", help="cpu, cuda, ...; by default a GPU if there is one.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything random.")
def command(
    graphs: tuple[str, ...], output: str, start: str | None, table: str | None, preset: str, metric: str | None,
    method: str | None, dimension: int | None, steps: int | None, validation: float, checkpoint: str | None,
    resume: bool, overwrite: bool, costs: EditCosts | None, log: str | None, threads: int, device: str | None,
    seed: int,
) -> None:  # fmt: skip
    """Learn vectors for GRAPHS (one or more collections), and write the model.

    Computes the distances of pairs, unless --table contains them. Ctrl-C keeps the best model so far; Ctrl-C and
    SIGTERM save the checkpoint.

    \b
    Examples:
      ugraphemb train molecules -o model/
      ugraphemb train molecules --start molecules -o model/
      ugraphemb train assays.csv --smiles-column structure --cost edge_relabel=0 --seed 1 -o model/
      ugraphemb pairs molecules --pairs 1000000 -o pairs.parquet
      ugraphemb train molecules --table pairs.parquet --checkpoint training.ckpt --resume -o model/
    """
    if resume and checkpoint is None:
        raise click.UsageError("--resume needs --checkpoint")
    check_output(output, overwrite=overwrite)
    from ugraphemb.estimator import UGraphEmb
    from ugraphemb.graphs import graphs_of

    with user_errors():
        collection = graphs_of([resolve(part) for part in graphs])
        model = UGraphEmb(
            metric=metric or "ged", method=method, costs=costs, preset=preset, dimension=dimension, steps=steps,
            validation=validation, threads=threads, device=device, seed=seed,
        )  # fmt: skip
        known = None if table is None else PairTable.read(table, collection)
        if known is not None:
            _check_agreement(known, metric, method, costs)
        model.fit(collection, known, start=start, checkpoint=checkpoint, resume=resume, log=log)
        model.save(output)
    score = model.about_["validation"]
    click.echo(
        f"{output}: {len(collection)} graphs, {model.about_['pairs']} pairs, {model.about_['steps']} steps, "
        f"validation tau {score['tau']:.3f}, mse {score['loss']:.5f}"
    )


def _check_agreement(table: PairTable, metric: str | None, method: str | None, costs: EditCosts | None) -> None:
    """--table determines the distances: options that would determine others are refused."""
    if metric not in (None, table.metric):
        raise click.UsageError(f"--table holds distances of {table.metric}, not of {metric}")
    if method not in (None, table.method):
        raise click.UsageError(f"--table holds distances by {table.method}, not by {method}")
    if costs is not None and costs.description() != table.settings.get("costs"):
        raise click.UsageError("--table holds distances under other costs than those of --cost")
