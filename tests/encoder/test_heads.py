"""How vectors are compared: the formulas, and that all parts of the library give the same values."""

import subprocess
import sys
from typing import get_args

import numpy as np
import pytest
import torch
from search.small_index import graphs, model

import ugraphemb as ug
from ugraphemb.encoder.heads import PSEUDO, along, among, between, combined, heights, parts
from ugraphemb.encoder.names import Head
from ugraphemb.search.neighbors import proximities
from ugraphemb.tasks import predicted_proximity

HEADS = get_args(Head)
DISTANCES = [head for head in HEADS if head != "inner"]


@pytest.mark.parametrize("head", HEADS)
def test_between_and_along_are_the_formulas(head):
    torch.manual_seed(0)
    left, right = torch.randn(5, 4, dtype=torch.float64), torch.randn(5, 4, dtype=torch.float64)
    left[:, 3], right[:, 3] = 0.1 * left[:, 3], 0.1 * right[:, 3]  # so that no pseudo-Euclidean square is negative
    left[:, 0], right[:, 0] = left[:, 0].abs(), right[:, 0].abs()  # numbers of nodes, for "sized_l1"
    a, b = left.numpy()[:, None], right.numpy()[None]
    root = np.sqrt(np.maximum(((a - b) ** 2 * [0, 1, 1, -1]).sum(-1), 0))
    expected = {
        "l2": np.sqrt(((a - b) ** 2).sum(-1)),
        "l1": np.abs(a - b).sum(-1),
        "sized_l1": np.abs(a - b)[..., 1:].sum(-1) / ((a + b)[..., 0] * 512),
        "squared_l2": ((a - b) ** 2).sum(-1),
        "inner": (a * b).sum(-1),
        "pseudo_l2": np.sqrt(((a - b) ** 2 * [1, 1, 1, -1]).sum(-1)),
        "raised_l2": root + (np.abs(a) + np.abs(b))[..., 0] * root / (root + 0.05),
    }[head]
    closeness = {"atol": 0.05} if head in PSEUDO else {"rtol": 1e-6}  # their root is bent near zero
    np.testing.assert_allclose(between(left, right, head), expected, **closeness)
    np.testing.assert_allclose(along(left, right, head).numpy(), np.diag(expected), **closeness)


@pytest.mark.parametrize("head", HEADS)
def test_pairs_of_a_batch_are_compared_alike_many_or_few(head):
    torch.manual_seed(0)
    vectors = torch.randn(6, 8, dtype=torch.float64)
    left, right = torch.triu_indices(6, 6, 1)
    many = among(vectors, left, right, head)  # 15 pairs of 6 vectors
    torch.testing.assert_close(many, along(vectors[left], vectors[right], head), rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(many[:3], among(vectors, left[:3], right[:3], head), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("head", PSEUDO)
def test_pseudo_euclidean_distances_are_zero_for_equal_vectors_alone(head):
    a = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    b = a + torch.tensor([[0.0, 0.0, 0.0, 5.0]])  # a difference that counts against the distance
    assert between(a, a, head).item() == 0
    assert between(a, b, head).item() > 0
    assert along(a, b, head).item() < 0, "training must see how far below zero it is"


def test_heights_keep_any_number_of_graphs_apart():
    """A hundred graphs, all pairs equally far apart: two coordinates and a height suffice, where L2 would need 99."""
    random = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    vectors = torch.from_numpy(random * [1, 0.1, 0.1, 0]).float()
    vectors[:, 0] = 2
    found = between(vectors, vectors, "raised_l2")[~np.eye(100, dtype=bool)]
    assert found.mean() > 1
    assert found.std() < 0.35 * found.mean()
    flat = between(vectors, vectors, "pseudo_l2")[~np.eye(100, dtype=bool)]
    assert flat.std() > 0.4 * flat.mean()


def test_pseudo_l2_holds_distances_that_no_euclidean_space_holds():
    """Three points, 1 and 1 but 3 apart: against the triangle inequality."""
    points = torch.tensor([[-1.5, 0, 0, 0], [0, 0, 0, 1.25**0.5], [1.5, 0, 0, 0]])
    found = between(points, points, "pseudo_l2")
    np.testing.assert_allclose(found, [[0, 1, 3], [1, 0, 1], [3, 1, 0]], atol=0.011)


@pytest.mark.parametrize("head", HEADS)
def test_a_pair_is_compared_alike_wherever_it_stands(head):
    """Bit for bit, or copies of one graph would not be tied in a ranking."""
    random = np.random.default_rng(0)
    left, right = random.normal(size=(7, 24)).astype(np.float32), random.normal(size=(4_000, 24)).astype(np.float32)
    right[[17, 1_990, 3_999]] = right[3]
    whole = between(left, right, head)
    assert np.array_equal(whole[:, [17, 1_990, 3_999]], whole[:, [3, 3, 3]])
    for i, j in [(0, 0), (6, 3_999), (3, 2_731)]:
        assert between(left[[i]], right[[j]], head)[0, 0] == whole[i, j]
        assert between(right[[j]], left[[i]], head)[0, 0] == whole[i, j]


@pytest.mark.parametrize("head", DISTANCES)
def test_equal_vectors_are_at_distance_zero(head):
    vectors = 100 * np.random.default_rng(1).normal(size=(20, 16)).astype(np.float32)
    vectors[:, 0] = np.abs(vectors[:, 0])
    found = between(vectors, vectors, head)
    assert np.all(np.diag(found) == 0)
    assert np.all(found[~np.eye(20, dtype=bool)] > 0)


@pytest.mark.parametrize("head", HEADS)
def test_model_search_ranking_and_training_agree(head):
    trained = model("ged" if head != "inner" else "mcs", head)
    vectors = trained.transform(graphs())
    by_model = trained.proximity(vectors, vectors)
    np.testing.assert_array_equal(predicted_proximity(vectors, vectors, head).astype(np.float32), by_model)
    np.testing.assert_array_equal(proximities(vectors[5], vectors, head).astype(np.float32), by_model[5])
    index = ug.GraphIndex(trained, threads=1).add(graphs())
    for place in (0, 5, 31):
        for match in index.search(graphs()[place], 12, verify=False):
            found = int(match.id[1:])
            # A graph alone and in company have the same vector but for rounding.
            assert match.predicted == pytest.approx(by_model[place, found], rel=1e-4, abs=1e-5)
    tensor = torch.from_numpy(vectors)
    left, right = torch.triu_indices(len(vectors), len(vectors), 1)
    in_training = among(tensor, left, right, head).numpy()
    expected = by_model[left, right]
    above = expected > 0.05 if head in PSEUDO else np.ones(len(expected), bool)  # no floor in training
    np.testing.assert_allclose(in_training[above], expected[above], rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("head", [head for head in DISTANCES if "l1" not in head])
def test_the_formula_is_one_for_numpy_and_torch(head):
    left, right = np.random.default_rng(2).normal(size=(2, 30, 12))
    squares = [np.square(left - right)[:, part].sum(axis=1) for part in parts(12, head)]
    in_numpy = combined(*squares, heights(left, right, head), head)
    raised = heights(torch.from_numpy(left), torch.from_numpy(right), head)
    in_torch = combined(*map(torch.from_numpy, squares), raised, head)
    np.testing.assert_allclose(in_torch.numpy(), in_numpy, rtol=1e-14)
    np.testing.assert_allclose(in_numpy, np.diag(between(left, right, head)), rtol=1e-12)


def test_an_unknown_head_is_an_error_that_lists_the_heads():
    with pytest.raises(ValueError, match="'cosine'; it is one of l2, l1"):
        between(np.ones((1, 2)), np.ones((1, 2)), "cosine")


def test_comparing_vectors_needs_no_torch():
    code = "import sys, ugraphemb.encoder.heads, ugraphemb.tasks.ranking; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
