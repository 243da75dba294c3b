"""UGraphEmb: learning, the scikit-learn conventions, saved models, interrupted runs."""

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
from ugraphemb.errors import GraphWarning, TableError, TrainingError

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
    with pytest.raises(ValueError, match="two classes"):
        model.finetune(graphs, np.zeros(60))


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
