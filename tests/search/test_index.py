"""GraphIndex: adding, removing, filtering, asking; and wrong calls."""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from proximity.oracle import shuffled
from search.small_index import graphs, index, model, queries

import ugraphemb as ug
from ugraphemb import GraphIndex, GraphSet
from ugraphemb.search import Matches


def ids(matches: Matches) -> list[str]:
    return [match.id for match in matches]


def scores(matches: Matches) -> list[float]:
    return [match.predicted for match in matches]


def test_the_nearest_by_vectors_are_those_that_the_model_predicts():
    database = graphs()[:50]
    for metric in ("ged", "mcs"):
        chosen = model(metric)
        found = GraphIndex(chosen, threads=1).add(database).search(queries(), 7)
        predicted = chosen.proximity(chosen.transform(queries()), chosen.transform(database))
        best = np.sort(-predicted if metric == "mcs" else predicted, axis=1)[:, :7]
        assert np.allclose([scores(matches) for matches in found], abs(best), atol=5e-4)


def test_every_head_is_searched_by_its_own_proximity():
    for head in ("l1", "sized_l1", "squared_l2", "l2", "pseudo_l2", "raised_l2"):
        chosen = model("ged", head)
        found = GraphIndex(chosen, threads=1).add(graphs()[:50]).search(queries()[0], 50)
        predicted = chosen.proximity(chosen.transform(queries()[:1]), chosen.transform(graphs()[:50]))[0]
        assert np.allclose(scores(found), np.sort(predicted), atol=5e-4)
    with pytest.raises(ValueError, match="'flat' and 'auto'"):
        GraphIndex(model("ged", "l1"), kind="hnsw")


def test_a_graph_gives_matches_and_a_collection_a_list_of_them():
    found = index()
    one, several = found.search(queries()[2], 3), found.search(queries()[:4], 3)
    assert isinstance(one, Matches)
    assert [type(matches) for matches in several] == [Matches] * 4
    assert ids(several[2]) == ids(one)
    assert len(found.search(queries()[:1], 3)) == 1
    assert ids(found.search(queries()[2].to_networkx(), 3)) == ids(one)
    assert found.search(queries()[[]], 3) == []
    assert [match.rank for match in one] == [1, 2, 3]
    assert one.certificate is None
    assert all(math.isnan(match.distance) and match.mapping is None and not match.proven for match in one)


def test_fewer_graphs_than_asked_for_are_all_of_them_and_none_is_none():
    assert len(index(4).search(queries()[0], 10)) == 4
    empty = GraphIndex(model())
    for options in ({}, {"verify": True}, {"complete": True}, {"within": 3.0}, {"where": {"class": 1}}):
        assert empty.search(queries()[0], **options) == []
    assert empty.search(queries()[0], complete=True).certificate.proven


def test_adding_in_pieces_is_adding_at_once():
    at_once, pieces = index(50), GraphIndex(model(), threads=1)
    for begin, end in ((0, 20), (20, 23), (23, 24), (24, 25), (25, 50)):
        pieces.add(graphs()[begin:end])
    assert pieces.ids == at_once.ids
    for query in queries():
        assert np.allclose(scores(pieces.search(query)), scores(at_once.search(query)), atol=1e-5)
        assert ids(pieces.search(query, complete=True)) == ids(at_once.search(query, complete=True))
    assert pieces.graphs() == dataclasses.replace(graphs()[:50], targets=None)


def test_parts_stay_few_however_graphs_come():
    found = GraphIndex(model(), threads=1)
    for i in range(40):
        found.add(graphs()[i : i + 1])
    assert len(found) == 40
    assert len(found._parts) <= 6


def test_what_is_removed_is_never_found_and_the_rest_always():
    found = index()
    for number, victim in enumerate(["g3", "g50", "g17", "g18", "g19", *(f"g{i}" for i in range(20, 40))], start=1):
        found.remove(victim)
        assert victim not in found
        assert len(found) == 60 - number
        for options in ({}, {"complete": True, "budget": 0}, {"within": 100.0, "budget": 0}):
            answer = found.search(graphs()[50], 60, **options)
            assert sorted(ids(answer)) == sorted(found.ids)
    found.remove(found.ids)
    assert found.search(graphs()[50]) == []
    found.add(graphs()[:5])
    assert len(found) == 5


def test_removing_what_is_not_there_changes_nothing():
    found = index(5)
    with pytest.raises(KeyError, match=r"'unknown' \(1 of 2"):
        found.remove(["g1", "unknown"])
    assert len(found) == 5


def test_ids_that_are_there_are_refused_or_replaced():
    found = index(10)
    with pytest.raises(ValueError, match=r"'g2' is already in the index \(1 of 2"):
        found.add(graphs()[50:52], ids=["new", "g2"])
    assert len(found) == 10
    assert "new" not in found
    found.add(graphs()[50:52], ids=["new", "g2"], replace=True)
    assert len(found) == 11
    assert found.search(graphs()[51], 1, verify=True)[0].id == "g2"
    assert ug.distance(found.graphs(["g2"]), graphs()[51]).value == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": ["a"]}, "1 ids for 2 graphs"),
        ({"ids": ["a", "a"]}, "'a' is given twice"),
        ({"metadata": {"year": [1]}}, "'year' has 1 values for 2"),
        ({"metadata": {"id": [1, 2]}}, "column 'id'"),
        ({"metadata": {"x": [1, "a"]}}, "metadata"),
        ({"vectors": np.zeros((2, 3))}, "vectors of shape"),
        ({"vectors": np.full((2, 8), np.nan)}, "finite"),
    ],
)
def test_wrong_additions_are_refused_and_change_nothing(options, message):
    found = index(3)
    with pytest.raises(ValueError, match=message):
        found.add(graphs()[50:52], **options)
    assert found.ids == ["g0", "g1", "g2"]
    with pytest.raises(TypeError, match="ids are strings"):
        found.add(graphs()[50:52], ids=[1, 2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"shortlist": 0, "verify": True}, "shortlist is 0"),
        ({"within": -1}, "within is -1"),
        ({"budget": -1, "verify": True}, "budget is -1"),
        ({"by": "size"}, "'normalized', 'edits'"),
        ({"where": {"year": 3}}, "no metadata column 'year'; there are 'id', 'class'"),
        ({"where": {"class": "three"}}, "'class' holds int64, which 'three' is not"),
    ],
)
def test_wrong_questions_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        index(5).search(graphs()[50], **options)


def test_a_model_that_was_not_fitted_and_an_unknown_kind_are_refused():
    with pytest.raises(Exception, match="not been fitted"):
        GraphIndex(ug.UGraphEmb())
    with pytest.raises(ValueError, match="kind='best'; it is one of 'auto', 'flat', 'hnsw', 'ivf'"):
        GraphIndex(model(), kind="best")


def test_filters_let_through_exactly_what_has_the_values():
    names = [f"g{i}" for i in range(60)]
    classes = dict(zip(names, graphs().targets.tolist(), strict=True))
    years = [None if i % 7 == 0 else 1990 + i % 5 for i in range(60)]
    found = GraphIndex(model(), threads=1)
    found.add(graphs()[:30], metadata={"year": years[:30]})
    found.add(graphs()[30:], metadata=[{"year": year, "source": "b"} for year in years[30:]])
    found.remove("g44")
    for where, holds in (
        ({"class": 2}, lambda i: classes[names[i]] == 2),
        ({"class": [0, 2]}, lambda i: classes[names[i]] != 1),
        ({"class": "1", "year": 1991}, lambda i: classes[names[i]] == 1 and years[i] == 1991),
        ({"year": None}, lambda i: years[i] is None),
        ({"source": "b"}, lambda i: i >= 30),
        ({"class": []}, lambda i: False),
    ):
        expected = sorted(name for i, name in enumerate(names) if holds(i) and name != "g44")
        for options in ({}, {"complete": True, "budget": 0}, {"within": 100.0, "budget": 0}):
            answer = found.search(graphs()[50], 60, where=where, **options)
            assert sorted(ids(answer)) == expected
            assert options == {} or answer.certificate.graphs == len(expected)
    assert found.search(graphs()[31], 1)[0].metadata == {"year": 1991, "source": "b", "class": classes["g31"]}


def test_metadata_may_be_an_arrow_table_and_classes_of_its_own_win():
    found = GraphIndex(model(), threads=1).add(graphs()[:3], metadata=pa.table({"class": ["x", "y", "z"]}))
    assert [match.metadata["class"] for match in found.search(graphs()[1], 1)] == ["y"]
    with pytest.raises(ValueError, match="metadata of different kinds"):
        found.add(graphs()[3:6])
    found = index(40)  # a new part of its own would hold anything
    with pytest.raises(ValueError, match="metadata of different kinds"):
        found.add(graphs()[40:42], metadata={"class": ["x", "y"]})
    assert len(found) == 40
    found.add(graphs()[40:42], metadata={"class": [0.5, None], "note": [None, None]})
    found.add(graphs()[42:43], metadata={"note": ["b"]})
    assert [match.id for match in found.search(graphs()[0], where={"note": "b"})] == ["g42"]
    assert len(found.search(graphs()[0], 50, where={"note": None})) == 42
    assert len(found.search(graphs()[0], where={"class": 0.5})) == 1


def test_eight_threads_find_what_one_finds():
    found = index(50)
    asked = list(queries()) * 4
    for options in ({}, {"verify": True, "shortlist": 20, "budget": None}, {"complete": True, "budget": None}):
        alone = [found.search(query, 5, **options) for query in asked[:10]]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda query, options=options: found.search(query, 5, **options), asked))
        assert repr(together) == repr(alone * 4)  # nan is not equal to itself


def test_the_number_of_threads_of_one_search_does_not_change_the_answer():
    answers = []
    for threads in (1, 3):
        found = GraphIndex(model(), threads=threads).add(graphs()[:50])
        answers.append(found.search(queries()[:5], 5, complete=True, budget=None))
    assert answers[0] == answers[1]


def test_searches_see_all_of_an_addition_or_none():
    found = index(30)
    allowed = {30, 40}
    seen = set()

    def ask(_: int) -> None:
        seen.add(len(found.search(graphs()[50], 100, where={"class": [0, 1, 2]})))

    with ThreadPoolExecutor(4) as pool:
        for step in range(15):
            waiting = [pool.submit(ask, i) for i in range(8)]
            found.add(graphs()[30:40], ids=[f"{step}:{i}" for i in range(10)])
            found.remove([f"{step}:{i}" for i in range(10)])
            for future in waiting:
                future.result()
    assert seen <= allowed
    assert 30 in seen


def test_the_order_of_nodes_changes_nothing():
    random = np.random.default_rng(0)
    found = index(50)
    for query in queries():
        plain, mixed = found.search(query, 5, complete=True), found.search(shuffled(query, random), 5, complete=True)
        assert [match.distance for match in plain] == [match.distance for match in mixed]
        assert plain.certificate.proven
        assert mixed.certificate.proven


def test_vectors_at_hand_are_taken_as_they_are():
    vectors = np.eye(8, dtype=np.float32)[:5]
    found = GraphIndex(model(), threads=1).add(graphs()[:5], vectors=vectors)
    assert np.array_equal(np.array(found.to_table()["vector"].to_pylist(), np.float32), vectors)


@pytest.mark.filterwarnings("ignore:.*labels that the model has never seen")
def test_graphs_without_labels_and_of_other_labels_live_together():
    found = index(5)
    found.add(GraphSet.from_networkx([nx.path_graph(4)], ids=["path"]))
    found.add(GraphSet.from_networkx([nx.cycle_graph(4)], ids=["cycle"]))
    answer = found.search(nx.path_graph(4), 2, complete=True)
    assert [(match.id, match.distance) for match in answer] == [("path", 0), ("cycle", 1)]


def test_an_exported_file_has_ids_vectors_and_metadata(tmp_path):
    import pyarrow.parquet as pq

    found = index(20).remove("g3")
    found.add(graphs()[20:23], metadata={"note": ["a", "b", "c"]})
    found.export(tmp_path / "vectors.parquet")
    table = pq.read_table(tmp_path / "vectors.parquet")
    assert table.column_names[:2] == ["id", "vector"]
    assert set(table.column_names) == {"id", "vector", "class", "note"}
    assert table.schema.metadata[b"ugraphemb.head"].decode() == found.head
    assert table["id"].to_pylist() == found.ids
    assert table["note"].to_pylist()[-3:] == ["a", "b", "c"]
    expected = model().transform(found.graphs())
    assert np.allclose(np.array(table["vector"].to_pylist()), expected, atol=1e-5)
    empty = GraphIndex(model()).to_table()
    assert (empty.num_rows, empty.column_names) == (0, ["id", "vector"])


@pytest.mark.parametrize("head", [None, "l1", "l2", "inner"])
def test_without_faiss_a_flat_search_finds_the_same(monkeypatch: pytest.MonkeyPatch, head: str | None):
    import sys

    chosen = model("mcs" if head == "inner" else "ged", head)
    found = GraphIndex(chosen, threads=1).add(graphs()[:50])
    expected = [[match.id for match in matches] for matches in found.search(queries(), 5)]
    monkeypatch.setitem(sys.modules, "faiss", None)
    found = GraphIndex(chosen, threads=1).add(graphs()[:50])
    assert [[match.id for match in matches] for matches in found.search(queries(), 5)] == expected
    with pytest.raises(ug.errors.MissingExtraError, match=r"pip install 'ugraphemb\[search\]'"):
        GraphIndex(chosen, kind="hnsw")
