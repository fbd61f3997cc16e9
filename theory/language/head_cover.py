"""Finitely many attention heads come close to all of bounded norm, whatever the length.

    f(X) = ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩,   ‖q‖₁ ≤ A, ‖v‖₁ ≤ V, ‖x_t‖₂ ≤ B, any number of tokens

**Softmax.**  ‖softmax(s) − softmax(s')‖₁ ≤ ‖s − s'‖_∞: along the line from s to s' the speed of the
weights α is Σ α_t |Δ_t − Σ α Δ|, the mean deviation of Δ, which is at most its standard deviation,
and this at most half of its range, ≤ ‖Δ‖_∞.  The constant 1 is sharp: of two tokens with scores ±h
the weights move by tanh h from equal ones, and tanh(h)/h → 1; other tokens may have low scores.

**A vector of the cover** for q is (A/k) Σ_{i ≤ k} a_i with each a_i one of ±e_1, …, ±e_d, 0.  Drawn
at random with mean q/A, it is off by at most (A² − ‖q‖²)/k in mean square (Maurey), and choosing
one a_i after the other, each the best for ‖a_1 + … + a_i − i·q/A‖, does as well without randomness
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
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np
from scipy.special import softmax

from theory.kinds import Count, Exact, InputError, NonNegative, OpenUnit, Positive, Reals, checked
from theory.language.distributions import Counted, PositiveExact

MOST_ATOMS = 10**6  # of a vector of the cover, times its dimension


Vector: TypeAlias = Annotated[Any, Reals("d")]
"""Finite numbers, shape (d,)."""


@checked
def head(q: Vector, v: Vector, X: Annotated[Any, Reals("... T d")]) -> np.ndarray:
    """f(X), of q and v (d,) and tokens X (…, T, d), (…,)."""
    return np.asarray((softmax(X @ q, axis=-1) * (X @ v)).sum(axis=-1))


@checked
def nearest_in_cover(q: Sequence[Exact], A: PositiveExact, k: Count) -> list[Fraction]:
    """A vector (A/k) Σ a_i of the cover with ‖· − q‖₂² ≤ (A² − ‖q‖₂²)/k, exactly.

    The i-th a_i minimises ‖a_1 + … + a_i − i·p‖, p = q/A: were it drawn, the mean of its square
    would grow by 1 − ‖p‖² at most (a_i = 0 has the rest of the mass).  Raises `ValueError` for
    ‖q‖₁ > A, an empty q, and more than 10^6 numbers.
    """
    d = len(q)
    if not 0 < d * k <= MOST_ATOMS:
        raise InputError(f"q has {d} entries and k is {k}: give 1 to {MOST_ATOMS} numbers in all")
    if (norm := sum(map(abs, q))) > A:
        raise InputError(f"‖q‖₁ = {float(norm):g} and A = {float(A):g}: give ‖q‖₁ ≤ A")
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


@checked
def cover_radius(A: Positive, V: Positive, B: Positive, k_q: Counted, k_v: Counted) -> float:
    """VB²A/√k₁ + VB/√k₂."""
    return V * B**2 * A / math.sqrt(k_q) + V * B / math.sqrt(k_v)


@checked
def log_cover_size(d: Counted, k_q: Counted, k_v: Counted) -> float:
    """(k₁ + k₂) ln(2d + 1)."""
    return _log_size(d, k_q + k_v)


def _log_size(d: int, atoms: int) -> float:
    return atoms * math.log(2 * d + 1)


@checked
def occam(log_size: NonNegative, samples: Counted, delta: OpenUnit) -> float:
    """(ln N + ln(1/δ))/m: with probability ≥ 1 − δ none of N rules that errs more often than this
    is right on m independent samples, as N(1 − ε)^m ≤ δ.  Above 1 it is vacuous."""
    return (log_size + math.log(1 / delta)) / samples


@checked
def margin_certificate(
    d: Counted,
    A: Positive,
    V: Positive,
    B: Positive,
    margin: Positive,
    samples: Counted,
    delta: OpenUnit,
) -> float:
    """The bound on P(wrong) of a head of these norms with y f > margin on all samples; above 1 it
    is vacuous.  Raises `ValueError` for norms that are too large beside the margin."""
    ratios = V / margin * B * B * A, V / margin * B
    if not max(ratios) < 1e100:
        raise InputError(f"norms over the margin are {max(ratios):g}: rescale, or say nothing")
    k_q, k_v = (math.ceil(16 * each**2) for each in ratios)
    return occam(_log_size(d, k_q + k_v), samples, delta)
