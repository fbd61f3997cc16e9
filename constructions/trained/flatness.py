"""Flatness of the loss at trained weights: its mean increase nearby and the trace of the Hessian.

Both refer to the mean loss over a fixed batch.  Compare them for models of equal loss, since the
trace for a cross-entropy decreases with the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from constructions.seeds import TorchSeed
from theory.kinds import Count, InputError, Positive, checked

Loss = Callable[[Any], Tensor]


@checked
@torch.no_grad()
def sharpness(
    model: nn.Module, loss: Loss, *, radius: Positive, directions: Count, seed: TorchSeed
) -> Tensor:
    """The increases of the loss under random perturbations of the weights, (directions,).

    A perturbation adds δ to every weight tensor w, where δ has the direction of a Gaussian vector
    and the length radius·‖w‖. Afterwards the model has its original weights.
    """
    weights = [*model.parameters()]
    before, here, found = [W.clone() for W in weights], loss(model), []
    try:
        for _ in range(directions):
            for W, value in zip(weights, before, strict=True):
                drawn = torch.randn(W.shape, generator=seed, dtype=W.dtype)
                W.copy_(value + drawn * (radius * value.norm() / drawn.norm()))
            found.append(loss(model) - here)
    finally:
        for W, value in zip(weights, before, strict=True):
            W.copy_(value)
    return torch.stack(found)


@checked
def hessian_trace(model: nn.Module, loss: Loss, *, probes: Count, seed: TorchSeed) -> Tensor:
    """Independent estimates of the trace of the Hessian H of the loss in all weights, (probes,).

    Each estimate is zᵀ H z for a vector z with random signs as entries. Its mean is tr H, since the
    expectation of zzᵀ is I. The model must be twice differentiable: the attention of this library
    is twice differentiable, but fused kernels are not. The model is not changed.

    Raises ValueError for a loss that does not depend on the weights.
    """
    weights = [*model.parameters()]
    trained = [W.requires_grad for W in weights]
    try:
        for W in weights:
            W.requires_grad_(True)
        value = loss(model)
        if not value.requires_grad:
            raise InputError(
                "the loss does not depend on the weights: give a loss that depends on the weights"
            )
        gradients = torch.autograd.grad(
            value, weights, create_graph=True, allow_unused=True, materialize_grads=True
        )
        found = []
        for _ in range(probes):
            signs = [torch.randint(2, W.shape, generator=seed).to(W.dtype) * 2 - 1 for W in weights]
            along = sum(((g * z).sum() for g, z in zip(gradients, signs, strict=True)))
            assert isinstance(along, Tensor)
            products = torch.autograd.grad(
                along, weights, retain_graph=True, allow_unused=True, materialize_grads=True
            )
            found.append(sum((p * z).sum() for p, z in zip(products, signs, strict=True)))
    finally:
        for W, was in zip(weights, trained, strict=True):
            W.requires_grad_(was)
    return torch.stack([torch.as_tensor(each).detach() for each in found])
