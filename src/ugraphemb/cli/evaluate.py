"""`ugraphemb evaluate`."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, get_args

import click
import numpy as np

from ugraphemb.cli.arrays import head_of, is_list_of_classes, read_targets, read_truth, read_vectors, user_errors
from ugraphemb.cli.inputs import READER_OPTIONS, reader_options, refuse_options, resolve
from ugraphemb.encoder.names import Head

if TYPE_CHECKING:
    from ugraphemb.estimator import UGraphEmb

SEED = click.IntRange(min=0)


@click.group("evaluate")
def command() -> None:
    """Evaluate how well vectors rank graphs or separate classes.

    \b
    Examples:
      ugraphemb evaluate rank --vectors z.npy --truth ged.parquet
      ugraphemb evaluate classify z.npy classes.txt
    """


@command.command("rank", short_help="Does the ranking by vectors agree with the true one?")
@click.option("--protocol", type=click.Choice(["vectors", "pairs"]), default="vectors", show_default=True,
              help="pairs: how models of pairs are compared; it needs only --graphs.")  # fmt: skip
@click.option("--graphs", help="For --protocol pairs: the graphs. Those with more than --max-nodes are left out.")
@click.option("--max-nodes", type=click.IntRange(min=1), default=10, show_default=True, help="For --protocol pairs.")
@click.option("--model", metavar="MODEL", help="For --protocol pairs: a model's folder or a pre-trained model that "
              "has seen no test graph; by default one is trained.")  # fmt: skip
@click.option("--vectors", help="Vectors of the database (.npy, .parquet).")
@click.option("--queries", help="Vectors of the queries; by default each graph is a query against all others.")
@click.option("--truth", help="True distances, queries × database (.npy), or a pair table (.parquet).")
@click.option("--split", type=SEED, help="Queries are test graphs; split 6:2:2 (pairs: 4:1) by this seed.")
@click.option("-k", "cuts", type=click.IntRange(min=1), multiple=True,
              help="p@k, 10 by default (pairs: 10 and 20); may be repeated.")  # fmt: skip
@click.option("--head", type=click.Choice(get_args(Head)),
              help="How vectors are compared; by default as named in the file, else l2.")  # fmt: skip
@click.option("--similarity", is_flag=True, help="The truth is a similarity; a pair table stores its kind.")
@click.option("--raw", is_flag=True, help="Use the distances of a pair table as they are, not divided by sizes.")
@reader_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def rank(
    protocol: str,
    graphs: str | None,
    max_nodes: int,
    model: str | None,
    vectors: str | None,
    queries: str | None,
    truth: str | None,
    split: int | None,
    cuts: tuple[int, ...],
    head: Any,
    similarity: bool,
    raw: bool,
    as_json: bool,
) -> None:
    """Agreement of the ranking by vectors with the true one: tau-b, rho, mse, p@k.

    \b
    Examples:
      ugraphemb evaluate rank --vectors z.npy --truth ged.parquet
      ugraphemb evaluate rank --vectors z.npy --truth ged.parquet --split 0 -k 1 -k 10
      ugraphemb evaluate rank --vectors train.npy --queries test.npy --truth test_by_train.npy --json
      ugraphemb evaluate rank --protocol pairs --graphs atlas --max-nodes 5

    The protocol of pairs splits the graphs 4:1, trains on the larger part, and compares what is predicted with exact
    edit distances (each edit costs 1, labels of edges do not count), for test graphs against training graphs and
    against each other: mean absolute error in edits, mean squared error of exp(-nGED), rho, tau, p@10 and p@20.
    """
    from ugraphemb.tasks import random_splits, rank_from_vectors

    others = ("vectors", "queries", "truth", "head", "similarity", "raw")
    refuse_options(
        others if protocol == "pairs" else ("graphs", "max_nodes", "model", *READER_OPTIONS),
        f"with --protocol {protocol}",
    )
    if protocol == "pairs":
        _of_pairs(graphs, max_nodes, model, split or 0, sorted(set(cuts)) or [10, 20], as_json)
        return
    if vectors is None or truth is None:
        raise click.UsageError("give --vectors and --truth, or --protocol pairs with --graphs")
    is_table = truth.lower().endswith(".parquet")
    refuse_options(["similarity"] if is_table else ["raw"], f"on {truth}")
    with user_errors():
        database = read_vectors(vectors)[0]
        head = head or head_of(vectors)
        matrix, kind = read_truth(truth, raw=raw)
        asked = database if queries is None else read_vectors(queries)[0]
        if split is not None:
            if queries is not None:
                raise click.UsageError("--split divides one collection; leave --queries out")
            parts = random_splits(len(database), split, 1)[0]
            matrix = _square(matrix, len(database))[np.ix_(parts.test, parts.train)]
            asked, database = database[parts.test], database[parts.train]
        scores = rank_from_vectors(
            asked,
            database,
            matrix,
            head,
            k=sorted(set(cuts)) or 10,
            truth_is="similarity" if similarity else kind or "distance",
            exclude_self=queries is None and split is None,
        )
    if not as_json:
        click.echo(scores)
        return
    record: dict[str, Any] = {"queries": len(scores), "database": len(database)}
    for name, (mean, spread) in scores.summary().items():
        record[name] = {"mean": _json(mean), "std": _json(spread)}
    record["constant_truth"] = int(scores.constant_truth.sum())
    click.echo(json.dumps(record))


@command.command("classify", short_help="Accuracy of a simple classifier on vectors.")
@click.argument("vectors")
@click.argument("targets")
@click.option("--kernel", is_flag=True, help="VECTORS is a kernel matrix: use a support vector machine.")
@click.option("--against", help="Vectors of another method, compared on the same splits.")
@click.option("--folds", type=click.IntRange(min=2), help="Cross-validation with that many folds, not random splits.")
@click.option("--repeats", type=click.IntRange(min=1), help="Random splits (10 by default), or rounds of folds (1).")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the splits.")
@click.option("--jobs", type=click.IntRange(min=0), default=1, show_default=True, help="Parallel splits; 0: all cores.")
@reader_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def classify_command(
    vectors: str,
    targets: str,
    kernel: bool,
    against: str | None,
    folds: int | None,
    repeats: int | None,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Accuracy of a simple classifier on VECTORS (.npy, .parquet), over random splits 6:2:2.

    TARGETS is .npy, a .txt file with one class per line, or a file or data set of graphs that have classes.

    \b
    Examples:
      ugraphemb evaluate classify z.npy classes.txt
      ugraphemb evaluate classify z.npy classes.txt --folds 10
      ugraphemb evaluate classify ours.npy assays.csv --target-column active --against theirs.npy --json
    """
    from ugraphemb.tasks import classify, classify_kernel, compare, random_splits, stratified_folds

    if is_list_of_classes(targets):
        refuse_options(READER_OPTIONS, f"on {targets}")
    with user_errors():
        classes = read_targets(targets)
        features = [read_vectors(path)[0] for path in (vectors, against) if path is not None]
        for path, points in zip((vectors, against), features, strict=False):
            if len(points) != len(classes):
                raise ValueError(f"{targets}: {len(classes)} classes for {len(points)} vectors of {path}")
        if folds is None:
            splits = random_splits(len(classes), seed, repeats or 10, classes)
        else:
            splits = stratified_folds(classes, seed, folds, repeats or 1)
        method = classify_kernel if kernel else classify
        found = [method(points, classes, splits, seed=seed, jobs=jobs) for points in features]
        comparison = compare(*found) if len(found) == 2 else None
    if not as_json:
        for scores in found:
            click.echo(scores)
        if comparison is not None:
            click.echo(comparison)
        return
    record: dict[str, Any] = {
        "accuracy": _json(found[0].mean),
        "std": _json(found[0].std),
        "majority": float(found[0].majority.mean()),
        "splits": found[0].accuracy.tolist(),
        "strength": found[0].strength.tolist(),
    }
    if comparison is not None:
        record["against"] = {"accuracy": found[1].mean, "std": _json(found[1].std), **vars(comparison)}
    click.echo(json.dumps(record))


def _of_pairs(
    graphs: str | None, max_nodes: int, model: str | None, split: int, cuts: list[int], as_json: bool
) -> None:
    from ugraphemb.tasks import pair_protocol

    if graphs is None:
        raise click.UsageError("--protocol pairs needs --graphs")
    with user_errors():
        collection = resolve(graphs)
        small = collection[collection.num_nodes <= max_nodes]
        if len(small) < len(collection):
            click.echo(f"{len(collection) - len(small)} graphs of more than {max_nodes} nodes are left out", err=True)
        found = pair_protocol(small, split=split, model=None if model is None else _without_edge_labels(model), ks=cuts)
    if as_json:
        rows = {name: {"pairs": part.pairs, "proven": part.proven, **part.as_row()} for name, part in found.items()}
        click.echo(json.dumps({name: {key: _json(value) for key, value in row.items()} for name, row in rows.items()}))
        return
    for name, part in found.items():
        click.echo(f"{name}: {part}")


def _without_edge_labels(model: str) -> UGraphEmb:
    """The model; a pre-trained one in its form for edges without labels."""
    from ugraphemb.estimator import UGraphEmb, model_of
    from ugraphemb.proximity import EditCosts

    loaded = model_of(model)
    is_shipped = loaded.about_.get("pretrained") == model
    return UGraphEmb.pretrained(model, costs=EditCosts(edge_relabel=0)) if is_shipped else loaded


def _json(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _square(matrix: Any, size: int) -> Any:
    if matrix.shape != (size, size):
        raise ValueError(f"--split needs the truth of all {size} × {size} graphs, not of {matrix.shape}")
    return matrix
