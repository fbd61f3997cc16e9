"""The parity of k among d bits in ⌊log₂ k⌋ + 1 tokens, by one linear head and no MLP.

The tokens generated after the bits x are the binary digits z_i of the number c of ones among the k
bits S, highest first (`theory.language.linear_tokens`).  In the position embedding, `weight` is 1
at the k bits and −2^i at digit i, so that one linear head computes the remainder of c,

    left = Σ_t weight_t · bit_t = Σ_S x − Σ_{i > j} 2^i z_i,

and `least` is 2^j − ½ where digit j is predicted.  The logits of 0 and 1 are −2(left − least) and
2(left − least), odd numbers, and the logit of ⊥ is 0.  At the bits before the last, where `silent`
is 1, the logit of ⊥ is 2k + 1, above all other logits.  So every logit is a linear form of the
tokens.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.stream import Stream, one
from constructions.tokens import Tokens, sizes
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Positions, Within
from theory.language.linear_tokens import count_of, left_of_count


@construction
def parity_by_linear_tokens(
    d: Annotated[Count, Within(most=10**15)], positions: Positions
) -> Transformer:
    """A transformer that generates the binary digits of the number of ones at k given positions.

        model.generate(words, ⌊log₂ k⌋ + 1)        (…, d) → (…, ⌊log₂ k⌋ + 1)

    `words` (…, d) consist of 0 and 1. The k `positions` count from 0. The most significant digit is
    generated first, so the last digit is the parity of the bits at `positions`. The model has 1
    layer with 1 linear head, width 5 and no MLP. Raises ValueError if a position occurs twice, or
    if the weights do not fit in memory.
    """
    sizes(2, d)
    chosen = count_of(d, positions)
    k = int(chosen.sum())
    if k > 2**40:  # float64 represents 2^j − ½ only up to such a size
        raise InputError(f"positions have {k} entries: give at most 2^40 positions")
    digits = np.arange(k.bit_length())[::-1]
    n = d + len(digits) - 1
    stream = Stream(bit=1, weight=1, least=1, silent=1, left=1)
    bit, weight, least, silent, left = map(stream.read, stream)
    placed = np.concatenate([chosen, -(2.0 ** digits[:-1])])
    wanted = np.concatenate([np.zeros(d - 1), 2.0**digits - 0.5])
    u = 2.0 * left - 2.0 * least
    return Transformer(
        Embed(rows(stream, bit=np.array([0.0, 1.0]))),
        [block(stream, [Head(one, weight, bit, "left")], normalise="linear", mask="causal")],
        unembed(stream, -u, u, (2.0 * k + 1) * silent),
        pos_embed=PosEmbed(
            rows(stream, weight=placed, least=wanted, silent=1.0 * (np.arange(n) < d - 1))
        ),
        interface=Tokens(2, n, margin=1.0, bottom=True),
        stream=stream,
        stages=(Stage(1, "left", partial(_left, positions, d)),),
        at_most={"left": float(k)},
        source="[Malach2024] for chains of linear predictors; these weights: weightwright",
    )


def _left(positions: np.ndarray, d: int, tokens: np.ndarray) -> np.ndarray:
    """The remainder of the count after the digits so far, as a register of one number."""
    return left_of_count(tokens, positions, d)[..., None]
