"""`ugraphemb index`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.inputs import MODEL, check_output, model_and_graphs, reader_options, resolve
from ugraphemb.cli.proximity import COSTS
from ugraphemb.graphs import GraphSet

if TYPE_CHECKING:
    import pyarrow as pa

    from ugraphemb.proximity import EditCosts

METADATA = click.option(
    "--metadata",
    type=click.Path(exists=True, dir_okay=False),
    help=".csv or .parquet with one column per name; rows are matched by the column id, else by position.",
)
THREADS = click.option("--threads", type=click.IntRange(min=0), default=0, show_default=True, help="0 uses all cores.")


@click.command("index")
@click.argument("graphs", nargs=-1, required=True, metavar="[MODEL] GRAPHS...")
@MODEL
@click.option("-o", "--output", type=click.Path(file_okay=False), help="Folder of the index to write.")
@click.option("--engine", metavar="URL", help="Database that keeps the index instead, see `ugraphemb copy --help`.")
@click.option("--kind", default="auto", show_default=True, help="flat: exact; hnsw, ivf: approximate; auto: by size.")
@METADATA
@COSTS
@reader_options
@click.option("--overwrite", is_flag=True, help="Replace an existing index.")
@THREADS
def command(
    graphs: tuple[str, ...],
    model: str | None,
    output: str | None,
    engine: str | None,
    kind: str,
    metadata: str | None,
    costs: EditCosts | None,
    overwrite: bool,
    threads: int,
) -> None:
    """Make GRAPHS (one or more collections) searchable, by the vectors of a MODEL that `ugraphemb train` wrote.

    Without a MODEL a pre-trained one is used: `molecules` if all labels are elements, otherwise `graphs`.
    The index is one folder with the model, the vectors, the graphs and their metadata. With --engine it is stored in a
    database instead, and other commands take the URL of the database in place of the folder. Classes of the graphs
    become the column `class`.

    \b
    Examples:
      ugraphemb index molecules -o index/
      ugraphemb index model/ molecules -o index/
      ugraphemb index model/ 2024.smi 2025.smi --metadata assays.csv -o index/
      ugraphemb index model/ molecules --engine milvus://localhost:19530/molecules
    """
    from ugraphemb.graphs import graphs_of
    from ugraphemb.search import GraphIndex
    from ugraphemb.search.engines import drop
    from ugraphemb.search.storage import MANIFEST

    if (output is None) == (engine is None):
        raise click.UsageError("name the output: either -o FOLDER or --engine URL")
    if output is not None:
        check_output(output)
    with user_errors():
        if output is not None and (Path(output) / MANIFEST).exists() and not overwrite:
            raise ValueError(f"{output}: an index exists; `ugraphemb add` adds to it, --overwrite replaces it")
        if engine is not None and overwrite:
            drop(engine)
        loaded, graphs = model_and_graphs(graphs, model)
        if loaded is not None:
            loaded.set_params(threads=threads)
        index = GraphIndex(loaded, kind=kind, costs=costs, threads=threads, engine=engine or "embedded")
        if engine is not None and len(index):
            raise ValueError(f"{index.engine.name}: an index exists; see `ugraphemb add`, or --overwrite")
        collection = graphs_of([resolve(part) for part in graphs])
        index.add(collection, metadata=None if metadata is None else metadata_of(metadata, collection))
        if output is not None:
            index.save(output)
        click.echo(f"{output or index.engine.name}: {index}")


def metadata_of(path: str, graphs: GraphSet) -> pa.Table:
    """Metadata from a file, one row per graph."""
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
