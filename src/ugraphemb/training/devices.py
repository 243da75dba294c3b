"""Selection of the torch device."""

from __future__ import annotations

import torch


def device_of(name: str | None) -> torch.device:
    """The device of this name; None means a GPU if there is one, otherwise the CPU.

    Raises:
        ValueError: It is not available.
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        there = ", ".join(["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))])
        raise ValueError(f"device={name!r} is not available; available: {there}") from error
    return device
