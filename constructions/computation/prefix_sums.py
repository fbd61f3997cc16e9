"""Prefix sums of N numbers by ⌈log_s N⌉ layers of s − 1 heads and width 3, without an MLP.

The number 0 is at BOS, position 0, and x_i is at position i.  After layer ℓ, `sum` at token i is
the sum of the last s^ℓ numbers up to x_i, or of all these numbers if there are fewer.  In layer
ℓ + 1, head w = 1, …, s − 1 looks up position a = i − w·s^ℓ by

    score 2a·j − j² = a² − (a − j)²        largest at j = a, by at least 1; for a < 0 at BOS

The head adds the sum at this position, which is the sum of an earlier window, or 0.  The last layer
omits heads whose positions are all before the first number.  Scores depend only on positions, so
each layer is linear in x, and the sums are right for all real numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from constructions.assembly import block, embed, rows, unembed
from constructions.blocks import PosEmbed, Stage
from constructions.call import construction
from constructions.exactness import check_squares
from constructions.interface import Draw, Interface, Prompt, finite_tensors
from constructions.stream import Stream, one
from constructions.tokens import placed, rows_fit
from constructions.transformer import Transformer
from theory.computation.kinds import FanIn
from theory.computation.prefix_sums import tree_depth, window_sums
from theory.kinds import Count, InputError, Reals


class Numbers(Interface):
    """The interface of a model on numbers: (…, N') → (…, N'), where BOS has the number 0.

    Raises ValueError for an empty row, for more than max_length numbers, for NaN or infinite
    entries, and in a dtype that rounds the squares of positions.
    """

    def __init__(self, max_length: int) -> None:
        super().__init__()
        self.max_length, self.context = max_length, max_length + 1

    @property
    def hard(self) -> bool:
        """True: averages of the sums of windows are no sums."""
        return True

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (x,) = finite_tensors(like, inputs, "x")
        Reals("... d").fit("x", x.shape)
        if x.shape[-1] > self.max_length:
            raise InputError(
                f"x has {x.shape[-1]} numbers and the model was built for at most "
                f"{self.max_length}: build a model with max_length={x.shape[-1]}"
            )
        check_squares(self.max_length, x.dtype)
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
def prefix_sums(max_length: Count, s: FanIn = 2) -> Transformer:
    """Returns a model that computes the prefix sums x₁ + … + x_i of at most N = max_length numbers.

    `prefix_sums(N, s)(x)` maps numbers x (…, N') to their prefix sums (…, N'), N' ≤ N. The fan-in s
    is the number of partial sums that a layer adds. The model has ⌈log_s N⌉ layers of at most s − 1
    heads, and width 3. Sums of integers are exact below 2^53. The model runs in float32 for N ≤
    4095, in float16 for N ≤ 45 and in bfloat16 for N ≤ 15.

    Raises ValueError for s > max(N, 2), for which some heads would add only 0.
    """
    N = max_length
    rows_fit(N)
    if s > max(N, 2):
        raise InputError(f"s is {s}: give a number from 2 to {max(N, 2)} for sums of {N} numbers")
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
        source="weightwright",
    )


def _windows(width: int, x: np.ndarray) -> np.ndarray:
    """The sum of the last `width` numbers up to each position."""
    return window_sums(x, width)[..., None]
