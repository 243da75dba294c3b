"""What a server refuses, and how it says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient
from web.small_server import copied, saved, served

from ugraphemb.cli.serve import command
from ugraphemb.web.settings import Limits

LIMITS = Limits(body_bytes=20_000, query_nodes=20, query_edges=30, k=5, rows=3, export=4, draw_nodes=15, edit_nodes=15,
                embed=2, seconds=2.0, shortlist=9)  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with served(saved("molecules"), limits=LIMITS, keep_map=False) as found:
        yield found


def refused(response: object, status: int, code: str) -> str:
    assert response.status_code == status, response.text  # type: ignore[attr-defined]
    error = response.json()["error"]  # type: ignore[attr-defined]
    assert set(error) == {"code", "message", "where"}
    assert error["code"] == code
    return str(error["message"])


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost.:80"])
def test_other_hosts_are_refused(client: TestClient, host: str):
    refused(client.get("/api/health", headers={"host": host}), 421, "bad_host")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9", "[::1]:8000"])
def test_this_machine_has_several_names(client: TestClient, host: str):
    assert client.get("/api/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
                {"origin": "http://127.0.0.1:9999"}]
)  # fmt: skip
def test_pages_of_other_sites_are_refused(client: TestClient, headers: dict[str, str]):
    response = client.post("/api/search", json={"query": {"id": "m1"}}, headers=headers)
    refused(response, 403, "cross_site")
    assert "access-control-allow-origin" not in response.headers


def test_the_own_page_may_ask(client: TestClient):
    headers = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    assert client.post("/api/search", json={"query": {"id": "m1"}}, headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/health", "/api/nope", "/nope"])
def test_every_answer_has_strict_headers(client: TestClient, path: str):
    headers = client.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_large_bodies_are_refused_with_and_without_a_length(client: TestClient):
    text = b'{"query": {"smiles": "' + b"C" * 30_000 + b'"}}'
    refused(client.post("/api/search", content=text), 413, "too_large")
    refused(client.post("/api/search", content=iter([text[:15_000], text[15_000:]])), 413, "too_large")


PATH = {"num_nodes": 21, "edges": [[i, i + 1] for i in range(20)]}
LONG = "C" * 16


@pytest.mark.parametrize(
    ("route", "body", "status", "code"),
    [
        ("search", {"query": {"graph": PATH}}, 413, "too_large"),
        ("search", {"query": {"graph": {"num_nodes": 10**9}}}, 413, "too_large"),
        ("search", {"query": {"smiles": "C" * 21}}, 413, "too_large"),
        ("search", {"query": {"id": "m1"}, "k": 6}, 422, "invalid"),
        ("search", {"query": {"id": "m1"}, "k": 0}, 422, "invalid"),
        ("search", {"query": {"id": "m1"}, "mode": "complete", "budget": 3}, 422, "invalid"),
        ("search", {"query": {"id": "m1"}, "mode": "verified", "shortlist": 10}, 422, "invalid"),
        ("search", {"query": {"id": "m1"}, "mode": "within"}, 422, "invalid"),
        ("search", {"query": {"id": "m1"}, "within": 3}, 422, "invalid"),
        ("search", {"query": {"id": "m1"}, "kk": 3}, 422, "invalid"),
        ("search", {"query": {"id": "m1", "smiles": "C"}}, 422, "invalid"),
        ("search", {"query": {}}, 422, "invalid"),
        ("search", {"query": {"id": "unknown"}}, 404, "not_found"),
        ("search", {"query": {"position": 42}}, 404, "not_found"),
        ("search", {"query": {"smiles": "not smiles"}}, 422, "bad_graph"),
        ("search", {"query": {"smiles": "C1CC"}}, 422, "bad_graph"),
        ("search", {"query": {"graph": {"num_nodes": 2, "edges": [[0, 2]]}}}, 422, "bad_graph"),
        ("search", {"query": {"graph": {"num_nodes": 2, "node_labels": ["C"]}}}, 422, "bad_graph"),
        ("search", {"query": {"file": {"name": "x.exe", "content": ""}}}, 422, "bad_graph"),
        ("search", {"query": {"file": {"name": "x.smi", "content": "CCO\n"}, "index": 1}}, 404, "not_found"),
        ("search", {"query": {"file": {"name": "x.smi", "content": "CC(\n"}}}, 422, "bad_graph"),
        ("search", {"query": {"id": "m1"}, "state": "another"}, 409, "changed"),
        ("search/stream", {"query": {"smiles": "?"}}, 422, "bad_graph"),
        ("rows", {"positions": [0, 1, 2, 3]}, 413, "too_large"),
        ("rows", {"positions": [-1]}, 422, "invalid"),
        ("rows", {"positions": [1], "ids": ["m1"]}, 422, "invalid"),
        ("export", {"positions": [0, 1, 2, 3, 4]}, 413, "too_large"),
        ("drawing", {"query": {"smiles": LONG}}, 413, "too_large"),
        ("edits", {"left": {"smiles": LONG}, "right": {"id": "m1"}}, 413, "too_large"),
        ("edits", {"left": {"id": "m1"}, "right": {"id": "m2"}, "budget": 9}, 422, "invalid"),
        ("embed", {"queries": [{"id": "m1"}] * 3}, 413, "too_large"),
        ("line", {"from": {"id": "m1"}, "to": {"id": "m1"}}, 422, "invalid"),
        ("line", {"from": {"smiles": "C"}, "to": {"id": "m1"}}, 422, "invalid"),
        ("add", {"smiles": ["CCO"]}, 403, "read_only"),
        ("remove", {"ids": ["m1"]}, 403, "read_only"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_or_is_too_much_is_refused(
    client: TestClient, route: str, body: dict[str, object], status: int, code: str
):
    refused(client.post(f"/api/{route}", json=body), status, code)


@pytest.mark.parametrize("name", ["/etc/passwd", "../../index.json", "index.json", "a/../../x.cxl", "x.zip", "\0.smi"])
def test_names_of_files_are_never_opened(client: TestClient, name: str):
    """A path has no effect as a file name, as SMILES or as an id."""
    for query in ({"smiles": name}, {"id": name}, {"file": {"name": name, "content": "{"}}):
        response = client.post("/api/search", json={"query": query})
        assert response.status_code in (404, 422)
        assert "root:" not in response.text
    assert client.get("/" + name.lstrip("/").replace("\0", "%00")).status_code == 404


def test_only_listed_files_of_the_page_are_served(tmp_path: Path):
    page = tmp_path / "static"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<p>page")
    (page / "assets" / "a-1.js").write_text("1")
    (tmp_path / "secret").write_text("root:")
    with served(saved("molecules"), static=page, keep_map=False) as client:
        assert client.get("/").text == "<p>page"
        assert client.get("/assets/a-1.js").headers["content-type"].startswith("text/javascript")
        (page / "later.txt").write_text("root:")
        for path in ("/later.txt", "/../secret", "/%2e%2e/secret", "/assets/../../secret", "/assets/"):
            assert client.get(path).status_code == 404


def test_without_a_built_page_the_server_says_how_to_build_it(client: TestClient):
    assert "make page" in client.get("/").text


def test_a_token_is_asked_for_everywhere_but_health():
    with served(saved("molecules"), token="secret", keep_map=False) as client:
        assert client.get("/api/health").status_code == 200
        refused(client.get("/api/info"), 401, "unauthorized")
        refused(client.get("/"), 401, "unauthorized")
        for wrong in ("Bearer wrong", "secret", "Basic secret", "Bearer"):
            refused(client.get("/api/info", headers={"authorization": wrong}), 401, "unauthorized")
        assert client.get("/api/info", headers={"authorization": "Bearer secret"}).status_code == 200
        refused(client.get("/?token=wrong"), 401, "unauthorized")
        opened = client.get("/?token=secret&view=map", follow_redirects=False)
        assert (opened.status_code, opened.headers["location"]) == (303, "/?view=map")
        cookie = opened.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert client.get("/api/info").status_code == 200  # the client kept the cookie


def test_an_address_beyond_this_machine_needs_a_token():
    found = CliRunner().invoke(command, [str(saved("molecules")), "--host", "0.0.0.0", "--port", "0"])
    assert found.exit_code == 2
    assert "--token" in found.output


def test_graphs_are_added_and_removed_where_that_is_allowed(tmp_path: Path):
    with served(copied("molecules", tmp_path), writable=True, keep_map=False) as client:
        before = client.get("/api/info").json()["state"]
        body = {"smiles": ["CCOCC"], "ids": ["new"], "metadata": [{"price": 7.0}]}
        added = client.post("/api/add", json=body)
        assert added.json()["graphs"] == 43
        assert added.json()["state"] != before
        assert client.get("/api/graph", params={"id": "new"}).json()["metadata"]["price"] == 7.0
        found = client.post("/api/search", json={"query": {"smiles": "CCOCC"}, "mode": "complete", "k": 1}).json()
        assert found["matches"][0]["id"] == "new"
        refused(client.post("/api/add", json=body), 422, "invalid")
        refused(client.post("/api/rows", json={"positions": [1], "state": before}), 409, "changed")
        assert client.post("/api/remove", json={"ids": ["new", "m3"]}).json()["graphs"] == 41
        refused(client.post("/api/remove", json={"ids": ["m3"]}), 404, "not_found")
        refused(client.get("/api/graph", params={"id": "m3"}), 404, "not_found")
        rows = client.post("/api/rows", json={"positions": [2, 3]}).json()["rows"]
        assert [row["id"] for row in rows] == ["m2", "m4"]
