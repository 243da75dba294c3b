"""`ugraphemb finetune`."""

from __future__ import annotations

import click

from ugraphemb.cli.arrays import is_list_of_classes, read_targets, user_errors
from ugraphemb.cli.inputs import check_output, reader_options, refuse_options, resolve


@click.command("finetune")
@click.argument("model")
@click.argument("graphs")
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Folder of the model to write.")
@click.option(
    "--targets",
    type=click.Path(exists=True),
    help="Classes, one per graph: .npy, or .txt with one per line; by default those of GRAPHS.",
)
@reader_options
@click.option("--overwrite", is_flag=True, help="Replace an existing model.")
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    help="Training steps of the network; by default chosen by the number of graphs.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything random.")
def command(
    model: str, graphs: str, output: str, targets: str | None, overwrite: bool, steps: int | None, seed: int
) -> None:
    """Adjust the vectors of a MODEL to the classes of GRAPHS, and write the new model.

    MODEL is a folder that `ugraphemb train` wrote, or a pre-trained model: see `ugraphemb models`.

    \b
    Examples:
      ugraphemb finetune molecules assays.csv --target-column active -o tuned/
      ugraphemb finetune model/ assays.csv --target-column active -o tuned/
      ugraphemb finetune model/ graphs.jsonl --targets classes.txt -o tuned/
    """
    from ugraphemb.estimator import model_of

    check_output(output, overwrite=overwrite)
    if targets is not None and is_list_of_classes(targets):
        refuse_options(["target_column"], f"beside --targets {targets}")
    with user_errors():
        loaded = model_of(model).set_params(seed=seed)
        collection = resolve(graphs)
        classes = collection.targets if targets is None else read_targets(targets)
        if classes is None:
            raise click.UsageError(f"{graphs} has no classes; give them with --targets")
        loaded.finetune(collection, classes, steps=steps)
        loaded.save(output)
    accuracy = loaded.about_["finetuned"]["validation_accuracy"]
    click.echo(f"{output}: fine-tuned on {len(collection)} graphs, validation accuracy {accuracy:.3f}")
