"""A finite cover of the attention heads of bounded norm, for prompts of any length.

    f(X) = ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩,   ‖q‖₁ ≤ A, ‖v‖₁ ≤ V, ‖x_t‖₂ ≤ B, any number of tokens

**Softmax.**  ‖softmax(s) − softmax(s')‖₁ ≤ ‖s − s'‖_∞: let Δ = s' − s.  Along the line from s to
s' the weights α move, in ℓ₁, at the speed Σ α_t |Δ_t − Σ α Δ|, the mean absolute deviation of Δ.
This is at most the standard deviation, which is at most half of the range, which is ≤ ‖Δ‖_∞.  The
constant 1 is sharp: for two tokens, scores ±h instead of equal scores change the weights by tanh h,
and tanh(h)/h → 1; other tokens may have low scores.

**A vector of the cover** for q is (A/k) Σ_{i ≤ k} a_i with each a_i one of ±e_1, …, ±e_d, 0.  If
the a_i are drawn with mean q/A, its mean square distance from q is at most (A² − ‖q‖²)/k (Maurey);
the greedy choice of the a_i, each minimising ‖a_1 + … + a_i − i·q/A‖, satisfies the same bound
without randomness (`nearest_in_cover`).

**The head** then changes by at most VB·(BA/√k₁) if q is replaced by its vector of the cover, and by
B·V/√k₂ if v is, on *all* X (`cover_radius`).  The cover has (2d + 1)^{k₁ + k₂} heads
(`log_cover_size`).  So if y f(X) > γ on m
independent samples, with probability ≥ 1 − δ

    P(y f(X) ≤ 0) ≤ ((k₁ + k₂) ln(2d + 1) + ln(1/δ))/m,   k₁ = ⌈16V²B⁴A²/γ²⌉, k₂ = ⌈16V²B²/γ²⌉:

some head of the cover is within γ/2 of f, so the margin of this head exceeds γ/2 on the samples,
but not where f is wrong (`margin_certificate`).  If positions are encoded by T unit vectors, T
enters only through d.
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

MOST_ATOMS = 10**6  # largest number of summands times the dimension of a vector of the cover

Vector: TypeAlias = Annotated[Any, Reals("d")]
"""Finite numbers, shape (d,)."""


@checked
def head(q: Vector, v: Vector, X: Annotated[Any, Reals("... T d")]) -> np.ndarray:
    """The head f(X), (…,), for q and v (d,) and tokens X (…, T, d)."""
    return np.asarray((softmax(X @ q, axis=-1) * (X @ v)).sum(axis=-1))


@checked
def nearest_in_cover(q: Sequence[Exact], A: PositiveExact, k: Count) -> list[Fraction]:
    """A vector (A/k) Σ a_i of the cover whose squared distance from q is at most (A² − ‖q‖₂²)/k.

    Each a_i minimises ‖a_1 + … + a_i − i·p‖, p = q/A.  Proof: a random a_i of mean p that is ±e_j
    with probability |p_j|, and otherwise 0, increases the mean squared norm by at most 1 − ‖p‖².
    The entries are exact.  Raises `ValueError` for ‖q‖₁ > A, an empty q, and more than 10^6
    numbers.
    """
    d = len(q)
    if not 0 < d * k <= MOST_ATOMS:
        raise InputError(f"q has {d} entries and k is {k}: give a product of 1 to {MOST_ATOMS}")
    if (norm := sum(map(abs, q))) > A:
        raise InputError(f"‖q‖₁ = {float(norm):g} and A = {float(A):g}: give ‖q‖₁ ≤ A")
    # Integers over one common denominator D.  ‖total − i·p ± e_j‖² is smallest for the j of the
    # largest |total − i·p|, and smaller than without ±e_j if this entry is above ½.
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
    """The upper bound VB²A/√k₁ + VB/√k₂ on the distance of a head from the cover on every X."""
    return V * B**2 * A / math.sqrt(k_q) + V * B / math.sqrt(k_v)


@checked
def log_cover_size(d: Counted, k_q: Counted, k_v: Counted) -> float:
    """The logarithm (k₁ + k₂) ln(2d + 1) of the number of heads in the cover."""
    return _log_size(d, k_q + k_v)


def _log_size(d: int, atoms: int) -> float:
    return atoms * math.log(2 * d + 1)


@checked
def occam(log_size: NonNegative, samples: Counted, delta: OpenUnit) -> float:
    """The Occam bound (ln N + ln(1/δ))/m on the error of a rule that is right on m samples.

    With probability ≥ 1 − δ none of N rules whose error ε is above this bound is right on m
    independent samples, since N(1 − ε)^m ≤ δ.  A bound above 1 is vacuous.
    """
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
    """The bound on P(y f ≤ 0) for a head of these norms with y f > margin on all samples.

    A bound above 1 is vacuous.  Raises `ValueError` if norms exceed the margin by more than 10^100.
    """
    ratios = V / margin * B * B * A, V / margin * B
    if not max(ratios) < 1e100:
        raise InputError(f"norms divided by the margin are {max(ratios):g}: give less than 1e100")
    k_q, k_v = (math.ceil(16 * each**2) for each in ratios)
    return occam(_log_size(d, k_q + k_v), samples, delta)
