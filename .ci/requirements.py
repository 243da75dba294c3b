"""Prints the dependencies of pyproject.toml and of the extras named, one per line, for pip; --only: of the extras."""

import re
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]


def requirements(extra: str) -> list[str]:
    found = []
    for entry in project["optional-dependencies"][extra]:
        nested = re.fullmatch(r"ugraphemb\[(.*)\]", entry)
        found += [one for name in nested[1].split(",") for one in requirements(name)] if nested else [entry]
    return found


extras = [name for name in sys.argv[1:] if name != "--only"]
own = [] if "--only" in sys.argv else project["dependencies"]
print("\n".join(own + [one for extra in extras for one in requirements(extra)]))
