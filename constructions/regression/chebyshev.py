"""Chebyshev's method, k steps in ⌈log₃k⌉ + 1 layers.

On eigenvalues in [a, b] the best residual polynomial of degree k with R(0) = 1 is

    R_k(λ) = T_k(l(λ)) / τ_k,   l(λ) = σ − 2λ/(b − a),   σ = (b + a)/(b − a),   τ_k = T_k(σ).

A layer a step is the obvious construction.  But T_k obeys product formulas that triple the degree,
which a trilinear head can follow.  Divided by τ, with q and q + 1 known and R₁ = l/σ:

    R_{3q}   = c₃ R_q³          −               c₁ R_q       4T_q³ − 3T_q
    R_{3q+1} = c₃ R_q² R_{q+1}  − c₂ R₁R_q     − c₁ R_{q+1}   4T_q²T_{q+1} − 2l T_q − T_{q+1}
    R_{3q+2} = c₃ R_q R_{q+1}²  − c₂ R₁R_{q+1} − c₁ R_q       4T_qT_{q+1}² − 2l T_{q+1} − T_q
    R_{3q+3} = c₃ R_{q+1}³      −               c₁ R_{q+1}   4T_{q+1}³ − 3T_{q+1}

(all from 4T_aT_bT_c = T_{a+b+c} + T_{a+b−c} + T_{a−b+c} + T_{b+c−a} and the three-term
recurrence).  With R_q = I − S Q_q the tokens keep u = Q_q x, z = S Q_q x, r = xᵀQ_q b, exactly as
in `ladder.py`, whose two heads give the triple products.  The only new term is
R₁R_q = I − S(Q_q + α(I − S Q_q)) with α = 2/(a + b): its u part α(x − z) is local, and one head
(x − z asks, x answers, (x, y) is carried) gives its z and r parts.

The coefficients c are ratios of τ's: c₃ = 4τ_aτ_bτ_c/τ_{a+b+c}, c₁ is the τ of the slot used once
over τ_{a+b+c}, and c₂ = c₃ − c₁ − 1 because R(0) = 1 (where all three slots agree, c₁ = c₃ − 1).
With σ = cosh θ, τ_q = cosh qθ = ½e^{qθ}(1 + e^{−2qθ}), so the exponentials of c₃ cancel.  They are
rounded to float64, so this construction computes Chebyshev's method up to rounding and not exactly.
"""

from __future__ import annotations

from math import exp, log1p, sqrt
from typing import NamedTuple

from constructions.assembly import Head
from constructions.regression.ladder import climb, ladder, product_heads, slots_of
from constructions.stream import Stream
from constructions.transformer import Transformer
from constructions.words import Move
from theory import checks
from theory.checks import InputError


def chebyshev(d: int, k: int, smallest: float, largest: float) -> Transformer:
    """A transformer that computes k steps of Chebyshev's method.

    The prediction is x_qᵀ Q_k(S) Xᵀ y, S = XᵀX, where I − S·Q_k = T_k(l(S))/τ_k is the best
    residual polynomial on [smallest, largest] (formulas in `chebyshev.py`); x (…, n, d), y (…, n),
    x_query (…, d).  ⌈log₃k⌉ + 1 layers, at most 6 linear heads, width 9d + 5, any number of
    examples.

    If every non-zero eigenvalue of S lies in [smallest, largest], the residual is at most
    2((√κ − 1)/(√κ + 1))^k on each, κ = largest/smallest: accuracy ε takes ⌈log₃(½√κ ln(2/ε))⌉ + 1
    layers, where Newton's 2^k ≈ κ ln(1/ε) takes ⌈log₃(κ ln(1/ε))⌉ + 1.

    Raises ValueError for d < 1, k < 1, or bounds that are not 0 < smallest ≤ largest.

    Source: [Saad2003] for the method; the layer count is proved in `chebyshev.py`.
    """
    d, k = checks.dimension("d", d), checks.dimension("k", k)
    smallest = float(checks.positive("smallest", smallest))
    largest = float(checks.positive("largest", largest))
    if smallest > largest:
        raise InputError(f"smallest is {smallest:g} and largest is {largest:g}: swap them")
    name = f"chebyshev(d={d}, k={k}, smallest={smallest!r}, largest={largest!r})"
    alpha = 2 / (smallest + largest)
    if smallest == largest:  # σ is infinite, and T_k(l)/τ_k tends to (1 − λ/b)^k
        return ladder(d, k, alpha, start="identity", name=name)

    def rung(stream: Stream, slot: str, exponent: int, below: int) -> tuple[list[Head], list[Move]]:
        a, b, c = slots_of(exponent, below)
        weights = coefficients(exponent, below, smallest, largest)
        heads = product_heads(stream, slot, a, b, c, weights.cubic)
        moves = climb(stream, slot, weights.kept)
        if not weights.added:
            return heads, moves
        x, y, rest = stream.read("x"), stream.read("y"), stream.read("x") - stream.read(f"{b}_z")
        into = f"{slot}_new_z", f"{slot}_new_r"
        heads.append(Head(rest, x, (x, y), into, weights.added))
        return heads, [*moves, Move(weights.added * rest, f"{slot}_u")]

    source = "[Saad2003]; the layer count is proved in constructions/regression/chebyshev.py"
    return ladder(d, k, alpha, start="identity", name=name, rung=rung, source=source)


class Coefficients(NamedTuple):
    """Of a rung: cubic·(Q_{a+b+c} of the ladder less Q_a + Q_b + Q_c) + Σ kept·Q_slot
    + added·(I − S Q_b); b is the slot that occurs twice, and `added` is 0 where all three agree."""

    cubic: float
    kept: dict[str, float]
    added: float


def coefficients(exponent: int, below: int, smallest: float, largest: float) -> Coefficients:
    """What takes Q_below and Q_{below+1} to Q_exponent, for bounds smallest < largest."""
    held, (a, b, c) = {"low": below, "high": below + 1}, slots_of(exponent, below)
    # e^θ − 1 without cancellation, for κ near 1 and for large κ.
    growth = 2 * sqrt(smallest) * (sqrt(smallest) + sqrt(largest)) / (largest - smallest)
    angle = log1p(growth)

    def scaled_tau(q: int) -> float:
        return 1 + exp(-2 * q * angle)

    tau = scaled_tau(exponent)
    cubic = scaled_tau(held[a]) * scaled_tau(held[b]) * scaled_tau(held[c]) / tau
    kept = {slot: (a, b, c).count(slot) * cubic for slot in (a, b, c)}
    if a == c:
        kept[a] -= cubic - 1
        return Coefficients(cubic, kept, 0.0)
    # c₂ belongs to the slot that occurs twice and c₁ to the other one.
    other = c if a == b else a
    linear = exp((held[other] - exponent) * angle) * scaled_tau(held[other]) / tau
    quadratic = cubic - 1 - linear
    kept[other] -= linear
    kept[b] -= quadratic
    return Coefficients(cubic, kept, -quadratic * 2 / (smallest + largest))
