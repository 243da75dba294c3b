"""Verified answers: against brute force over the database, and what certificates claim."""

from __future__ import annotations

import numpy as np
import pytest
from search.small_index import graphs, index, model, queries

import ugraphemb as ug
from ugraphemb import EditCosts, GraphIndex
from ugraphemb.proximity import apply_edits
from ugraphemb.proximity.edits import changes_of


@pytest.fixture(scope="module")
def truth():
    """Exact distances of the ten queries to the first fifty graphs, and the same divided by sizes."""
    table = ug.pairwise(queries(), graphs()[:50], method="exact", threads=1)
    assert table.proven.all()
    return table.matrix(), table.normalized().matrix()


@pytest.mark.parametrize(("by", "which"), [("edits", 0), ("normalized", 1)])
def test_complete_search_is_brute_force(truth, by, which):
    for k in (1, 5, 50):
        found = index(50).search(queries(), k, complete=True, by=by, budget=None)
        for q, matches in enumerate(found):
            values = [match.distance if by == "edits" else match.normalized for match in matches]
            assert np.allclose(values, np.sort(truth[which][q])[:k])
            assert matches.certificate.proven
            assert matches.certificate.ordered
            assert all(match.proven for match in matches)


def test_range_search_is_brute_force(truth):
    found = index(50)
    for radius in (0, 2, 3.5, 6, 100):
        for q, matches in enumerate(found.search(queries(), within=radius, budget=None)):
            expected = {f"g{i}" for i in np.flatnonzero(truth[0][q] <= radius)}
            assert {match.id for match in matches} == expected
            assert matches.certificate.proven
    assert len(found.search(queries()[0], 2, within=100)) == 2


def test_verified_matches_are_the_nearest_of_the_shortlist(truth):
    found = index(50)
    for q in range(10):
        near = [int(match.id[1:]) for match in found.search(queries()[q], 12)]
        matches = found.search(queries()[q], 4, verify=True, shortlist=12, budget=None)
        assert np.allclose([match.normalized for match in matches], np.sort(truth[1][q][near])[:4])
        assert (matches.certificate.scope, matches.certificate.graphs) == ("shortlist", 12)
        assert matches.certificate.proven


def test_distances_and_maps_are_those_of_exact():
    for match in (m for found in index(50).search(queries(), 5, complete=True) for m in found):
        answer = ug.distance(match.query, match.graph, method="exact")
        assert match.distance == match.lower == match.upper == answer.value
        path = match.edit_path()
        assert sum(step.cost for step in path) == match.distance
        assert ug.distance(apply_edits(path, match.query), match.graph, method="exact").value == 0


@pytest.mark.parametrize("options", [{"k": 3, "complete": True}, {"within": 4}, {"k": 3, "verify": True}])
def test_every_graph_is_a_match_ruled_out_or_undecided(options):
    for budget in (0, None):
        for matches in index(50).search(queries(), budget=budget, **options):
            counts = matches.certificate
            assert sum(counts.removed.values()) + len(matches) + len(counts.undecided) == counts.graphs == 50
            assert counts.proven == (not counts.undecided)
            assert list(counts.removed) == ["size", "labels", "degrees", "branch", "tight", "exact"]
            assert ("undecided" in str(counts)) != counts.proven


def test_without_time_nothing_is_claimed_that_is_not_so(truth):
    for q, matches in enumerate(index(50).search(queries(), 5, complete=True, budget=0)):
        true = truth[0][q]
        for match in matches:
            exact = true[int(match.id[1:])]
            assert match.lower <= exact <= match.upper == match.distance
            assert not match.proven or match.distance == exact
        missed = set(np.argsort(truth[1][q], kind="stable")[:5].tolist()) - {int(match.id[1:]) for match in matches}
        worst = max(match.normalized for match in matches)
        better = {f"g{i}" for i in missed if truth[1][q][i] < worst - 1e-9}
        assert better <= set(matches.certificate.undecided)


def test_range_search_without_time_returns_members_only(truth):
    for q, matches in enumerate(index(50).search(queries(), within=5, budget=0)):
        inside = {f"g{i}" for i in np.flatnonzero(truth[0][q] <= 5)}
        found = {match.id for match in matches}
        assert found <= inside
        assert inside - found <= set(matches.certificate.undecided)


def test_costs_are_those_asked_for_and_survive_saving(tmp_path):
    costs = EditCosts(node_insert=2.0, node_delete=3.0, node_relabel=1.5, edge_insert=0.5)
    found = GraphIndex(model(), costs=costs, threads=1).add(graphs()[:50])
    table = ug.pairwise(queries(), graphs()[:50], method="exact", costs=costs, threads=1).normalized().matrix()
    found.save(tmp_path / "index")
    for one in (found, GraphIndex.load(tmp_path / "index", threads=1)):
        for q, matches in enumerate(one.search(queries()[:4], 5, complete=True, budget=None)):
            assert np.allclose([match.normalized for match in matches], np.sort(table[q])[:5])


def test_costs_that_a_file_cannot_hold_are_asked_for_again(tmp_path):
    costs = EditCosts(node_relabel=lambda a, b: 0.0 if a == b else 0.5)
    found = GraphIndex(model(), costs=costs, threads=1).add(graphs()[:50])
    found.save(tmp_path / "index")
    loaded = GraphIndex.load(tmp_path / "index", threads=1)
    assert len(loaded.search(queries()[0])) == 10
    with pytest.raises(ValueError, match="costs="):
        loaded.search(queries()[0], verify=True)
    again = GraphIndex.load(tmp_path / "index", costs=costs, threads=1)
    table = ug.pairwise(queries()[:1], graphs()[:50], method="exact", costs=costs, threads=1)
    matches = again.search(queries()[0], 5, complete=True, by="edits", budget=None)
    assert np.allclose([match.distance for match in matches], np.sort(table.value)[:5])


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_stops_a_search(threads):
    random = np.random.default_rng(0)
    pairs = np.array([(u, v) for u in range(40) for v in range(u)])
    chosen = [pairs[random.random(len(pairs)) < 0.3] + 40 * g for g in range(6)]
    hard = ug.GraphSet.from_edges(
        [40] * 6, np.concatenate(chosen), node_labels=["C"] * 240
    )  # no proof in any time that a test has
    found = GraphIndex(model(), threads=threads).add(hard[1:])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ugraphemb.search.index._at", lambda tick, done: interrupted)
        with pytest.raises(KeyboardInterrupt):
            found.search(hard[0], complete=True, budget=None)


def test_ties_are_ranked_in_the_order_of_the_database():
    copies = graphs()[[3, 7, 3, 3, 7, 3]]
    found = GraphIndex(model(), threads=2).add(copies, ids=list("abcdef"))
    assert [match.id for match in found.search(graphs()[3], 3, complete=True)] == ["a", "c", "d"]


@pytest.mark.filterwarnings("ignore:.*labels that the model has never seen")
def test_a_batch_gives_what_each_of_its_graphs_gives(monkeypatch):
    asked = queries()[[2, 5, 2, 2, 5]]
    calls = []
    original = ug.search.index.verified_matches
    monkeypatch.setattr("ugraphemb.search.index.verified_matches", lambda *a, **k: calls.append(1) or original(*a, **k))
    together = index(50).search(asked, 4, complete=True)
    assert len(calls) == 2  # two different graphs
    alone = [index(50).search(graph, 4, complete=True) for graph in asked]
    assert [[(m.id, m.distance) for m in one] for one in together] == [
        [(m.id, m.distance) for m in one] for one in alone
    ]


def test_changes_count_the_edits_of_a_kind():
    left = ug.GraphSet.from_edges([4], [(0, 1), (1, 2), (2, 3)], node_labels=["C", "C", "N", "O"])
    right = ug.GraphSet.from_edges([3], [(0, 1), (0, 2), (1, 2)], node_labels=["C", "C", "N"])
    match = GraphIndex(model(), threads=1).add(right, ids=["x"]).search(left[0], 1)[0]
    steps = match.edit_path()
    text = match.changes()
    assert sum(step.operation == "delete node" for step in steps) == 1
    assert text.count("edge") == len({step.operation for step in steps if step.operation.endswith("edge")})
    assert changes_of([]) == "the same graph"


def test_without_verification_edits_are_found_when_asked_for():
    match = index(50).search(queries()[3], 1)[0]
    assert sum(step.cost for step in match.edit_path()) == ug.distance(match.query, match.graph).value
