"""One index per test in each engine: `engine.url()` names a collection that does not exist yet."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from engines.alone import interfaces
from engines.servers import SERVERS

REQUIRED = os.environ.get("UGRAPHEMB_ENGINES") == "required"


class Place:
    """The engine in which a test keeps its indexes."""

    def __init__(self, name: str, server: object, folder: Path) -> None:
        self.name, self.server, self._folder, self._numbers = name, server, folder, itertools.count()

    def url(self) -> str:
        number = next(self._numbers)
        if self.name == "lance":
            return f"lance://{self._folder}/index{number}"
        return self.server.url(f"{self._folder.name.replace('-', '_')}_{number}")  # type: ignore[attr-defined]


def _skipped(reason: str) -> None:
    if REQUIRED:
        pytest.fail(reason)
    pytest.skip(f"{reason}: make test-engines")


def _server(name: str) -> Iterator[object]:
    made, packages = SERVERS[name]
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        _skipped(f"the package {missing[0]} is not installed")
    if "PYTEST_XDIST_WORKER" in os.environ:
        _skipped(f"only one {name} server runs at a time")
    if name == "milvus" and not REQUIRED and interfaces() != ["lo"]:
        _skipped("Milvus listens on all interfaces and gets a network of its own")
    server = made()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def milvus() -> Iterator[object]:
    yield from _server("milvus")


@pytest.fixture(scope="session")
def postgres() -> Iterator[object]:
    yield from _server("postgres")


@pytest.fixture(params=["lance", "postgres", "milvus"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "lance" and find_spec("lancedb") is None:
        _skipped("the package lancedb is not installed")
    server = None if request.param == "lance" else request.getfixturevalue(request.param)
    return Place(request.param, server, tmp_path)
