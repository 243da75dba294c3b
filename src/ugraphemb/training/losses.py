"""Loss functions."""

from __future__ import annotations

import torch
from torch import Tensor


def squared_error(predicted: Tensor, value: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """(p − v)² (eq. 5 and 7)."""
    return (predicted - value).square()


def interval_error(predicted: Tensor, value: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """Zero between the bounds, otherwise the squared distance to the nearer bound."""
    return (predicted - torch.clamp(predicted, min=lower, max=upper)).square()


def listwise(predicted: Tensor, value: Tensor, left: Tensor, right: Tensor, size: int) -> Tensor:
    """KL(softmax(−v / t) ‖ softmax(−p / t)) over the known pairs of each graph; mean over graphs with a known pair.

    Listwise ranking as in ListNet (Cao et al., ICML 2007): with a small t the nearest graphs have the most weight.
    """
    both = torch.stack([value.detach(), predicted])  # (2, pairs)
    known = both.new_full((2, size, size), -torch.inf)
    known[:, left, right] = known[:, right, left] = -both / TEMPERATURE
    rows = torch.isfinite(known[0]).any(1)  # graphs with a known pair
    truth, guess = torch.log_softmax(known[:, rows], dim=2)
    return torch.where(truth > -torch.inf, truth.exp() * (truth - guess), 0).sum(1).mean()


TEMPERATURE = 0.1
"""The temperature t of `listwise`, in units of normalized distance."""

ERRORS = {"squared": squared_error, "interval": interval_error}
