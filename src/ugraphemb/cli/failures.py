"""What a command prints when it fails, and its exit code."""

from __future__ import annotations

import click

from ugraphemb.errors import (
    ClusterError,
    EngineError,
    MetricError,
    MissingExtraError,
    StorageError,
    TrainingError,
    UGraphEmbError,
)

# The input is not the reason, but the machine, the network, a missing package, or a computation that fails.
_NOT_OF_THE_CALL = (ClusterError, EngineError, MetricError, MissingExtraError, StorageError, TrainingError)
_OF_THE_INPUT = (
    UGraphEmbError, ValueError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError,
)  # fmt: skip


class WrongInput(click.ClickException):
    """Wrong input that was found after the options were parsed."""

    exit_code = 2


def exit_code(error: Exception) -> int:
    """2 for wrong input, 1 for every other error."""
    if isinstance(error, click.ClickException):
        return error.exit_code
    if isinstance(error, _NOT_OF_THE_CALL):
        return 1
    return 2 if isinstance(error, _OF_THE_INPUT) else 1


def message(error: Exception) -> str:
    """The message of an error in one line; unexpected errors also name their type."""
    if isinstance(error, click.ClickException):
        return _of_call(error)
    if isinstance(error, OSError) and error.filename is not None and not isinstance(error, UGraphEmbError):
        return f"{error.filename}: {(error.strerror or type(error).__name__).lower()}"
    text = _for_the_command_line(str(error))
    if isinstance(error, UGraphEmbError | OSError | ValueError | ImportError):
        return text or type(error).__name__
    return f"{text or 'no message'} ({type(error).__name__}; UGRAPHEMB_DEBUG=1 shows where)"


def _of_call(error: click.ClickException) -> str:
    text = _for_the_command_line(error.format_message())
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return text
    return f"{text}{'' if text.endswith(('.', '?')) else '.'} See `{error.ctx.command_path} --help`"


def _for_the_command_line(text: str) -> str:
    """In one line, with the names of options instead of those of keyword arguments."""
    line = " ".join(text.split()).replace("on_error='skip'", "--on-error skip")
    return line.replace("or format=...", "or --format NAME")
