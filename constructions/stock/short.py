"""Models over tokens in dtypes shorter than float32: rounding corrects the errors of attention.

Let each stored tensor be rounded to nearest in a dtype with unit roundoff u and smallest positive
number η (subnormal), and let operations compute internally in float32 or better, as in torch.  Let
y be a number of the hardmax pass: a multiple of the quantum g, exact in the dtype
(`exactness.exact_in`).  If the same number of the stock model is x before rounding, with
|x − y| ≤ e ≤ g·u/2, then

    y ≠ 0:   x is rounded to y, as the numbers next to y are at least |y|·u ≥ 2e away;
    y = 0:   x is rounded to a number of absolute value at most (1 + u)e + min(e, η/2).

The second line holds for all x: a number rounded to a normal number has an error of at most u|x|.
If x is rounded to a subnormal number or to 0, its error is at most η/2, and if |x| ≤ η/2, x is
rounded to 0.  So |x| at most doubles: a number slightly above η/2 is rounded to η.  Hardware that
flushes subnormal numbers to 0 only makes these numbers smaller.

So errors of non-zero numbers do not add up.  As long as the largest error is at most g·u/2, errors
are those of `softmax.softmax_error` with the roundings of float32, increased at each stored number
by the second line (`stored_error`).

Norms multiply by 1 − γ, and their mean, which is 0, has an error of at most MEAN·u₃₂·K, equal in
both copies: one sum of K and −K is exact, and a running mean, K/j after j numbers, has a rounding
error of at most u₃₂·K/j, which contributes to the mean with factor j/d, in each of d/2 steps and a
few others.  The variance has a relative error u₃₂ for each non-zero number.  A non-zero read is
right if the sum of these errors and of its error is at most a relative u/2.  No weight may be
rounded, including the weights of norms (`Doubled`).  The quantum must be a normal number: for these
dtypes some hardware flushes smaller ones to 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from constructions.exactness import Hardmax, exact_in, quantum_of, significand, stream_quantum
from constructions.softmax import softmax_error
from constructions.stock.gadgets import Gadgets, unit_roundoff
from constructions.transformer import Transformer

FLOAT32 = 2.0**-24
MEAN = 0.6  # 1/2, and the few other steps
STORED = 8  # number of rounded tensors between a read register and the next
SATURATES = 16.0  # gelu(±16) is 16 and 0 in float32


def is_short(dtype: torch.dtype) -> bool:
    """Whether a dtype has fewer bits of significand than float32."""
    return unit_roundoff(dtype) > FLOAT32


def chosen_for(model: Transformer, square: float, dtype: torch.dtype, hardmax: Hardmax) -> Gadgets:
    """The parameters for a short dtype, with the smallest error of layer norms.

    They contain the least λ at which gelu(λx)/λ is relu(x) for all inputs x of MLPs. `square` is a
    bound on ‖v‖² of the stream v.
    """
    quantum = stream_quantum(model, hardmax)
    steep = SATURATES / exact_in(model, hardmax).quantum
    most = math.floor(math.log2(torch.finfo(dtype).max))
    tried = (Gadgets(1, 0.5, 1, 2.0**i, steep) for i in range(min(most, 24)))
    return min(tried, key=lambda numbers: read_error(numbers, square, quantum))


def read_error(numbers: Gadgets, square: float, quantum: float) -> float:
    """The relative error of a register that is read after a norm."""
    return numbers.gamma(square) + MEAN * FLOAT32 * numbers.constant / quantum


def stored_error(dtype: torch.dtype, scale: float) -> Callable[[Any, int], Any]:
    """Returns the map from errors before rounding to errors after rounding, for numbers near 0.

    The arguments of the map are a bound e on the sum of the absolute values of numbers, and how
    many they are. Each number is rounded to `dtype` at most twice, each time after multiplication
    by a constant of at least `scale` ≤ 1. With the unit roundoff u and the smallest positive number
    η of the dtype, the sum of their absolute values after rounding is at most

        (1 + 3u)·e + min(3e, terms·η/scale).

    Proof. Let h = η/(2·scale). One rounding of x adds at most max(u|x|, h) to |x|, and at most |x|,
    because numbers up to half the smallest positive number are rounded to 0. So after two roundings
    |x| has become at most 4|x|, and two additions of u|x| or h make it at most
    (1 + 2u + u²)|x| + 2h, because a number to which h was added is at most 2|x|. The sum over all
    numbers follows, as a sum of minima is at most the minimum of the sums.
    """
    u = unit_roundoff(dtype)
    least = 2 * u * torch.finfo(dtype).smallest_normal

    def stored(error: Any, terms: int) -> Any:
        return (1 + 3 * u) * error + np.minimum(3 * error, terms * least / scale)

    return stored


def restored_bound(
    model: Transformer,
    sharpness: float,
    numbers: Gadgets,
    square: float,
    dtype: torch.dtype,
    hardmax: Hardmax | None = None,
) -> float:
    """A bound, for all prompts, on the distance of logits in a short dtype from the hardmax logits.

    The bound is ∞ if rounding might not restore some number of the hardmax pass.
    """
    u = unit_roundoff(dtype)
    parts = *model.blocks, model.unembed
    maps = [W for part in parts for W in part.parameters() if W.ndim > 1]
    terms = max(int((W != 0).sum(-2).max()) for W in maps if W.numel())  # terms of one sum
    relative = (2 * terms + STORED) * FLOAT32
    # Queries and scores are stored times the sharpness or more, inputs of GELU times λ.
    stored = stored_error(dtype, min(1.0, sharpness, numbers.steep))
    found = softmax_error(model, sharpness, hardmax, relative=relative, stored=stored)
    quantum = stream_quantum(model, hardmax)
    places = (model.d_model + (model.interface.context or 0) + STORED) * FLOAT32
    read = read_error(numbers, square, quantum) + relative + places + found.stream / quantum
    # The largest weight of a softmax is 1 minus the leak; its sum has a term for each position.
    near = max(read, found.in_quanta, *(max(layer, default=0.0) + places for layer in found.leaks))
    return found.logits if near <= u / 2 else math.inf


def rounding_obstacle(
    model: Transformer,
    sharpness: float,
    bound: float,
    dtype: torch.dtype,
    head_dim: int,
    hardmax: Hardmax,
) -> str:
    """The reason why rounding to this dtype may change an answer; empty if it changes none.

    `bound` is the result of `restored_bound` at this sharpness.
    """
    kind, needs, u = torch.finfo(dtype), exact_in(model, hardmax), unit_roundoff(dtype)
    if any(margin.ties for block in model.blocks for margin in block.margins):
        return "it averages tokens of equal scores, and averages are rounded"
    # Queries and scores are stored as multiples of the sharpness.
    bits = needs.bits + math.ceil(math.log2(sharpness / quantum_of(np.array([sharpness])).item()))
    if bits > significand(dtype):
        at = f" at sharpness {sharpness:g}" * (bits > needs.bits)
        return f"it needs {bits} bits of significand{at}, and there are {significand(dtype)}"
    if needs.quantum < kind.smallest_normal:
        return f"it needs multiples of {needs.quantum:.2g}, below the normal numbers"
    reached = max(sharpness * math.sqrt(head_dim), 1.0) * needs.largest
    if reached > kind.max:
        return (
            f"scores before the division by √d_head can reach {reached:.3g} at sharpness "
            f"{sharpness:g}, the smallest sufficient, and the largest number is {kind.max:.3g}"
        )
    if math.isinf(bound):
        return (
            f"at sharpness {sharpness:g} and with this constant softmax and norms may have "
            f"relative errors above {u / 2:.2g}, the largest that rounding restores"
        )
    return ""
