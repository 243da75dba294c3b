"""A few of the kills of engines/kills.py: the server dies during an insertion and during a search."""

from __future__ import annotations

import pytest
from engines.kills import BATCH, COUNT, place, round_of

from ugraphemb.search.engines import remote


@pytest.mark.parametrize("name", ["postgres", "milvus"])
@pytest.mark.parametrize("kind", ["insertion", "search"])
def test_a_killed_server_loses_nothing(request, monkeypatch, name, kind):
    server = request.getfixturevalue(name)
    monkeypatch.setattr(remote, "BATCH", BATCH)
    monkeypatch.setattr(remote, "_TRIES", 2)
    url = place(server, f"test_kills_{kind}")
    found = round_of(kind, server, url, 0, after=5, later=0.0)
    assert found["confirmed"] >= 5
    assert 0 <= found["there"] <= COUNT
