"""Zip archives from untrusted sources: headers are checked before they are used."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.limits import limits, refusal


class Archive:
    """A zip file open for reading. Every failure is a GraphFormatError that names the file and the member."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError:
            raise
        except Exception as error:  # errors of zipfile, and any other that a damaged directory causes
            size = path.stat().st_size
            raise GraphFormatError(
                f"{path}: not a whole zip file ({error}); {size} bytes, truncated or damaged"
            ) from error
        try:
            self._members = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
            self._check()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """Files inside, in the order of the archive."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """All bytes of a member, its checksum verified."""
        info = self._members[name]
        try:
            with self._zip.open(info) as member:
                data = member.read(info.file_size + 1)
        except Exception as error:  # errors of zipfile, zlib, bz2 and lzma, and any other that damage causes
            if isinstance(error, RuntimeError) and "password" in str(error):
                raise GraphFormatError(f"{self.path}: member {name!r} is encrypted; unpack it first") from error
            raise GraphFormatError(f"{self.path}: member {name!r} is damaged ({error or 'ends early'})") from error
        if len(data) != info.file_size:
            raise GraphFormatError(
                f"{self.path}: member {name!r} has {len(data)} bytes or more, its header says {info.file_size}"
            )
        return data

    def verify(self) -> None:
        """Reads every member once and compares its checksum."""
        for name in self.names:
            self.read(name)

    def _check(self) -> None:
        if len(self._members) > limits().members:
            raise refusal(str(self.path), f"{len(self._members)} members", "members")
        for name in self._members:
            parts = PurePosixPath(name.replace("\\", "/")).parts
            if ".." in parts or name.startswith(("/", "\\")) or (parts and parts[0].endswith(":")):
                raise GraphFormatError(f"{self.path}: member {name[:200]!r} leads out of the archive's folder")
        packed = self.path.stat().st_size
        unpacked = sum(info.file_size for info in self._members.values())
        if unpacked > limits().unpacked_bytes(packed):
            raise refusal(
                str(self.path), f"unpacks to {unpacked} bytes, {unpacked / max(packed, 1):.0f} times its size", "ratio"
            )
