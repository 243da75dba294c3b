"""`ugraphemb distance`."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import click

from ugraphemb.cli.inputs import named, reader_options
from ugraphemb.cli.proximity import metric_from, metric_options
from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs import Graph
from ugraphemb.proximity import Distance
from ugraphemb.proximity.distance import distance


@click.command("distance")
@click.argument("a")
@click.argument("b")
@metric_options
@reader_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(a: str, b: str, timeout: float | None, as_json: bool, **options: Any) -> None:
    """Distance of two graphs, with bounds, and the edits that turn A into B.

    A and B are files of one graph, members of a file or data set by position (atlas:3, molecules.smi:7), or SMILES.

    \b
    Examples:
      ugraphemb distance atlas:300 atlas:500
      ugraphemb distance CCO 'CC(=O)O' --method exact --timeout 10
      ugraphemb distance c1ccccc1 C1CCCCC1 --cost edge_relabel=0
      ugraphemb distance left.gxl right.gxl --metric mcs --json
    """
    answer = distance(one_graph(a), one_graph(b), metric=metric_from(**options), timeout=timeout)
    click.echo(json.dumps(_record(answer), ensure_ascii=False) if as_json else _text(answer))


def one_graph(text: str) -> Graph:
    """The one graph that the user names."""
    graphs = named(text)
    if len(graphs) != 1:
        raise GraphFormatError(f"{text}: {len(graphs)} graphs; choose one by its position, such as {text}:0")
    return graphs[0]


def _edits(answer: Distance) -> list[Any]:
    return answer.edit_path() if answer.costs is not None and answer.mapping is not None else []


def _text(answer: Distance) -> str:
    sure = "proven" if answer.proven else "not proven"
    bounds = " ≤ ".join(
        [*([f"{answer.lower:g}"] if not math.isnan(answer.lower) else []), answer.kind,
         *([f"{answer.upper:g}"] if not math.isnan(answer.upper) else [])]
    )  # fmt: skip
    lines = [f"{answer.value:g}  ({sure}: {bounds})"]
    return "\n".join(lines + [str(step) for step in _edits(answer)])


def _record(answer: Distance) -> dict[str, Any]:
    return {
        "value": answer.value,
        "lower": None if math.isnan(answer.lower) else answer.lower,
        "upper": None if math.isnan(answer.upper) else answer.upper,
        "proven": answer.proven,
        "metric": answer.metric,
        "kind": answer.kind,
        "settings": answer.settings,
        "mapping": None if answer.mapping is None else answer.mapping.tolist(),
        "edits": [asdict(step) for step in _edits(answer)],
    }
