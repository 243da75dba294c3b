"""Files of molecules, through RDKit: .smi, .csv and .tsv with a column of SMILES, .sdf and .mol."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ugraphemb.errors import GraphFormatError, MissingExtraError
from ugraphemb.graphs.collector import MISSING, Reading
from ugraphemb.graphs.convert.molecules import Aromatic, MoleculeCollector, OnError, quiet
from ugraphemb.graphs.convert.smiles import to_smiles
from ugraphemb.graphs.formats.reader import Progress, Reader, counted
from ugraphemb.graphs.formats.text import Excerpt, check_losses, read_bytes, read_lines, stem_of, suffix_of, write_text
from ugraphemb.graphs.graphset import GraphSet

_TABLES = {".csv": ",", ".tsv": "\t"}
_SEPARATORS = ",;\t"
_SMILES = ("smiles", "canonical_smiles", "isomeric_smiles", "can_smiles", "rdkit_smiles", "smi")
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
    charges: bool = False,
    aromatic: Aromatic = "bond",
    on_error: OnError = "raise",
    excerpt: Excerpt | None = None,
) -> Reading:
    """Molecules of a file with SMILES and name in each line; the names are the ids.

    Repeated names get the suffixes #2, #3 and so on; a molecule without a name has its row number, which also
    counts rows that were skipped, but no blank lines and no header. See `ugraphemb.graphs.convert.from_smiles`.

    Args:
        strict: Refuse repeated names.
        progress: Called with the number of molecules done and of all.
        hydrogens, charges, aromatic: See `ugraphemb.graphs.convert.from_smiles`.
        on_error: "skip" leaves out lines that are not SMILES and counts them in one GraphWarning.
        excerpt: Lines of the file, if they were read already; the file is not opened then.
    """
    excerpt = excerpt or Excerpt(read_bytes(path))
    molecules = MoleculeCollector(
        str(path), hydrogens=hydrogens, charges=charges, aromatic=aromatic, on_error=on_error, first_row=excerpt.row
    )
    with quiet():
        for number, line in enumerate(counted(excerpt.lines(path), progress), excerpt.first):
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
    column: str | None = None,
    id_column: str | None = None,
    target_column: str | None = None,
    hydrogens: bool = False,
    charges: bool = False,
    aromatic: Aromatic = "bond",
    on_error: OnError = "raise",
    excerpt: Excerpt | None = None,
) -> Reading:
    """Molecules of a table with a header, separated by commas, semicolons or tabs. Further columns are metadata.

    Args:
        strict: Refuse repeated ids.
        progress: Called with the number of molecules done and of all.
        column: The column of SMILES; by default "smiles", "canonical_smiles" or another usual name, or the only one
            with "smiles" in its name. Upper and lower case, spaces and underscores are the same.
        id_column: By default "id" or "name", where there is such a column, else the row number.
        target_column: By default "target", where there is one. Numbers are read as numbers if all are.
        hydrogens, charges, aromatic: See `ugraphemb.graphs.convert.from_smiles`.
        on_error: "skip" leaves out rows that are not SMILES and counts them in one GraphWarning.
        excerpt: Lines of the file, if they were read already; the file is not opened then.
    """
    excerpt = excerpt or Excerpt(read_bytes(path))
    lines = excerpt.lines(path)
    delimiter = "\t" if suffix_of(path) == ".tsv" else _separator(lines)
    rows = csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=delimiter, strict=True)
    molecules = MoleculeCollector(
        str(path), hydrogens=hydrogens, charges=charges, aromatic=aromatic, on_error=on_error, first_row=excerpt.row
    )
    found: list[tuple[int, list[str]]] = []
    before = excerpt.first - 1
    try:
        header = next(rows, [])
        for row in rows:
            if row and len(row) != len(header):
                where = f"{path}:{before + rows.line_num}"
                raise GraphFormatError(f"{where}: {len(row)} fields, expected {len(header)} as in the header")
            found += [(before + rows.line_num, row)] if row else []
    except csv.Error as error:
        raise GraphFormatError(f"{path}:{before + rows.line_num}: {error}; expected a table") from error
    smiles = _smiles_position(header, column, path)
    ids = _position(header, [id_column] if id_column else ["id", "name"], path, needed=id_column is not None)
    target = _position(header, [target_column or "target"], path, needed=target_column is not None)
    values = _typed([row[target] for _, row in found]) if target is not None else [MISSING] * len(found)
    others = {
        name.strip() or f"column {i + 1}": _typed([row[i] for _, row in found], None)
        for i, name in enumerate(header)
        if i not in (smiles, ids, target)
    }
    with quiet():
        for number, ((line, row), value) in enumerate(zip(counted(found, progress), values, strict=True)):
            molecules.add_smiles(
                row[smiles].strip(),
                where=f"{path}:{line}",
                id=None if ids is None else row[ids],
                target=value,
                metadata={name: cells[number] for name, cells in others.items()},
            )
    return molecules.reading(strict=strict, name=stem_of(path))


def write_csv(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """A table with the columns smiles, id, target where there are targets, and metadata; node attributes are lost."""
    check_losses(graphs, path, holds=("ids", "node labels", "edge labels", "targets", "metadata"), strict=strict)
    table = io.StringIO()
    delimiter = _TABLES.get(suffix_of(path), ",")
    writer = csv.writer(table, delimiter=delimiter, lineterminator="\n")
    others = [name for name in graphs.metadata if name not in ("smiles", "id", "target")]
    writer.writerow(["smiles", "id"] + ["target"] * (graphs.targets is not None) + others)
    for graph, smiles in zip(graphs, to_smiles(graphs), strict=True):
        about = graph.metadata
        target = [] if graphs.targets is None else [graph.target]
        writer.writerow([smiles, graph.id, *target, *(about[name] for name in others)])
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
    charges: bool = False,
    aromatic: Aromatic = "bond",
    on_error: OnError = "raise",
) -> Reading:
    """Molecules of an SDF file; the first line of each is its id, and its properties are metadata.

    Args:
        strict: Refuse repeated ids.
        progress: Called with the number of molecules done and of all.
        id_column: The property that is the id instead.
        target_column: The property that is the target; by default "target", where all molecules have one.
        hydrogens, charges, aromatic: See `ugraphemb.graphs.convert.from_smiles`.
        on_error: "skip" leaves out what RDKit cannot read and counts it in one GraphWarning.
    """
    molecules = MoleculeCollector(str(path), hydrogens=hydrogens, charges=charges, aromatic=aromatic, on_error=on_error)
    records = _records(read_lines(path))
    properties = [_properties(lines) for _, lines in records]
    key = target_column or "target"
    given = [entry[key] for entry in properties if key in entry]
    if target_column and len(given) < len(records):
        start = next(start for (start, _), entry in zip(records, properties, strict=True) if key not in entry)
        raise GraphFormatError(f"{path}:{start}: a molecule without the property {key!r}")
    typed = iter(_typed(given))
    texts: dict[str, list[str]] = {}  # of the molecules that have the property
    for name, text in ((name, text) for entry in properties for name, text in entry.items()):
        texts.setdefault(name, []).append(text)
    others = {name: iter(_typed(column, None)) for name, column in texts.items() if name not in (key, id_column)}
    with quiet():
        for (start, lines), entry in zip(counted(records, progress), properties, strict=True):
            molecules.add_block(
                "\n".join(lines),
                where=f"{path}:{start}",
                id=(lines[0].strip() if id_column is None else entry.get(id_column)) or None,
                target=next(typed) if key in entry else MISSING,
                metadata={name: next(others[name]) for name in entry if name in others},
            )
    return molecules.reading(strict=strict, name=stem_of(path))


def write_sdf(graphs: GraphSet, path: str | Path, *, strict: bool = False) -> None:
    """An SDF file without coordinates; ids on first lines, targets as the property "target", metadata as others."""
    check_losses(graphs, path, holds=("ids", "node labels", "edge labels", "targets", "metadata"), strict=strict)
    blocks = []
    with quiet():
        from rdkit import Chem

        for graph, smiles in zip(graphs, to_smiles(graphs), strict=True):
            molecule = Chem.MolFromSmiles(smiles, sanitize=False)
            if molecule is None:
                raise GraphFormatError(f"{path}: graph {graph.id!r} is not a molecule that RDKit can write")
            if any(character in graph.id for character in "\n\r"):
                raise GraphFormatError(f"{path}: the id {graph.id!r}, expected one without line ends")
            block = Chem.MolToMolBlock(molecule, includeStereo=False, kekulize=False).split("\n", 1)[1]
            blocks.append(f"{graph.id}\n{block}")
            if graphs.targets is not None:
                blocks.append(f">  <target>\n{graph.target}\n\n")
            for name, value in graph.metadata.items():
                if name not in ("smiles", "target") and value is not None:
                    blocks.append(f">  <{name}>\n{value}\n\n")
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


def _separator(lines: Sequence[str]) -> str:
    """The one of , ; and tab that the header has most of."""
    header = next((line for line in lines if line.strip()), "")
    return max(_SEPARATORS, key=header.count)


def _smiles_position(header: Sequence[str], asked: str | None, path: str | Path) -> int:
    plain = [entry.strip().lower().replace(" ", "_") for entry in header]
    if asked is None:
        usual = [plain.index(name) for name in _SMILES if name in plain]
        similar = [i for i, name in enumerate(plain) if "smiles" in name]
        if usual or len(similar) == 1:
            return (usual or similar)[0]
    found = _position(header, [asked or "smiles"], path)
    assert found is not None
    return found


def _typed(values: Sequence[str], nothing: Any = "") -> list[Any]:
    """Whole numbers if all are, numbers if all are (empty is nan), else text, with `nothing` for empty text."""
    try:
        return [int(value) for value in values]
    except ValueError:
        pass
    try:
        return [float(value or "nan") for value in values]
    except ValueError:
        return [value or nothing for value in values]


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
    """The value of each property: the lines below its name, up to a blank one."""
    found: dict[str, str] = {}
    name = None
    for line in lines:
        match = _PROPERTY.match(line)
        if match:
            name = match[1]
            found[name] = ""
        elif not line.strip():
            name = None
        elif name is not None:
            found[name] += ("\n" if found[name] else "") + line
    return found
