"""What commands take: graphs, how their files are read, and where results go."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from ugraphemb.errors import DatasetNotFoundError, GraphFormatError
from ugraphemb.graphs import GraphSet, load_dataset, read_graphs
from ugraphemb.graphs.formats import FORMATS

if TYPE_CHECKING:
    from ugraphemb.estimator import UGraphEmb

Command = TypeVar("Command", bound=Callable[..., Any])

_KEY = "ugraphemb.reader"


class IndexPlace(click.Path):
    """An existing folder, or the URL of a database."""

    name = "index"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from ugraphemb.search.engines import is_url

        return value if is_url(value) else super().convert(value, param, ctx)


INDEX = IndexPlace(exists=True, file_okay=False)


MODEL = click.option(
    "--model", "model", metavar="MODEL", help="A model's folder, or a pre-trained model: see `ugraphemb models`."
)


def model_and_graphs(
    given: tuple[str, ...], model: str | None, device: str | None = None
) -> tuple[UGraphEmb | None, tuple[str, ...]]:
    """The model that `[MODEL] GRAPHS...` and --model name, or None, and the graphs.

    The first argument is the model if it is a folder that `ugraphemb train` wrote.
    """
    from ugraphemb.estimator import model_of

    folder = Path(given[0]).expanduser() / "config.json" if given else None
    if model is None and folder is not None and folder.exists():
        model, given = given[0], given[1:]
    if not given:
        raise click.UsageError("Missing argument 'GRAPHS...'.")
    is_folder = len(given) > 1 and given[0].endswith("/") and "://" not in given[0]
    if model is None and is_folder and not Path(given[0]).expanduser().exists():
        raise click.UsageError(f"{given[0]}: no such file or folder, and not a model")
    if model is None:
        return None, given
    return model_of(model, device=device), given


def _remembered(context: click.Context, option: click.Parameter, value: Any) -> Any:
    if value not in (None, False):
        context.meta.setdefault(_KEY, {})[option.name] = value
    return value


def _reader_option(*names: str, **settings: Any) -> Callable[[Command], Command]:
    return click.option(*names, expose_value=False, callback=_remembered, **settings)


_READER_OPTIONS = [
    _reader_option("--format", "format", type=click.Choice(list(FORMATS)), metavar="NAME",
                   help="Format of the files of graphs, if their suffix does not determine it."),
    _reader_option("--smiles-column", "column", metavar="NAME", help="Column of a table with the SMILES."),
    _reader_option("--id-column", "id_column", metavar="NAME", help="Column of a table or property of an SDF for ids."),
    _reader_option("--target-column", "target_column", metavar="NAME", help="Column or property for targets."),
    _reader_option("--on-error", "on_error", type=click.Choice(["raise", "skip"]),
                   help="What to do with molecules that cannot be read; raise by default."),
    _reader_option("--hydrogens", "hydrogens", is_flag=True, help="Represent hydrogens of molecules as nodes."),
    _reader_option("--charges", "charges", is_flag=True, help="Include charges in the labels of atoms: N+, O-."),
    _reader_option("--aromatic", "aromatic", type=click.Choice(["bond", "kekule"]),
                   help="Label aromatic bonds `aromatic` (bond), or single and double (kekule); bond by default."),
]  # fmt: skip


READER_OPTIONS = ("format", "column", "id_column", "target_column", "on_error", "hydrogens", "charges", "aromatic")
"""Names of the options of `reader_options`."""


def reader_options(command: Command) -> Command:
    """--format, --smiles-column and the like, which `resolve` and `named` apply to every file the command reads."""
    for option in reversed(_READER_OPTIONS):
        command = option(command)
    return command


def refuse_options(names: Iterable[str], reason: str) -> None:
    """Raises an error if the command was given an option that has no effect, because of the reason."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in names and source not in (None, ParameterSource.DEFAULT):
            raise click.UsageError(f"{option.opts[-1]} has no effect {reason}")


def given_options() -> dict[str, Any]:
    """The options of readers that the command was given."""
    context = click.get_current_context(silent=True)
    return {} if context is None else dict(context.meta.get(_KEY, {}))


def resolve(graphs: str, *, strict: bool = False) -> GraphSet:
    """The graphs that a GRAPHS argument means: a path that exists, a SMILES string, or the name of a data set."""
    path = Path(graphs).expanduser()
    options = given_options()
    if path.exists():
        try:
            return read_graphs(path, strict=strict, **options)
        except TypeError as error:
            wrong = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if wrong is None:
                raise
            name = {"column": "smiles-column"}.get(wrong[1], wrong[1].replace("_", "-"))
            raise click.UsageError(f"--{name} has no effect on {graphs}") from error
    molecule = _molecule(graphs)  # no data set of TU has a name that is SMILES
    if molecule is not None:
        return molecule
    if len(path.parts) > 1 or path.suffix:
        raise GraphFormatError(f"{graphs}: no such file or folder, and not the name of a data set")
    if options:
        name = {"column": "smiles-column"}.get(next(iter(options)), next(iter(options)).replace("_", "-"))
        raise click.UsageError(f"--{name} is for files; {graphs} is a data set")
    try:
        return load_dataset(graphs)
    except DatasetNotFoundError as error:
        raise DatasetNotFoundError(f"{graphs}: no such file or folder, and {error}") from error


def named(text: str) -> GraphSet:
    """The graphs that the user names: those of a file, a member of a file or data set (PTC:3), or a SMILES string."""
    path = Path(text).expanduser()
    if path.exists():
        return resolve(text)
    member = re.fullmatch(r"(.+):(\d+)", text)
    molecule = None if member and Path(member[1]).expanduser().exists() else _molecule(text)
    if molecule is not None:  # also c1ccccc:1, which ends like a member
        return molecule
    if member:
        graphs, position = resolve(member[1]), int(member[2])
        if position >= len(graphs):
            raise GraphFormatError(f"{text}: positions go from 0 to {len(graphs) - 1}")
        return graphs[[position]]
    raise GraphFormatError(f"{text}: neither a file, nor a graph of a collection such as PTC:3, nor SMILES")


def _molecule(text: str) -> GraphSet | None:
    """The molecule, if this is SMILES."""
    options = {name: value for name, value in given_options().items() if name in ("hydrogens", "charges", "aromatic")}
    try:
        return GraphSet.from_smiles([text], ids=[text], **options)
    except (GraphFormatError, ImportError):
        return None


def check_output(output: str, *suffixes: str, overwrite: bool | None = None) -> None:
    """Checks before the work whether its result can be written.

    Args:
        suffixes: What the name of the file may end in; none for a folder.
        overwrite: Whether an existing folder may be replaced; None if that is always allowed.
    """
    path = Path(output).expanduser().absolute()
    if suffixes and path.suffix.lower() not in suffixes:
        raise click.BadParameter(f"{output}: expected a name that ends in {', '.join(suffixes)}", param_hint="--output")
    parent = path.parent
    while not parent.exists() and parent != parent.parent:
        if suffixes:
            raise click.BadParameter(f"{output}: the folder {path.parent} does not exist", param_hint="--output")
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise click.BadParameter(f"{output}: {parent} is not a folder that can be written to", param_hint="--output")
    if overwrite is False and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise click.BadParameter(f"{output} exists already; --overwrite replaces it", param_hint="--output")
