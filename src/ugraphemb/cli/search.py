"""`ugraphemb search`."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.index import THREADS
from ugraphemb.cli.inputs import INDEX, named, reader_options
from ugraphemb.cli.proximity import COSTS
from ugraphemb.cli.workers import worker_options

if TYPE_CHECKING:
    from ugraphemb.proximity import EditCosts
    from ugraphemb.search import Match, Matches

_PATIENCE = 0.5  # seconds to bound the distance of a match that was found by vectors alone


@click.command("search")
@click.argument("index", type=INDEX)
@click.argument("query")
@click.option("-k", type=click.IntRange(min=1), help="Number of matches; 10 by default, no limit with --within.")
@click.option("--verify", is_flag=True, help="Verify a shortlist by edit distance and rank by it.")
@click.option("--complete", is_flag=True, help="Verify against every graph of the index, not only a shortlist.")
@click.option("--within", type=click.FloatRange(min=0), metavar="T", help="All graphs with edit distance at most T.")
@click.option("--where", multiple=True, metavar="NAME=VALUE", help="Only graphs with this metadata; may be repeated.")
@click.option("--by", type=click.Choice(["normalized", "edits"]), default="normalized", show_default=True,
              help="Rank verified matches by edits per node, or by edits.")  # fmt: skip
@click.option("--shortlist", type=click.IntRange(min=1), default=100, show_default=True,
              help="Number of nearest graphs by vectors that --verify examines.")  # fmt: skip
@click.option("--budget", type=click.FloatRange(min=0), default=5.0, show_default=True, metavar="SECONDS",
              help="Time for the proofs of one query. 0: no exact distances.")  # fmt: skip
@COSTS
@reader_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per query instead of tables.")
@worker_options
@THREADS
def command(
    index: str,
    query: str,
    k: int | None,
    where: tuple[str, ...],
    costs: EditCosts | None,
    as_json: bool,
    threads: int,
    executor: int | str | None,
    **options: Any,
) -> None:
    """Find the graphs of an INDEX that are most similar to QUERY, and show the edits to each.

    QUERY is a file of one or more graphs, a member of a file or data set by position (atlas:3, molecules.smi:7), or a
    SMILES string. Matches are ranked by vectors, or by edit distances with --verify, --complete or --within. A distance
    is shown as a number where it is proven, else by its bounds.

    \b
    Examples:
      ugraphemb search index/ 'CC(=O)Oc1ccccc1C(=O)O'
      ugraphemb search index/ molecules:3 -k 5 --verify --where class=1
      ugraphemb search index/ query.gxl --complete --budget 60
      ugraphemb search index/ queries.smi --within 4 --json
      ugraphemb search index/ queries.smi --complete --budget 600 --workers 8
    """
    from ugraphemb.search import GraphIndex

    if executor is not None and not options["complete"] and options["within"] is None:
        raise click.UsageError("--workers and --scheduler share proofs: use --complete or --within")
    with user_errors():
        found = GraphIndex.load(index, costs=costs, threads=threads)
        queries = named(query)
        if not len(queries):
            raise click.UsageError(f"{query} has no graphs")
        answers = found.search(queries, k, where=_filters(where) or None, executor=executor, **options)
    for graph, matches in zip(queries, answers, strict=True):
        shown = [match.explained(_PATIENCE) for match in matches]
        if as_json:
            click.echo(json.dumps(_record(graph.id, shown, matches), ensure_ascii=False, default=str))
            continue
        if len(queries) > 1:
            click.echo(f"{graph.id}:")
        click.echo(_table(shown) if shown else "nothing found")
        if matches.certificate is not None:
            click.echo(f"\n{matches.certificate}")


def _filters(given: tuple[str, ...]) -> dict[str, list[str]]:
    """The filter of all NAME=VALUE options; if a name is given twice, either value matches."""
    wanted: dict[str, list[str]] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r}; it is NAME=VALUE", param_hint="--where")
        wanted.setdefault(name, []).append(value)
    return wanted


def _table(matches: list[Match]) -> str:
    names = list(dict.fromkeys(name for match in matches for name in match.metadata))
    rows = [["rank", "id", "edits", "per node", "predicted", *names, "what changes"]]
    for match in matches:
        edits = f"{match.distance:g}" if match.proven else f"{match.lower:g}–{match.upper:g}"
        size = (match.query.num_nodes + match.graph.num_nodes) / 2 or 1
        share = f"{match.normalized:.3f}" if match.proven else f"{match.lower / size:.3f}–{match.upper / size:.3f}"
        about = [str(match.metadata.get(name, "")) for name in names]
        rows.append([str(match.rank), match.id, edits, share, f"{match.predicted:.3f}", *about, match.changes()])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    right = {0, 2, 3, 4}
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _record(query: str, matches: list[Match], found: Matches) -> dict[str, Any]:
    certificate = None if found.certificate is None else asdict(found.certificate)
    return {"query": query, "certificate": certificate, "matches": [_match(match) for match in matches]}


def _match(match: Match) -> dict[str, Any]:
    return {
        "rank": match.rank,
        "id": match.id,
        "distance": _number(match.distance),
        "lower": _number(match.lower),
        "upper": _number(match.upper),
        "proven": match.proven,
        "normalized": _number(match.normalized),
        "predicted": match.predicted,
        "metadata": match.metadata,
        "changes": match.changes(),
        "mapping": None if match.mapping is None else match.mapping.tolist(),
        "edits": [asdict(step) for step in match.edit_path()],
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
