"""Files of molecules, through RDKit: .smi, .csv and .tsv with a column of SMILES, .sdf and .mol."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from ugraphemb.errors import GraphFormatError, MissingExtraError
from ugraphemb.graphs.collector import MISSING, Reading
from ugraphemb.graphs.convert.smiles import MoleculeCollector, OnError, quiet, to_smiles
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import check_losses, read_lines, stem_of, suffix_of, write_text
from ugraphemb.graphs.graphset import GraphSet

_TABLES = {".csv": ",", ".tsv": "\t"}
_BLOCKS = (".sdf", ".sd", ".mol")
_PROPERTY = re.compile(r">.*?<([^>]*)>.*")


@Reader
def read_molecules(
    path: str | Path, *, strict: bool = False, progress: Progress | None = None, **options: Any
) -> Reading:
    """Molecules of a file, by its suffix: `read_csv`, `read_sdf`, or `read_smi` for all others."""
    suffix = suffix_of(path)
    chosen: Reader[...] = read_csv if suffix in _TABLES else read_sdf if suffix in _BLOCKS else read_smi
    return chosen.reading(path, strict=strict, progress=progress, **options)


def write_molecules(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """Graphs that are molecules to a file, by its suffix; see `write_smi`, `write_csv` and `write_sdf`."""
    suffix = suffix_of(path)
    if suffix in _TABLES:
        write_csv(graphs, path, strict=strict)
    elif suffix in _BLOCKS:
        write_sdf(graphs, path, strict=strict)
    else:
        write_smi(graphs, path, strict=strict)


@Reader
def read_smi(
    path: str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    hydrogens: bool = False,
    on_error: OnError = "raise",
) -> Reading:
    """Molecules of a file with SMILES and name in each line; the names are the ids.

    Names that come again get #2, #3 and so on behind them. See `ugraphemb.graphs.convert.from_smiles`.

    Args:
        strict: Refuse names that come again.
        progress: Called with the number of molecules done and of all.
        hydrogens: Whether hydrogens are nodes.
        on_error: "skip" leaves out lines that are not SMILES and counts them in one GraphWarning.
    """
    molecules = MoleculeCollector(str(path), hydrogens=hydrogens, on_error=on_error)
    with quiet():
        for number, line in enumerate(counted(read_lines(path), progress), 1):
            if not line.strip() or (number == 1 and line.split()[0].lower() == "smiles"):
                continue
            text, _, name = line.partition("\t") if "\t" in line else line.strip().partition(" ")
            smiles, _, more = text.strip().partition(" ")
            name = more.strip() or name.partition("\t")[0]
            molecules.add_smiles(smiles, where=f"{path}:{number}", id=name or None)
    return molecules.reading(strict=strict, name=stem_of(path))


def write_smi(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """SMILES and id in each line. Node attributes and targets are lost with a GraphWarning, refused with `strict`."""
    check_losses(graphs, path, holds=("ids", "node labels", "edge labels"), strict=strict)
    lines = []
    for smiles, name in zip(to_smiles(graphs), graphs.ids.tolist(), strict=True):
        if any(character in name for character in "\t\n\r") or not name:
            raise GraphFormatError(f"{path}: the id {name!r}, expected one without tabs and line ends")
        lines.append(f"{smiles}\t{name}\n")
    write_text("".join(lines), path)


@Reader
def read_csv(
    path: str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    column: str = "smiles",
    id_column: str | None = None,
    target_column: str | None = None,
    hydrogens: bool = False,
    on_error: OnError = "raise",
) -> Reading:
    """Molecules of a table with a header: comma-separated, or tab-separated where the suffix is .tsv.

    Args:
        strict: Refuse ids that come again.
        progress: Called with the number of molecules done and of all.
        column: The column of SMILES; upper and lower case are the same where nothing else fits.
        id_column: By default "id" or "name", where there is such a column.
        target_column: By default "target", where there is one. Numbers are read as numbers if all are.
        hydrogens: Whether hydrogens are nodes.
        on_error: "skip" leaves out rows that are not SMILES and counts them in one GraphWarning.
    """
    delimiter = _TABLES.get(suffix_of(path), ",")
    text = "\n".join(read_lines(path))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    molecules = MoleculeCollector(str(path), hydrogens=hydrogens, on_error=on_error)
    found: list[tuple[int, list[str]]] = []
    try:
        header = next(rows, [])
        for row in rows:
            if row and len(row) != len(header):
                where = f"{path}:{rows.line_num}"
                raise GraphFormatError(f"{where}: {len(row)} fields, expected {len(header)} as in the header")
            found += [(rows.line_num, row)] if row else []
    except csv.Error as error:
        raise GraphFormatError(f"{path}:{rows.line_num}: {error}; expected a table") from error
    smiles = _position(header, [column], path)
    ids = _position(header, [id_column] if id_column else ["id", "name"], path, needed=id_column is not None)
    wanted = [target_column or "target"]
    target = _position(header, wanted, path, needed=target_column is not None)
    values = _typed([row[target] for _, row in found]) if target is not None else [MISSING] * len(found)
    with quiet():
        for (line, row), value in zip(counted(found, progress), values, strict=True):
            name = None if ids is None else row[ids]
            molecules.add_smiles(row[smiles or 0].strip(), where=f"{path}:{line}", id=name, target=value)
    return molecules.reading(strict=strict, name=stem_of(path))


def write_csv(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """A table with the columns smiles, id and, where there are targets, target; node attributes are lost."""
    check_losses(graphs, path, holds=("ids", "node labels", "edge labels", "targets"), strict=strict)
    table = io.StringIO()
    delimiter = _TABLES.get(suffix_of(path), ",")
    writer = csv.writer(table, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["smiles", "id"] + ["target"] * (graphs.targets is not None))
    for graph, smiles in zip(graphs, to_smiles(graphs), strict=True):
        writer.writerow([smiles, graph.id] + ([] if graphs.targets is None else [graph.target]))
    write_text(table.getvalue(), path)


@Reader
def read_sdf(
    path: str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    id_column: str | None = None,
    target_column: str | None = None,
    hydrogens: bool = False,
    on_error: OnError = "raise",
) -> Reading:
    """Molecules of an SDF file; the first line of each is its id.

    Args:
        strict: Refuse ids that come again.
        progress: Called with the number of molecules done and of all.
        id_column: The property that is the id instead.
        target_column: The property that is the target; by default "target", where all molecules have one.
        hydrogens: Whether hydrogens are nodes.
        on_error: "skip" leaves out what RDKit cannot read and counts it in one GraphWarning.
    """
    molecules = MoleculeCollector(str(path), hydrogens=hydrogens, on_error=on_error)
    records = _records(read_lines(path))
    properties = [_properties(lines) for _, lines in records]
    key = target_column or "target"
    given = [entry[key] for entry in properties if key in entry]
    if target_column and len(given) < len(records):
        start = next(start for (start, _), entry in zip(records, properties, strict=True) if key not in entry)
        raise GraphFormatError(f"{path}:{start}: a molecule without the property {key!r}")
    typed = iter(_typed(given))
    with quiet():
        for (start, lines), entry in zip(counted(records, progress), properties, strict=True):
            name = lines[0].strip() if id_column is None else entry.get(id_column)
            value = next(typed) if key in entry else MISSING
            molecules.add_block("\n".join(lines), where=f"{path}:{start}", id=name or None, target=value)
    return molecules.reading(strict=strict, name=stem_of(path))


def write_sdf(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """An SDF file without coordinates; ids on first lines, targets as the property "target"."""
    check_losses(graphs, path, holds=("ids", "node labels", "edge labels", "targets"), strict=strict)
    blocks = []
    with quiet():
        from rdkit import Chem

        for graph, smiles in zip(graphs, to_smiles(graphs), strict=True):
            molecule = Chem.MolFromSmiles(smiles, sanitize=False)
            if molecule is None:
                raise GraphFormatError(f"{path}: graph {graph.id!r} is no molecule that RDKit can write")
            if any(character in graph.id for character in "\n\r"):
                raise GraphFormatError(f"{path}: the id {graph.id!r}, expected one without line ends")
            block = Chem.MolToMolBlock(molecule, includeStereo=False, kekulize=False).split("\n", 1)[1]
            blocks.append(f"{graph.id}\n{block}")
            if graphs.targets is not None:
                blocks.append(f">  <target>\n{graph.target}\n\n")
            blocks.append("$$$$\n")
    write_text("".join(blocks), path)


def molecules_path() -> Path:
    """The file of 5,000 molecules of the National Cancer Institute that comes with RDKit."""
    spec = find_spec("rdkit")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "Data" / "NCI" / "first_5K.smi"
        if path.exists():
            return path
    raise MissingExtraError("these molecules come with RDKit: run  pip install 'ugraphemb[molecules]'")


def _position(header: Sequence[str], names: Sequence[str], path: str | Path, needed: bool = True) -> int | None:
    plain = [entry.strip() for entry in header]
    folded = [entry.lower() for entry in plain]
    for name in names:
        if name in plain:
            return plain.index(name)
        if name.lower() in folded:
            return folded.index(name.lower())
    if needed:
        raise GraphFormatError(f"{path}:1: no column {names[0]!r}; there are {', '.join(map(repr, plain))}")
    return None


def _typed(values: Sequence[str]) -> list[Any]:
    """Whole numbers if all are, numbers if all are (nothing is nan), else text."""
    try:
        return [int(value) for value in values]
    except ValueError:
        pass
    try:
        return [float(value or "nan") for value in values]
    except ValueError:
        return list(values)


def _records(lines: Sequence[str]) -> list[tuple[int, list[str]]]:
    """The lines of each molecule, and the number of the first."""
    records: list[tuple[int, list[str]]] = []
    start = 0
    for number, line in enumerate([*lines, "$$$$"]):
        if line.startswith("$$$$"):
            if any(entry.strip() for entry in lines[start:number]):
                records.append((start + 1, list(lines[start:number])))
            start = number + 1
    return records


def _properties(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line, value in pairwise(lines):
        match = _PROPERTY.match(line)
        if match:
            found[match[1]] = value
    return found
