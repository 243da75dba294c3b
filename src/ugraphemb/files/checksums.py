"""Checksums of blocks, so that a large mapped file is verified where it is read and not all at once.

XXH3 with 64 bits for each block of 64 KiB: about 12 GB/s where the data are in a cache, so that verifying costs less
than reading. It finds damage; it does not protect from forgery (see SECURITY.md).
"""

from __future__ import annotations

import base64
import binascii
import mmap
import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from ugraphemb.files import system

BLOCK = 1 << 16


def digest(data: Any) -> str:
    """Of some bytes, 32 hexadecimal digits."""
    return xxhash.xxh3_128_hexdigest(data)


@dataclass(frozen=True)
class Sums:
    """Size of a file, and the checksum of each of its blocks.

    Attributes:
        size: Bytes.
        blocks: uint64, one for each begun block.
    """

    size: int
    blocks: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, data: Any) -> Sums:
        counter = SumCounter()
        counter.update(data)
        return counter.sums()

    def to_json(self) -> dict[str, Any]:
        return {"bytes": self.size, "xxh3": base64.b64encode(self.blocks.astype("<u8").tobytes()).decode()}

    @classmethod
    def from_json(cls, values: Any) -> Sums:
        """The inverse of `to_json`.

        Raises:
            ValueError: Something else.
        """
        if not isinstance(values, dict) or set(values) != {"bytes", "xxh3"}:
            raise ValueError("expected the size and checksums of a file")
        size, text = values["bytes"], values["xxh3"]
        if not isinstance(size, int) or isinstance(size, bool) or size < 0 or not isinstance(text, str):
            raise ValueError("expected the size and checksums of a file")
        try:
            blocks = np.frombuffer(base64.b64decode(text, validate=True), "<u8").astype(np.uint64)
        except binascii.Error as error:
            raise ValueError(f"checksums that are not Base64 ({error})") from None
        if len(blocks) != -(-size // BLOCK):
            raise ValueError(f"{len(blocks)} checksums for {size} bytes")
        return cls(size, blocks)


class SumCounter:
    """Sums of data that come piece by piece."""

    def __init__(self) -> None:
        self._size = 0
        self._blocks: list[int] = []
        self._rest = xxhash.xxh3_64()

    def update(self, data: Any) -> None:
        view = memoryview(data).cast("B")
        while len(view):
            piece = view[: BLOCK - self._size % BLOCK]
            self._rest.update(piece)
            self._size += len(piece)
            view = view[len(piece) :]
            if self._size % BLOCK == 0:
                self._blocks.append(self._rest.intdigest())
                self._rest = xxhash.xxh3_64()

    def sums(self) -> Sums:
        blocks = self._blocks if self._size % BLOCK == 0 else [*self._blocks, self._rest.intdigest()]
        return Sums(self._size, np.array(blocks, np.uint64))


class CheckedFile:
    """A file mapped into memory, whose blocks are compared with their checksums before they are first used.

    The file stays readable when it is deleted or replaced. Call `check` before reading `data`.

    Args:
        path: A regular file.
        sums: What it must hold.
        error: What to raise where it does not.
    """

    def __init__(self, path: Path, sums: Sums, error: type[Exception]) -> None:
        self.path, self.sums, self._error = path, sums, error
        self._done = np.zeros(len(sums.blocks), np.bool_)
        descriptor = system.open_file(str(path), system.READ)
        self._close = weakref.finalize(self, os.close, descriptor)
        found = system.status_of(descriptor)
        if not system.is_regular(found) or found.st_size != sums.size:
            raise error(f"{path}: {found.st_size} bytes, but {sums.size} were written: cut short, or not this file")
        self._descriptor = descriptor
        self.data = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) if sums.size else b"")

    @property
    def open_path(self) -> str:
        """A path for libraries that require one: it refers to this file even after the file was deleted."""
        return f"/proc/self/fd/{self._descriptor}"

    def check(self, begin: int = 0, end: int | None = None) -> memoryview:
        """The bytes from `begin` to `end`, verified.

        Raises:
            Exception: The given error: the file does not hold what was written.
        """
        end = self.sums.size if end is None else end
        first, last = begin // BLOCK, -(-end // BLOCK)
        for block in (np.flatnonzero(~self._done[first:last]) + first).tolist():
            self._check_block(block)
        return self.data[begin:end]

    def check_rows(self, rows: npt.NDArray[np.int64], start: int, width: int) -> None:
        """The same for rows of `width` bytes each, of which the first begins at byte `start`."""
        first = (start + rows * width) // BLOCK
        last = (start + (rows + 1) * width - 1) // BLOCK
        for step in range(int((last - first).max(initial=0)) + 1):
            wanted = np.unique(np.minimum(first + step, last))
            for block in wanted[~self._done[wanted]].tolist():
                self._check_block(block)

    def _check_block(self, block: int) -> None:
        begin = block * BLOCK
        if xxhash.xxh3_64_intdigest(self.data[begin : begin + BLOCK]) != int(self.sums.blocks[block]):
            raise self._error(
                f"{self.path}: bytes {begin} to {min(begin + BLOCK, self.sums.size)} are not what was written "
                "(another checksum)"
            )
        self._done[block] = True
