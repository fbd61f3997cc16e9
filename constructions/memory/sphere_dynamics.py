"""Attention dynamics on the sphere: each layer is a step of a projected Euler scheme.

A softmax head with W_Q = W_K = I, W_V = h·I and inverse temperature β writes to the residual
stream.  Then each token is divided by its length:

    x_i ← (x_i + h·u_i) / ‖x_i + h·u_i‖,    u_i = Σ_j A_ij x_j,  A_ij = softmax_j β⟨x_i, x_j⟩.

Up to O(h²) this is the Euler scheme of x_i' = P_i u_i, P_i y = y − ⟨x_i, y⟩x_i
(SA of `theory.memory.sphere`). Proof: let s = ⟨x, u⟩, v = P u and κ = h/(1 + hs), so
x + hu = (1 + hs)(x + κv). As A_ii is the largest weight of its row, A_ii ≥ 1/n and
s ≥ A_ii − (1 − A_ii) ≥ 2/n − 1, hence 1 + hs > 0 for h ≤ 1. So the factor 1 + hs cancels in the
normalisation. As v is orthogonal to x,

    ‖normalise(x + κv) − (x + κv)‖ = √(1 + κ²‖v‖²) − 1 ≤ κ²‖v‖²/2,    |κ − h| = h²|s|/(1 + hs),

so the output of the layer differs from x + hv by at most
h²(|s|·‖v‖/(1 + hs) + ‖v‖²/(2(1 + hs)²)).  ∎

All layers share one block of weights; depth corresponds to time.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor

from constructions.assembly import Head, block, embed, unembed
from constructions.call import construction
from constructions.interface import ROWS, Draw, Interface, Prompt, finite_tensors
from constructions.stream import Stream
from constructions.transformer import Transformer
from theory.kinds import Count, Positive, Reals, Steps, Within
from theory.memory.kinds import unit_lengths


class Points(Interface):
    """The interface of `sphere_dynamics`: n points of the unit sphere → the points after the steps.

    Points and results are (…, n, d). Raises ValueError for other shapes, for NaN or infinite
    entries, and for rows that do not have unit length.
    """

    def __init__(self, d: int) -> None:
        super().__init__()
        self.d = d

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (X,) = finite_tensors(like, inputs, "X")
        Reals(f"... n {self.d}").fit("X", X.shape)
        lengths = torch.linalg.vector_norm(X.detach(), dim=-1).double().cpu().numpy()
        unit_lengths("X", lengths, self.d, torch.finfo(like.dtype).eps)
        return (X,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (X,) = inputs
        return Prompt(X, X.shape[-2])

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray]:
        return (draw(ROWS, self.d),)


@construction
def sphere_dynamics(
    d: Count, beta: Positive, step_size: Annotated[Positive, Within(most=1)], n_layers: Steps
) -> Transformer:
    """A model whose layers are Euler steps of softmax attention on the unit sphere of R^d.

    `sphere_dynamics(d, beta, step_size, n_layers)(X)` maps tokens X (…, n, d) of unit length to
    tokens of the same shape. Each layer is a step x_i ← normalise(x_i + h·Σ_j A_ij x_j) for all
    tokens x_i, where A_ij = softmax_j β⟨x_i, x_j⟩, β = beta, h = `step_size` and normalise(v)
    = v/‖v‖. With L = `n_layers` layers, the output approximates the flow of softmax attention on
    the sphere (`theory.memory.sphere_flow`) at time h·L, with an error of O(h). The model has width
    d, one head without a mask, and the same 6d² + 2d weights at every depth: the head, the biases,
    the embedding and the unembedding.

    With a small beta, such as 1e-12, attention is nearly uniform. The step size is at most 1, so
    that no token becomes 0.
    """
    stream = Stream(x=d)
    stream.fits(n_layers, shared=True)
    x = stream.read("x")
    head = Head(x, x, x, "x", times=step_size)
    layer = block(stream, [head], normalise="softmax", mask="full", scale=beta, unit_norm=True)
    return Transformer(
        embed(stream, x={"x": 1.0}),
        [layer] * n_layers,
        unembed(stream, x),
        interface=Points(d),
        stream=stream,
        source="[Geshkovski2023]",
    )
