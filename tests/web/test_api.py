"""Every route of the API, against what the library says."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from starlette.testclient import TestClient
from web.small_server import ASPIRIN, ETHANOL, molecules, saved, served

import ugraphemb as ug
from ugraphemb import GraphIndex, __version__
from ugraphemb.web import drawings


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with served(saved("molecules"), keep_map=False) as found:
        yield found


@pytest.fixture(scope="module")
def plain() -> Iterator[TestClient]:
    with served(saved("graphs"), keep_map=False) as found:
        yield found


def arrow(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(io.BytesIO(data)).read_all()


def index() -> GraphIndex:
    return GraphIndex.load(saved("molecules"), threads=1)


def with_map(client: TestClient) -> dict:
    """What /api/info says once the map is computed."""
    for _ in range(4000):
        info = client.get("/api/info").json()
        if info["map"]["status"] != "computing":
            return info
        time.sleep(0.05)
    raise AssertionError("no map within minutes")


def test_health_and_version(client: TestClient):
    assert client.get("/api/health").json() == {"status": "ok"}
    assert client.get("/api/version").json() == {"version": __version__, "api": 1}


def test_info_says_what_is_served(client: TestClient):
    info = client.get("/api/info").json()
    assert (info["graphs"], info["molecules"], info["writable"]) == (42, True, False)
    columns = {column["name"]: column for column in info["columns"]}
    assert columns["price"]["type"] == "number"
    assert (columns["price"]["min"], columns["price"]["max"]) == (0.0, 61.5)
    assert columns["group"]["missing"] == 14
    assert columns["group"]["values"] == [{"value": "acid", "count": 14}, {"value": "base", "count": 14}]
    assert info["node_labels"][0]["value"] == "C"
    assert info["nodes"]["max"] == int(molecules().num_nodes.max())


def test_search_by_vectors_is_that_of_the_index(client: TestClient):
    answer = client.post("/api/search", json={"query": {"smiles": ASPIRIN}, "k": 5}).json()
    expected = index().search(ug.GraphSet.from_smiles([ASPIRIN]), 5)[0]
    assert [match["id"] for match in answer["matches"]] == [match.id for match in expected]
    assert answer["matches"][0]["predicted"] == pytest.approx(expected[0].predicted, rel=1e-4)
    assert answer["certificate"] is None
    assert len(answer["query"]["place"]) == 2


@pytest.mark.parametrize("mode", ["verified", "complete", "within"])
def test_verified_search_is_that_of_the_index(client: TestClient, mode: str):
    more = {"within": 4.0} if mode == "within" else {}
    answer = client.post("/api/search", json={"query": {"id": "m3"}, "mode": mode, **more}).json()
    asked = {"verified": {"verify": True}, "complete": {"complete": True}, "within": {"within": 4.0}}[mode]
    expected = index().search(index().graphs(["m3"]), **asked)[0]  # type: ignore[arg-type]
    found = [(match["id"], match["distance"], match["proven"]) for match in answer["matches"]]
    assert found == [(match.id, match.distance, match.proven) for match in expected]
    assert answer["matches"][0]["distance"] == 0
    assert answer["certificate"]["proven"]
    assert answer["certificate"]["removed"] == expected.certificate.removed


def test_filters(client: TestClient):
    answer = client.post("/api/search", json={"query": {"id": "m0"}, "k": 42, "where": {"group": ["acid"]}}).json()
    assert len(answer["matches"]) == 14
    assert {match["metadata"]["group"] for match in answer["matches"]} == {"acid"}
    refused = client.post("/api/search", json={"query": {"id": "m0"}, "where": {"nope": 1}})
    assert (refused.status_code, refused.json()["error"]["where"]) == (422, "where")


def events(text: str) -> list[tuple[str, dict]]:
    blocks = [block for block in text.split("\n\n") if block.strip() and not block.startswith(":")]
    return [(block.split("\n")[0].removeprefix("event: "), json.loads(block.split("data: ", 1)[1])) for block in blocks]


def test_a_stream_begins_with_vectors_and_ends_with_the_proof(client: TestClient):
    body = {"query": {"smiles": ASPIRIN}, "mode": "complete", "k": 3}
    response = client.post("/api/search/stream", json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    found = events(response.text)
    assert (found[0][0], found[-1][0]) == ("vectors", "done")
    plain_answer = client.post("/api/search", json=body).json()
    assert [match["id"] for match in found[-1][1]["matches"]] == [match["id"] for match in plain_answer["matches"]]
    assert found[-1][1]["certificate"]["proven"]
    assert all(len(answer["query"]["graph"]["coordinates"]) == 13 for _, answer in found)
    assert sum(found[0][1]["query"]["graph"]["orders"]) == 18  # aspirin: five double bonds of thirteen


def test_a_query_may_be_an_id_a_position_smiles_a_graph_or_a_file(client: TestClient):
    graph = molecules()[7]
    texts = {"num_nodes": graph.num_nodes, "edges": graph.edges.tolist(), "node_labels": graph.node_labels,
             "edge_labels": graph.edge_labels}  # fmt: skip
    smiles = str(graph.metadata["smiles"])
    queries = [
        {"id": "m7"}, {"position": 7}, {"smiles": smiles}, {"graph": texts},
        {"file": {"name": "some.smi", "content": f"CCO one\n{smiles} two\n"}, "index": 1},
    ]  # fmt: skip
    answers = [
        client.post("/api/search", json={"query": query, "mode": "complete", "k": 1}).json() for query in queries
    ]
    assert [answer["matches"][0]["distance"] for answer in answers] == [0] * 5


def test_labels_that_the_model_has_not_seen_are_told(client: TestClient):
    assert "never seen" in client.post("/api/search", json={"query": {"smiles": "CC[Se]"}}).json()["warnings"][0]


def test_graph_by_id_and_position(client: TestClient):
    found = client.get("/api/graph", params={"id": "m4"}).json()
    assert found == client.get("/api/graph", params={"position": 4}).json()
    assert found["edges"] == molecules()[4].edges.tolist()
    assert found["metadata"]["price"] == 6.0
    assert len(found["coordinates"]) == found["num_nodes"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["client", "plain"])
def test_drawings_need_no_inline_styles(kind: str, theme: str, request: pytest.FixtureRequest):
    server: TestClient = request.getfixturevalue(kind)
    response = server.get("/api/drawing", params={"position": 2, "theme": theme, "size": 100})
    assert response.headers["content-type"].startswith("image/svg+xml")
    assert response.text.startswith("<svg")
    assert "style=" not in response.text
    again = server.get(
        "/api/drawing", params={"position": 2, "theme": theme, "size": 100},
        headers={"if-none-match": response.headers["etag"]},
    )  # fmt: skip
    assert again.status_code == 304


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_of_molecules_are_readable_on_their_paper(client: TestClient, theme: str):
    def luminance(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    body = {"query": {"smiles": "NCC(Cl)(F)C(Br)(I)COCSCP"}, "theme": theme}
    colors = set(re.findall(r"#[0-9A-F]{6}", client.post("/api/drawing", json=body).text))
    assert len(colors) >= 7
    paper = luminance(drawings.PAPER[theme])  # type: ignore[index]
    for color in colors - {drawings.PAPER[theme]}:  # type: ignore[index]
        light, dark = sorted((paper, luminance(color)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, color  # WCAG 2, level AA


def test_any_graph_can_be_drawn(client: TestClient):
    assert client.post("/api/drawing", json={"query": {"smiles": ETHANOL}}).text.startswith("<svg")
    cycle = {"num_nodes": 4, "edges": [[0, 1], [1, 2], [2, 3], [0, 3]]}
    assert client.post("/api/drawing", json={"query": {"graph": cycle}}).text.count("<line") == 4


@pytest.mark.parametrize("kind", ["client", "plain"])
def test_edits_lead_from_left_to_right(kind: str, request: pytest.FixtureRequest):
    server: TestClient = request.getfixturevalue(kind)
    answer = server.post("/api/edits", json={"left": {"position": 3}, "right": {"position": 17}}).json()
    assert answer["proven"]
    assert (
        answer["lower"] == answer["upper"] == answer["distance"] == sum(step["cost"] for step in answer["operations"])
    )
    assert len(answer["drawings"]["steps"]) == len(answer["operations"]) + 1
    kinds = [node["change"] for node in answer["nodes"]]
    assert len(kinds) - kinds.count("added") == answer["left"]["num_nodes"]
    assert len(kinds) - kinds.count("removed") == answer["right"]["num_nodes"]
    kept = [edge for edge in answer["edges"] if edge["change"] in ("kept", "relabeled")]
    assert len(kept) + sum(edge["change"] == "added" for edge in answer["edges"]) == answer["right"]["num_edges"]


def test_the_same_graph_needs_no_edits(client: TestClient):
    answer = client.post("/api/edits", json={"left": {"id": "m0"}, "right": {"id": "m41"}}).json()
    assert (answer["distance"], answer["operations"], answer["changes"]) == (0, [], "the same graph")


def test_the_map_has_a_place_for_every_graph_and_copies_share_theirs(client: TestClient):
    info = with_map(client)
    response = client.get("/api/map", params={"columns": "id,group,price"})
    table = arrow(response.content)
    assert table.column_names == ["x", "y", "id", "group", "price"]
    assert table["id"].to_pylist() == [f"m{i}" for i in range(42)]
    places = np.stack([table["x"].to_numpy(), table["y"].to_numpy()], axis=1)
    assert np.isfinite(places).all()
    assert places[0].tolist() == places[41].tolist()
    assert table.schema.metadata[b"state"].decode() == info["state"]
    tag = {"if-none-match": response.headers["etag"]}
    assert client.get("/api/map", params={"columns": "id,group,price"}, headers=tag).status_code == 304


def test_a_graph_of_the_map_falls_upon_its_place(client: TestClient):
    with_map(client)
    table = arrow(client.get("/api/map").content)
    answer = client.post("/api/embed", json={"queries": [{"id": "m5"}, {"smiles": ETHANOL}]}).json()
    assert answer["places"][0] == pytest.approx([table["x"][5].as_py(), table["y"][5].as_py()], abs=1e-3)
    expected = index().model.transform(ug.GraphSet.from_smiles([ETHANOL]))
    np.testing.assert_allclose(answer["vectors"][1], expected[0], rtol=1e-4, atol=1e-5)


def test_distances_to_a_query_are_those_of_the_model(client: TestClient):
    table = arrow(client.post("/api/distances", json={"query": {"id": "m9"}}).content)
    found = index()
    vectors = found.model.transform(molecules())
    np.testing.assert_allclose(
        table["predicted"].to_numpy(), found.model.proximity(vectors[9:10], vectors)[0], rtol=1e-3, atol=1e-4
    )


def test_columns(client: TestClient):
    assert arrow(client.get("/api/column", params={"name": "price"}).content)["value"][3].as_py() == 4.5
    groups = arrow(client.get("/api/column", params={"name": "group"}).content)["value"].to_pylist()
    assert groups[:3] == ["acid", "base", None]
    nodes = arrow(client.get("/api/column", params={"name": "nodes"}).content)["value"].to_pylist()
    assert nodes == molecules().num_nodes.tolist()
    assert client.get("/api/column", params={"name": "nope"}).status_code == 404


def test_a_line_begins_and_ends_where_it_should(client: TestClient):
    answer = client.post("/api/line", json={"from": {"id": "m1"}, "to": {"position": 30}, "points": 6}).json()
    ids = [row["id"] for row in answer["graphs"]]
    assert (ids[0], ids[-1], len(set(ids))) == ("m1", "m30", 6)


def test_clusters_are_discs_of_the_map(client: TestClient):
    with_map(client)
    found = client.get("/api/clusters", params={"count": 3, "members": 4}).json()
    for cluster in found["clusters"]:
        for row in cluster["members"]:
            assert np.hypot(row["x"] - cluster["x"], row["y"] - cluster["y"]) <= found["radius"] * 1.001
    first = found["clusters"][0]
    place = {"x": first["x"], "y": first["y"], "radius": found["radius"], "members": 4}
    assert client.post("/api/cluster", json=place).json()["members"] == first["members"]


def test_rows_and_exports(client: TestClient):
    rows = client.post("/api/rows", json={"positions": [5, 2]}).json()["rows"]
    assert [row["id"] for row in rows] == ["m5", "m2"]
    body = {"ids": ["m5", "m2"]}
    table = client.post("/api/export", json={**body, "format": "csv"})
    assert table.text.splitlines()[0] == "id,num_nodes,num_edges,price,group,smiles"
    assert table.text.splitlines()[1].startswith("m5,")
    assert "attachment" in table.headers["content-disposition"]
    smiles = client.post("/api/export", json={**body, "format": "smiles"}).text.splitlines()
    assert smiles[1] == f"{molecules()[2].metadata['smiles']}\tm2"
    lines = client.post("/api/export", json={**body, "format": "jsonl"}).text
    parsed = client.post("/api/parse", json={"file": {"name": "x.jsonl", "content": lines}}).json()
    assert [graph["edges"] for graph in parsed["graphs"]] == [molecules()[i].edges.tolist() for i in (5, 2)]


def test_graphs_without_edge_labels_are_served_too(plain: TestClient):
    info = plain.get("/api/info").json()
    assert (info["molecules"], info["class_column"], info["graphs"]) == (False, "class", 60)
    answer = plain.post("/api/search", json={"query": {"id": "g7"}, "mode": "complete", "k": 2}).json()
    assert (answer["matches"][0]["id"], answer["matches"][0]["distance"]) == ("g7", 0)
    assert plain.post("/api/export", json={"positions": [0], "format": "smiles"}).status_code == 422
