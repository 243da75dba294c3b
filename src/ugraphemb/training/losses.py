"""How far predictions are from the truth."""

from __future__ import annotations

import torch
from torch import Tensor


def squared_error(predicted: Tensor, value: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """(p − v)² (eq. 5 and 7)."""
    return (predicted - value).square()


def interval_error(predicted: Tensor, value: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """Zero between the bounds, squared distance to the nearer bound outside of them."""
    return (predicted - torch.clamp(predicted, min=lower, max=upper)).square()


ERRORS = {"squared": squared_error, "interval": interval_error}
