"""The ladder for all prefixes of the examples at once, in ⌈k log₃2⌉ + 2 causal layers from αI.

As in `newton_causal.py`, token t stores matrices of its prefix, row by row, and heads with the mask
"diagonal" multiply them. In this module the matrices are, for one exponent p or two neighbouring
exponents,

    E^p,   E = I − αS,   and   G_p,   S·G_p = I − E^p,

so that G_N with N = 2^k is M_k of Newton's method. From exponents a and c, a layer computes n = a +
2c:

    (E^n)_i = Σ_e ⟨(E^a)_i, (E^c)_e⟩ (E^c)_e
    (G_n)_i = (G_a)_i + Σ_e ⟨(E^a)_i, (E^c)_e + 1_e⟩ (G_c)_e

where 1_e are the unit vectors, since the matrices are symmetric and G_n = G_a + E^a(I + E^c)G_c.

**⌈k log₃2⌉ layers in between.**  The first layer computes exponents 0 and 1: E = I − αS is a sum
over the previous tokens. By induction, L more layers compute every n ≤ 3^L and every pair n, n + 1
≤ 3^L. Let q = ⌊n/3⌋. Exponent 3q is computed from q, and all of 3q, …, 3q + 3 from the pair q, q +
1. In the second case, q + 1 ≤ 3^{L−1} because 3q + 1 ≤ 3^L.

From αS, E = I − αS² requires one more layer: S is computed first, then its square.

Degrees triple in each layer, as under full attention, but tokens store O(d²) numbers.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from constructions.assembly import Head, block, embed, moved, unembed
from constructions.blocks import Stage
from constructions.examples import Examples, shifted
from constructions.primitives import Move
from constructions.regression.ladder_layers import SLOTS
from constructions.regression.newton_causal import sums
from constructions.regression.stages import Image, Inverse, Powers, Prediction, Residual
from constructions.stream import Map, Stream, one
from constructions.transformer import Transformer
from theory.regression.newton import Start


def ladder_causal(d: int, k: int, alpha: float, start: Start) -> Transformer:
    """A causal transformer that computes k Newton–Schulz steps for every prefix of the examples.

    The start is M₀ = αS (start "gram") or αI ("identity"), with α = `alpha` and S = XᵀX for the
    examples X of each prefix. The transformer has ⌈k log₃2⌉ + 2 layers from αI, and one more layer
    from αS. It has at most 4d² + 1 linear heads in a layer and a width of at most 4d² + 3d + 2, or
    5d² + 3d + 2 from αS. Entry t of the output is the prediction from the first t examples.
    """
    plan = exponents(2**k)
    slots = SLOTS[: max(map(len, plan))]
    rows, gram, of = range(1, d + 1), start == "gram", Powers(alpha, start)
    named = [f"{slot}_{M}" for slot in slots for M in "EG"] + ["S"] * gram
    widths = {"x": d, "key": d, "y": 1, "b": d, "estimate": 1}
    stream = Stream(**widths, **{f"{M}{i}": d for M in named for i in rows})
    stream.fits(len(plan) + 1 + gram, heads=4 * d * d + 1)
    x, b = map(stream.read, ("x", "b"))
    coordinate = {i: Map(np.eye(d)[:, [i - 1]], f"[{i}]") for i in rows}
    unit = {i: one @ Map(np.eye(d)[[i - 1]], f"e{i}") for i in rows}
    at = dict(zip(plan[0], SLOTS, strict=False))

    # Sums over the previous tokens: S, and from it E and G of exponent 1.
    linear = {"S": 1.0, f"{at[1]}_G": alpha} if gram else {f"{at[1]}_E": -alpha}
    ones = [Move(unit[i], f"{slot}_E{i}") for slot in at.values() for i in rows]
    if not gram:
        ones += [Move(alpha * unit[i], f"{at[1]}_G{i}") for i in rows]
    blocks = [block(stream, sums(stream, linear), ones, mask="causal")]
    if gram:
        S = {i: stream.read(f"S{i}") for i in rows}
        square = [Head(S[i], unit[e], -alpha * S[e], f"{at[1]}_E{i}") for i in rows for e in rows]
        blocks.append(block(stream, square, mask="diagonal"))
    stages = [Stage(1, f"S{i}", Image(0, of, i, prefixes=True)) for i in rows if gram]
    stages += _stages_of(len(blocks), plan[0], d, of)
    for below, above in pairwise(plan):
        at, heads, changes = dict(zip(below, SLOTS, strict=False)), list[Head](), {}
        for slot, n in zip(SLOTS, above, strict=False):
            a, c = summands(n, below)
            E_a, G_a, E_c, G_c = (
                {i: stream.read(f"{at[p]}_{M}{i}") for i in rows} for p in (a, c) for M in "EG"
            )
            for i in rows:
                changes[f"{slot}_G{i}"] = G_a[i] - stream.read(f"{slot}_G{i}")
                heads += [Head(E_a[i], E_c[e] + unit[e], G_c[e], f"{slot}_G{i}") for e in rows]
                if above is not plan[-1]:  # for the last power, only G is read
                    changes[f"{slot}_E{i}"] = -stream.read(f"{slot}_E{i}")
                    heads += [Head(E_a[i], E_c[e], E_c[e], f"{slot}_E{i}") for e in rows]
        changes = {into: reading for into, reading in changes.items() if reading.terms}
        if changes:
            heads.append(moved(tuple(changes.values()), tuple(changes)))
        blocks.append(block(stream, heads, mask="diagonal"))
        stages += _stages_of(len(blocks), above, d, of, "G" if above is plan[-1] else "EG")
    read = [Head(stream.read(f"low_G{i}"), b, x @ coordinate[i], "estimate") for i in rows]
    blocks.append(block(stream, read, mask="diagonal"))
    return Transformer(
        embed(stream, x={"x": 1.0}, key={"key": 1.0}, y={"y": 1.0}),
        blocks,
        unembed(stream, stream.read("estimate")),
        interface=Examples(d, shifted),
        stream=stream,
        stages=(*stages, Stage(len(blocks), "estimate", Prediction(2**k, of, prefixes=True))),
        source="weightwright; the iteration is that of [Schulz1933]",
    )


def exponents(power: int) -> list[tuple[int, ...]]:
    """The exponents that each layer computes: one exponent, or two neighbouring exponents.

    The exponents of the first layer are at most 1, and the exponent of the last layer is `power`.
    """
    wanted: list[tuple[int, ...]] = [(power,)]
    while wanted[0][-1] > 1:
        q = wanted[0][0] // 3
        wanted.insert(0, (q,) if wanted[0] == (3 * q,) else (q, q + 1))
    return wanted


def summands(n: int, below: tuple[int, ...]) -> tuple[int, int]:
    """The exponents a and c that the layer below stores (`below`), with n = a + 2c."""
    more = n - 3 * below[0]
    return below[more % 2], below[more // 2]


def _stages_of(
    after: int, exponents: tuple[int, ...], d: int, of: Powers, matrices: str = "EG"
) -> list[Stage]:
    """The layer invariants of the slots: rows of E^p and G_p."""
    return [
        Stage(after, f"{slot}_{M}{i}", what(p, of, i, prefixes=True))
        for slot, p in zip(SLOTS, exponents, strict=False)
        for M, what in (("E", Residual), ("G", Inverse))
        if M in matrices
        for i in range(1, d + 1)
    ]
