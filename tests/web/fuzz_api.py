"""Requests that schemathesis makes from the OpenAPI document: answers are as documented, and never a 5xx.

`make fuzz-api` runs many; `test_fuzz.py` runs a few.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import schemathesis
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from web.small_server import copied, saved, served

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def routes(client: TestClient) -> list[tuple[str, str]]:
    """(method, path) of every operation of the document."""
    paths = client.get("/api/openapi.json").json()["paths"]
    return [(method, path) for path, methods in paths.items() for method in methods]


def schema_of(client: TestClient) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_dict(client.get("/api/openapi.json").json())


def fuzz(
    client: TestClient, schema: schemathesis.BaseSchema, method: str, path: str, examples: int, seed: int | None = None
) -> int:
    """Sends requests to one route of the client's schema, right ones and wrong ones; how many.

    Raises:
        AssertionError: An answer that the document does not allow.
    """
    operation = schema[path][method.upper()]
    done = 0
    for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
        strategy = operation.as_strategy(generation_mode=mode)

        def one(case: schemathesis.Case) -> None:
            nonlocal done
            done += 1
            case.headers = {name: value for name, value in (case.headers or {}).items() if name.lower() != "host"}
            try:
                response = client.request(**_request(case))
            except (httpx2.InvalidURL, UnicodeEncodeError):  # requests that no client can send
                reject()
            case.validate_response(response, checks=CHECKS)

        test = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
            derandomize=seed is None,
        )(given(case=strategy)(one))
        with suppress(Unsatisfiable):  # a route without parameters has no wrong requests
            (test if seed is None else seeded(seed)(test))()
    return done


def _request(case: schemathesis.Case) -> dict[str, object]:
    request = case.as_transport_kwargs(base_url="http://127.0.0.1:8000")
    if isinstance(request.get("data"), bytes | str):
        request["content"] = request.pop("data")
    return {name: value for name, value in request.items() if value is not None and name != "cookies"}


_NOISE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_TEXT = st.sampled_from(
    ["C", "N", "CCO", "c1ccccc1", "CC(=O)O", "[Na+].[Cl-]", "m1", "g2", "smiles", "\ud800", "", "x"]
)
_LABEL = _TEXT | st.integers(-3, 3) | st.floats() | st.none() | st.booleans() | st.lists(st.integers(0, 2), max_size=2)
_LABELS = st.none() | st.lists(_LABEL, max_size=5)
_GRAPH = st.integers(0, 5).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "num_nodes": st.just(n),
            "edges": st.lists(st.lists(st.integers(0, max(0, n)), min_size=2, max_size=2), max_size=6),
        },
        optional={
            "node_labels": st.lists(_LABEL, min_size=n, max_size=n) | _LABELS,
            "edge_labels": _LABELS,
            "id": _TEXT,
            "metadata": st.dictionaries(_TEXT, _LABEL, max_size=2),
        },
    )
)
_FILE = st.fixed_dictionaries(
    {
        "name": st.sampled_from(
            ["a.smi", "a.csv", "a.sdf", "a.json", "a.jsonl", "a.gml", "a.gxl", "a.g6", "a.gspan", "a.edges"]
        ),
        "content": st.text()
        | st.sampled_from(
            [
                "CCO\n",
                "smiles\nCCO\n",
                "0 1\n1 2\n",
                "t # 0\nv 0 C\n",
                "Bw\n",
                '{"id": "a", "num_nodes": 1, "edges": []}\n',
                "graph [ node [ id 0 ] ]",
            ]
        ),
    }
)
_QUERY = st.one_of(
    st.fixed_dictionaries({"id": _TEXT}),
    st.fixed_dictionaries({"position": st.integers(-1, 60)}),
    st.fixed_dictionaries({"smiles": _TEXT}),
    st.fixed_dictionaries({"graph": _GRAPH}),
    st.fixed_dictionaries({"file": _FILE, "index": st.integers(0, 2)}),
    _NOISE,
)
_MODES = st.sampled_from(["vectors", "verified", "complete", "within"])
_WHERE = st.dictionaries(st.sampled_from(["class", "price", "group", "smiles", "id", "x"]), _LABEL, max_size=2)
BODIES = {
    "search": st.fixed_dictionaries(
        {"query": _QUERY, "mode": _MODES, "budget": st.sampled_from([0, 0.05]), "k": st.integers(0, 60)},
        optional={"within": st.floats(-1, 5), "where": _WHERE, "by": st.sampled_from(["normalized", "edits", "x"])},
    ),
    "edits": st.fixed_dictionaries({"left": _QUERY, "right": _QUERY, "budget": st.just(0.05)}),
    "drawing": st.fixed_dictionaries({"query": _QUERY, "theme": st.sampled_from(["light", "dark"])}),
    "embed": st.fixed_dictionaries({"queries": st.lists(_QUERY, max_size=3)}),
    "distances": st.fixed_dictionaries({"query": _QUERY}),
    "parse": st.one_of(
        *(st.fixed_dictionaries({name: kind}) for name, kind in (("file", _FILE), ("graph", _GRAPH), ("smiles", _TEXT)))
    ),
    "line": st.fixed_dictionaries({"from": _QUERY, "to": _QUERY, "points": st.integers(0, 70)}),
    "cluster": st.fixed_dictionaries({"x": st.floats(), "y": st.floats(), "radius": st.floats()}),
    "rows": st.fixed_dictionaries({"positions": st.lists(st.integers(-1, 60), max_size=5)}),
    "export": st.fixed_dictionaries(
        {"positions": st.lists(st.integers(0, 60), max_size=5), "format": st.sampled_from(["csv", "smiles", "jsonl"])}
    ),
    "add": st.fixed_dictionaries(
        {"graphs": st.lists(_GRAPH, max_size=2)}, optional={"ids": st.lists(_TEXT, max_size=2)}
    ),
    "remove": st.fixed_dictionaries({"ids": st.lists(_TEXT, max_size=2)}),
}
"""For each route requests that are right or nearly so, which a schema alone hardly leads to."""


def fuzz_bodies(client: TestClient, route: str, examples: int, seed: int | None = None) -> int:
    """Sends requests of BODIES; how many. Answers are 200 or a 4xx that says what is wrong."""
    done = 0

    def one(body: object) -> None:
        nonlocal done
        done += 1
        content = json.dumps(body).encode("utf-8", "surrogatepass")
        response = client.post(f"/api/{route}", content=content, headers={"content-type": "application/json"})
        assert response.status_code == 200 or 400 <= response.status_code < 500, (body, response.text)
        if response.status_code != 200:
            assert response.json()["error"]["message"], body

    test = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        derandomize=seed is None,
    )(given(body=BODIES[route])(one))
    (test if seed is None else seeded(seed)(test))()
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=500, help="Right and wrong requests for each route.")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    total = 0
    for kind, writable in (("molecules", False), ("graphs", False), ("molecules", True)):
        with TemporaryDirectory() as folder:
            home = copied(kind, Path(folder)) if writable else saved(kind)
            with served(home, writable=writable, keep_map=False, look=3600.0) as client:
                schema = schema_of(client)
                for method, path in routes(client):
                    if writable == (path in ("/api/add", "/api/remove")):
                        count = fuzz(client, schema, method, path, asked.examples, asked.seed)
                        total += count
                        print(f"{kind} {method.upper()} {path}: {count} requests", flush=True)
                for route in BODIES:
                    if writable == (route in ("add", "remove")):
                        count = fuzz_bodies(client, route, asked.examples, asked.seed)
                        total += count
                        print(f"{kind} {route}, nearly right: {count} requests", flush=True)
    print(f"{total:,} requests, no answer that the document does not allow")


if __name__ == "__main__":
    main()
