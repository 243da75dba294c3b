"""`ugraphemb plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click
import numpy as np

from ugraphemb.cli.arrays import head_of, read_truth, user_errors, vectors_of
from ugraphemb.cli.distance import one_graph
from ugraphemb.cli.inputs import check_output, reader_options, resolve
from ugraphemb.cli.proximity import metric_from, metric_options
from ugraphemb.encoder.names import Head

OUTPUT = click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="File to write.")
TITLE = click.option("--title", default="", help="Title; by default the name of the graphs.")


@click.group("plot")
def command() -> None:
    """Draw maps of graphs, what a query finds, and the edits between two graphs.

    \b
    Examples:
      ugraphemb plot map z.npy molecules -o map.html
      ugraphemb plot map z.npy molecules --show clusters -o clusters.pdf
      ugraphemb plot query z.npy molecules --query 3 --truth ged.parquet -o query.png
      ugraphemb plot edits CCO 'CC(=O)O' -o edits.svg
    """


@command.command("map", short_help="A map of graphs by their vectors.")
@click.argument("vectors")
@click.argument("graphs")
@OUTPUT
@click.option("--show", type=click.Choice(["classes", "line", "clusters"]), default="classes", show_default=True,
              help="Dots only, or also graphs along a line, or graphs of the densest clusters.")  # fmt: skip
@click.option("--method", type=click.Choice(["tsne", "pca", "umap"]), default="tsne", show_default=True,
              help="How coordinates are computed; umap needs the package umap-learn.")  # fmt: skip
@click.option("--perplexity", type=click.FloatRange(min=1), default=30.0, show_default=True,
              help="For tsne: about how many neighbors of a graph count.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the map.")
@click.option("--from", "start", help="Id of the graph where the line begins; the farthest two are joined by default.")
@click.option("--to", "stop", help="Id of the graph where the line ends.")
@click.option("--count", type=click.IntRange(min=2), default=12, show_default=True,
              help="Graphs drawn along the line, or per cluster.")  # fmt: skip
@click.option("--clusters", type=click.IntRange(min=1), default=5, show_default=True, help="Number of clusters.")
@click.option("--coordinates", type=click.Path(dir_okay=False), help="Also write the coordinates of the map, as .npy.")
@reader_options
@TITLE
def map_command(
    vectors: str,
    graphs: str,
    output: str,
    show: str,
    method: Any,
    perplexity: float,
    seed: int,
    start: str | None,
    stop: str | None,
    count: int,
    clusters: int,
    coordinates: str | None,
    title: str,
) -> None:
    """A map of GRAPHS by their VECTORS (.npy, .parquet): .html to explore, .png, .svg or .pdf to print.

    \b
    Examples:
      ugraphemb plot map z.npy molecules -o map.html
      ugraphemb plot map z.npy molecules -o map.svg --method pca
      ugraphemb plot map z.npy molecules -o line.pdf --show line --from 17 --to 103
    """
    from ugraphemb.files import storage_errors, write_file
    from ugraphemb.files.arrays import npy_bytes
    from ugraphemb.plots import figures
    from ugraphemb.plots.drawing import save_figure
    from ugraphemb.plots.interactive import write_map_page
    from ugraphemb.tasks.maps import fit_map

    check_output(output, ".html", ".png", ".svg", ".pdf")
    found = resolve(graphs)
    with user_errors():
        if Path(output).suffix.lower() == ".html" and show != "classes":
            raise click.UsageError(f"--show {show} is for .png, .svg and .pdf; a page draws the graphs you point at")
        rows, head = vectors_of(vectors, found), head_of(vectors)
        places = fit_map(rows, method, head=head, seed=seed, perplexity=perplexity).coordinates
        name = title or found.name
        if Path(output).suffix.lower() == ".html":
            write_map_page(places, found, output, title=name)
        elif show == "line":
            ends = {"start": _position(found, start), "stop": _position(found, stop)}
            save_figure(figures.line_figure(places, found, points=count, title=name, **ends), output)
        elif show == "clusters":
            figure = figures.cluster_figure(places, found, clusters=clusters, members=count, title=name)
            save_figure(figure, output)
        else:
            save_figure(figures.map_figure(places, found.targets, title=name), output)
        if coordinates is not None:
            with storage_errors(coordinates):
                write_file(Path(coordinates), npy_bytes(places))
    click.echo(output)


@command.command("query", short_help="One graph and how the others rank, by truth and by vectors.")
@click.argument("vectors")
@click.argument("graphs")
@click.option("--query", required=True, help="Id of the query graph.")
@click.option("--truth", required=True, help="True distances of all graphs: a pair table (.parquet) or .npy.")
@OUTPUT
@click.option("--rank", "ranks", type=click.IntRange(min=1), multiple=True,
              help="Places to draw; may be repeated. By default the first six, the middle and the last.")  # fmt: skip
@click.option("--head", type=click.Choice(get_args(Head)),
              help="How vectors are compared; by default as named in the file, else l2.")  # fmt: skip
@click.option("--raw", is_flag=True, help="Use the distances of a pair table as they are, not divided by sizes.")
@reader_options
@TITLE
def query_command(
    vectors: str,
    graphs: str,
    query: str,
    truth: str,
    output: str,
    ranks: tuple[int, ...],
    head: Any,
    raw: bool,
    title: str,
) -> None:
    """One graph, and how the others rank: the true ranking above, the one by VECTORS below, with distances.

    \b
    Examples:
      ugraphemb plot query z.npy molecules --query 3 --truth ged.parquet -o query.png
      ugraphemb plot query z.npy molecules --query 3 --truth ged.parquet -o query.svg --rank 1 --rank 2 --rank 100
    """
    from ugraphemb.plots.drawing import save_figure
    from ugraphemb.plots.figures import query_figure
    from ugraphemb.tasks.ranking import predicted_proximity

    check_output(output, ".png", ".svg", ".pdf")
    found = resolve(graphs)
    with user_errors():
        position = _position(found, query)
        matrix, kind = read_truth(truth, raw=raw)
        if matrix.shape != (len(found), len(found)):
            raise ValueError(f"{truth}: a truth of shape {matrix.shape} for {len(found)} graphs")
        points = vectors_of(vectors, found)
        head = head or head_of(vectors)
        others = np.flatnonzero(np.arange(len(found)) != position)
        figure = query_figure(
            found[[position]],
            found[others],
            matrix[position, others],
            predicted_proximity(points[[position]], points[others], head)[0],
            ranks=sorted(set(ranks)) or None,
            truth_is=kind or "distance",
            predicted_is="similarity" if head == "inner" else "distance",
            title=title or f"graph {query}",
        )
        save_figure(figure, output)
    click.echo(output)


@command.command("edits", short_help="The edits that turn one graph into another.")
@click.argument("a")
@click.argument("b")
@OUTPUT
@metric_options
@reader_options
@TITLE
def edits_command(a: str, b: str, output: str, title: str, timeout: float | None, **options: Any) -> None:
    """The edits that turn graph A into graph B: what is removed, relabeled and added, in color.

    A and B are files of one graph, members of a file or data set by position (atlas:3, molecules.smi:7), or SMILES.

    \b
    Examples:
      ugraphemb plot edits CCO 'CC(=O)O' -o edits.svg
      ugraphemb plot edits atlas:300 atlas:500 -o edits.png --cost node_relabel=2
    """
    from ugraphemb.plots.drawing import save_figure
    from ugraphemb.plots.edit_figure import edit_figure
    from ugraphemb.proximity.distance import distance
    from ugraphemb.proximity.edits import changes_of

    check_output(output, ".png", ".svg", ".pdf")
    if options["metric"] != "ged":
        raise click.UsageError(f"--metric {options['metric']} has no edits; they are those of ged")
    with user_errors():
        answer = distance(one_graph(a), one_graph(b), metric=metric_from(**options), timeout=timeout)
        if answer.mapping is None or answer.costs is None:
            raise click.UsageError(f"--method {options['method']} gives a bound, but no edits")
        left, right = answer.graphs
        relabel = answer.costs.edge_relabel
        figure = edit_figure(
            left,
            [right],
            [answer.mapping],
            titles=[f"{answer.value:g} ({'proven' if answer.proven else 'not proven'})"],
            notes=[changes_of(answer.edit_path())],
            title=title or f"{left.id} → {right.id}",
            edge_labels=not (isinstance(relabel, float) and relabel == 0),
        )
        save_figure(figure, output)
    click.echo(output)


def _position(graphs: Any, name: str | None) -> Any:
    if name is None:
        return None
    found = np.flatnonzero(graphs.ids == name)
    if not len(found):
        raise ValueError(f"no graph has the id {name!r}; the first is {str(graphs.ids[0])!r}")
    return int(found[0])
