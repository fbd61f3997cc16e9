"""A finite cover of the attention heads of bounded norm, for prompts of any length.

A prompt X consists of any number of tokens x_t in ℝ^d, and a head is

    f(X) = ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩,   ‖q‖₁ ≤ A, ‖v‖₁ ≤ V, ‖x_t‖₂ ≤ B.

**Softmax.**  ‖softmax(s) − softmax(s')‖₁ ≤ ‖s − s'‖_∞.  Proof: let Δ = s' − s.  Along the line from
s to s' the weights α = softmax move, in ℓ₁, at the speed Σ α_t |Δ_t − Σ α Δ|, the mean absolute
deviation of Δ.  This is at most the standard deviation, which is at most half of the range of Δ,
which is at most ‖Δ‖_∞.  The constant 1 is sharp: if two tokens have scores ±h instead of equal
scores, the weights change by tanh h, and tanh(h)/h → 1 as h → 0.  Further tokens may have low
scores.

**A vector of the cover** for q is (A/k) Σ_{i ≤ k} a_i, where each a_i is one of ±e_1, …, ±e_d, 0.
If the a_i are drawn independently with mean q/A, the mean square distance of this vector from q is
at most (A² − ‖q‖²)/k (Maurey).  The greedy choice, in which each a_i minimises
‖a_1 + … + a_i − i·q/A‖, satisfies the same bound without randomness (`nearest_in_cover`).

**The head.**  Replacing q by a vector of the cover with k₁ summands changes the head by at most
VB·(BA/√k₁), on *all* X.  Replacing v by a vector with k₂ summands changes it by at most B·V/√k₂
(`cover_radius`).  The cover has (2d + 1)^{k₁ + k₂} heads (`log_cover_size`).  So if y f(X) > γ on m
independent samples (X, y) with labels y = ±1, then with probability ≥ 1 − δ

    P(y f(X) ≤ 0) ≤ ((k₁ + k₂) ln(2d + 1) + ln(1/δ))/m,   k₁ = ⌈16V²B⁴A²/γ²⌉, k₂ = ⌈16V²B²/γ²⌉,

since some head of the cover is within γ/2 of f.  The margin of this head exceeds γ/2 on the
samples, but not where f is wrong (`margin_certificate`).  If positions are encoded by T unit
vectors, the bound depends on T only through d.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy  # its submodules are loaded when they are used

from theory.kinds import Count, Exact, InputError, NonNegative, OpenUnit, Positive, Reals, checked
from theory.language.distributions import Counted, PositiveExact

MOST_ATOMS = 10**6  # largest number of summands times the dimension of a vector of the cover

Vector: TypeAlias = Annotated[Any, Reals("d")]
"""Finite numbers, shape (d,)."""


@checked
def head(q: Vector, v: Vector, X: Annotated[Any, Reals("... T d")]) -> np.ndarray:
    """The output (…,) of an attention head for one query: ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩.

    The T tokens x_t of dimension d are the rows of `X` (…, T, d).  The query `q` and the output
    vector `v` have shape (d,).
    """
    return np.asarray((scipy.special.softmax(X @ q, axis=-1) * (X @ v)).sum(axis=-1))


@checked
def nearest_in_cover(q: Sequence[Exact], A: PositiveExact, k: Count) -> list[Fraction]:
    """A vector of a finite set whose squared distance from q is at most (A² − ‖q‖₂²)/k, exactly.

    The set consists of the vectors (A/k) Σ_{i ≤ k} a_i, where each a_i is 0 or one of ±e_1, …,
    ±e_d, for the unit vectors e_j of ℝ^d.  It covers the ball ‖q‖₁ ≤ A.  The summands a_1, a_2, …
    are chosen in this order, so that a_i minimises ‖a_1 + … + a_i − i·p‖₂ for p = q/A.

    Proof: Let a_i be random: sign(p_j)·e_j with probability |p_j| for each j, and otherwise 0, so
    that its mean is p.  The random a_i increases the square of this norm by at most 1 − ‖p‖₂² on
    average.  The minimising a_i increases it by at most this mean.  Raises `ValueError` for ‖q‖₁ >
    A, for an empty q, and if d·k exceeds 10^6.
    """
    d = len(q)
    if not 0 < d * k <= MOST_ATOMS:
        raise InputError(
            f"q has {d} entries and k is {k}: give a q and a k for which (number of entries)·k is "
            f"from 1 to {MOST_ATOMS}"
        )
    if (norm := sum(map(abs, q))) > A:
        raise InputError(f"‖q‖₁ = {float(norm):g} and A = {float(A):g}: give A ≥ ‖q‖₁")
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
    """An upper bound on the distance of a head from a finite set of heads, on every prompt.

    The attention head outputs ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩ for the tokens x_t of the prompt,
    with ‖q‖₁ ≤ A, ‖v‖₁ ≤ V and ‖x_t‖₂ ≤ B.  In the heads of the finite set, q is A/k_q times a sum
    of k_q vectors, and v is V/k_v times a sum of k_v vectors.  Each summand is 0, a unit vector, or
    the negative of a unit vector.  The bound is VB²A/√k_q + VB/√k_v.  It holds for the nearest head
    of the finite set.
    """
    # In rational arithmetic, since a product of some of the factors may underflow.
    by_value = Fraction(V) * Fraction(B)
    by_query = by_value * Fraction(B) * Fraction(A)
    return float(by_query) / math.sqrt(k_q) + float(by_value) / math.sqrt(k_v)


@checked
def log_cover_size(d: Counted, k_q: Counted, k_v: Counted) -> float:
    """The logarithm (k_q + k_v) ln(2d + 1) of the number of heads in a finite set of heads.

    Every attention head of bounded norm has a distance of at most `cover_radius` from one of these
    heads.  A head on tokens of dimension d is given by its query q and its output vector v.  In the
    heads of the set, q is a fixed multiple of a sum of k_q vectors, and v is a fixed multiple of a
    sum of k_v vectors.  Each summand is 0, a unit vector, or the negative of a unit vector.
    """
    return _log_size(d, k_q + k_v)


def _log_size(d: int, atoms: int) -> float:
    return atoms * math.log(2 * d + 1)


@checked
def occam(log_size: NonNegative, samples: Counted, delta: OpenUnit) -> float:
    """The Occam bound (ln N + ln(1/δ))/m on the error of a rule that is right on m samples.

    The rule is one of N rules, with ln N = `log_size`.  The m = `samples` samples are independent,
    and δ = `delta`.  With probability ≥ 1 − δ, each of the N rules that is right on all samples has
    an error of at most this bound.  Proof: A rule of error ε is right on all samples with
    probability (1 − ε)^m, and N(1 − ε)^m ≤ δ if ε exceeds the bound.  A bound above 1 is vacuous.
    """
    return (log_size - math.log(delta)) / samples


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
    """An upper bound on the error of a head of bounded norm with a margin on all samples.

    The attention head is f(X) = ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩ with ‖q‖₁ ≤ A and ‖v‖₁ ≤ V.  The
    prompts X consist of tokens x_t in ℝ^d with ‖x_t‖₂ ≤ B.  The m = `samples` samples (X, y) are
    independent, with labels y = ±1.  The margin is γ = `margin`: y f(X) > γ on all samples.  Then
    with probability ≥ 1 − δ, where δ = `delta`,

        P(y f(X) ≤ 0) ≤ ((k₁ + k₂) ln(2d + 1) + ln(1/δ))/m

    with k₁ = ⌈16V²B⁴A²/γ²⌉ and k₂ = ⌈16V²B²/γ²⌉.  The result is this bound.  A bound above 1 is
    vacuous.  Raises `ValueError` if VB²A/γ or VB/γ is at least 10^100.
    """
    ratios = V / margin * B * B * A, V / margin * B
    if not max(ratios) < 1e100:
        raise InputError(
            f"the larger of V·B²·A/margin and V·B/margin is {max(ratios):g}: "
            "give a smaller V, B or A, or a larger margin"
        )
    # In rational arithmetic, since a rounded square may be below an integer that it exceeds.
    by_value = Fraction(V) * Fraction(B) / Fraction(margin)
    by_query = by_value * Fraction(B) * Fraction(A)
    k = math.ceil(16 * by_query**2) + math.ceil(16 * by_value**2)
    return occam(_log_size(d, k), samples, delta)
