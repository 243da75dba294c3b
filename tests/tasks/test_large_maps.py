"""Maps of many graphs: neighborhoods are kept, copies do not distort, new graphs are placed near similar ones."""

from __future__ import annotations

import numpy as np
import pytest

from ugraphemb.encoder.names import Head
from ugraphemb.tasks.large_maps import LargeMap, Neighbors, fit_large_map, row_keys


def crowds(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors around six centers, and the center of each."""
    random = np.random.default_rng(seed)
    group = np.arange(count) % 6
    centers = np.random.default_rng(99).normal(size=(6, 12)) * 4
    return (centers[group] + random.normal(size=(count, 12)) * 0.3).astype(np.float32), group


@pytest.fixture(scope="module")
def fitted() -> tuple[LargeMap, np.ndarray, np.ndarray]:
    vectors, group = crowds(150)
    return fit_large_map(vectors, "l2", sample=90), vectors, group


def nearest_group(places: np.ndarray, group: np.ndarray, spots: np.ndarray) -> np.ndarray:
    return group[np.linalg.norm(places[None] - spots[:, None], axis=2).argmin(axis=1)]


def test_the_sample_and_those_placed_lie_beside_their_like(fitted: tuple[LargeMap, np.ndarray, np.ndarray]):
    found, _, group = fitted
    assert len(found.reference) == 90
    assert np.isfinite(found.coordinates).all()
    home = found.coordinates[found.reference]
    others = np.setdiff1d(np.arange(150), found.reference)
    assert (nearest_group(home, group[found.reference], found.coordinates[others]) == group[others]).mean() > 0.95


def test_new_graphs_fall_beside_their_like_and_move_nothing(fitted: tuple[LargeMap, np.ndarray, np.ndarray]):
    found, _, group = fitted
    before = found.coordinates.copy()
    new, wanted = crowds(30, seed=5)
    placed = found.place(new)
    assert (nearest_group(found.coordinates, group, placed) == wanted).mean() > 0.9
    np.testing.assert_array_equal(found.coordinates, before)
    assert found.place(np.empty((0, 12))).shape == (0, 2)


def test_alone_or_among_others_a_graph_falls_upon_the_same_place(fitted: tuple[LargeMap, np.ndarray, np.ndarray]):
    found = fitted[0]
    new, _ = crowds(8, seed=6)
    together = found.place(new)
    alone = np.concatenate([found.place(new[[i]]) for i in range(8)])
    np.testing.assert_allclose(together, alone, atol=1e-3)


def test_a_copy_lies_upon_its_original_and_does_not_distort():
    vectors, _ = crowds(60)
    with_copies = np.concatenate([vectors, np.repeat(vectors[:1], 40, axis=0)])
    plain, crowded = fit_large_map(vectors, "l2"), fit_large_map(with_copies, "l2")
    np.testing.assert_array_equal(crowded.coordinates[60:], np.repeat(crowded.coordinates[:1], 40, axis=0))
    assert len(crowded.reference) == len(plain.reference) == 60
    np.testing.assert_array_equal(plain.place(vectors[:1]), plain.coordinates[:1])


def test_the_same_seed_gives_the_same_map():
    vectors, _ = crowds(40)
    np.testing.assert_array_equal(fit_large_map(vectors).coordinates, fit_large_map(vectors).coordinates)


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_few_graphs_have_a_map_too(count: int):
    vectors, _ = crowds(6)
    found = fit_large_map(np.repeat(vectors[:count], 3, axis=0), "l2")
    assert found.coordinates.shape == (3 * count, 2)
    if count:
        np.testing.assert_allclose(found.coordinates[0], found.coordinates[2])
        np.testing.assert_allclose(found.place(vectors[:count]), found.coordinates[::3], atol=1e-4)


@pytest.mark.parametrize("head", ["l2", "raised_l2", "inner"])
def test_neighbors_are_those_of_the_head(head: Head):
    from ugraphemb.encoder.heads import between

    vectors, _ = crowds(40)
    positions, distances = Neighbors(vectors, head).nearest(vectors, 5, np.arange(40))
    values = between(vectors, vectors, head)
    values = values.max() - values if head == "inner" else values
    np.fill_diagonal(values, np.inf)
    assert (np.diff(distances, axis=1) >= 0).all()
    assert (positions != np.arange(40)[:, None]).all()
    if head == "inner":  # a similarity: what matters are differences
        np.testing.assert_allclose(distances - distances[:, :1], _taken(values, positions), atol=1e-6)
    else:
        np.testing.assert_allclose(distances, np.take_along_axis(values, positions, axis=1), atol=1e-6)
    if head != "raised_l2":  # there candidates by plain distances may miss the nearest
        np.testing.assert_allclose(_taken(values, positions)[:, 0], 0, atol=1e-6)
        assert (values[np.arange(40), positions[:, 0]] <= values.min(axis=1) + 1e-6).all()


def _taken(values: np.ndarray, positions: np.ndarray) -> np.ndarray:
    found = np.take_along_axis(values, positions, axis=1)
    return found - found[:, :1]


def test_a_tick_that_raises_ends_the_work():
    class EnoughError(Exception):
        pass

    def tick(done: float) -> None:
        if done > 0.3:
            raise EnoughError

    with pytest.raises(EnoughError):
        fit_large_map(crowds(60)[0], tick=tick)


def test_keys_tell_rows_apart():
    vectors, _ = crowds(500)
    assert len(set(row_keys(vectors).tolist())) == 500
    again = vectors + 1e-7
    assert (row_keys(vectors, 0.01) == row_keys(again, 0.01)).mean() > 0.99
    assert (row_keys(vectors)[::-1] == row_keys(vectors[::-1])).all()
