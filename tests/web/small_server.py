"""Servers of two small collections, for tests: molecules, and graphs without labels of edges."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from search import small_index
from starlette.testclient import TestClient

from ugraphemb import GraphIndex, GraphSet, UGraphEmb
from ugraphemb.web.app import create_app
from ugraphemb.web.service import Service
from ugraphemb.web.settings import Limits, Settings

ASPIRIN, ETHANOL = "CC(=O)Oc1ccccc1C(=O)O", "CCO"
_HEADS, _TAILS = ("CC", "CCC", "c1ccccc1", "C1CCCCC1", "CC(C)", "OCC"), ("O", "N", "C(=O)O", "CCl", "C#N", "OC", "S")


@cache
def molecules() -> GraphSet:
    """Forty-two small molecules; the last one twice."""
    smiles = [head + tail for head in _HEADS for tail in _TAILS]
    return GraphSet.from_smiles([*smiles[:41], smiles[0]], ids=[f"m{i}" for i in range(42)])


@cache
def saved(kind: str) -> Path:
    """The folder of an index, made once; do not change it."""
    folder = Path(mkdtemp(prefix="ugraphemb-tests-")) / kind
    if kind == "molecules":
        graphs = molecules()
        settings = {"layers": (8,), "scales": (0, 1), "hidden": 8}
        model = UGraphEmb(dimension=8, steps=20, batch=16, settings=settings, threads=1, progress=False).fit(
            graphs[:30]
        )
        price = np.arange(len(graphs)) * 1.5
        group = [["acid", "base", None][i % 3] for i in range(len(graphs))]
        GraphIndex(model, threads=1).add(graphs, metadata={"price": price, "group": group}).save(folder)
    else:
        small_index.index().save(folder)
    return folder


def copied(kind: str, into: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(saved(kind), into / kind))


@contextmanager
def served(
    folder: Path, *, limits: Limits | None = None, static: Path | None = None, **settings: object
) -> Iterator[TestClient]:
    """A client of a server, in this process."""
    chosen = Settings(threads=1, limits=limits or Limits(), **{"look": 0.05, **settings})  # type: ignore[arg-type]
    service = Service(folder, chosen)
    app = create_app(service, static or folder / "no such folder")
    with TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        client.service = service  # type: ignore[attr-defined]
        yield client
