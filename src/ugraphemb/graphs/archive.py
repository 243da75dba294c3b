"""Zip archives from strangers: nothing is trusted that the archive says about itself."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ugraphemb.errors import GraphFormatError


@dataclass(frozen=True)
class ArchiveLimits:
    """What is too much.

    Attributes:
        total_bytes: Of all members, unpacked.
        ratio: Unpacked over packed size of one member; deflate cannot exceed 1032, text of equal lines nears it.
        ratio_from: Members below this many unpacked bytes may have any ratio.
        members: Files in one archive.
    """

    total_bytes: int = 16 * 2**30
    ratio: float = 1000.0
    ratio_from: int = 256 * 2**20
    members: int = 1_000_000


class Archive:
    """A zip file open for reading. Every trouble is a GraphFormatError that names the file and the member."""

    def __init__(self, path: Path, limits: ArchiveLimits | None = None) -> None:
        self.path = path
        limits = limits or ArchiveLimits()
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError) as error:
            size = path.stat().st_size
            raise GraphFormatError(
                f"{path}: not a whole zip file ({error}); {size} bytes, truncated or damaged"
            ) from error
        try:
            self._members = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
            self._check(limits)
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
        except (
            zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
        ) as error:  # fmt: skip
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

    def _check(self, limits: ArchiveLimits) -> None:
        if len(self._members) > limits.members:
            raise GraphFormatError(f"{self.path}: {len(self._members)} members, the limit is {limits.members}")
        total = 0
        for name, info in self._members.items():
            parts = PurePosixPath(name.replace("\\", "/")).parts
            if ".." in parts or name.startswith(("/", "\\")) or (parts and parts[0].endswith(":")):
                raise GraphFormatError(f"{self.path}: member {name!r} climbs out of the archive's folder")
            ratio = info.file_size / max(info.compress_size, 1)
            if info.file_size > limits.ratio_from and ratio > limits.ratio:
                raise GraphFormatError(
                    f"{self.path}: member {name!r} unpacks to {info.file_size} bytes, {ratio:.0f} times its packed "
                    f"size; the limit is {limits.ratio:g} times"
                )
            total += info.file_size
            if total > limits.total_bytes:
                raise GraphFormatError(
                    f"{self.path}: unpacks to more than {limits.total_bytes} bytes (at member {name!r})"
                )
