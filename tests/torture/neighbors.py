"""Files of other programs, next to and inside of what is saved: in every case they stay unchanged."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from torture.processes import FailureError
from torture.writers import Writer

_BESIDE = {
    "notes.txt": b"mine",
    ".mine": b"hidden, and mine",
    "2024-mine.parquet": b"PAR1 mine PAR1",
    "1.gxl": b"<gxl>mine</gxl>",
    "other/config.json": b"{}",
}
_WITHIN = {
    "notes.txt": b"mine",
    "2024-mine.parquet": b"PAR1 mine PAR1",
    "weights-mine.safetensors": b"mine",
    ".notes.txt.partial": b"mine",
    "part-mine/vectors.npy": b"mine",
    "mine/config.json": b"{}",
}


def put_beside(folder: Path) -> None:
    _put(folder, _BESIDE)


def put_within(folder: Path, writer: Writer) -> None:
    """For writers whose folder other programs may use, once the folder exists."""
    if writer.shares:
        _put(folder / writer.target, _WITHIN)


def check_untouched(folder: Path, writer: Writer, *, within: bool) -> None:
    """Checks that all of them are unchanged; `within`: also those of `put_within`."""
    _check(folder, _BESIDE)
    if writer.shares and within:
        _check(folder / writer.target, _WITHIN)


def own_names(folder: Path, writer: Writer) -> Counter[str]:
    """All files and folders except those of other programs, with numbers and digests replaced by #."""
    theirs = {*_with_folders(_BESIDE), *(f"{writer.target}/{name}" for name in _with_folders(_WITHIN))}
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return Counter(re.sub(r"[0-9a-f]{16,}|\d+", "#", name) for name in found if name not in theirs)


def _put(folder: Path, content: dict[str, bytes]) -> None:
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


def _check(folder: Path, content: dict[str, bytes]) -> None:
    for name, data in content.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != data:
            raise FailureError(f"a file that the library did not write was changed or removed: {name}")


def _with_folders(content: dict[str, bytes]) -> set[str]:
    return {*content, *(name.partition("/")[0] for name in content)}
