"""How flat the loss is around trained weights: its mean increase nearby, and the Hessian's trace.

Both are of the mean loss over a fixed batch.  They compare models of the same loss: the trace of an
entropy shrinks with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor, nn

from theory.kinds import Count, InputError, Positive, checked

Loss = Callable[[Any], Tensor]


@checked
@torch.no_grad()
def sharpness(
    model: nn.Module, loss: Loss, *, radius: Positive, directions: Count, generator: Generator
) -> Tensor:
    """By how much the loss grows from w to w + δ, (directions,).

    δ is a random Gaussian direction in every tensor, of length radius·‖w‖ there.  The weights are
    left as they were.
    """
    weights = [*model.parameters()]
    before, here, found = [W.clone() for W in weights], loss(model), []
    try:
        for _ in range(directions):
            for W, value in zip(weights, before, strict=True):
                drawn = torch.randn(W.shape, generator=generator, dtype=W.dtype)
                W.copy_(value + drawn * (radius * value.norm() / drawn.norm()))
            found.append(loss(model) - here)
    finally:
        for W, value in zip(weights, before, strict=True):
            W.copy_(value)
    return torch.stack(found)


@checked
def hessian_trace(model: nn.Module, loss: Loss, *, probes: Count, generator: Generator) -> Tensor:
    """zᵀ H z for random signs z, (probes,): independent, each of mean tr H, as E zzᵀ = I.

    H is the Hessian of the loss in all weights, so that it has to be differentiable twice, as the
    project's attention is (fused kernels are not).  What is trained of the model is left as it was.
    Raises ValueError for a loss that does not depend on the weights.
    """
    weights = [*model.parameters()]
    trained = [W.requires_grad for W in weights]
    try:
        for W in weights:
            W.requires_grad_(True)
        value = loss(model)
        if not value.requires_grad:
            raise InputError("the loss does not depend on the weights: its Hessian is 0")
        gradients = torch.autograd.grad(
            value, weights, create_graph=True, allow_unused=True, materialize_grads=True
        )
        found = []
        for _ in range(probes):
            signs = [
                torch.randint(2, W.shape, generator=generator).to(W.dtype) * 2 - 1 for W in weights
            ]
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
