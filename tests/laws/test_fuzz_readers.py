"""Whatever stands in a file, a reader gives graphs or a GraphFormatError."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ugraphemb.errors import GraphFormatError, GraphWarning
from ugraphemb.graphs import GraphSet
from ugraphemb.graphs.formats import read_graphs, write_graphs

SUFFIXES = [".jsonl", ".gxl", ".cxl", ".graphml", ".edges", ".g6", ".s6", ".smi", ".csv", ".sdf", ".zip"]
# What mutations put in: numbers past every bound, markup, separators, bytes that are not UTF-8.
SCRAPS = [
    b"-1", b"99999999999999999999", b"1e999", b"NaN", b"2147483648", b"[", b"[" * 2000, b"{}", b"null", b'"',
    b"\\ud800",
    b"<!DOCTYPE gxl [<!ENTITY a 'b'>]>", b"&a;", b"<node id='_0'/>", b"</", b"\xff", b"\x00", b"\n", b"\r", b"\t", b",",
    b":", b"~~~~~~~~", b"~~?????", b"c1", b"(", b"%(99999)", b"[C@@H+99999999999]", b"$$$$\n", b"M  END\n", b" V3000",
]  # fmt: skip
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def valid() -> Iterator[dict[str, bytes]]:
    """A small good file of each format; a zip is given by the names and bytes in it."""
    molecules = GraphSet.from_smiles(["CCO", "c1ccccc1N", "[Na+].[Cl-]"], ids=["a", "b", "c"], targets=[1, 0, 1])
    numbered = GraphSet.from_edges(
        [3, 2], [(0, 1), (1, 2), (3, 4)], node_labels=[1, 2, 1, 1, 3], edge_labels=[1, 2, 1],
        node_attributes=[[0.5], [1.0], [2.0], [3.0], [4.0]], targets=[0, 1],
    )  # fmt: skip
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        files = {}
        for suffix in SUFFIXES:
            path = Path(folder) / f"set{suffix}"
            write_graphs(molecules if suffix in (".smi", ".csv", ".sdf") else numbered, path)
            files[suffix] = path.read_bytes()
        write_graphs(numbered, Path(folder) / "SET", format="tu")
        files |= {entry.name: entry.read_bytes() for entry in sorted((Path(folder) / "SET").iterdir())}
        yield files


@st.composite
def mutated(draw: Any, data: bytes) -> bytes:
    """Bytes with a few places cut out, doubled, turned over or written over."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 12)))
        kind = draw(st.sampled_from(["scrap", "bytes", "cut", "double", "end"]))
        piece = data[start:stop]
        if kind == "end":
            return data[:start]
        new = {
            "scrap": lambda: draw(st.sampled_from(SCRAPS)),
            "bytes": lambda: draw(st.binary(max_size=4)),
            "cut": lambda: b"",
            "double": lambda piece=piece: piece * 2,
        }[kind]()
        data = data[:start] + new + data[stop:]
    return data


def read_or_refused(path: Path, **options: Any) -> bool:
    """True where graphs came out. Any error but a GraphFormatError goes through, and fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        try:
            graphs = read_graphs(path, **options)
        except GraphFormatError as error:
            assert str(path.parent) in str(error)  # noqa: PT017  # names the file
            return False
    assert graphs.node_offsets[-1] == len(graphs.node_labels)
    assert graphs.indptr[-1] == len(graphs.indices)
    return True


def put_listed_files(suffix: str, valid: dict[str, bytes], folder: Path) -> None:
    for name in ("0.gxl", "1.gxl") if suffix == ".cxl" else ():
        (folder / name).write_bytes(valid[".gxl"])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_files_that_mutations_start_from_are_good(suffix: str, valid: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / f"set{suffix}"
    path.write_bytes(valid[suffix])
    put_listed_files(suffix, valid, tmp_path)
    assert read_or_refused(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@quick
@given(data=st.data())
def test_damaged_files_are_read_or_refused(suffix: str, valid: dict[str, bytes], tmp_path: Path, data: Any) -> None:
    path = tmp_path / f"set{suffix}"
    path.write_bytes(data.draw(mutated(valid[suffix])))
    put_listed_files(suffix, valid, tmp_path)
    read_or_refused(path, strict=data.draw(st.booleans()))


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".txt", ".xml"])
@quick
@given(data=st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(SCRAPS), max_size=6).map(b"".join)))
def test_random_bytes_are_read_or_refused(suffix: str, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / f"set{suffix}"
    path.write_bytes(data)
    read_or_refused(path)


@quick
@given(data=st.data())
def test_a_tu_set_with_a_damaged_file_is_read_or_refused(valid: dict[str, bytes], tmp_path: Path, data: Any) -> None:
    files = {name: content for name, content in valid.items() if name.startswith("SET_")}
    assert "SET_A.txt" in files
    name = data.draw(st.sampled_from(sorted(files)))
    files[name] = data.draw(mutated(files[name]))
    packed = BytesIO()
    folder = tmp_path / "SET"
    folder.mkdir(exist_ok=True)
    with ZipFile(packed, "w") as archive:
        for member, content in files.items():
            (folder / member).write_bytes(content)
            archive.writestr(f"SET/{member}", content)
    (tmp_path / "SET.zip").write_bytes(packed.getvalue())
    assert read_or_refused(folder) == read_or_refused(tmp_path / "SET.zip")
