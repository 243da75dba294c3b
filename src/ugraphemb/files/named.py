"""Files named after their content: `STEM-DIGEST.SUFFIX`.

The name of such a file shows that this library wrote it and that it is complete.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ugraphemb.files.checksums import digest

_NAME = re.compile(r"(?P<stem>.+)-(?P<digest>[0-9a-f]{32}|[0-9a-f]{16})(?P<suffix>\.[a-z]+)", re.DOTALL)


def name_of(stem: str, data: bytes, suffix: str) -> str:
    return f"{stem}-{digest(data)}{suffix}"


def stem_of(name: str, suffix: str) -> str | None:
    """The stem of a name of this form and suffix; None for other names."""
    found = _NAME.fullmatch(name)
    return found["stem"] if found and found["suffix"] == suffix else None


def has_its_name(name: str, data: bytes) -> bool:
    """Whether these bytes are what the name says; 16 digits are BLAKE2b, as release 0.1 wrote them."""
    found = _NAME.fullmatch(name)
    if found is None:
        return False
    if len(found["digest"]) == 16:
        return hashlib.blake2b(data, digest_size=8).hexdigest() == found["digest"]
    return digest(data) == found["digest"]


def is_ours(path: Path) -> bool:
    """Whether a file has the content that its name says; False for links and files that cannot be read."""
    try:
        return not path.is_symlink() and path.is_file() and has_its_name(path.name, path.read_bytes())
    except OSError:
        return False
