"""The reference of the command line: what every command prints for --help."""

from __future__ import annotations

import click

from ugraphemb.cli.main import COMMANDS, cli

WIDTH = 84  # columns that a page of the site shows without scrolling


def page() -> str:
    """The page, as Markdown: one section per command, subcommands below their group."""
    context = click.Context(cli, info_name="ugraphemb", max_content_width=WIDTH, terminal_width=WIDTH)
    parts = [
        "# Command line\n\nWhat each command prints for `--help`. Results go to stdout, progress and warnings to "
        "stderr. Exit codes: 0, 1 after an error, 2 after a wrong call, 130 after Ctrl-C.\n",
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
