"""A layer of H unique-hard heads that outputs the parity of the last bit and of H retrieved bits.

BOS is at position 0, and the bits x_j are at j = 1 … T.  Head h has constant queries.  Its key at
position j is

    rank_h(j) + b_h·x_j,      rank_h(j) even, b_h odd or 0.

Since the ranks of a head differ, no two tokens tie.  So the head attends to the first token in an
order of the pairs (position, bit), which is an order of the positions if b_h = 0.  BOS has the
lowest rank.  The value is x_j, so `sum` is the sum of the H retrieved bits.  Let x be the bit at
the token.  The MLP computes the parity of z = x + `sum`,

    [z odd] = relu(z) − 2 relu(z − 1) + 2 relu(z − 2) − …      for z = 0, …, H + 1.

`hard_attention_circuit.py` proves that, for every model of one layer of H unique-hard heads, the
output after n bits is constant on a subcube of at least n − 1 − H free bits.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed
from constructions.call import construction
from constructions.primitives import ReLU
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError, Integers, Within

Ranks: TypeAlias = Annotated[Any, Integers("H T")]
"""The ranks of the positions 1 … T, for each of H heads."""
Weights: TypeAlias = Annotated[Any, Integers("H", Within(least=-(2**20), most=2**20))]
"""An integer for each of H heads."""


@construction
def parity_of_retrieved(ranks: Ranks, bit_weights: Weights) -> Transformer:
    """Returns a model that outputs the parity of each bit and of H bits that its heads retrieve.

    `ranks` has shape (H, T), and words have at most T bits x_1, x_2, ….  At each position, head h
    retrieves the bit x_j for the position j, among the positions so far, at which 2·ranks[h, j − 1]
    + bit_weights[h]·x_j is largest.  The model has 1 layer, H heads, width H + 3 and H + 1 ReLUs.
    Raises ValueError if a row of `ranks` is not a permutation of 0 … T − 1, if the number of bit
    weights is not H, and if a bit weight is even and not 0, since tokens could tie.
    """
    (H, T), b = ranks.shape, bit_weights
    if (np.sort(ranks, axis=1) != np.arange(T)).any():
        raise InputError(
            f"a row of `ranks` is not a permutation: give each number 0 … {T - 1} once in each row"
        )
    if ((b != 0) & (b % 2 == 0)).any():
        raise InputError(f"bit_weights are {b.tolist()}: give odd numbers or 0")
    names = tuple(f"rank{h}" for h in range(H))
    stream = Stream(x=1, **dict.fromkeys(names, 1), sum=1, odd=1)
    x, total = stream.read("x"), stream.read("sum")
    heads = [
        Head(one, stream.read(rank) + float(b[h]) * x, x, "sum") for h, rank in enumerate(names)
    ]
    relus = [
        ReLU(x + total - float(t) * one, "odd", 1.0 if t == 0 else 2.0 * (-1) ** t)
        for t in range(H + 1)
    ]
    lowest = -2.0 * float(abs(b).sum()) - 2.0
    table = {rank: np.append(lowest, 2.0 * ranks[h]) for h, rank in enumerate(names)}
    return Transformer(
        Embed(rows(stream, x=np.array([0, 1, 0]))),
        [block(stream, heads, relus, normalise="hardmax", mask="causal")],
        unembed(
            stream,
            stream.read("odd") @ Map(np.array([[0.0, 2.0]]), "bit"),
            bias=np.array([1.0, 0.0]),
        ),
        pos_embed=PosEmbed(rows(stream, **table)),
        interface=Tokens(2, T, prefix=(2,), labels=2, margin=1.0),
        stream=stream,
        source="weightwright",
    )
