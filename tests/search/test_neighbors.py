"""Nearest vectors: exactly, and through faiss's structures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ugraphemb.encoder.heads import PSEUDO, between
from ugraphemb.errors import IndexFormatError
from ugraphemb.files import CheckedFile, write_file
from ugraphemb.files.arrays import CheckedArray, npy_content
from ugraphemb.search import neighbors
from ugraphemb.search.neighbors import Neighbors, chosen_kind, proximities

HEADS = ("l2", "squared_l2", "pseudo_l2", "raised_l2", "l1", "sized_l1", "inner")


def clustered(count: int, seed: int = 0, head: str = "l2") -> np.ndarray:
    """Vectors around a few hundred centers, as those of graphs are."""
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(99).normal(size=(300, 16))
    vectors = centers[random.integers(0, 300, count)] + 0.3 * random.normal(size=(count, 16))
    if head == "sized_l1":  # a number of nodes
        vectors[:, 0] = (10 + vectors[:, 0]) / 1024
    return vectors.astype(np.float32)


def true_nearest(query: np.ndarray, vectors: np.ndarray, head: str, count: int, allowed: np.ndarray) -> np.ndarray:
    values = proximities(query, vectors, head)  # type: ignore[arg-type]
    return np.sort(np.where(allowed, values, -np.inf if head == "inner" else np.inf) * (-1 if head == "inner" else 1))[
        :count
    ]


@pytest.mark.parametrize("head", HEADS)
def test_proximities_are_those_of_the_head(head: str):
    query, vectors = clustered(1, head=head)[0].astype(float), clustered(20, 1, head).astype(float)
    if head in PSEUDO:
        by_head = between(query[None], vectors, head)[0]
        assert np.allclose(proximities(query.astype(np.float32), vectors.astype(np.float32), head), by_head, atol=1e-5)
        return
    by_hand = {
        "l2": [np.linalg.norm(row - query) for row in vectors],
        "squared_l2": [((row - query) ** 2).sum() for row in vectors],
        "l1": [abs(row - query).sum() for row in vectors],
        "sized_l1": [abs(row - query)[1:].sum() / ((row + query)[0] * 512) for row in vectors],
        "inner": [row @ query for row in vectors],
    }[head]
    assert np.allclose(proximities(query.astype(np.float32), vectors.astype(np.float32), head), by_hand)  # type: ignore[arg-type]


@pytest.mark.parametrize("head", HEADS)
def test_flat_is_exact_whatever_is_left_out(head: str):
    vectors, queries = clustered(700, head=head), clustered(25, 1, head)
    found = Neighbors.built(vectors, head, "flat")  # type: ignore[arg-type]
    random = np.random.default_rng(0)
    for allowed in (None, random.random(700) < 0.98, random.random(700) < 0.4, np.zeros(700, bool)):
        flags = np.ones(700, bool) if allowed is None else allowed
        for query, (positions, values) in zip(queries, found.nearest(queries, 12, allowed), strict=True):
            assert len(positions) == min(12, flags.sum())
            assert flags[positions].all()
            sign = -1 if head == "inner" else 1
            assert np.allclose(sign * values, true_nearest(query, vectors, head, 12, flags)[: len(values)], atol=1e-5)
            assert np.allclose(values, proximities(query, vectors[positions], head))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
@pytest.mark.parametrize("head", ["l2", "inner", "pseudo_l2", "raised_l2", "sized_l1"])
def test_structures_find_nearly_all_and_keep_to_what_is_allowed(kind, head, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(neighbors, "_FEW", 0)
    vectors, queries = clustered(4_000, head=head), clustered(40, 1, head)
    if head in PSEUDO:  # of vectors that were learned, the part that counts against the distance is the smaller
        vectors[:, 12:] *= 0.4
        queries[:, 12:] *= 0.4
    built = Neighbors.built(vectors, head, kind)
    files = {"structure": built.write, "vectors": npy_content(vectors)}
    mapped = {
        name: CheckedFile(tmp_path / name, write_file(tmp_path / name, content), IndexFormatError)
        for name, content in files.items()
    }
    stored = CheckedArray(mapped["vectors"], IndexFormatError)
    read = Neighbors.read(stored, head, kind, mapped["structure"])
    random = np.random.default_rng(0)
    for allowed in (None, random.random(4_000) < 0.5):
        flags = np.ones(4_000, bool) if allowed is None else allowed
        answers = built.nearest(queries, 10, allowed)
        hits = 0
        for query, (positions, values), (again, _) in zip(
            queries, answers, read.nearest(queries, 10, allowed), strict=True
        ):
            assert flags[positions].all()
            assert np.array_equal(positions, again)
            assert len(set(positions.tolist())) == 10
            sign = -1 if head == "inner" else 1
            worst = true_nearest(query, vectors, head, 10, flags)[-1]
            hits += int((sign * values <= worst + 1e-6).sum())
        assert hits >= 0.9 * 400


def test_the_kind_goes_by_size_and_can_be_overridden():
    assert chosen_kind("auto", 100, "l2") == "flat"
    assert chosen_kind("auto", neighbors.EXACT_UP_TO + 1, "l2") == "ivf"
    assert chosen_kind("auto", neighbors.EXACT_UP_TO + 1, "l1") == "flat"
    assert chosen_kind("hnsw", 100, "inner") == "hnsw"
    assert Neighbors.built(clustered(2_000), "l2", "hnsw").structure is not None
    assert Neighbors.built(clustered(2_000), "l2", "auto").structure is None
    assert Neighbors.built(clustered(200), "l2", "ivf").structure is None


def test_building_ivf_twice_gives_the_same_answers(monkeypatch):
    monkeypatch.setattr(neighbors, "_FEW", 0)
    vectors, queries = clustered(3_000), clustered(20, 1)
    one, other = (Neighbors.built(vectors, "l2", "ivf").nearest(queries, 10) for _ in range(2))
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
@pytest.mark.parametrize("head", [*PSEUDO, "sized_l1"])
def test_few_rows_of_the_file_are_taken_and_nothing_is_lost(kind, head, tmp_path: Path, monkeypatch):
    """Rows are verified in blocks, so that a query is the faster the fewer it takes: 8-bit vectors choose them."""
    monkeypatch.setattr(neighbors, "_FEW", 0)
    vectors, queries = clustered(4_000, head=head), clustered(40, 1, head)
    if head in PSEUDO:
        vectors[:, 12:] *= 0.4
        queries[:, 12:] *= 0.4
    built = Neighbors.built(vectors, head, kind)
    checked = CheckedFile(tmp_path / "v", write_file(tmp_path / "v", npy_content(vectors)), IndexFormatError)
    stored = CheckedArray(checked, IndexFormatError)
    taken: list[int] = []
    rows = stored.rows
    monkeypatch.setattr(stored, "rows", lambda positions: taken.append(len(positions)) or rows(positions))
    filed = Neighbors(stored, head, kind, built.structure)
    few = [filed.nearest(query[None], 10)[0] for query in queries]
    monkeypatch.setattr(neighbors, "kept_of", lambda count: 10**6)  # all that were proposed
    every = [filed.nearest(query[None], 10)[0] for query in queries]
    assert max(taken[:40]) <= 42 < min(taken[40:])
    assert all(np.array_equal(one[0], other[0]) for one, other in zip(few, every, strict=True))
