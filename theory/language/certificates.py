"""Three bounds on the error of a head that classifies m samples correctly.

**A few of many.**  The k largest of T scores determine one of C(T, k) conjunctions.  If this
conjunction is right on all samples, its error is at most (ln C(T, k) + ln(1/δ))/m with probability
≥ 1 − δ (`occam` of `theory.language.head_cover`); its true error is known exactly, as a fraction
(`error_between`).

**A vote** [Schapire1998].  A head z = Σ α_t x_t with free scores is a vote of T bits with weights
α.  If z − θ > γ at all positive samples and z − θ < −γ at all negative ones, the mean of k
positions drawn from α deviates from z by γ/2 or more with probability ≤ e^{−kγ²/2} (Hoeffding);
there are T^k such draws and (k + 2)² pairs of thresholds that differ on k bits.  So, with
probability ≥ 1 − δ,

    P(wrong) ≤ 2e^{−kγ²/2} + √((k ln T + 2 ln(k + 2) + ln(k(k + 1)/δ))/2m)   for every k

(Hoeffding again, and Σ 1/k(k + 1) = 1); `vote_bound` is the minimum over k.

**Norms**: `margin_certificate` of `theory.language.head_cover`.  A bound above 1 is vacuous.
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
    """The positions of the k largest of scores (T,), in order; ties go to the first."""
    return tuple(sorted(np.argsort(-scores, kind="stable")[:k].tolist()))


@checked
def error_between(first: Collection[Steps], second: Collection[Steps]) -> Fraction:
    """The probability 2^{−|A|} + 2^{−|B|} − 2·2^{−|A∪B|} that two ANDs of uniform bits differ."""
    A, B = set(first), set(second)
    a, b, both = len(A), len(B), len(A | B)
    return Fraction(1, 2**a) + Fraction(1, 2**b) - Fraction(2, 2**both)


@checked
def vote_bound(T: Counted, margin: Positive, samples: Counted, delta: OpenUnit) -> float:
    """The bound on P(wrong) of a vote of T bits with this margin on all samples.

    It is minimised over k ≤ 10^5.
    """
    k = np.arange(1, MOST_DRAWN + 1, dtype=np.float64)
    many = k * math.log(T) + 2 * np.log(k + 2) + np.log(k * (k + 1) / delta)
    return float((2 * np.exp(-k * margin**2 / 2) + np.sqrt(many / (2 * samples))).min())
