"""UGraphEmb: learning, the scikit-learn conventions, saved models, interrupted runs."""

import copy
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import ugraphemb as ug
from ugraphemb.errors import GraphWarning, ModelFormatError, TableError, TrainingError

QUICK = {"steps": 40, "threads": 1, "progress": False, "layers": (16, 16), "dimension": 16}
QUICK_SETTINGS = {"scales": None, "validate_every": 20, "batch": 16}


def quick(**changes):
    settings = {**QUICK_SETTINGS, **changes.pop("settings", {})}
    return ug.UGraphEmb(**{**QUICK, **changes}, settings=settings)


@pytest.fixture(scope="module")
def graphs():
    return ug.load_dataset("atlas")[50:110]


@pytest.fixture(scope="module")
def table(graphs):
    return ug.pairwise(graphs, progress=False)


@pytest.fixture(scope="module")
def fitted(graphs, table):
    return quick().fit(graphs, table)


def test_copies_are_predicted_at_zero(fitted, graphs):
    """Also where vectors are long, and differences of their squares few digits."""
    vectors = 30 * fitted.transform(graphs)
    assert np.abs(np.diag(fitted.proximity(vectors, vectors))).max() < 1e-6


def test_eight_graphs_are_learned_to_nearly_zero_loss():
    eight = ug.load_dataset("atlas")[40:48]
    settings = {"relative": 0.0, "batch_norm": False, "validate_every": 500, "clustering": True}
    # Roots of distances lie in Euclidean space more often than distances do, so squared L2 can reach zero.
    model = quick(preset="0.1", steps=500, learning_rate=0.01, head="squared_l2", settings=settings)
    model.fit(eight, held_out=[0])
    assert model.history_[-1][1] < 1e-3


def test_learning_orders_graphs_it_has_not_seen(graphs, table):
    model = quick(steps=300).fit(graphs, table)
    assert model.about_["validation"]["tau"] > 0.5


def test_the_same_seed_gives_the_same_vectors(graphs, table, fitted):
    again = quick().fit(graphs, table)
    np.testing.assert_array_equal(again.transform(graphs), fitted.transform(graphs))
    other = quick(seed=1).fit(graphs, table)
    assert np.abs(other.transform(graphs) - fitted.transform(graphs)).max() > 1e-3


def test_transform_takes_any_graphs_in_any_company(graphs, fitted):
    vectors = fitted.transform(graphs)
    assert vectors.shape == (60, 16)
    np.testing.assert_allclose(fitted.transform(graphs[7]), vectors[[7]], atol=1e-5)
    np.testing.assert_allclose(fitted.transform([graphs[3], graphs[1]]), vectors[[3, 1]], atol=1e-5)
    assert fitted.transform(graphs[:0]).shape == (0, 16)
    with pytest.raises(TypeError, match="GraphSet"):
        fitted.transform([object()])


def test_features_are_the_vectors_and_what_distances_ignore(fitted, graphs):
    vectors, features = fitted.transform(graphs), fitted.features(graphs, colors=32)
    width = vectors.shape[1]
    assert np.array_equal(features[:, :width], vectors)
    assert np.array_equal(fitted.features(graphs[[3]], colors=32)[0, width:], features[3, width:])
    assert features[:, width:].any(axis=1).all()
    assert features.dtype == np.float32
    with pytest.raises(ValueError, match="colors is 0"):
        fitted.features(graphs, colors=0)


def test_vectors_come_as_a_data_frame_on_request(graphs, fitted):
    pandas = pytest.importorskip("pandas")
    model = clone(fitted)
    model.__dict__.update(fitted.__dict__)
    frame = model.set_output(transform="pandas").transform(graphs[:3])
    assert isinstance(frame, pandas.DataFrame)
    assert frame.columns.tolist() == model.get_feature_names_out().tolist() == [f"ugraphemb{i}" for i in range(16)]
    np.testing.assert_array_equal(frame.to_numpy(), fitted.transform(graphs[:3]))


def test_labels_that_the_model_has_never_seen_are_reported_with_their_share(fitted):
    strange = ug.GraphSet.from_edges([2, 2], [(0, 1), (2, 3)], node_labels=[6, 8, 6, 1])
    with pytest.warns(
        GraphWarning, match=r"4 of 4 nodes \(100.0%\) have labels that the model has never seen \(1, 6, 8\)"
    ):
        fitted.transform(strange)


def test_a_similarity_is_learned_by_inner_products(graphs):
    model = quick(metric="mcs").fit(graphs)
    assert model.network_.config.head == "inner"
    assert model.about_["kind"] == "similarity"


def test_a_table_of_other_graphs_is_refused(graphs, table):
    with pytest.raises(TableError):
        quick().fit(graphs[:30], table)


def test_several_collections_with_different_labels_are_learned_at_once(graphs):
    labeled = ug.GraphSet.from_edges([2] * 10, [[2 * i, 2 * i + 1] for i in range(10)], node_labels=list("CN" * 10))
    model = quick().fit([graphs[:20], labeled])
    assert set(model.vocabulary_.node_labels) == {None, "C", "N"}
    assert model.about_["graphs"]["count"] == 30


def test_scikit_learn_conventions_hold(graphs):
    model = quick(seed=3)
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(quick(steps=10), {"dimension": [4, 8]}, cv=2).fit(graphs)
    assert search.best_params_["dimension"] in (4, 8)
    classes = (graphs.num_edges > np.median(graphs.num_edges)).astype(int)
    pipeline = make_pipeline(quick(steps=60), LogisticRegression(max_iter=1000)).fit(graphs, classes)
    assert pipeline.score(graphs, classes) > 0.7


def test_finetuning_moves_the_vectors_towards_the_classes(graphs, table):
    classes = np.where(graphs.num_edges > np.median(graphs.num_edges), "many", "few")
    model = quick().fit(graphs, table)
    before = model.transform(graphs)
    model.finetune(graphs, classes, steps=60)
    assert np.abs(model.transform(graphs) - before).max() > 1e-3
    assert model.about_["finetuned"]["classes"] == ["few", "many"]
    assert model.about_["finetuned"]["validation_accuracy"] > 0.7


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (np.zeros(60), "two classes; all are of class 0.0"),
        (np.arange(5), r"targets of shape \(5,\); expected \(60,\)"),
        (None, r"targets of shape \(\)"),
        (np.eye(2)[np.arange(60) % 2], r"targets of shape \(60, 2\)"),
        (np.where(np.arange(60) == 7, np.nan, np.arange(60) % 2), r"target 7 is missing or not finite \(1 of 60 are\)"),
        ([None if i == 3 else "ab"[i % 2] for i in range(60)], "target 3 is missing"),
        ([float("nan") if i == 3 else "ab"[i % 2] for i in range(60)], "target 3 is missing"),
        (["" if i == 3 else "ab"[i % 2] for i in range(60)], "target 3 is missing"),
        ([1 if i % 2 else "a" for i in range(60)], "targets of different types: number, str"),
        ([1 if i % 2 else True for i in range(60)], "targets of different types: bool, number"),
        (np.array(["2020-01-01", "2021-01-01"] * 30, "datetime64[D]"), "which a model cannot store"),
        ([b"a", b"b"] * 30, "which a model cannot store"),
    ],
)
def test_classes_that_cannot_be_learned_are_refused_before_anything_is_trained(graphs, fitted, targets, message):
    model = copy.deepcopy(fitted)
    with pytest.raises(ValueError, match=message):
        model.finetune(graphs, targets)
    np.testing.assert_array_equal(model.transform(graphs[:4]), fitted.transform(graphs[:4]))
    with pytest.raises(ValueError, match=message):  # before the encoder is trained, which would refuse its preset
        ug.UGraphEmbClassifier(quick(preset="nonsense"), steps=1).fit(graphs, targets)


@pytest.mark.parametrize(
    "classes", [["few", "many"], [False, True], [0.5, 1.5], [-7, 100], [np.int8(3), np.int8(5)], [np.str_("x"), "yy"]]
)
def test_classes_keep_their_type_when_the_model_is_saved(graphs, fitted, tmp_path, classes):
    targets = [classes[i % 2] for i in range(60)]
    tuned = copy.deepcopy(fitted).finetune(graphs, targets, steps=1)
    tuned.save(tmp_path / "model")
    loaded = ug.UGraphEmb.load(tmp_path / "model")
    plain = np.asarray(targets)
    for model in (tuned, loaded):
        assert model.classes_.tolist() == sorted(set(plain.tolist()))
        assert model.predict(graphs).dtype.kind == plain.dtype.kind
    np.testing.assert_array_equal(loaded.predict(graphs), tuned.predict(graphs))


def test_targets_come_as_a_series_of_pandas(graphs, fitted):
    pandas = pytest.importorskip("pandas")
    plain = np.where(np.arange(60) % 2, "a", "b")
    expected = copy.deepcopy(fitted).finetune(graphs, plain, steps=1).predict_proba(graphs)
    for kind in (object, "string", "category"):
        series = pandas.Series(plain, index=range(100, 40, -1), dtype=kind)
        found = copy.deepcopy(fitted).finetune(graphs, series, steps=1)
        assert found.classes_.tolist() == ["a", "b"]
        np.testing.assert_array_equal(found.predict_proba(graphs), expected)
    gap = pandas.Series([None if i == 2 else i % 2 for i in range(60)], dtype="Int64")
    with pytest.raises(ValueError, match="target 2 is missing"):
        copy.deepcopy(fitted).finetune(graphs, gap)


def test_finetuning_refuses_steps_and_collections_that_are_too_small(graphs, fitted):
    with pytest.raises(ValueError, match="steps=-1"):
        copy.deepcopy(fitted).finetune(graphs, np.arange(60) % 2, steps=-1)
    for count in (0, 1, 2):
        with pytest.raises(ValueError, match=f"at least 3 graphs, not {count}"):
            copy.deepcopy(fitted).finetune(graphs[:count], np.arange(count))
    tiny = copy.deepcopy(fitted).finetune(graphs[:3], [0, 1, 0], steps=1)
    assert tiny.predict_proba(graphs[:3]).shape == (3, 2)
    only = copy.deepcopy(fitted).finetune(graphs, np.arange(60) % 2, steps=0)  # class layers alone
    np.testing.assert_allclose(only.transform(graphs), fitted.transform(graphs), atol=1e-5)


def test_a_finetuned_model_predicts_and_keeps_its_class_layers_when_saved(graphs, table, tmp_path):
    classes = np.where(graphs.num_edges > np.median(graphs.num_edges), "many", "few")
    model = quick().fit(graphs, table)
    with pytest.raises(AttributeError, match="has no classes"):
        model.predict(graphs)
    model.finetune(graphs, classes, steps=100)
    shares = model.predict_proba(graphs)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(graphs), model.classes_[shares.argmax(axis=1)])
    assert np.mean(model.predict(graphs) == classes) > 0.7
    assert model.predict_proba(graphs[:0]).shape == (0, 2)
    model.save(tmp_path / "fine")
    loaded = ug.UGraphEmb.load(tmp_path / "fine")
    assert loaded.classes_.tolist() == ["few", "many"]
    np.testing.assert_array_equal(loaded.predict_proba(graphs), shares)
    three = np.arange(60) % 3
    loaded.finetune(graphs, three, steps=5)  # other classes replace the layers
    assert loaded.predict_proba(graphs).shape == (60, 3)
    loaded.fit(graphs, table)
    assert not hasattr(loaded, "classes_")


def test_the_classifier_is_one_object_for_cross_validation(graphs, fitted, tmp_path):
    sparse_and_dense = graphs[:20] + ug.load_dataset("atlas")[180:200]
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    classifier = ug.UGraphEmbClassifier(quick(), steps=60)
    assert cross_val_score(classifier, sparse_and_dense, [3] * 20 + [7] * 20, cv=folds).mean() > 0.8
    classes = np.where(graphs.num_edges > np.median(graphs.num_edges), 7, 3)
    before = fitted.transform(graphs)
    tuned = ug.UGraphEmbClassifier(fitted, steps=20, seed=5).fit(graphs, classes)
    assert tuned.classes_.tolist() == [3, 7]
    assert np.abs(tuned.transform(graphs) - before).max() > 1e-3
    np.testing.assert_array_equal(fitted.transform(graphs), before)  # a copy was tuned
    fitted.save(tmp_path / "model")
    same = ug.UGraphEmbClassifier(tmp_path / "model", steps=20, seed=5).fit(graphs, classes)
    np.testing.assert_array_equal(same.predict_proba(graphs), tuned.predict_proba(graphs))
    with pytest.raises(NotFittedError):
        ug.UGraphEmbClassifier().predict(graphs)


def test_copies_of_a_classifier_keep_a_fitted_encoder(graphs, fitted):
    """Otherwise `cross_val_score` would train another encoder from nothing in each fold."""
    classifier = ug.UGraphEmbClassifier(fitted, steps=1, seed=2)
    copied = clone(classifier)
    assert (copied.steps, copied.seed) == (1, 2)
    assert copied.encoder is not fitted
    np.testing.assert_array_equal(copied.encoder.transform(graphs), fitted.transform(graphs))
    assert not hasattr(clone(classifier.fit(graphs, np.arange(60) % 2)), "encoder_")
    assert not clone(ug.UGraphEmbClassifier(quick())).encoder.__sklearn_is_fitted__()
    classes = graphs.num_edges > np.median(graphs.num_edges)
    search = GridSearchCV(ug.UGraphEmbClassifier(fitted), {"steps": [0, 1]}, cv=2).fit(graphs, classes)
    best = search.best_params_["steps"]
    again = ug.UGraphEmbClassifier(fitted, steps=best).fit(graphs, classes)
    np.testing.assert_array_equal(search.predict_proba(graphs), again.predict_proba(graphs))


def test_parameters_of_a_fitted_encoder_cannot_be_searched(graphs, fitted):
    """They would have no effect: the encoder is not trained again."""
    with pytest.raises(ValueError, match="encoder__dimension has no effect: the encoder is fitted"):
        clone(ug.UGraphEmbClassifier(fitted)).set_params(encoder__dimension=4)
    assert ug.UGraphEmbClassifier(fitted).set_params(encoder=quick(), encoder__dimension=4).encoder.dimension == 4
    search = GridSearchCV(ug.UGraphEmbClassifier(quick(steps=2), steps=1), {"encoder__dimension": [4, 8]}, cv=2)
    assert search.fit(graphs, np.arange(60) % 2).best_estimator_.encoder_.dimension_ in (4, 8)


def test_the_encoder_of_a_classifier_is_a_model_a_folder_or_a_name(graphs):
    named = ug.UGraphEmbClassifier("graphs", steps=0).fit(graphs[:20], np.arange(20) % 2)
    pretrained = ug.UGraphEmb.pretrained("graphs")
    np.testing.assert_allclose(named.transform(graphs[:20]), pretrained.transform(graphs[:20]), atol=1e-5)
    for wrong, error, message in (
        ("graph", ValueError, "did you mean 'graphs'"),
        ("no/such/folder", ModelFormatError, "no/such/folder: not a model folder"),
        (5, TypeError, "encoder is an int; expected a UGraphEmb"),
        (ug.UGraphEmb, TypeError, "encoder is a type; expected a UGraphEmb"),
    ):
        with pytest.raises(error, match=message):
            ug.UGraphEmbClassifier(wrong).fit(graphs[:20], np.arange(20) % 2)


def test_a_classifier_can_be_sent_to_another_process(graphs, fitted):
    classes = np.arange(60) % 2
    classifier = ug.UGraphEmbClassifier(fitted, steps=1).fit(graphs, classes)
    received = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(received.predict_proba(graphs), classifier.predict_proba(graphs))
    np.testing.assert_array_equal(received.fit(graphs, classes).predict_proba(graphs), classifier.predict_proba(graphs))


def test_a_saved_model_gives_the_same_vectors(graphs, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    fitted.save(tmp_path / "model")  # over the old one
    loaded = ug.UGraphEmb.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(graphs), fitted.transform(graphs))
    assert loaded.about_["validation"] == fitted.about_["validation"]
    assert not [path for path in tmp_path.iterdir() if path.name != "model"]


def test_a_loss_that_is_not_finite_stops_with_an_explanation(graphs, table):
    with pytest.raises(TrainingError, match="learning rate"):
        quick(learning_rate=1e30, settings={"schedule": "constant"}).fit(graphs, table)


@pytest.mark.parametrize(
    "wrong", [{"preset": "best"}, {"settings": {"color": "red"}}, {"head": "inner"}, {"validation": 2}]
)
def test_parameters_that_make_no_sense_are_refused(graphs, table, wrong):
    with pytest.raises(ValueError, match=r"preset|setting|head|validation"):
        quick(**wrong).fit(graphs, table)


def test_the_paper_preset_is_the_published_one():
    from ugraphemb.training.presets import settings_of

    encoder, training = settings_of("paper", "distance", {})
    assert (encoder.convolution, encoder.layers, encoder.learn_epsilon) == ("gin", (256, 128, 64), False)
    assert (encoder.readout, encoder.scales, encoder.dimension, encoder.head) == ("msna", None, 256, "squared_l2")
    assert (encoder.degree, encoder.clustering, encoder.compression) == (False, False, "none")
    assert (training.sampling, training.batch, training.steps) == ("pairs", 256, 20_000)
    assert (training.learning_rate, training.schedule, training.selection) == (0.001, "constant", "loss")


INTERRUPTED = """
import sys, ugraphemb as ug
graphs = ug.load_dataset("atlas")[50:110]
model = ug.UGraphEmb(steps=120, threads=1, progress=False, layers=(16, 16), dimension=16,
                     settings=dict(scales=None, validate_every=10, batch=16, checkpoint_seconds=0.0, average=0.9))
model.fit(graphs, checkpoint=sys.argv[1], resume=True)
model.save(sys.argv[2])
"""


def test_a_killed_run_resumes_to_the_same_result(tmp_path, monkeypatch):
    def run(name):
        monkeypatch.setattr(sys, "argv", ["-c", str(tmp_path / f"{name}.ckpt"), str(tmp_path / name)])
        exec(INTERRUPTED, {})

    run("whole")
    killed = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "killed.ckpt"), str(tmp_path / "killed")]
    )
    while not (tmp_path / "killed.ckpt").exists() and killed.poll() is None:
        time.sleep(0.005)
    time.sleep(0.1)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert (tmp_path / "killed.ckpt").exists()
    run("killed")
    graphs = ug.load_dataset("atlas")[50:110]
    whole, resumed = (ug.UGraphEmb.load(tmp_path / name).transform(graphs) for name in ("whole", "killed"))
    np.testing.assert_array_equal(whole, resumed)


def test_a_pipeline_shows_itself_and_takes_settings_of_scikit_learn(graphs, fitted):
    pandas = pytest.importorskip("pandas")
    model = quick(dimension=4, steps=2)
    pipeline = make_pipeline(model, LogisticRegression())
    assert "UGraphEmb" in pipeline._repr_html_()
    assert repr(model).startswith("UGraphEmb(dimension=4, layers=(16, 16), ")
    assert pipeline.set_params(ugraphemb__seed=5).named_steps["ugraphemb"].seed == 5
    assert isinstance(pipeline[:1].set_output(transform="pandas").fit_transform(graphs), pandas.DataFrame)
    with config_context(transform_output="pandas"):
        assert isinstance(fitted.transform(graphs[:2]), pandas.DataFrame)
    assert isinstance(fitted.transform(graphs[:2]), np.ndarray)
    with pytest.raises(ValueError, match="no parameter 'width'"):
        model.set_params(width=3)
    with pytest.raises(ValueError, match="transform='frames'"):
        model.set_output(transform="frames")
    with pytest.raises(NotFittedError, match="call fit"):
        clone(fitted).transform(graphs)
