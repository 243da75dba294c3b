"""Truth while training: the same weights whatever the timing, and after an interruption."""

import threading
import time

import networkx as nx
import numpy as np
import pytest
import torch
from training.small_training import graphs, same

import ugraphemb as ug
from ugraphemb.training import online, presets
from ugraphemb.training.display import Display
from ugraphemb.training.fresh import graph_marks

SETTINGS = {
    "clustering": False, "scales": None, "steps_a_block": 2, "mined": 0.5, "validate_every": 6, "selection": "last",
}  # fmt: skip


def model(**changes):
    given = {"truth": "online", "augment": 0.5, "steps": 12, "batch": 8, "layers": (6,), "dimension": 8, **changes}
    settings = {**SETTINGS, **given.pop("settings", {})}
    return ug.UGraphEmb(method="branch", threads=1, progress=False, settings=settings, **given)


def weights(fitted):
    return fitted.network_.state_dict()


@pytest.fixture(scope="module")
def whole():
    return model().fit(graphs())


def test_the_time_that_truth_takes_changes_nothing(whole, monkeypatch):
    compute = online.Truth.of_all_pairs
    delays = iter([0.05, 0, 0.02, 0, 0.1, 0])

    def slow(self, *given):
        time.sleep(next(delays, 0))
        return compute(self, *given)

    monkeypatch.setattr(online.Truth, "of_all_pairs", slow)
    assert same(weights(whole), weights(model().fit(graphs())))
    assert not same(weights(whole), weights(model(seed=1).fit(graphs())))


def test_blocks_hold_training_graphs_and_fresh_ones_with_all_their_distances(monkeypatch):
    seen = []
    compute = online.Truth.of_all_pairs

    def noted(self, some, *given):
        found = compute(self, some, *given)
        seen.append((some, found))
        return found

    monkeypatch.setattr(online.Truth, "of_all_pairs", noted)
    held_out = np.arange(0, 30, 5)
    fitted = model(settings={"mined": 0.0}).fit(graphs(), held_out=held_out, avoid=graphs()[held_out])
    training = np.setdiff1d(np.arange(30), held_out)
    known = set(graph_marks(graphs()[training]).tolist())
    avoided = set(graph_marks(graphs()[held_out]).tolist()) - known
    for some, value in seen:
        assert len(some) == 8
        assert len(known & set(graph_marks(some[:4]).tolist())) >= 1
        assert not avoided & set(graph_marks(some[4:]).tolist())
        truth = ug.pairwise(some, method="branch", progress=False).normalized()
        np.testing.assert_allclose(value, truth.value, rtol=1e-6)
    validation = len(held_out) * len(training)
    assert fitted.about_["pairs"] == sum(len(value) for _, value in seen) + validation


def test_distances_among_training_graphs_are_computed_once(whole, monkeypatch):
    asked = []
    compute = online.pairwise

    def counted(some, pairs, **given):
        asked.append(len(pairs))
        return compute(some, pairs, **given)

    monkeypatch.setattr(online, "pairwise", counted)
    assert same(weights(whole), weights(model().fit(graphs())))
    remembered = sum(asked)
    monkeypatch.setattr(online, "_REMEMBERED", 0)
    assert same(weights(whole), weights(model().fit(graphs())))
    assert remembered < sum(asked) - remembered


def test_an_interrupted_training_goes_on_to_the_same_weights(whole, tmp_path, monkeypatch):
    def stop(self, step, loss):
        if step == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Display, "tick", stop)
        with pytest.warns(UserWarning, match="stopped at step 5"):
            model().fit(graphs(), checkpoint=tmp_path / "run")
    computed = []
    compute = online.Truth.of_all_pairs
    monkeypatch.setattr(
        online.Truth, "of_all_pairs", lambda self, some, tick: computed.append(1) or compute(self, some, tick)
    )
    resumed = model().fit(graphs(), checkpoint=tmp_path / "run", resume=True)
    assert same(weights(whole), weights(resumed))
    assert len(computed) < 6  # what was known is not computed again


def test_no_thread_is_left_behind(whole):
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("truth")]


def test_an_error_in_the_thread_reaches_the_caller(monkeypatch):
    def broken(self, *given):
        raise RuntimeError("no truth")

    monkeypatch.setattr(online.Truth, "of_all_pairs", broken)
    with pytest.raises(RuntimeError, match="no truth"):
        model().fit(graphs())


def test_small_graphs_get_exact_distances_where_no_method_is_asked_for():
    truth = online.Truth(ug.UGraphEmb()._metric(), refined=True)
    some = graphs()[:8]
    exact = ug.pairwise(some, method="exact", progress=False).normalized().value
    np.testing.assert_allclose(truth.of_all_pairs(some, lambda done, of: None), exact, rtol=1e-6)


def test_given_proximities_are_used_beside_fresh_graphs():
    table = ug.pairwise(graphs(), method="branch", progress=False)
    fitted = model(truth=None).fit(graphs(), table)
    assert fitted.about_["pairs"] > len(table)
    with pytest.raises(ValueError, match="fresh graphs would be by"):
        model(truth=None).fit(graphs(), ug.pairwise(graphs(), method="hungarian", progress=False))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"truth": "table"}, "fresh graphs need truth='online'"),
        ({"truth": "soon"}, "truth='soon'; it is 'online' or 'table'"),
        ({"augment": 1.5}, "augment"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        model(**changes).fit(graphs())


def test_metrics_other_than_edit_distance_are_tables_by_default():
    settings = {"clustering": False, "scales": None}
    fitted = ug.UGraphEmb(
        metric="labels", steps=2, layers=(6,), dimension=8, threads=1, progress=False, settings=settings
    ).fit(ug.GraphSet.from_edges([3] * 8, [], targets=[0, 1] * 4))  # fmt: skip
    assert fitted.about_["pairs"] == 28
    assert torch.isfinite(next(fitted.network_.parameters())).all()


def test_blocks_that_do_not_fit_into_memory_are_prepared_again(whole, monkeypatch):
    monkeypatch.setattr(online, "_NODES_KEPT", 1)
    assert same(weights(whole), weights(model().fit(graphs())))


@pytest.mark.parametrize(("most", "activation", "augment"), [(500, "gelu", 0.4), (5, "relu", 0.0)])
def test_many_labels_get_a_network_and_training_of_their_own(monkeypatch, most, activation, augment):
    words = ug.GraphSet.from_edges([3] * 6, [(3 * i, 3 * i + 1) for i in range(6)], node_labels=[*"abcdefghijklmnopqr"])
    monkeypatch.setattr(presets, "MANY_LABELS", most)

    def fitted(**given):
        return ug.UGraphEmb(method="branch", threads=1, progress=False, steps=1, **given).fit(words)

    default = fitted()
    assert default.network_.config.activation == activation
    assert default.about_["training"]["augment"] == augment
    asked = fitted(augment=0.5, settings={"activation": "gelu"})
    assert asked.network_.config.activation == "gelu"
    assert asked.about_["training"]["augment"] == 0.5
    assert fitted(preset="0.1").network_.config.activation == "relu"


def test_sparse_graphs_under_edit_distance_are_compared_by_l1_over_sizes():
    sparse, dense = (
        ug.GraphSet.from_networkx([make(5 + i % 3) for i in range(6)]) for make in (nx.path_graph, nx.complete_graph)
    )

    def head(graphs, distances=None, **given):
        fitted = ug.UGraphEmb(method="branch", threads=1, progress=False, steps=1, **given)
        return fitted.fit(graphs, distances=distances).network_.config.head

    assert head(sparse) == "sized_l1"
    assert head(dense) == "raised_l2"
    assert head(sparse, head="l2") == "l2"
    assert head(sparse, preset="0.1") == "raised_l2"
    assert head(sparse, distances=np.ones((6, 6)) - np.eye(6)) == "raised_l2", "distances of which nothing is known"
