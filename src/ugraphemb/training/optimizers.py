"""Optimizers: Muon for the weight matrices of the convolutions, AdamW for the other parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from ugraphemb.encoder.model import Network
from ugraphemb.training.config import TrainingConfig

_MOMENTUM = 0.95
_SCHULZ = (3.4445, -4.7750, 2.0315)  # Jordan et al. 2024: five steps bring all singular values close to 1


class Muon(torch.optim.Optimizer):
    """Muon: momentum steps in which each update matrix is replaced by the nearest orthogonal one (Jordan et al. 2024).

    So all directions of a matrix are learned at the same rate, also those with small gradients. Matrices of the same
    shape are orthogonalized together.
    """

    def __init__(self, matrices: Iterable[Tensor], lr: float, decay: float = 0.0) -> None:
        super().__init__(matrices, {"lr": lr, "initial": lr, "decay": decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            alike: dict[torch.Size, list[Tensor]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    alike.setdefault(matrix.shape, []).append(matrix)
            for shape, matrices in alike.items():
                updates = []
                for matrix in matrices:
                    gradient: Any = matrix.grad
                    momentum = self.state[matrix].setdefault("momentum", torch.zeros_like(matrix))
                    momentum.lerp_(gradient, 1 - _MOMENTUM)
                    updates.append(gradient.lerp(momentum, _MOMENTUM))  # Nesterov momentum
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                for matrix, update in zip(matrices, orthogonal(torch.stack(updates)), strict=True):
                    matrix.mul_(1 - group["lr"] * group["decay"]).add_(update, alpha=-group["lr"] * scale)


def orthogonal(matrices: Tensor, steps: int = 5) -> Tensor:
    """Approximates U Vᵀ of each U S Vᵀ (singular values from 0.7 to 1.2) by Newton–Schulz steps: (matrices, m, n)."""
    tall = matrices.shape[1] > matrices.shape[2]
    x: Tensor = matrices.transpose(1, 2) if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-12)
    a, b, c = _SCHULZ
    for _ in range(steps):
        gram = x @ x.transpose(1, 2)
        x = a * x + torch.baddbmm(gram, gram, gram, beta=b, alpha=c) @ x
    return x.transpose(1, 2) if tall else x


class Together:
    """Several optimizers as one."""

    def __init__(self, *parts: torch.optim.Optimizer) -> None:
        self._parts = parts

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [group for part in self._parts for group in part.param_groups]

    def zero_grad(self, set_to_none: bool = True) -> None:
        for part in self._parts:
            part.zero_grad(set_to_none)

    def step(self) -> None:
        for part in self._parts:
            part.step()

    def state_dict(self) -> dict[str, Any]:
        return {str(i): part.state_dict() for i, part in enumerate(self._parts)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for i, part in enumerate(self._parts):
            part.load_state_dict(state[str(i)])


def optimizer_of(network: Network, config: TrainingConfig) -> torch.optim.Optimizer | Together:
    """AdamW; if `muon` is above 0, Muon for the matrices of the convolutions and, with `muon_dense`, the dense layers.

    Each parameter group has its maximum learning rate as "initial".
    """
    matrices = []
    if config.muon:
        parts = [network.convolutions, *([network.dense] if config.muon_dense else [])]
        linear = (layer for part in parts for layer in part.modules() if isinstance(layer, nn.Linear))
        matrices = [layer.weight for layer in linear if min(layer.weight.shape) > 1]
    chosen = {id(matrix) for matrix in matrices}
    rest = [parameter for parameter in network.parameters() if id(parameter) not in chosen]
    groups = [{"params": rest, "initial": config.learning_rate}]
    adam = torch.optim.AdamW(groups, config.learning_rate, weight_decay=config.weight_decay, fused=True)
    return Together(Muon(matrices, config.muon, config.muon_decay), adam) if matrices else adam
