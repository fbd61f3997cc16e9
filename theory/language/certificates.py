"""What m samples prove of a head that is right on all of them: three bounds on its error.

**A few of many.**  The k largest of T scores name one of C(T, k) conjunctions.  If that one is
right on all samples, it errs at most (ln C(T, k) + ln(1/δ))/m of the time, with probability ≥ 1 − δ
(`occam` of `theory.language.cover`), and its true error is a fraction (`error_between`).

**A vote** [Schapire1998].  A head z = Σ α_t x_t with free scores is a vote of T bits with weights
α.  If z − θ is above γ at all positive samples and below −γ at all negative ones, k positions drawn
from α give a mean that is as far as γ/2 from z with chance ≤ e^{−kγ²/2} (Hoeffding), and there are
T^k of them and (k + 2)² pairs of thresholds that differ on k bits.  So, with probability ≥ 1 − δ,

    P(wrong) ≤ 2e^{−kγ²/2} + √((k ln T + 2 ln(k + 2) + ln(k(k + 1)/δ))/2m)   for every k

(Hoeffding again, and Σ 1/k(k + 1) = 1), the least of which is `vote_bound`.

**Norms**: `margin_certificate` of `theory.language.cover`.  Above 1 a bound says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError

MOST_DRAWN = 10**5  # positions, at most: the k over which the bound is least


def largest_scores(scores: ArrayLike, k: int) -> tuple[int, ...]:
    """The positions of the k largest of scores (T,), in order; of equal ones the first.

    Raises `ValueError` for scores that are no list of finite numbers, and unless 1 ≤ k ≤ T.
    """
    array, k = checks.vectors("scores", scores), checks.dimension("k", k)
    if array.ndim != 1 or k > array.size:
        raise InputError(f"k is {k} and scores have shape {array.shape}: give a list of at least k")
    return tuple(sorted(np.argsort(-array, kind="stable")[:k].tolist()))


def error_between(first: Collection[int], second: Collection[int]) -> Fraction:
    """How often the ANDs of two sets of uniform bits differ: 2^{−|A|} + 2^{−|B|} − 2·2^{−|A∪B|}.

    Raises `ValueError` for what are no positions, 0, 1, …
    """
    A, B = (
        {checks.step_count(f"a position in {name}", each) for each in checks.listed(name, chosen)}
        for name, chosen in (("first", first), ("second", second))
    )
    a, b, both = len(A), len(B), len(A | B)
    return Fraction(1, 2**a) + Fraction(1, 2**b) - Fraction(2, 2**both)


def vote_bound(T: int, margin: float, samples: int, delta: float) -> float:
    """The least, over k ≤ 10^5, of the bound on P(wrong) of a vote of T bits with this margin γ on
    all m samples.

    Raises `ValueError` for sizes below 1, a margin that is not above 0, and unless 0 < δ < 1.
    """
    T, m = checks.dimension("T", T), checks.dimension("samples", samples)
    gamma, delta = checks.positive_number("margin", margin), checks.positive_number("delta", delta)
    if delta >= 1:
        raise InputError(f"delta is {delta:g}: give a number between 0 and 1")
    k = np.arange(1, MOST_DRAWN + 1, dtype=np.float64)
    many = k * math.log(T) + 2 * np.log(k + 2) + np.log(k * (k + 1) / delta)
    return float((2 * np.exp(-k * gamma**2 / 2) + np.sqrt(many / (2 * m))).min())
