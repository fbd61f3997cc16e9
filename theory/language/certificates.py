"""Three bounds on the error of a head that classifies m samples correctly.

**The largest scores.**  The k largest of T scores determine one of C(T, k) conjunctions.  If this
conjunction is right on all m samples, its error is at most (ln C(T, k) + ln(1/δ))/m with
probability ≥ 1 − δ (`occam` of `theory.language.head_cover`).  `error_between` computes its true
error exactly.

**A vote** [Schapire1998].  A head z = Σ α_t x_t with free scores is a vote of T bits x_t with
weights α_t.  Its label is 1 if z exceeds a threshold θ.  Let z − θ > γ at all positive samples and
z − θ < −γ at all negative samples.  The mean of the bits at k positions drawn from α deviates from
z by γ/2 or more with probability ≤ e^{−kγ²/2} (Hoeffding).  There are T^k such draws, and (k + 2)²
pairs of thresholds that differ on k bits.  So, with probability ≥ 1 − δ,

    P(wrong) ≤ 2e^{−kγ²/2} + √((k ln T + 2 ln(k + 2) + ln(k(k + 1)/δ))/2m)   for every k

(Hoeffding again, and Σ 1/(k(k + 1)) = 1).  `vote_bound` is the minimum over k.

**Norms.**  `margin_certificate` of `theory.language.head_cover` bounds the error by the norms of
the head.  Each of these bounds is vacuous if it is above 1.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from theory.kinds import Count, OpenUnit, Positive, Reals, Steps, Within, checked
from theory.language.distributions import Counted

MOST_DRAWN = 10**5  # the largest k over which the bound is minimised


@checked
def largest_scores(
    scores: Annotated[Any, Reals("T")], k: Annotated[Count, Within(most="T")]
) -> tuple[int, ...]:
    """The positions of the k largest entries of `scores` (T,), in increasing order of position.

    If entries are equal, those at the first positions are taken.
    """
    return tuple(sorted(np.argsort(-scores, kind="stable")[:k].tolist()))


@checked
def error_between(first: Collection[Steps], second: Collection[Steps]) -> Fraction:
    """The probability that the ANDs of two subsets of independent uniform bits differ.

    The probability is 2^{−|A|} + 2^{−|B|} − 2·2^{−|A∪B|}.  A = `first` and B = `second` are the
    sets of positions of the bits of the two ANDs.
    """
    A, B = set(first), set(second)
    a, b, both = len(A), len(B), len(A | B)
    return Fraction(1, 2**a) + Fraction(1, 2**b) - Fraction(2, 2**both)


@checked
def vote_bound(T: Counted, margin: Positive, samples: Counted, delta: OpenUnit) -> float:
    """An upper bound on the error of a weighted vote of T bits with a margin on all samples.

    A vote predicts the label y = ±1 of a word x of T bits as the sign of f(x) = Σ_t w_t x_t − c,
    with weights w_t ≥ 0 of sum 1 and a threshold c.  The m = `samples` samples (x, y) are
    independent, γ = `margin` and δ = `delta`.  With probability ≥ 1 − δ, every vote with y f(x) ≥ γ
    on all samples errs with probability at most

        2e^{−kγ²/2} + √((k ln T + 2 ln(k + 2) + ln(k(k + 1)/δ))/2m)

    for every integer k ≥ 1 [Schapire1998].  The result is the minimum over k ≤ 10^5.  A bound above
    1 is vacuous.
    """
    k = np.arange(1, MOST_DRAWN + 1, dtype=np.float64)
    many = k * math.log(T) + 2 * np.log(k + 2) + np.log(k * (k + 1)) - math.log(delta)
    return float((2 * np.exp(-k * margin**2 / 2) + np.sqrt(many / (2 * samples))).min())
