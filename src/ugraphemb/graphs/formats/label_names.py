"""Names of labels, as the readmes of TU data sets list them."""

from __future__ import annotations

import re

_HEADING = re.compile(r"(node|edge|vertex|class|graph)\s+(labels?|attributes?)\b", re.IGNORECASE)
_ENTRY = re.compile(r"\s*(-?\d{1,9})[\s:=,]+(\S+)\s*")
_COMPONENT = re.compile(r"\s*component\s+(\d+)\s*:\s*", re.IGNORECASE)


def label_names(text: str) -> dict[str, dict[int, str | int]]:
    """The names of node and edge labels that a readme lists: {"node": {0: "C", ...}, "edge": {...}}.

    Names that are all whole numbers (valences, say) are given as such. A list stands below a heading ("Node labels:"),
    one number and name in each line. Lists of labels of several components, and lists where two numbers have one name,
    are left out.
    """
    found: dict[str, dict[int, str]] = {}
    unusable: set[str] = set()
    section = ""
    for line in text.splitlines():
        heading = _HEADING.match(line.strip())
        component = _COMPONENT.fullmatch(line)
        entry = _ENTRY.fullmatch(line)
        if heading:
            what = {"vertex": "node"}.get(heading[1].lower(), heading[1].lower())
            section = what if what in ("node", "edge") and heading[2].lower().startswith("label") else ""
        elif component:
            unusable |= {section} if int(component[1]) else set()
        elif entry and section:
            names = found.setdefault(section, {})
            if int(entry[1]) in names:
                unusable.add(section)
            names[int(entry[1])] = entry[2]
        elif line.strip():
            section = ""
    return {
        what: {label: int(name) for label, name in names.items()} if _are_whole(names) else dict(names)
        for what, names in found.items()
        if what not in unusable and len(set(names.values())) == len(names)
    }


def _are_whole(names: dict[int, str]) -> bool:
    return all(re.fullmatch("0|-?[1-9][0-9]{0,17}", name) for name in names.values())
