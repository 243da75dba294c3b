"""`ugraphemb completion`."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script for SHELL that completes commands and options of ugraphemb.

    \b
    Examples:
      eval "$(ugraphemb completion bash)"                 # in ~/.bashrc
      eval "$(ugraphemb completion zsh)"                  # in ~/.zshrc
      ugraphemb completion fish > ~/.config/fish/completions/ugraphemb.fish
    """
    from click.shell_completion import get_completion_class

    from ugraphemb.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "ugraphemb", "_UGRAPHEMB_COMPLETE").source())
