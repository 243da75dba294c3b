"""`ugraphemb embed`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ugraphemb.cli.arrays import user_errors, write_vectors
from ugraphemb.cli.inputs import (
    MODEL,
    check_output,
    given_options,
    model_and_graphs,
    reader_options,
    refuse_options,
    resolve,
)
from ugraphemb.cli.workers import worker_options

if TYPE_CHECKING:
    from ugraphemb.estimator import UGraphEmb

_FILES = (".npy", ".parquet")


@click.command("embed")
@click.argument("graphs", nargs=-1, required=True, metavar="[MODEL] GRAPHS...")
@MODEL
@click.option(
    "-o",
    "--output",
    required=True,
    help=".npy, with ids and head in a .json beside it, or .parquet with the columns id and vector; else a folder "
    "(also s3://, gs://) for one or more .parquet for each file.",
)
@reader_options
@click.option("--rows", type=click.IntRange(min=1), default=50_000, show_default=True,
              help="For a folder: graphs in each .parquet, where files of lines are large.")  # fmt: skip
@worker_options
@click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses all cores.")
@click.option("--device", help="cpu, cuda, ...; by default a GPU if there is one.")
def command(
    graphs: tuple[str, ...],
    model: str | None,
    output: str,
    rows: int,
    executor: int | str | None,
    threads: int,
    device: str | None,
) -> None:
    """Compute the vectors of GRAPHS with a MODEL that `ugraphemb train` wrote.

    Without a MODEL a pre-trained one is used: `molecules` if all labels are elements, otherwise `graphs`.
    With a folder as output, GRAPHS are files, folders and patterns of any number and size, also of object stores. A
    repeated run, also after a crash, computes only what is missing or has changed.

    \b
    Examples:
      ugraphemb embed new.smi -o new.npy
      ugraphemb embed model/ new.smi -o new.npy
      ugraphemb embed model/ 'CC(=O)Oc1ccccc1C(=O)O' -o aspirin.npy
      ugraphemb embed model/ molecules -o molecules.parquet
      ugraphemb embed model/ 'graphs/*.smi.gz' -o vectors/ --workers 8
      ugraphemb embed model/ 's3://bucket/*.smi.gz' -o s3://bucket/vectors --scheduler tcp://host:8786
    """
    path = Path(output)
    there = "://" in output
    to_file = not (there or output.endswith("/") or path.is_dir() or not path.suffix)
    if not there:
        check_output(output, *(_FILES if to_file else ()))
    with user_errors():
        loaded, graphs = model_and_graphs(graphs, model, device)
        if to_file and len(graphs) > 1:
            raise click.UsageError(
                f"{output} takes one set of GRAPHS, but {', '.join(graphs)} were given; a folder takes any number"
            )
        if to_file:
            refuse_options(["rows"], f"on {output}: it is for folders")
            said = _to_file(loaded, graphs[0], output, executor, threads, device)
        elif loaded is None:
            raise click.UsageError("files of any number need a model: --model molecules, --model graphs or a folder")
        else:
            said = _to_folder(loaded.set_params(threads=threads), graphs, output, executor, rows)
    click.echo(said)


def _to_file(model: UGraphEmb | None, graphs: str, output: str, executor: Any, threads: int, device: str | None) -> str:
    from ugraphemb.estimator import UGraphEmb
    from ugraphemb.pretrained import suited

    collection = resolve(graphs)
    name = suited(collection) if model is None else ""
    model = UGraphEmb.pretrained(name, device=device) if model is None else model
    vectors = model.set_params(threads=threads).transform(collection, executor=executor)
    write_vectors(output, vectors, collection.ids.tolist(), model.head_)
    by = f", by the pre-trained model {name}" if name else ""
    return f"{output}: {len(vectors)} vectors of {vectors.shape[1]} numbers, compared by {model.head_}{by}"


def _to_folder(model: UGraphEmb, graphs: tuple[str, ...], output: str, executor: Any, rows: int) -> str:
    from ugraphemb.bulk import embed_files

    done = embed_files(graphs, output, model, executor=executor, rows=rows, **given_options())
    seconds = ", ".join(f"{name} {value:.3g} s" for name, value in done.seconds.items())
    kept = f" ({done.kept} existed already)" if done.kept else ""
    return f"{output}: {done.graphs} vectors in {done.partitions} files{kept}; work of all workers: {seconds}"
