"""Limits on what a small file may require: checked before memory is allocated and before long computations.

Every limit is generous for real data and can be raised: UGRAPHEMB_LIMITS="smiles=100000 columns=50000".
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import lru_cache

from ugraphemb.errors import GraphFormatError

VARIABLE = "UGRAPHEMB_LIMITS"


@dataclass(frozen=True)
class Limits:
    """Maximum sizes.

    Attributes:
        unpacked: Bytes that a compressed file (.gz, .zip) may hold, whatever its size.
        ratio: Unpacked bytes per packed byte that it may hold beyond that.
        members: Files in one archive.
        columns: Numbers in a line of a TU file; attributes of a node in XML files.
        cells: Entries of a table of node attributes most of which no node has.
        text: Bytes of an array of ids or targets as NumPy keeps text: the longest one, times four, for each graph.
        nodes: Nodes that a file may have beyond one for each of its bytes.
        smiles: Characters of one SMILES; a molecule of an SDF file may have a hundred times as many.
        download: Bytes of one download.
        seconds: Duration of one download.
    """

    unpacked: int = 16 * 2**20
    ratio: int = 100
    members: int = 100_000
    columns: int = 10_000
    cells: int = 4_000_000
    text: int = 128 * 2**20
    nodes: int = 1_000_000
    smiles: int = 5_000
    download: int = 2**30
    seconds: int = 1_800

    def unpacked_bytes(self, packed: int) -> int:
        """How many bytes a file of this size may unpack to."""
        return max(self.unpacked, self.ratio * packed)


def limits() -> Limits:
    """The limits in force: the defaults, and what $UGRAPHEMB_LIMITS says."""
    return _limits(os.environ.get(VARIABLE, ""))


def refusal(where: str, found: str, name: str) -> GraphFormatError:
    """The error for something beyond the limit of that name."""
    return GraphFormatError(f"{where}: {beyond(found, name)}")


def beyond(found: str, name: str) -> str:
    """The message, without the place."""
    return f"{found}; the limit is {getattr(limits(), name)} (set {VARIABLE}={name}=NUMBER to raise it)"


@lru_cache(maxsize=4)
def _limits(text: str) -> Limits:
    names = [field.name for field in fields(Limits)]
    given = {}
    for entry in text.replace(",", " ").split():
        name, _, number = entry.partition("=")
        if name not in names or not (number.isascii() and number.isdigit()):
            raise ValueError(f"{VARIABLE}={text!r}: {entry!r}, expected NAME=NUMBER with one of {', '.join(names)}")
        given[name] = int(number)
    return Limits(**given)
