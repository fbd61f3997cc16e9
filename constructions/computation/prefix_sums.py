"""Prefix sums in ⌈log_s N⌉ layers of s − 1 heads and width 3, without an MLP.

BOS stands at position 0 and holds 0, x_i at position i.  After layer ℓ token i holds in `sum` the
sum of the last s^ℓ numbers up to its own (of all, if there are fewer).  In layer ℓ + 1 head w, of
w = 1, …, s − 1, finds position a = i − w·s^ℓ by

    score 2a·j − j² = a² − (a − j)²        largest at j = a, by at least 1; for a < 0 at BOS

and adds its sum: that of the window before, or 0.  Heads of the last layer that would only look
before the first number are left out.  Scores are of positions alone, so that a layer is linear in
x, and right for all numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from constructions.assembly import block, embed, rows, unembed
from constructions.blocks import PosEmbed, Stage
from constructions.call import construction
from constructions.interface import Draw, Interface, Prompt, finite_tensors
from constructions.stream import Stream, one
from constructions.tokens import placed, rows_fit
from constructions.transformer import Transformer
from theory import machine
from theory.computation.kinds import Fan
from theory.computation.prefix_sums import tree_depth, window_sums
from theory.kinds import Count, InputError, Reals

LARGE = 2**30  # bytes of scores, from which on it is asked whether the memory holds them


class Numbers(Interface):
    """Numbers (…, N') → numbers (…, N'), N' ≤ N, behind a token BOS of 0.

    Raises ValueError for more than N, for none, and for NaN or infinite entries.
    """

    def __init__(self, max_length: int) -> None:
        super().__init__()
        self.max_length, self.context = max_length, max_length + 1

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (x,) = finite_tensors(like, inputs, "x")
        Reals("... d").fit("x", x.shape)
        if x.shape[-1] > self.max_length:
            raise InputError(
                f"x has {x.shape[-1]} numbers and the model was built for at most "
                f"{self.max_length}: build it again with max_length={x.shape[-1]}"
            )
        if (scores := 16 * x.numel() * (x.shape[-1] + 1)) > LARGE:
            what = f"the scores of {x.numel() / x.shape[-1]:.4g} rows of {x.shape[-1]} numbers"
            machine.fits_in_memory(what, scores, "give fewer or shorter ones")
        return (x,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (x,) = inputs
        column = x.reshape(*x.shape, 1)
        return Prompt(xp.concat([column[..., :1, :] * 0, column], axis=-2), 0, slice(1, None))

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray]:
        return (draw(1, self.max_length)[0],)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0]


@construction
def prefix_sums(max_length: Count, s: Fan = 2) -> Transformer:
    """`prefix_sums(N, s)(x)`: x₁ + … + x_i for every i, of at most N numbers (…, N').

    ⌈log_s N⌉ layers, s − 1 heads, width 3.  Sums of integers are exact below 2^53.

    Raises ValueError for s above max(N, 2), whose last heads would have nothing to add.
    """
    N = max_length
    rows_fit(N)
    if s > max(N, 2):
        raise InputError(f"s is {s}: give a number from 2 to {max(N, 2)}, of {N} numbers to add")
    layers = tree_depth(N, s)
    stream = Stream(sum=1, j=1, norm=1)
    stream.fits(layers, heads=s - 1)
    total, j, norm = map(stream.read, stream)
    here = np.arange(N + 1)
    blocks = []
    for layer in range(layers):
        behind = (w * s**layer for w in range(1, s))
        places = [j - float(far) * one for far in behind if far < N]
        heads = [placed(place, (j, norm), total, "sum") for place in places]
        blocks.append(block(stream, heads, normalise="hardmax", mask="causal"))
    return Transformer(
        embed(stream, x={"sum": 1.0}),
        blocks,
        unembed(stream, total),
        pos_embed=PosEmbed(rows(stream, j=here, norm=here**2)),
        interface=Numbers(N),
        stream=stream,
        stages=tuple(
            Stage(after, "sum", partial(_windows, s**after)) for after in range(layers + 1)
        ),
        source="proved in constructions/computation/prefix_sums.py",
    )


def _windows(width: int, x: np.ndarray) -> np.ndarray:
    """The sum of the last numbers, so many, up to each one."""
    return window_sums(x, width)[..., None]
