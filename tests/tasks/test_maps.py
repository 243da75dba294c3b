"""Maps: same seed, same map; neighbors stay neighbors; new graphs are placed near similar ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ugraphemb.encoder.heads import between
from ugraphemb.tasks import fit_map


def clusters(n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return random.normal(size=(n, 8)) + 20 * np.eye(3, 8)[labels], labels


def nearest_label(places: Any, known: Any, labels: Any) -> Any:
    return labels[np.linalg.norm(places[:, None] - known[None], axis=2).argmin(axis=1)]


def test_tsne_is_reproducible_and_puts_new_graphs_among_their_like() -> None:
    vectors, labels = clusters()
    fitted, again = fit_map(vectors, seed=1), fit_map(vectors, seed=1)
    np.testing.assert_array_equal(fitted.coordinates, again.coordinates)
    gaps = np.linalg.norm(fitted.coordinates[:, None] - fitted.coordinates[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert (labels[gaps.argmin(axis=1)] == labels).all()
    new, new_labels = clusters(15, seed=1)
    before = fitted.coordinates.copy()
    placed = fitted.transform(new)
    np.testing.assert_array_equal(placed, fitted.transform(new))
    np.testing.assert_array_equal(before, fitted.coordinates)
    assert (nearest_label(placed, fitted.coordinates, labels) == new_labels).all()


def test_pca_keeps_the_plane_that_data_lie_in() -> None:
    random = np.random.default_rng(0)
    plane = random.normal(size=(40, 2)) * [5.0, 1.0]
    axes = np.linalg.qr(random.normal(size=(7, 2)))[0]
    fitted = fit_map(plane @ axes.T + 3.0, "pca")
    gaps = np.linalg.norm(plane[:, None] - plane[None], axis=2)
    np.testing.assert_allclose(
        np.linalg.norm(fitted.coordinates[:, None] - fitted.coordinates[None], axis=2), gaps, atol=1e-9
    )
    np.testing.assert_allclose(fitted.transform(plane @ axes.T + 3.0), fitted.coordinates, atol=1e-9)


def test_copies_lie_beside_each_other_and_do_not_move_the_others() -> None:
    vectors, _ = clusters(40)
    crowded = np.concatenate([vectors, np.repeat(vectors[:1], 50, axis=0)])
    alone, beside = fit_map(vectors, seed=0).coordinates, fit_map(crowded, seed=0).coordinates
    np.testing.assert_array_equal(beside[:40], alone)
    copies = beside[[0, *range(40, 90)]]
    assert len(np.unique(copies, axis=0)) == 51
    assert np.linalg.norm(copies - copies[0], axis=1).max() < 0.05 * np.ptp(alone, axis=0).max()


def test_copies_of_one_class_do_not_lie_around_those_of_another() -> None:
    """Collections are often sorted by class; the first copies must not fill the middle."""
    vectors = np.concatenate([np.random.default_rng(0).normal(size=(40, 8)), np.zeros((400, 8))])
    places = fit_map(vectors, seed=0).coordinates[40:]
    gaps = np.linalg.norm(places - places[0], axis=1)
    assert abs(gaps[:200].mean() / gaps[200:].mean() - 1) < 0.1


def test_few_graphs_get_a_map_by_lowering_the_perplexity() -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 3))
    assert np.isfinite(fit_map(vectors, perplexity=30).coordinates).all()
    assert fit_map(vectors[:2, :1], "pca").coordinates[:, 1].tolist() == [0.0, 0.0]
    assert fit_map(vectors, "pca").transform(np.empty((0, 3))).shape == (0, 2)


@pytest.mark.parametrize(
    ("vectors", "method", "message"),
    [
        (np.eye(4), "tsne", "4 graphs; a map by 'tsne' needs at least 5"),
        (np.ones((1, 3)), "pca", "needs at least 2"),
        (np.ones((9, 3)), "tsne", "every vector is the same"),
        (np.ones((9, 3)), "pca", "every vector is the same"),
        (np.full((9, 3), np.nan), "tsne", "row 0 holds a NaN"),
        (np.eye(9), "mds", "tsne, pca, umap"),
    ],
)
def test_what_has_no_map_is_refused(vectors: Any, method: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_map(vectors, method)


def test_new_vectors_must_be_as_wide_as_those_of_the_map() -> None:
    with pytest.raises(ValueError, match="4 wide, those of the map 5"):
        fit_map(np.eye(5), "pca").transform(np.ones((1, 4)))


def test_umap_says_what_to_install_when_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match="pip install umap-learn"):
        fit_map(np.eye(9), "umap")


def test_a_map_by_a_head_has_the_neighbors_of_the_head() -> None:
    """Vectors for "sized_l1" grow with the size of the graph: plain distances are mostly differences of sizes."""
    random = np.random.default_rng(0)
    kinds = np.arange(90) % 3
    sizes = random.uniform(5, 60, size=(90, 1))
    shares = 5 * np.eye(3, 8)[kinds] + random.normal(0, 0.3, size=(90, 8))
    vectors = np.concatenate([sizes / 1024, sizes * shares], axis=1)
    chart = fit_map(vectors, head="sized_l1", seed=0)
    assert chart.coordinates.shape == (90, 2)
    again = fit_map(vectors, head="sized_l1", seed=0)
    assert np.array_equal(chart.coordinates, again.coordinates)
    truth = between(vectors, vectors, "sized_l1")
    np.fill_diagonal(truth, np.inf)
    near = truth.argsort(axis=1)[:, :10]
    found = {
        head: np.mean([len(set(row) & set(known)) for row, known in zip(nearest(places), near, strict=True)])
        for head, places in (("sized_l1", chart.coordinates), ("l2", fit_map(vectors, seed=0).coordinates))
    }
    assert found["sized_l1"] > found["l2"]
    assert chart.transform(vectors[:4]).shape == (4, 2)


def nearest(places: np.ndarray) -> np.ndarray:
    gaps = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(gaps, np.inf)
    return gaps.argsort(axis=1)[:, :10]
