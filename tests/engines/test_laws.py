"""Laws of every engine: the same answers as the embedded index, for every kind of call."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from search.small_index import graphs, model, queries

from ugraphemb import GraphIndex, GraphSet
from ugraphemb.errors import EngineError, IndexFormatError
from ugraphemb.search.copying import copy_index
from ugraphemb.search.engines import remote

STRANGE = [
    "ü",
    "it's",
    'quote"',
    "back\\slash",
    "per%cent",
    "漢字😀",
    " space ",
    "line\nend",
    "{}[]",
    "null",
    "a/b",
    "-1",
]


def metadata(count: int) -> dict[str, list[Any]]:
    return {
        "year": list(range(count)),
        "text": [None if i % 4 == 0 else f"é'\"\\{i % 3}" for i in range(count)],
        "share": [i / 4 for i in range(count)],
        "good": [i % 2 == 0 for i in range(count)],
        "day": [datetime.date(2020, 1, 1 + i % 28) for i in range(count)],
        "moment": [datetime.datetime(2020, 1, 1 + i % 28, 12, 30) for i in range(count)],
    }


def pair(engine: Any, count: int = 50, *, chosen: Any = None) -> tuple[GraphIndex, GraphIndex]:
    """The same graphs in the embedded index and in another engine."""
    made = chosen or model()
    both = GraphIndex(made, threads=1), GraphIndex(made, threads=1, engine=engine.url())
    for index in both:
        index.add(graphs()[:count], metadata=metadata(count))
    return both


def found_by(index: GraphIndex, query: GraphSet, **options: Any) -> list[Any]:
    return [
        [(m.id, m.rank, m.predicted, repr(m.distance), m.proven, m.metadata, m.graph.num_nodes) for m in matches]
        for matches in index.search(query, **options)
    ]


@pytest.mark.parametrize("chosen", [("ged", None), ("ged", "l2"), ("ged", "l1"), ("mcs", None)])
def test_answers_are_those_of_the_embedded_index(engine, chosen):
    embedded, other = pair(engine, chosen=model(*chosen))
    some = queries()[:4]
    for options in ({}, {"k": 3}, {"k": 5, "verify": True, "budget": None}):
        assert found_by(other, some, **options) == found_by(embedded, some, **options)
    if chosen == ("ged", None):
        proofs = (
            {"k": 5, "complete": True},
            {"k": 4, "by": "edits", "complete": True},
            {"within": 4.0},
            {"within": 0.0},
        )
        for options in [{**options, "budget": None} for options in proofs]:
            answers = other.search(some[:2], **options), embedded.search(some[:2], **options)
            assert repr(answers[0]) == repr(answers[1])
            for one, two in zip(*answers, strict=True):
                assert (one.certificate.proven, one.certificate.graphs) == (two.certificate.proven, 50)
                assert sum(one.certificate.removed.values()) == sum(two.certificate.removed.values())


def test_a_query_alone_is_answered_as_in_a_batch(engine):
    _, other = pair(engine)
    together = other.search(queries()[:4])
    for i, alone in enumerate([other.search(queries()[i]) for i in range(4)]):
        assert [match.id for match in alone] == [match.id for match in together[i]]
        assert [match.predicted for match in alone] == pytest.approx(
            [match.predicted for match in together[i]], abs=1e-5
        )


@pytest.mark.parametrize("where", [
    {"class": 1}, {"class": [0, 2]}, {"text": "é'\"\\1"}, {"text": None}, {"text": ["é'\"\\2", None]}, {"good": True},
    {"good": [True, False]}, {"share": 1.5}, {"share": [1, 2.25]}, {"day": datetime.date(2020, 1, 3)},
    {"id": ["g3", "g7"]}, {"moment": datetime.datetime(2020, 1, 3, 12, 30)}, {"year": [3, 4, 5], "good": True},
    {"year": 99_999}, {"year": []},
])  # fmt: skip
def test_filters_let_the_same_graphs_through(engine_of_fifty, where):
    embedded, other = engine_of_fifty
    assert found_by(other, queries()[:2], where=where) == found_by(embedded, queries()[:2], where=where)
    assert other.engine.count(where) == embedded.engine.count(where)


@pytest.fixture(scope="module")
def kept() -> dict[str, tuple[GraphIndex, GraphIndex]]:
    return {}


@pytest.fixture
def engine_of_fifty(engine, kept):
    if engine.name not in kept:
        kept[engine.name] = pair(engine)
    return kept[engine.name]


def test_filters_that_make_no_sense_are_refused(engine_of_fifty):
    _, other = engine_of_fifty
    with pytest.raises(ValueError, match="no metadata column 'yeer'; there are 'id', 'year'"):
        other.search(queries()[0], where={"yeer": 3})
    with pytest.raises(ValueError, match="holds int64"):
        other.search(queries()[0], where={"year": "last"})


def test_metadata_come_back_as_they_were_added(engine):
    embedded, other = pair(engine, 10)
    for index in (embedded, other):
        index.add(graphs()[10:12], metadata={"year": [1.5, 2.5], "note": ["new", None]})
    for name, kind in (("year", pa.float64()), ("note", pa.string()), ("day", pa.date32()), ("good", pa.bool_())):
        assert other.to_table().schema.field(name).type == kind
    rows = [index.to_table().drop_columns(["vector"]).sort_by("id") for index in (embedded, other)]
    assert rows[1].select(rows[0].column_names).equals(rows[0])
    assert other.search(graphs()[10], 1, where={"year": 1.5})[0].metadata["note"] == "new"
    assert [m.id for m in other.search(graphs()[3], 1, where={"year": 3})] == ["g3"]


def test_removed_graphs_are_not_found_and_missing_ones_are_refused(engine):
    embedded, other = pair(engine)
    for index in (embedded, other):
        index.remove(["g1", "g7"])
        with pytest.raises(KeyError, match="no graph has the id 'g7'"):
            index.remove(["g2", "g7"])
        with pytest.raises(KeyError, match="'g7'"):
            index.graphs(["g7"])
    assert len(other) == 48
    assert "g7" not in other
    assert "g2" in other
    assert found_by(other, queries()[:3]) == found_by(embedded, queries()[:3])
    for index in (embedded, other):
        index.add(graphs()[[7]], metadata=[{"year": 7}])
    assert other.ids == embedded.ids


def test_the_same_ids_twice_change_nothing_and_others_are_refused(engine):
    _, other = pair(engine)
    before = other.to_table()
    other.add(graphs()[:50], metadata=metadata(50))
    assert other.to_table() == before
    mixed = replace(graphs()[[1, 2]], ids=np.array(["g1", "new"]))
    with pytest.raises(ValueError, match="'g1' is already in the index"):
        other.add(mixed)
    assert "new" not in other
    other.add(mixed, replace=True)
    assert len(other) == 51
    assert other.ids[-2:] == ["g1", "new"]


def test_ids_may_be_any_text(engine):
    named = replace(graphs()[: len(STRANGE)], ids=np.array(STRANGE))
    other = GraphIndex(model(), threads=1, engine=engine.url()).add(named)
    assert other.ids == STRANGE
    assert other.graphs(STRANGE[::-1]).ids.tolist() == STRANGE[::-1]
    assert {m.id for m in other.search(queries()[0], len(STRANGE))} == set(STRANGE)
    assert [m.id for m in other.search(queries()[0], where={"id": "it's"})] == ["it's"]
    other.remove(STRANGE[1:6])
    assert other.ids == [STRANGE[0], *STRANGE[6:]]


def test_none_and_one_graph(engine):
    other = GraphIndex(model(), threads=1, engine=engine.url())
    for options in ({}, {"verify": True}, {"complete": True}, {"within": 3.0}, {"where": {"class": 1}}):
        assert other.search(queries()[0], **options) == []
    assert (len(other), other.ids, len(other.graphs()), other.to_table().num_rows) == (0, [], 0, 0)
    other.add(graphs()[:0])
    other.add(graphs()[[3]])
    assert [m.id for m in other.search(queries()[0], complete=True)] == ["g3"]
    assert other.graphs() == replace(graphs()[[3]], targets=None)


def test_any_client_gets_the_model_and_another_model_is_refused(engine):
    _, other = pair(engine, 10)
    url = other.engine.store.name if engine.name != "postgres" else engine.server.url(other.engine.store._plain)
    loaded = GraphIndex.load(url, threads=1)
    assert np.array_equal(loaded.model.transform(queries()), model().transform(queries()))
    assert found_by(loaded, queries()[:2], verify=True) == found_by(other, queries()[:2], verify=True)
    assert loaded.costs == other.costs
    with pytest.raises(IndexFormatError, match=f"^{loaded.engine.name[:8]}.*vectors of another model"):
        GraphIndex(model("mcs"), engine=url)
    with pytest.raises(IndexFormatError, match="there is no index"):
        GraphIndex.load(engine.url())


def test_two_clients_see_each_other(engine):
    _, one = pair(engine, 10)
    two = GraphIndex.load(engine.server.url(one.engine.store._plain) if engine.name == "postgres" else one.engine.name)
    two.add(graphs()[10:12], metadata={"color": ["red", "blue"]})
    assert len(one) == 12
    assert [m.id for m in one.search(graphs()[10], 1, where={"color": "red"})] == ["g10"]
    one.remove("g11")
    assert "g11" not in two


def test_an_interrupted_add_is_repeated(engine, monkeypatch):
    monkeypatch.setattr(remote, "BATCH", 8)
    other = GraphIndex(model(), threads=1, engine=engine.url())
    send, calls = other.engine.store.upsert, []

    def failing(rows: pa.Table) -> None:
        calls.append(len(rows))
        if len(calls) == 4:
            raise KeyboardInterrupt
        send(rows)

    monkeypatch.setattr(other.engine.store, "upsert", failing)
    with pytest.raises(KeyboardInterrupt):
        other.add(graphs()[:50])
    assert len(other) == 24
    other.add(graphs()[:50])
    assert sum(calls) == 24 + 8 + 26
    assert other.ids == graphs()[:50].ids.tolist()


def test_a_call_that_fails_in_passing_is_repeated(engine, monkeypatch):
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.001)
    _, other = pair(engine, 10)
    store, count, calls = other.engine.store, other.engine.store.count, []

    def failing(filters: Any) -> int:
        calls.append(1)
        if len(calls) < 3:
            raise OSError("conflict: connection lost, timed out")
        return count(filters)

    monkeypatch.setattr(store, "count", failing)
    assert (len(other), len(calls)) == (10, 3)
    monkeypatch.setattr(store, "passing", lambda error: False)
    calls.clear()
    with pytest.raises(EngineError, match=r"://.*: could not count \(OSError: conflict: connection lost, timed out\)"):
        len(other)


def test_a_damaged_graph_is_refused_by_name(engine):
    _, other = pair(engine, 4)
    row = other.engine.store.rows(["g2"], ("id", "vector", "graph", "nodes", "added", "digest", "meta"))
    record = bytearray(row["graph"][0].as_py())
    record[20] ^= 1
    other.engine.store.upsert(row.set_column(2, "graph", pa.array([bytes(record)], pa.binary())))
    with pytest.raises(IndexFormatError, match=r"://.*: graph 'g2' is damaged"):
        other.graphs()


def test_graphs_of_other_attributes_are_refused(engine):
    _, other = pair(engine, 4)
    wide = replace(graphs()[[5]], node_attributes=np.ones((graphs()[5].num_nodes, 2)))
    with pytest.raises(ValueError, match="2 node attributes; those of the index have none"):
        other.add(wide)


def test_an_index_moves_between_engines(engine, tmp_path):
    embedded = GraphIndex(model(), threads=1).add(graphs()[:50], metadata=metadata(50)).remove("g9")
    embedded.save(tmp_path / "index")
    url = engine.url()
    for _ in range(2):
        assert len(copy_index(tmp_path / "index", url)) == 49
    copy_index(url, tmp_path / "back")
    back = GraphIndex.load(tmp_path / "back", threads=1)
    assert back.ids == embedded.ids
    assert back.graphs() == embedded.graphs()
    assert found_by(back, queries()) == found_by(embedded, queries())
    with pytest.raises(ValueError, match="an index exists"):
        copy_index(url, tmp_path / "back")
