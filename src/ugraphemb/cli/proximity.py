"""Options that `distance` and `pairs` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ugraphemb.proximity import EditCosts, Metric, metric_names, metric_of
from ugraphemb.proximity.ged import METHODS

Command = TypeVar("Command", bound=Callable[..., Any])

COSTS = click.option(
    "--cost", "costs", multiple=True, metavar="NAME=COST", callback=lambda _, __, given: _costs(given),
    help="Cost of an edit, such as node_insert=2, edge_relabel=0 or node_attributes=0.5; may be repeated.",
)  # fmt: skip

_OPTIONS = [
    click.option("--metric", type=click.Choice(metric_names()), default="ged", show_default=True,
                 help="What is computed: edit distance (ged), common subgraphs (mcs), a kernel or equal classes."),
    click.option("--method", type=click.Choice(METHODS), help="Solver of edit distance; tight by default."),
    click.option("--timeout", type=click.FloatRange(min=0), help="Seconds per pair; then the best bounds so far."),
    click.option("--beam-width", type=click.IntRange(min=1), help="Partial maps kept by beam; 80 by default."),
    COSTS,
    click.option("--connected", is_flag=True, default=None, help="For mcs: the common subgraph must be connected."),
    click.option("--edge-labels", is_flag=True, default=None, help="For mcs: edge labels must agree."),
]  # fmt: skip


def metric_options(command: Command) -> Command:
    """Adds --metric, --method and the other options that determine the distances."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def metric_from(metric: str, **options: Any) -> Metric:
    """The metric that the options describe; an option that the metric does not have is a usage error."""
    try:
        return metric_of(metric, **options)
    except TypeError as error:
        raise click.UsageError(str(error)) from None


def _costs(given: tuple[str, ...]) -> EditCosts | None:
    names = [name for name in EditCosts.__dataclass_fields__ if name != "version"]
    prices: dict[str, Any] = {}
    for text in given:
        name, _, price = text.partition("=")
        if name not in names or not price:
            raise click.BadParameter(f"{text!r}; expected NAME=COST, with NAME one of {', '.join(names)}")
        try:
            prices[name] = tuple(map(float, price.split(","))) if name.endswith("_scale") else float(price)
        except ValueError:
            raise click.BadParameter(f"{text!r}; {price!r} is not a number") from None
    return EditCosts(**prices) if prices else None
