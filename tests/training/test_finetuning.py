"""Fine-tuning: classes that distances do not show, distances that stay, class layers by their equations."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.encoder import classes
from ugraphemb.encoder.classes import kernels_of, mixed, softmax
from ugraphemb.encoder.colors import bags, colors, known_colors
from ugraphemb.training import class_fitting, finetuning
from ugraphemb.training.class_fitting import solved
from ugraphemb.training.finetuning import Finetuning


@pytest.fixture(scope="module")
def graphs() -> ug.GraphSet:
    """Trees whose nodes are a or b, but for one rare label in half of them, its name one of six."""
    random = np.random.default_rng(0)
    sizes = random.integers(6, 12, 90)
    starts = np.cumsum(sizes) - sizes
    edges = [(s + random.integers(node), s + node) for s, n in zip(starts, sizes, strict=True) for node in range(1, n)]
    labels = random.choice(["a", "b"], sizes.sum()).astype(object)
    rare = starts[::2] + random.integers(sizes[::2])
    labels[rare] = [f"x{i % 6}" for i in range(len(rare))]
    return ug.GraphSet.from_edges(sizes, edges, node_labels=labels.tolist(), targets=[i % 2 for i in range(90)])


@pytest.fixture(scope="module")
def model(graphs: ug.GraphSet) -> ug.UGraphEmb:
    return ug.UGraphEmb(
        steps=60,
        dimension=16,
        layers=(16, 16, 16),
        truth="table",
        augment=0,
        method="hungarian",
        threads=1,
        progress=False,
    ).fit(graphs)


def test_a_class_that_one_rare_label_makes_is_learned(graphs, model):
    tuned = copy.deepcopy(model).finetune(graphs[:60], graphs.targets[:60])
    assert np.mean(tuned.predict(graphs[60:]) == graphs.targets[60:]) > 0.75


def test_a_prediction_depends_neither_on_other_graphs_nor_on_the_order_of_them(graphs, model):
    tuned = copy.deepcopy(model).finetune(graphs[:60], graphs.targets[:60], steps=3)
    together = tuned.predict_proba(graphs[60:])
    np.testing.assert_allclose(together.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(tuned.predict_proba(graphs[[77]]), together[[17]], atol=1e-5)
    np.testing.assert_allclose(tuned.predict_proba(graphs[np.arange(89, 59, -1)]), together[::-1], atol=1e-5)


def test_distances_stay_closer_to_what_they_were_where_they_are_kept(graphs, model, monkeypatch):
    before = model.proximity(model.transform(graphs), model.transform(graphs))
    change = {}
    for keep in (0.0, 10.0):
        monkeypatch.setattr(finetuning, "Finetuning", lambda keep=keep: Finetuning(keep=keep, encoder_rate=0.005))
        vectors = copy.deepcopy(model).finetune(graphs, graphs.targets, steps=40).transform(graphs)
        change[keep] = np.abs(model.proximity(vectors, vectors) - before).mean()
    assert 0 < change[10.0] < change[0.0] / 2


def test_trusting_all_labels_leaves_the_vectors_as_they_are(graphs, model):
    other = copy.deepcopy(model)
    assert other.network_.inputs.trust.min() < 0.7
    other.network_.inputs.trust_all_labels()
    np.testing.assert_allclose(other.transform(graphs), model.transform(graphs), atol=1e-5)
    assert other.network_.inputs.trust.min() == 1


def test_the_same_seed_gives_the_same_classes(graphs, model):
    one, two = (copy.deepcopy(model).finetune(graphs, graphs.targets, steps=5) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(graphs), two.predict_proba(graphs))
    np.testing.assert_array_equal(one.transform(graphs), two.transform(graphs))


def test_fewer_centers_than_graphs_learn_from_all_graphs(graphs, model, monkeypatch):
    monkeypatch.setattr(class_fitting, "MOST", 40)
    tuned = copy.deepcopy(model).finetune(graphs[:60], graphs.targets[:60], steps=3)
    assert len(tuned.network_.classes.offsets) == 40
    assert np.mean(tuned.predict(graphs[60:]) == graphs.targets[60:]) > 0.75


def test_many_graphs_are_predicted_in_parts(graphs, model, monkeypatch):
    tuned = copy.deepcopy(model).finetune(graphs[:60], graphs.targets[:60], steps=3)
    whole = tuned.predict_proba(graphs)
    monkeypatch.setattr(classes, "_AT_ONCE", 7)
    np.testing.assert_allclose(tuned.predict_proba(graphs), whole, atol=1e-6)


@pytest.mark.parametrize(("name", "value"), [("color", 10**9), ("color", -1), ("offsets", 10**9)])
def test_class_layers_with_positions_that_do_not_exist_are_refused(graphs, model, tmp_path, name, value):
    tuned = copy.deepcopy(model).finetune(graphs[:60], graphs.targets[:60], steps=1)
    getattr(tuned.network_.classes, name)[1] = value
    tuned.save(tmp_path / "model")
    with pytest.raises(ug.errors.ModelFormatError, match="class layers"):
        ug.UGraphEmb.load(tmp_path / "model").predict(graphs)


def test_weights_of_all_graphs_solve_the_ridge_equation_either_way():
    random = np.random.default_rng(0)
    points, targets = random.normal(size=(30, 3)), random.normal(size=(30, 2))
    kernel = np.exp(-((points[:, None] - points) ** 2).sum(-1))
    alpha = solved(kernel, kernel, targets, (0.5,))[0]
    np.testing.assert_allclose(kernel @ alpha + 0.5 * alpha, targets, atol=1e-8)
    some = kernel[:, :10]
    fewer = solved(some, some[:10], targets, (0.5,))[0]
    gradient = some.T @ (some @ fewer - targets) + 0.5 * some[:10] @ fewer
    assert np.abs(gradient).max() < 1e-4


def test_kernels_are_one_of_a_graph_with_itself_and_less_with_others(graphs, model):
    found = colors(graphs, 3, edge_labels=False)
    known, rounds = known_colors(found)
    described = (model.transform(graphs), bags(found, known, len(graphs)))
    for kernel in kernels_of(described, described, rounds, 5.0):
        np.testing.assert_allclose(kernel, kernel.T, atol=1e-6)
        np.testing.assert_allclose(np.diagonal(kernel), 1, atol=1e-5)
        assert (kernel <= 1 + 1e-5).all()
        assert np.linalg.eigvalsh(kernel).min() > -1e-4


def test_mixtures_and_probabilities():
    first, second = np.ones((2, 2)), np.eye(2)
    np.testing.assert_array_equal(mixed([first, second, first], np.array([0.5, 0.25, 0.0])), [[0.75, 0.5], [0.5, 0.75]])
    np.testing.assert_allclose(softmax(np.array([[0.0, 1.0]]), 2.0), [[1 / (1 + np.e**2), np.e**2 / (1 + np.e**2)]])
