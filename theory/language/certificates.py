"""What m samples prove of a head that is right on all of them: three bounds on its error.

**A few of many.**  The k largest of T scores name one of C(T, k) conjunctions.  If that one is
right on all samples, it errs at most (ln C(T, k) + ln(1/δ))/m of the time, with probability ≥ 1 − δ
(`occam` of `theory.language.head_cover`), and its true error is a fraction (`error_between`).

**A vote** [Schapire1998].  A head z = Σ α_t x_t with free scores is a vote of T bits with weights
α.  If z − θ is above γ at all positive samples and below −γ at all negative ones, k positions drawn
from α give a mean that is as far as γ/2 from z with probability ≤ e^{−kγ²/2} (Hoeffding), and there
are T^k of them and (k + 2)² pairs of thresholds that differ on k bits.  So, with probability ≥ 1 −
δ,

    P(wrong) ≤ 2e^{−kγ²/2} + √((k ln T + 2 ln(k + 2) + ln(k(k + 1)/δ))/2m)   for every k

(Hoeffding again, and Σ 1/k(k + 1) = 1), the least of which is `vote_bound`.

**Norms**: `margin_certificate` of `theory.language.head_cover`.  Above 1 a bound says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from theory.kinds import Count, OpenUnit, Positive, Reals, Steps, Within, checked
from theory.language.distributions import Counted

MOST_DRAWN = 10**5  # positions, at most: the k over which the bound is least


@checked
def largest_scores(
    scores: Annotated[Any, Reals("T")], k: Annotated[Count, Within(most="T")]
) -> tuple[int, ...]:
    """The positions of the k largest of scores (T,), in order; of equal ones the first."""
    return tuple(sorted(np.argsort(-scores, kind="stable")[:k].tolist()))


@checked
def error_between(first: Collection[Steps], second: Collection[Steps]) -> Fraction:
    """How often the ANDs of two sets of uniform bits differ: 2^{−|A|} + 2^{−|B|} − 2·2^{−|A∪B|}."""
    A, B = set(first), set(second)
    a, b, both = len(A), len(B), len(A | B)
    return Fraction(1, 2**a) + Fraction(1, 2**b) - Fraction(2, 2**both)


@checked
def vote_bound(T: Counted, margin: Positive, samples: Counted, delta: OpenUnit) -> float:
    """The least, over k ≤ 10^5, of the bound on P(wrong) of a vote of T bits with this margin γ on
    all m samples."""
    k = np.arange(1, MOST_DRAWN + 1, dtype=np.float64)
    many = k * math.log(T) + 2 * np.log(k + 2) + np.log(k * (k + 1) / delta)
    return float((2 * np.exp(-k * margin**2 / 2) + np.sqrt(many / (2 * samples))).min())
