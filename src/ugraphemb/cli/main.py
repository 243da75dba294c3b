"""`ugraphemb VERB`. Each command has its own file, which is imported when the command is called."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import NamedTuple, TextIO

import click

from ugraphemb import __version__
from ugraphemb.cli.failures import exit_code, message

_NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click 8.2 and later


class Entry(NamedTuple):
    """The module whose object `command` is the command, and a one-line description."""

    module: str
    help: str


COMMANDS = {
    "add": Entry("ugraphemb.cli.add", "Add graphs to an index."),
    "cluster": Entry("ugraphemb.cli.cluster", "Cluster graphs by their vectors."),
    "completion": Entry("ugraphemb.cli.completion", "Print a script that completes commands in your shell."),
    "convert": Entry("ugraphemb.cli.convert", "Write graphs in another format."),
    "copy": Entry("ugraphemb.cli.copy", "Copy an index to a database, or from one."),
    "distance": Entry("ugraphemb.cli.distance", "Compare two graphs."),
    "embed": Entry("ugraphemb.cli.embed", "Vectors of graphs."),
    "evaluate": Entry("ugraphemb.cli.evaluate", "Evaluate vectors: ranking and classification."),
    "export": Entry("ugraphemb.cli.export", "Write the vectors of an index for other programs."),
    "finetune": Entry("ugraphemb.cli.finetune", "Adjust a model to classes."),
    "index": Entry("ugraphemb.cli.index", "Make graphs searchable."),
    "info": Entry("ugraphemb.cli.info", "Describe a file of graphs or a data set."),
    "models": Entry("ugraphemb.cli.models", "List the pre-trained models."),
    "pairs": Entry("ugraphemb.cli.pairs", "Compare many pairs of graphs."),
    "plot": Entry("ugraphemb.cli.plot", "Draw maps of graphs, what a query finds, and edits."),
    "predict": Entry("ugraphemb.cli.predict", "Classes of graphs, by a fine-tuned model."),
    "remove": Entry("ugraphemb.cli.remove", "Remove graphs from an index."),
    "search": Entry("ugraphemb.cli.search", "Find the graphs most similar to a query."),
    "serve": Entry("ugraphemb.cli.serve", "Serve an index as a page and an HTTP API."),
    "train": Entry("ugraphemb.cli.train", "Learn vectors for graphs."),
}


class LazyGroup(click.Group):
    """The commands of COMMANDS; --help lists them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name].module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Vectors for whole graphs, whose distances are graph distances.

    GRAPHS is a file or folder of graphs (.zip, .jsonl, .gxl, .graphml, .smi, ...), or the name of a data set such
    as molecules, atlas, PTC or MUTAG.

    \b
    Examples:
      ugraphemb info molecules
      ugraphemb distance CCO 'CC(=O)O'
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs a command and exits: 0, 2 after wrong input, 1 after any other error, 130 after Ctrl-C.

    Whatever the error, it is reported in one line.

    With UGRAPHEMB_DEBUG=1 errors are printed with their traceback.
    """
    debug = os.environ.get("UGRAPHEMB_DEBUG", "") not in ("", "0")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            status = cli.main(arguments, prog_name="ugraphemb", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        status = 130
    except BrokenPipeError:  # `ugraphemb ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except Exception as error:
        if debug and not isinstance(error, click.ClickException):
            raise
        if isinstance(error, _NO_ARGUMENTS):
            error.show()  # the help
        else:
            click.echo(f"Error: {message(error)}", err=True)
        status = exit_code(error)
    sys.exit(status if isinstance(status, int) else 0)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    click.echo(f"Warning: {message}", err=True)


if __name__ == "__main__":
    main()
