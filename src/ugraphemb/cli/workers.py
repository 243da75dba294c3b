"""--workers and --scheduler: the same for every command that can share its work."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def worker_options(command: Command) -> Command:
    """Gives the command `executor`: a number of processes, the address of a Dask scheduler, or None."""

    @click.option(
        "--workers", type=click.IntRange(min=1), metavar="N", help="Processes of this machine that share the work."
    )
    @click.option("--scheduler", metavar="ADDRESS",
                  help="Dask scheduler whose workers share the work, such as tcp://host:8786.")  # fmt: skip
    @wraps(command)
    def wrapped(*arguments: Any, workers: int | None, scheduler: str | None, **options: Any) -> Any:
        if workers is not None and scheduler is not None:
            raise click.UsageError("--workers are processes of this machine, --scheduler those of a cluster; give one")
        return command(*arguments, executor=workers if scheduler is None else scheduler, **options)

    return wrapped  # type: ignore[return-value]
