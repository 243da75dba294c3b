"""Small JSON files with a format name, a version and a checksum of their own text.

The checksum is the last entry of the object and covers every byte before it, so that the file is plain JSON and no
flipped bit goes unnoticed. Files of release 0.1 (version 1 of their formats) have none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ugraphemb.files.checksums import digest

_SEAL = re.compile(rb',\n "checksum": "([0-9a-f]{32})"\n}\n\Z')
Migration = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Format:
    """A kind of document.

    Attributes:
        name: The entry "format" of its files.
        version: What this release writes; a whole number.
        error: What is raised for a file that is not one.
        migrations: From version N to version N + 1, for each N that is still read.
        keys: Required entries, after migration.
        of_0_1: For files of release 0.1 that name no format: gives them the form of version 1, or None for others.
    """

    name: str
    version: int
    error: type[Exception]
    keys: tuple[str, ...] = ()
    migrations: Mapping[int, Migration] = field(default_factory=dict)
    of_0_1: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None

    def text(self, content: Mapping[str, Any]) -> bytes:
        """The bytes of a document with these entries."""
        values = {"format": self.name, "version": self.version, **content}
        body = json.dumps(values, indent=1).encode()[: -len("\n}")]
        return body + b',\n "checksum": "%s"\n}\n' % digest(body).encode()

    def read(self, path: Path) -> dict[str, Any]:
        """The entries of a file, in the form of the newest version.

        Raises:
            FileNotFoundError, NotADirectoryError: There is none.
            Exception: Of the class `error`: a file that is damaged, foreign or of an unknown version.
        """
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise
        except OSError as error:
            raise self.error(f"{path}: cannot be read ({error.strerror or error})") from error
        return self.parsed(data, str(path))

    def parsed(self, data: bytes, source: str) -> dict[str, Any]:
        """The same for bytes in memory; messages refer to them as `source`."""
        seal = _SEAL.search(data)
        if seal is not None and digest(data[: seal.start()]) != seal[1].decode():
            raise self.error(f"{source}: its content is not what was written (another checksum)")
        found = parsed_json(data, source, self.error)
        if seal is None and self.of_0_1 is not None and isinstance(found, dict):
            found = self.of_0_1(found) or found
        if not isinstance(found, dict) or found.get("format") != self.name:
            raise self.error(f"{source}: not a file of the format {self.name}")
        content: dict[str, Any] = found
        version = content.get("version")
        if type(version) is not int or not (version == self.version or version in self.migrations):
            known = " and ".join(map(str, [*sorted(self.migrations), self.version]))
            raise self.error(f"{source}: format version {version!r}, this ugraphemb reads {known}")
        if seal is None and (version == self.version or version > 1):
            raise self.error(f"{source}: its checksum is missing; edited or damaged")
        content.pop("checksum", None)
        try:
            while version < self.version:
                content = self.migrations[version](content)
                version += 1
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self.error(f"{source}: not of the form of version {version} ({error})") from error
        missing = [key for key in self.keys if key not in content]
        if missing:
            raise self.error(f"{source}: no entry {missing[0]!r}")
        return content


def parsed_json(data: bytes | str, source: str, error: type[Exception]) -> Any:
    """A JSON value. Raises `error` if the text is not JSON, whatever the reason."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as reason:  # also text that is not UTF-8, and numbers of thousands of digits
        raise error(f"{source}: not readable as JSON ({reason})") from reason
