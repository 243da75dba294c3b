"""Whatever the request, the answer is as documented, and never a 5xx. `make fuzz-api` sends many more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from web.fuzz_api import BODIES, fuzz, fuzz_bodies, routes, schema_of
from web.small_server import saved, served


@pytest.fixture(scope="module", params=["molecules", "graphs"])
def client(request: pytest.FixtureRequest) -> Iterator[TestClient]:
    with served(saved(request.param), keep_map=False, look=3600.0) as found:
        yield found


def test_requests_made_from_the_document(client: TestClient):
    found, schema = routes(client), schema_of(client)
    assert len(found) >= 20
    assert sum(fuzz(client, schema, method, path, 3) for method, path in found) > 60


@pytest.mark.parametrize("route", BODIES)
def test_requests_that_are_nearly_right(client: TestClient, route: str):
    assert fuzz_bodies(client, route, 12) > 0
