"""One file with a line that says format and version, a line with a checksum of all the rest, and a payload."""

from __future__ import annotations

import re
from collections.abc import Collection

import xxhash

_DIGITS = 32


def sealed(name: str, version: int, payload: bytes) -> bytes:
    """The bytes of such a file."""
    head = f"{name} {version}\n".encode()
    return b"".join([head, _digest(head, payload), b"\n", payload])


def unsealed(
    data: bytes, name: str, versions: Collection[int], source: str, error: type[Exception]
) -> tuple[int, memoryview]:
    """Version and payload.

    Raises:
        Exception: Of the class `error`: bytes that are damaged, foreign or of an unknown version.
    """
    end = data.find(b"\n", 0, 200) + 1
    head, digest = data[:end], data[end : end + _DIGITS]
    payload = memoryview(data)[end + _DIGITS + 1 :]
    words = head.decode("latin-1").split(" ")
    if len(words) != 2 or words[0] != name:
        raise error(f"{source}: not a file of the format {name}")
    if data[end + _DIGITS : end + _DIGITS + 1] != b"\n" or _digest(head, payload) != digest:
        raise error(f"{source}: its content is not what was written (another checksum)")
    version = int(words[1]) if re.fullmatch(r"[0-9]{1,9}\n?", words[1]) else None
    if version is None or version not in versions:
        known = " and ".join(map(str, versions))
        raise error(f"{source}: format version {words[1].strip()}, this ugraphemb reads {known}")
    return version, payload


def _digest(head: bytes, payload: bytes | memoryview) -> bytes:
    state = xxhash.xxh3_128(head)
    state.update(payload)
    return state.hexdigest().encode()
