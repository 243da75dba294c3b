"""XML for graphs: a small tree, and no entities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from ugraphemb.errors import GraphFormatError
from ugraphemb.graphs.formats.text import read_bytes

_DEEPEST = 50
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class Element:
    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def each(self, tag: str) -> Iterator[Element]:
        """Children of that name, in order."""
        return (child for child in self.children if child.tag == tag)


def parsed(path: str | Path) -> Element:
    """The root of an XML file, names without their prefixes.

    A plain DOCTYPE is accepted, nothing is ever fetched, and entities declared in the file are refused.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    root = Element("", {}, 0)
    stack = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _DEEPEST:
            refuse(f"elements nested deeper than {_DEEPEST}")
        element = Element(tag.rpartition(":")[2], attributes, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def text(data: str) -> None:
        stack[-1].text += data

    def end(_tag: str) -> None:
        stack.pop()

    def refuse(what: str) -> None:
        raise GraphFormatError(f"{path}:{parser.CurrentLineNumber}: {what}, which graph files do not need")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = lambda name, *_: refuse(f"a declaration of the entity {name!r}")
    parser.SkippedEntityHandler = lambda name, _: refuse(f"the unknown entity {name!r}")
    try:
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise GraphFormatError(f"{path}:{error.lineno}: {reason}; expected well-formed XML") from error
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, GraphFormatError):
            raise
        raise GraphFormatError(f"{path}: an encoding that cannot be read ({error}); expected UTF-8") from error
    return root.children[0]


def text_of(value: str, where: str) -> str:
    """Text as it stands between tags."""
    return escape(_checked(value, where), {"\r": "&#13;"})


def quoted(value: str, where: str) -> str:
    """Text as the value of an attribute, with its quotes."""
    return quoteattr(_checked(value, where))


def _checked(value: str, where: str) -> str:
    found = _ILLEGAL.search(value)
    if found:
        raise GraphFormatError(f"{where}: {value!r} holds {found[0]!r}, which XML cannot represent")
    return value


def numeric(text: str, kind: type, where: str) -> Any:
    """A whole number, a number or a truth value."""
    stripped = text.strip()
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[stripped.lower()]
        return kind(stripped)
    except (ValueError, KeyError) as error:
        right = {int: "a whole number", float: "a number", bool: "true or false"}[kind]
        raise GraphFormatError(f"{where}: {stripped[:40]!r}, expected {right}") from error
