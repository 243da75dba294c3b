"""L1 distances of all vectors of a block, and their gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ugraphemb import _core
from ugraphemb.encoder.heads import along, among, between
from ugraphemb.encoder.l1 import l1_between_rows

WIDTHS = [1, 3, 15, 16, 17, 255, 256]


def random_rows(count: int, width: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, count, width]).normal(size=(count, width)).astype(np.float32))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_distances_and_gradients_are_those_of_the_formula(count: int, width: int) -> None:
    rows = random_rows(count, width).requires_grad_()
    weight = random_rows(count, count, seed=1)  # not symmetric
    found = l1_between_rows(rows)
    (gradient,) = torch.autograd.grad((found * weight).sum(), rows)
    exact = rows.detach().double().requires_grad_()
    expected = (exact[:, None] - exact[None, :]).abs().sum(2)
    (right,) = torch.autograd.grad((expected * weight).sum(), exact)
    assert torch.allclose(found.double(), expected, rtol=1e-6, atol=1e-6)
    assert torch.allclose(gradient.double(), right, rtol=1e-5, atol=1e-5)


def test_equal_rows_are_at_zero_without_a_gradient() -> None:
    rows = random_rows(1, 33).repeat(3, 1).requires_grad_()
    found = l1_between_rows(rows)
    found.sum().backward()
    assert torch.equal(found, torch.zeros(3, 3))
    assert rows.grad is not None
    assert torch.equal(rows.grad, torch.zeros(3, 33))


def test_other_rows_and_their_order_change_no_distance() -> None:
    rows = random_rows(30, 255)
    whole = l1_between_rows(rows)
    order = torch.from_numpy(np.random.default_rng(3).permutation(30))
    assert torch.equal(l1_between_rows(rows[order]), whole[order][:, order])
    assert torch.equal(l1_between_rows(rows[:4]), whole[:4, :4])
    assert torch.equal(whole, whole.T)


def test_a_block_gives_what_single_pairs_give_and_what_search_gives() -> None:
    rows = random_rows(20, 64).abs() + 1
    left, right = torch.triu_indices(20, 20, 1)
    for head in ("l1", "sized_l1"):
        block = among(rows, left, right, head)
        assert torch.allclose(block, along(rows[left], rows[right], head), rtol=1e-5)
        assert np.allclose(block.numpy(), between(rows.numpy(), rows.numpy(), head)[left, right], rtol=1e-5)


def test_doubles_are_computed_as_doubles() -> None:
    rows = random_rows(5, 9).double()
    assert l1_between_rows(rows).dtype == torch.float64


def test_wrong_shapes_are_refused() -> None:
    rows = np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match="square"):
        _core.l1_between_rows(rows, np.zeros((3, 4), np.float32))
    with pytest.raises(ValueError, match="square"):
        _core.l1_between_rows_backward(rows, np.zeros((4, 4), np.float32), rows.copy())
    with pytest.raises(ValueError, match="gradient"):
        _core.l1_between_rows_backward(rows, np.zeros((3, 3), np.float32), np.zeros((3, 5), np.float32))
