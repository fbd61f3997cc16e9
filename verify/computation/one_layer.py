"""One layer of unique-hard attention: what H heads can compute of n bits, on random models."""

from __future__ import annotations

from itertools import count, islice

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed
from constructions.computation.to_circuit import to_circuit
from constructions.primitives import ReLU
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.computation import largest_constant_subcube
from theory.sequences import all_sequences


def parity_of_retrieved(positions: np.ndarray, bits: np.ndarray) -> Transformer:
    """One layer that outputs the parity of the last bit and of those that its heads retrieve.

    Head h scores position j with bit x by 2·positions[h, j − 1] + bits[h]·x, for bits that are odd
    or 0, so that no two tokens tie; its value is x.  BOS has the lowest score.  The MLP computes
    the parity of the sum of all values and the token's own bit.
    """
    H, T = positions.shape
    ranks = tuple(f"rank{h}" for h in range(H))
    stream = Stream(x=1, **dict.fromkeys(ranks, 1), sum=1, odd=1)
    x, total = stream.read("x"), stream.read("sum")
    heads = [
        Head(one, stream.read(rank) + float(bits[h]) * x, x, "sum") for h, rank in enumerate(ranks)
    ]
    # [z odd] = relu(z) − 2relu(z − 1) + 2relu(z − 2) − … for z = 0, 1, …, H + 1.
    words = [
        ReLU(x + total - float(t) * one, "odd", 1.0 if t == 0 else 2.0 * (-1) ** t)
        for t in range(H + 1)
    ]
    lowest = -2.0 * T - 2.0 * float(abs(bits).sum()) - 2.0
    at = {rank: np.append(lowest, 2.0 * positions[h]) for h, rank in enumerate(ranks)}
    return Transformer(
        Embed(rows(stream, x=np.array([0, 1, 0]))),
        [block(stream, heads, words, normalise="hardmax", mask="causal")],
        unembed(
            stream,
            stream.read("odd") @ Map(np.array([[0.0, 2.0]]), "bit"),
            bias=np.array([1.0, 0.0]),
        ),
        pos_embed=PosEmbed(rows(stream, **at)),
        interface=Tokens(2, T, prefix=(2,), answers=2, margin=1.0),
        stream=stream,
        name=f"one layer of {H} heads",
        source="proved in constructions/computation/hard_attention_circuit.py",
    )


def free_bits(H: int, n: int, models: int, rng: np.random.Generator) -> list[int]:
    """Free bits of the largest constant subcube of models of H heads and n bits: the first has its
    heads at H different positions, the others rank positions and bits at random."""
    return list(islice((_free(H, n, at == 0, rng) for at in count()), models))


def _free(H: int, n: int, apart: bool, rng: np.random.Generator) -> int:
    if apart:
        positions = np.array([np.roll(np.arange(n), -1 - h) for h in range(H)])
        bits: np.ndarray = np.zeros(H)
    else:
        positions = np.array([rng.permutation(n) for _ in range(H)])
        bits = 2.0 * rng.integers(-n, n, H) + 1
    words = all_sequences(n, 2)
    circuit = to_circuit(parity_of_retrieved(positions, bits), n, "and-or")
    return largest_constant_subcube(circuit.answers(words), 2).dimension
