"""Options that `distance` and `pairs` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ugraphemb.proximity import EditCosts, Metric, metric_names, metric_of
from ugraphemb.proximity.ged import METHODS

Command = TypeVar("Command", bound=Callable[..., Any])

COSTS = click.option(
    "--cost", "costs", multiple=True, metavar="NAME=PRICE", callback=lambda _, __, given: _costs(given),
    help="Price of an edit, such as node_insert=2 or edge_relabel=0; may be repeated.",
)  # fmt: skip

_OPTIONS = [
    click.option("--metric", type=click.Choice(metric_names()), default="ged", show_default=True,
                 help="What is measured."),
    click.option("--method", type=click.Choice(METHODS), help="Solver of edit distance; tight by default."),
    click.option("--timeout", type=click.FloatRange(min=0), help="Seconds for one pair; past it, the best so far."),
    click.option("--beam-width", type=click.IntRange(min=1), help="Partial maps that beam keeps; 80 by default."),
    COSTS,
    click.option("--connected", is_flag=True, default=None, help="Of mcs: the common subgraph must be connected."),
    click.option("--edge-labels", is_flag=True, default=None, help="Of mcs: labels of edges must agree."),
]  # fmt: skip


def metric_options(command: Command) -> Command:
    """--metric, --method and what else decides the numbers."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def metric_from(metric: str, **options: Any) -> Metric:
    """The metric that the options describe; one that it does not have is a wrong call."""
    try:
        return metric_of(metric, **options)
    except TypeError as error:
        raise click.UsageError(str(error)) from None


def _costs(given: tuple[str, ...]) -> EditCosts | None:
    names = [name for name in EditCosts.__dataclass_fields__ if name != "version"]
    prices: dict[str, Any] = {}
    for text in given:
        name, _, price = text.partition("=")
        if name not in names:
            raise click.BadParameter(f"{text!r}; it is NAME=PRICE, with NAME one of {', '.join(names)}")
        try:
            prices[name] = float(price)
        except ValueError:
            raise click.BadParameter(f"{text!r}; {price!r} is no number") from None
    return EditCosts(**prices) if prices else None
