"""Models over tokens in formats shorter than float32: rounding restores what attention blurs.

Let each tensor that is stored be rounded to nearest in a format with unit roundoff u, and what an
operation does within be float32 at least, as in torch.  Let y be a number of the hardmax pass: a
multiple of the quantum g, which the format holds (`exactness.exact_in`).  Where the same number of
the stock model is x, |x − y| ≤ e ≤ g·u/2, before it is rounded,

    y ≠ 0:   x is rounded to y, as the numbers next to y are at least |y|·u ≥ 2e away;
    y = 0:   what x is rounded to is at most (1 + u)e.

So errors do not add up: they are those of `margins.softmax_error` with the roundings of float32,
each growing by a few u of itself, as long as the largest is at most g·u/2.

Norms multiply by 1 − γ, and their mean, which is 0, is off by at most MEAN·u₃₂·K, equally in both
copies: one sum of K and −K is exact, and a running mean, K/j behind j numbers, is rounded by at
most u₃₂·K/j in each of d/2 steps, of which the mean keeps the share j/d, and in a few others; the
variance by a share u₃₂ for each number that is not 0.  A read register that is not 0 is right if
all of this and its own error are at most u/2 of it.  The weight of the norms must not be rounded
(`Doubled`), nor any other.  The quantum must be a normal number: units that flush smaller ones to 0
exist for these formats.
"""

from __future__ import annotations

import math

import torch

from constructions.exactness import Hardmax, exact_in, significand, stream_quantum
from constructions.softmax import softmax_error
from constructions.stock.gadgets import Gadgets, unit_roundoff
from constructions.transformer import Transformer

FLOAT32 = 2.0**-24
MEAN = 0.6  # 1/2, and the few others
STORED = 8  # tensors between a read register and the next, each rounded
SATURATES = 16.0  # gelu(±16) is 16 and 0 in float32


def is_short(dtype: torch.dtype) -> bool:
    """Whether numbers of a format have fewer bits than float32."""
    return unit_roundoff(dtype) > FLOAT32


def chosen_for(model: Transformer, square: float, dtype: torch.dtype, hardmax: Hardmax) -> Gadgets:
    """The constant of the norms of least error, and the least factor at which GELU is ReLU."""
    quantum = stream_quantum(model, hardmax)
    steep = SATURATES / exact_in(model, hardmax).quantum
    most = math.floor(math.log2(torch.finfo(dtype).max))
    tried = (Gadgets(1, 0.5, 1, 2.0**i, steep) for i in range(min(most, 24)))
    return min(tried, key=lambda numbers: read_error(numbers, square, quantum))


def read_error(numbers: Gadgets, square: float, quantum: float) -> float:
    """What norms change of a register, as a share of it."""
    return numbers.gamma(square) + MEAN * FLOAT32 * numbers.constant / quantum


def restored_bound(
    model: Transformer,
    sharpness: float,
    numbers: Gadgets,
    square: float,
    dtype: torch.dtype,
    hardmax: Hardmax | None = None,
) -> float:
    """How far logits in a short format can be from the hardmax ones, for every prompt; ∞ if
    rounding might not restore a number."""
    u = unit_roundoff(dtype)
    parts = *model.blocks, model.unembed
    maps = [W for part in parts for W in part.parameters() if W.ndim > 1]
    terms = max(int((W != 0).sum(-2).max()) for W in maps if W.numel())  # of one sum
    relative = (2 * terms + STORED) * FLOAT32
    found = softmax_error(model, sharpness, hardmax, relative=relative, growth=2 * STORED * u)
    quantum = stream_quantum(model, hardmax)
    places = (model.d_model + (model.interface.context or 0) + STORED) * FLOAT32
    read = read_error(numbers, square, quantum) + relative + places + found.stream / quantum
    # The largest weight of a softmax, whose sum has a term for each place, is 1 but for what leaks.
    near = max(read, found.in_quanta, *(max(layer, default=0.0) + places for layer in found.leaks))
    return found.logits if near <= u / 2 else math.inf


def unheld(
    model: Transformer,
    sharpness: float,
    bound: float,
    dtype: torch.dtype,
    head_dim: int,
    hardmax: Hardmax,
) -> str:
    """Why rounding to this format may change an answer; empty if it changes none.  `bound` is the
    `restored_bound` at this sharpness."""
    kind, needs, u = torch.finfo(dtype), exact_in(model, hardmax), unit_roundoff(dtype)
    if any(margin.ties for block in model.blocks for margin in block.margins):
        return "it averages tokens of equal scores, and averages are rounded"
    if needs.bits > significand(dtype):
        return f"it takes {needs.bits} bits of significand, and there are {significand(dtype)}"
    if needs.quantum < kind.smallest_normal:
        return f"it takes multiples of {needs.quantum:.2g}, below the normal numbers"
    reached = max(sharpness * math.sqrt(head_dim), 1.0) * needs.largest
    if reached > kind.max:
        return (
            f"scores before they are divided by √d_head can reach {reached:.3g} at sharpness "
            f"{sharpness:g}, the least that is enough, and numbers end at {kind.max:.3g}"
        )
    if math.isinf(bound):
        return (
            f"at sharpness {sharpness:g} and with this constant softmax and norms may change "
            f"numbers by more than {u / 2:.2g} of them, all that rounding restores"
        )
    return ""
