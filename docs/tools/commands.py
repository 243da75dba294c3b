"""The reference of the command line: what every command prints for --help."""

from __future__ import annotations

import click

from ugraphemb.cli.main import COMMANDS, cli

WIDTH = 84  # columns that a page of the site shows without scrolling
EXIT_CODES = """\
| exit code | meaning |
|---|---|
| 0 | done |
| 1 | an error for which the input is not the reason: a full disk, a missing package, a database or worker that fails |
| 2 | wrong input: options, files, graphs, models, SMILES |
| 130, 143 | stopped by Ctrl-C (SIGINT), by SIGTERM |
| 141 | the program that reads the output through a pipe has ended, such as `head` |
"""
VARIABLES = """\
| environment variable | meaning |
|---|---|
| `UGRAPHEMB_DATA` | a folder with data sets, such as `MUTAG.zip`; downloads are kept in `~/.cache/ugraphemb` |
| `UGRAPHEMB_DATASET_URL` | where data sets are downloaded from, instead of TU Dortmund |
| `UGRAPHEMB_LIMITS` | higher [limits of readers](../formats.md#limits), such as `smiles=100000` |
| `UGRAPHEMB_DEBUG` | `1`: errors are printed with their traceback |
| `UGRAPHEMB_CPU` | `baseline`: the compiled core does not use AVX2 |
"""


def page() -> str:
    """The page, as Markdown: one section per command, subcommands below their group."""
    context = click.Context(cli, info_name="ugraphemb", max_content_width=WIDTH, terminal_width=WIDTH)
    parts = [
        "# Command line\n\nWhat each command prints for `--help`. Results go to stdout, progress and warnings to "
        "stderr. An error is one line.\n",
        f"{EXIT_CODES}\n{VARIABLES}\n",
        f"```text\n{cli.get_help(context)}\n```\n",
    ]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        parts += _sections(command, context, name, 2)
    return "\n".join(parts)


def _sections(command: click.Command, parent: click.Context, name: str, level: int) -> list[str]:
    context = click.Context(command, info_name=name, parent=parent, max_content_width=WIDTH, terminal_width=WIDTH)
    parts = [f"{'#' * level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"]
    for below in sorted(getattr(command, "commands", {})):
        parts += _sections(command.commands[below], context, below, level + 1)  # type: ignore[attr-defined]
    return parts
