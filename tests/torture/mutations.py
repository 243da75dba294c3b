"""Damaged and hostile files, made from good ones."""

from __future__ import annotations

import gzip
import random
import re
import zipfile
from io import BytesIO

# Numbers out of range, markup, separators, bytes that are not UTF-8, unclosed brackets.
SCRAPS = [
    b"-1", b"0", b"1", b"99999999999999999999", b"1e999", b"-1e308", b"NaN", b"Infinity", b"2147483647",
    b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809",
    b"1" * 5000, b"0.5", b"0x10", b"[", b"[" * 900, b"[" * 2000, b"[[]]", b"]" * 900, b"{}", b"{", b"null", b"true",
    b'"', b"\\ud800", b"\\u0000", b"'", b"<!DOCTYPE gxl [<!ENTITY a 'b'>]>", b"&a;", b"&#0;", b"<node id='_0'/>",
    b"</", b"<![CDATA[", b"<a>" * 60, b"<tup>" * 49, b"\xff", b"\xfe\xff", b"\x00", b"\xef\xbb\xbf", b"\xc2\x85",
    b"\xe2\x80\xa8", b"\n", b"\n" * 3000, b"\r", b"\r\n", b"\t", b",", b"," * 3000, b";", b" ", b":", b"#",
    b"# graph ", b"t # ", b"v 0", b"e 0 0", b"~~~~~~~~", b"~~?????", b"~?@", b"c1", b"(", b"(" * 900, b"%(99999)",
    b"[C@@H+99999999999]", b"C1CC1" * 100, b"c1ccccc1" * 100, b".", b"[Xx]", b"*", b"$$$$\n", b"M  END\n", b" V3000",
    b"  0999", b"999999", b"PK\x01\x02", b"PK\x05\x06", b"PAR1", b"ARROW1\x00\x00",
]  # fmt: skip
_NUMBER = re.compile(rb"-?\d+")


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a few places cut, doubled, flipped, overwritten or exchanged."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        data = chance.choice(_WAYS)(data, chance)
    return data


def _place(data: bytes, chance: random.Random, longest: int = 12) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.randrange(longest))


def _scrap(data: bytes, chance: random.Random) -> bytes:
    start, stop = _place(data, chance)
    return data[:start] + chance.choice(SCRAPS) + data[stop:]


def _noise(data: bytes, chance: random.Random) -> bytes:
    start, stop = _place(data, chance)
    return data[:start] + chance.randbytes(chance.randrange(1, 8)) + data[stop:]


def _flip(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    start, stop = _place(data, chance, chance.choice((12, 200, 1 + len(data))))
    return data[:start] + data[stop:]


def _end(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    start, stop = _place(data, chance, chance.choice((12, 200)))
    return data[:start] + data[start:stop] * chance.choice((2, 2, 10, 300)) + data[stop:]


def _number(data: bytes, chance: random.Random) -> bytes:
    """One of the numbers in a text becomes another."""
    found = list(_NUMBER.finditer(data[:100_000]))
    if not found:
        return _scrap(data, chance)
    match = chance.choice(found)
    return data[: match.start()] + chance.choice(SCRAPS[:17]) + data[match.end() :]


def _exchange(data: bytes, chance: random.Random) -> bytes:
    """Two lines, or two pieces, change places."""
    pieces = data.split(b"\n")
    i, j = chance.randrange(len(pieces)), chance.randrange(len(pieces))
    pieces[i], pieces[j] = pieces[j], pieces[i]
    return b"\n".join(pieces)


_WAYS = (_scrap, _scrap, _noise, _flip, _flip, _cut, _end, _repeat, _number, _number, _exchange)


def mutated_file(name: str, data: bytes, chance: random.Random) -> bytes:
    """A file by its name: what is inside a gzip or zip file is damaged as often as the packed bytes themselves."""
    if chance.random() < 0.03:
        return b"".join(chance.choice((b"", b"\n", b" ")) + chance.choice(SCRAPS) for _ in range(chance.randrange(8)))
    if chance.random() < 0.03:
        return chance.randbytes(chance.randrange(60))
    if chance.random() < 0.5:
        return mutated(data, chance)
    if name.endswith(".gz"):
        return gzip.compress(mutated(gzip.decompress(data), chance), 1)
    if not name.endswith(".zip"):
        return mutated(data, chance)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    chosen = chance.choice(sorted(members))
    if chance.random() < 0.1:
        members[mutated(chosen.encode(), chance).decode("latin-1")[:60_000]] = members.pop(chosen)
    else:
        members[chosen] = mutated(members[chosen], chance)
    packed = BytesIO()
    methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with zipfile.ZipFile(packed, "w", chance.choice(methods), compresslevel=1) as archive:
        for member, content in members.items():
            archive.writestr(zipfile.ZipInfo(member), content, archive.compression)
    return packed.getvalue() if chance.random() < 0.7 else mutated(packed.getvalue(), chance)
