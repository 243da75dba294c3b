"""Prints the dependencies of pyproject.toml and of the extras named, one a line, for pip."""

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


print("\n".join(project["dependencies"] + [one for extra in sys.argv[1:] for one in requirements(extra)]))
