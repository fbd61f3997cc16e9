"""Finitely many attention heads come close to all of bounded norm, whatever the length.

    f(X) = ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩,   ‖q‖₁ ≤ A, ‖v‖₁ ≤ V, ‖x_t‖₂ ≤ B, any number of tokens

**Softmax.**  ‖softmax(s) − softmax(s')‖₁ ≤ ‖s − s'‖_∞: along the line from s to s' the speed of the
weights α is Σ α_t |Δ_t − Σ α Δ|, the mean deviation of Δ, which is at most its standard deviation,
and this at most half of its range, ≤ ‖Δ‖_∞.  The constant 1 is sharp: of two tokens with scores ±h
the weights move by tanh h from equal ones.

**A vector of the cover** for q is (A/k) Σ_{i ≤ k} a_i with each a_i one of ±e_1, …, ±e_d, 0.  Drawn
at random with mean q/A, it is off by at most (A² − ‖q‖²)/k in mean square (Maurey), and choosing
one a_i after the other, each the best for ‖a_1 + … + a_i − i·q/A‖, does as well without chance
(`nearest_in_cover`).

**The head** then moves by at most VB·(BA/√k₁) as q moves, and by B·V/√k₂ as v does, on *all* X
(`cover_radius`); there are (2d + 1)^{k₁ + k₂} of them (`log_cover_size`).  So if y f(X) > γ on m
independent samples, with probability ≥ 1 − δ

    P(y f(X) ≤ 0) ≤ ((k₁ + k₂) ln(2d + 1) + ln(1/δ))/m,   k₁ = ⌈16V²B⁴A²/γ²⌉, k₂ = ⌈16V²B²/γ²⌉:

one of the cover is within γ/2 of f, so it is above γ/2 on the samples and not where f is wrong
(`margin_certificate`).  ln T enters through d alone, where positions are unit vectors.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from theory import checks
from theory.checks import InputError
from theory.language.distributions import fractions, positive_fraction

MOST_ATOMS = 10**6  # of a vector of the cover, times its dimension


def head(q: ArrayLike, v: ArrayLike, X: ArrayLike) -> np.ndarray:
    """f(X), of q and v (d,) and tokens X (…, T, d), (…,).

    Raises `ValueError` for shapes that do not fit, and for numbers that are not finite.
    """
    tokens = checks.vectors("X", X)
    d = tokens.shape[-1]
    asks, reads = (checks.vectors(name, w, d) for name, w in (("q", q), ("v", v)))
    if tokens.ndim < 2 or asks.ndim != 1 or reads.ndim != 1:
        raise InputError(f"X has shape {tokens.shape}: give (…, T, d), and q and v (d,)")
    return np.asarray((softmax(tokens @ asks, axis=-1) * (tokens @ reads)).sum(axis=-1))


def nearest_in_cover(q: list[Fraction], A: Fraction, k: int) -> list[Fraction]:
    """A vector (A/k) Σ a_i of the cover with ‖· − q‖₂² ≤ (A² − ‖q‖₂²)/k, exactly.

    The i-th a_i minimises ‖a_1 + … + a_i − i·p‖, p = q/A: were it drawn, the mean of its square
    would grow by 1 − ‖p‖² at most (a_i = 0 has the rest of the mass).  Raises `ValueError` for
    ‖q‖₁ > A, A ≤ 0, k < 1, numbers that are not exact, no q at all, and more than 10^6 numbers.
    """
    q, A, k = list(fractions("q", q)), positive_fraction("A", A), checks.dimension("k", k)
    d = checks.dimension("the dimension of q", len(q))
    if d * k > MOST_ATOMS:
        raise InputError(f"{k} atoms of dimension {d}: give at most {MOST_ATOMS} in all")
    if sum(map(abs, q)) > A:
        raise InputError(f"‖q‖₁ = {float(sum(map(abs, q))):g} and A = {float(A):g}: give ‖q‖₁ ≤ A")
    # In whole numbers over one denominator D: of ‖total − i·p ± e_j‖² that with the largest
    # |total − i·p| is least, and less than without ±e_j if this is above ½.
    p = [each / A for each in q]
    D = math.lcm(*(each.denominator for each in p))
    steps = [int(each * D) for each in p]
    total, off = [0] * d, [0] * d
    for _ in range(k):
        off = [x - step for x, step in zip(off, steps, strict=True)]
        j = max(range(d), key=lambda j: abs(off[j]))
        if 2 * abs(off[j]) > D:
            sign = -1 if off[j] > 0 else 1
            total[j] += sign
            off[j] += sign * D
    return [A * each / k for each in total]


def cover_radius(A: float, V: float, B: float, k_q: int, k_v: int) -> float:
    """VB²A/√k₁ + VB/√k₂.  Raises `ValueError` for sizes that are not above 0."""
    A, V, B = (checks.positive_number(name, x) for name, x in (("A", A), ("V", V), ("B", B)))
    k1, k2 = checks.dimension("k_q", k_q), checks.dimension("k_v", k_v)
    return V * B**2 * A / math.sqrt(k1) + V * B / math.sqrt(k2)


def log_cover_size(d: int, k_q: int, k_v: int) -> float:
    """(k₁ + k₂) ln(2d + 1).  Raises `ValueError` for sizes below 1."""
    d, k1 = checks.dimension("d", d), checks.dimension("k_q", k_q)
    return (k1 + checks.dimension("k_v", k_v)) * math.log(2 * d + 1)


def occam(log_size: float, samples: int, delta: float) -> float:
    """(ln N + ln(1/δ))/m: with probability ≥ 1 − δ none of N rules that errs more often than this
    is right on m independent samples, as N(1 − ε)^m ≤ δ.  Above 1 it says nothing.

    Raises `ValueError` unless ln N ≥ 0, m ≥ 1 and 0 < δ < 1.
    """
    size, m = checks.nonnegative_number("log_size", log_size), checks.dimension("samples", samples)
    delta = checks.positive_number("delta", delta)
    if delta >= 1:
        raise InputError(f"delta is {delta:g}: give a number between 0 and 1")
    return (size + math.log(1 / delta)) / m


def margin_certificate(
    d: int, A: float, V: float, B: float, margin: float, samples: int, delta: float
) -> float:
    """The bound on P(wrong) of a head of these norms with y f > margin on all samples; above 1 it
    says nothing.  Raises `ValueError` as `occam` and `cover_radius` do."""
    gamma = checks.positive_number("margin", margin)
    A, V, B = (checks.positive_number(name, x) for name, x in (("A", A), ("V", V), ("B", B)))
    ratios = V / gamma * B * B * A, V / gamma * B
    if not max(ratios) < 1e100:
        raise InputError(f"norms over the margin are {max(ratios):g}: rescale, or say nothing")
    k_q, k_v = (math.ceil(16 * each**2) for each in ratios)
    return occam(log_cover_size(d, k_q, k_v), samples, delta)
