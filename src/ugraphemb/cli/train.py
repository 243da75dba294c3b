"""`ugraphemb train`."""

from __future__ import annotations

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.inputs import check_output, reader_options, resolve
from ugraphemb.cli.proximity import COSTS
from ugraphemb.proximity import EditCosts


@click.command("train")
@click.argument("graphs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Folder of the model to write.")
@click.option(
    "--start", metavar="MODEL", help="Adapt a pre-trained model, or that of a folder, in a tenth of the steps."
)
@click.option("--table", type=click.Path(exists=True), help="Known distances, as written by `ugraphemb pairs`.")
@click.option("--preset", default="default", show_default=True, help="default, or paper: the published model.")
@click.option("--metric", default="ged", show_default=True, help="Proximity that the vectors represent: ged, mcs, ...")
@click.option("--method", help="Solver of edit distance; tight by default.")
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
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
def command(
    graphs: tuple[str, ...], output: str, start: str | None, table: str | None, preset: str, metric: str,
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
    from ugraphemb.proximity import PairTable

    with user_errors():
        collection = graphs_of([resolve(part) for part in graphs])
        model = UGraphEmb(
            metric=metric, method=method, costs=costs, preset=preset, dimension=dimension, steps=steps,
            validation=validation, threads=threads, device=device, seed=seed,
        )  # fmt: skip
        known = None if table is None else PairTable.read(table, collection)
        model.fit(collection, known, start=start, checkpoint=checkpoint, resume=resume, log=log)
        model.save(output)
    score = model.about_["validation"]
    click.echo(
        f"{output}: {len(collection)} graphs, {model.about_['pairs']} pairs, {model.about_['steps']} steps, "
        f"validation tau {score['tau']:.3f}, mse {score['loss']:.5f}"
    )
