"""`ugraphemb index`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.inputs import check_output, reader_options, resolve
from ugraphemb.cli.proximity import COSTS
from ugraphemb.graphs import GraphSet

if TYPE_CHECKING:
    import pyarrow as pa

    from ugraphemb.proximity import EditCosts

METADATA = click.option(
    "--metadata",
    type=click.Path(exists=True, dir_okay=False),
    help=".csv or .parquet, a column a name; rows go by its column id, or by position if it has none.",
)
THREADS = click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses every core.")


@click.command("index")
@click.argument("model", type=click.Path(exists=True, file_okay=False))
@click.argument("graphs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Folder of the index to write.")
@click.option("--kind", default="auto", show_default=True, help="flat: exact; hnsw, ivf: approximate; auto: by size.")
@METADATA
@COSTS
@reader_options
@click.option("--overwrite", is_flag=True, help="Replace an index that is there.")
@THREADS
def command(
    model: str,
    graphs: tuple[str, ...],
    output: str,
    kind: str,
    metadata: str | None,
    costs: EditCosts | None,
    overwrite: bool,
    threads: int,
) -> None:
    """Make GRAPHS (several are taken together) searchable, by the vectors of a MODEL that `ugraphemb train` wrote.

    The index is one folder that holds the model, the vectors, the graphs and their metadata. Classes of the graphs
    become the column `class`.

    \b
    Examples:
      ugraphemb index model/ molecules -o index/
      ugraphemb index model/ 2024.smi 2025.smi --metadata assays.csv -o index/
    """
    from ugraphemb.estimator import UGraphEmb
    from ugraphemb.graphs import graphs_of
    from ugraphemb.search import GraphIndex
    from ugraphemb.search.storage import MANIFEST

    check_output(output)
    with user_errors():
        if (Path(output) / MANIFEST).exists() and not overwrite:
            raise ValueError(f"{output}: an index is there; `ugraphemb add` adds to it, --overwrite replaces it")
        index = GraphIndex(UGraphEmb.load(model).set_params(threads=threads), kind=kind, costs=costs, threads=threads)
        collection = graphs_of([resolve(part) for part in graphs])
        index.add(collection, metadata=None if metadata is None else metadata_of(metadata, collection))
        index.save(output)
    click.echo(f"{output}: {index}")


def metadata_of(path: str, graphs: GraphSet) -> pa.Table:
    """Metadata from a file, a row for each graph."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        raise ValueError(f"{path}: metadata are read from .csv or .parquet")
    try:
        table = pq.read_table(path) if path.lower().endswith(".parquet") else pyarrow.csv.read_csv(path)
    except pa.ArrowException as error:
        raise ValueError(f"{path}: {error}") from error
    if "id" not in table.column_names:
        return table
    row = {str(name): i for i, name in enumerate(table["id"].to_pylist())}
    missing = [name for name in graphs.ids.tolist() if name not in row]
    if missing:
        raise ValueError(f"{path}: no row for graph {missing[0]!r} ({len(missing)} of {len(graphs)} are missing)")
    return table.drop_columns(["id"]).take([row[name] for name in graphs.ids.tolist()])
