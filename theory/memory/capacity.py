"""The capacity of a network of d neurons: exact probabilities, and thresholds from theorems.

Shape glossary: `P` or `N` patterns (`n_patterns`), `d` neurons, α = P/d the load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import mpmath
import numpy as np
import scipy  # its submodules are loaded when they are used

from theory.kinds import (
    Count,
    Finite,
    InputError,
    OpenUnit,
    Positive,
    SignedUnit,
    Steps,
    Within,
    checked,
)
from theory.memory.kinds import Digits, Size, SizeFrom2


@checked
def unstable_bit_probability(n_patterns: Size, d: Size) -> float:
    """The probability that a bit of a stored pattern flips at its first update, under Hebb's rule.

    Let ξ^1, …, ξ^P in {−1, 1}^d be P = `n_patterns` uniformly random patterns. Hebb's weights are
    w_ij = Σ_μ ξ_i^μ ξ_j^μ for i ≠ j, and w_ii = 0. Let h_i = Σ_j w_ij ξ_j^ν be the field of neuron
    i at the pattern ξ^ν. The update sets the bit to the sign of h_i. Then ξ_i^ν h_i = (d − 1) + C,
    where C = Σ_{μ≠ν} Σ_{j≠i} ξ_i^ν ξ_i^μ ξ_j^μ ξ_j^ν is the crosstalk. The n = (P − 1)(d − 1)
    summands of C are independent uniform signs: given ξ^ν and the bits ξ_i^μ, each summand is a
    different bit ξ_j^μ times a fixed sign. A zero field does not change the bit. So the bit flips
    if and only if C < −(d − 1). Equivalently, B < (P − 2)(d − 1)/2 for the binomial variable
    B = (C + n)/2 ~ Bin(n, 1/2).

    The result is an incomplete beta function or, for n ≥ 2^27, where scipy's loses digits, the
    saddlepoint approximation of Lugannani and Rice with a continuity correction. No bound on the
    error is proved. Where it was compared with sums of binomial coefficients, for n up to 10^10 and
    probabilities down to 10^−274, the relative error is below 10^−9.
    """
    P = n_patterns
    n, most = (P - 1) * (d - 1), ((P - 2) * (d - 1) - 1) // 2
    if most < 0:
        return 0.0
    if n < 2**27:
        # P(Bin(n, p) ≤ k) = I_{1−p}(n − k, k + 1), the incomplete beta function
        return float(scipy.special.betainc(n - most, most + 1, 0.5))
    # x is the continuity-corrected number of standard deviations, and r²/2 the divergence from 1/2,
    # n·((1 + s) ln(1 + s) + (1 − s) ln(1 − s))/2 for s = x/√n.  The approximation is Φ(r) +
    # φ(r)(1/r − 1/x), where 1/r − 1/x = −x/(12 n), up to terms of higher order in s².
    x = (2 * most + 1 - n) / math.sqrt(n)
    r = x * math.sqrt(1 + x * x / (6 * n) + x**4 / (15 * n * n))
    density = math.exp(-r * r / 2) / math.sqrt(2 * math.pi)
    return float(scipy.special.ndtr(r)) - density * x / (12 * n)


@checked
def unstable_bit_limit(load: Positive) -> float:
    """The limit Φ(−1/√α) of the probability that a bit of a stored pattern flips at once.

    A bit flips at once if the first update changes it. The patterns are uniformly random and are
    stored by Hebb's rule in a Hopfield network of d neurons, d → ∞. α = `load` is the number of
    patterns per neuron, and Φ is the standard normal distribution function. For finite d, the
    probability is `unstable_bit_probability(αd, d)`.
    """
    return float(scipy.special.ndtr(-1 / math.sqrt(load)))


@checked
def mceliece_patterns(d: SizeFrom2, every: bool = False) -> float:
    """The number d/(2 ln d) of patterns that d neurons can store by Hebb's rule [McEliece1987].

    A Hopfield network has d neurons ±1. Let P uniformly random patterns be stored by Hebb's rule,
    let d → ∞, and let c < 1 be fixed. If P ≤ c·d/(2 ln d), a given pattern is a fixed point with
    probability → 1, so almost all patterns are fixed points. If P ≤ c·d/(4 ln d), all patterns are
    fixed points at once with probability → 1. The function returns d/(4 ln d) if `every` is true.
    [McEliece1987] proves that the constants 2 and 4 are optimal.

    Proof. A bit of a stored pattern is unstable only if the crosstalk, a sum of n = (P − 1)(d − 1)
    independent signs (see `unstable_bit_probability`), is below −(d − 1). By Hoeffding's
    inequality, the probability of this event is at most q = e^{−(d−1)²/2n} = e^{−(d−1)/(2(P−1))}.
    For P ≤ c·d/(2 ln d), q ≤ d^{−1/c + o(1)}, and the union bound over the d bits of a pattern
    tends to 0. For P ≤ c·d/(4 ln d), q ≤ d^{−2/c + o(1)}, and the union bound over all P·d ≤ d²
    bits tends to 0. For P/d → α the central limit theorem gives the limit Φ(−1/√α) of the
    probability of an unstable bit (`unstable_bit_limit`).
    """
    return dense_patterns(d, 2, every)


@checked
def dense_patterns(d: SizeFrom2, degree: SizeFrom2, every: bool = False) -> float:
    """The capacity threshold d^{n−1}/(2 (2n−3)!! ln d) of a dense associative memory.

    The memory has d neurons ±1 and the energy −Σ_μ ⟨ξ^μ, s⟩ⁿ for states s and patterns ξ^μ, with
    n = `degree` ≥ 2. If the number of random patterns is above this threshold, a given pattern is
    no longer a fixed point, as d → ∞ [KrotovHopfield2016]. For n = 2 the threshold equals that of
    the Hopfield network under Hebb's rule (`mceliece_patterns`). If `every` is true, all patterns
    must be fixed points, and the threshold is d^{n−1}/(2n (2n−3)!! ln d).

    Raises `ValueError` if the threshold overflows float64.
    """
    n = degree
    odd = math.lgamma(2 * n - 1) - math.lgamma(n) - (n - 1) * math.log(2)  # ln (2n − 3)!!
    log = (n - 1) * math.log(d) - odd - math.log(2 * (n if every else 1) * math.log(d))
    if log > 709:
        raise InputError(
            f"d = {d} and degree {n} store e^{log:.0f} patterns, which overflows float64: "
            "give a smaller d or a smaller degree"
        )
    return math.exp(log)


@checked
def large_deviation_rate(a: SignedUnit) -> float:
    """The rate function I(a) = ½((1 + a) ln(1 + a) + (1 − a) ln(1 − a)), −1 ≤ a ≤ 1.

    For d independent uniform signs, the probability that the mean exceeds a ≥ 0 is e^{−d·I(a) +
    o(d)}, as d → ∞.
    """
    if abs(a) < 0.5:  # without the cancellation of terms of size a
        return a * math.atanh(a) + math.log1p(-a * a) / 2
    return float(scipy.special.xlogy(1 + a, 1 + a) + scipy.special.xlogy(1 - a, 1 - a)) / 2


@checked
def exponential_load(rho: Annotated[Finite, Within(least=0, below=0.5)]) -> float:
    """The load ½ I(1 − 2ρ), 0 ≤ ρ < ½, below which the exponential memory recovers patterns.

    The exponential memory has d neurons ±1 and the energy −Σ_μ exp⟨ξ^μ, s⟩ for states s and
    patterns ξ^μ. A load α means e^{αd} + 1 random patterns. I(a) = ½((1 + a) ln(1 + a) + (1 − a)
    ln(1 − a)). At a load α < ½ I(1 − 2ρ), one update recovers a pattern of which ρd bits are
    flipped, with probability → 1 as d → ∞ [Demircigil2017]. For ρ = 0, this bound on α is
    ½ I(1) = ½ ln 2, and e^{αd} = 2^{d/2} at this load.
    """
    return large_deviation_rate(1 - 2 * rho) / 2


@dataclass(frozen=True)
class CriticalLoad:
    """The critical load of the Hopfield network under Hebb's rule, and the error at this load.

    The load is the number of random patterns per neuron, for infinitely many neurons. Stable states
    near the patterns exist up to the critical load α_c = `load`. At this load, m_c = `overlap` is
    the overlap ⟨s, ξ⟩/d of such a state s with its pattern ξ, for d neurons, and `wrong_bits` is
    the fraction (1 − m_c)/2 of bits in which s and ξ differ. The attribute `y` is the number y > 0
    for which the load α(y) = ½ (erf(y)/y − (2/√π) e^{−y²})² is largest, and m_c = erf(y).
    """

    load: mpmath.mpf
    overlap: mpmath.mpf
    y: mpmath.mpf
    wrong_bits: mpmath.mpf


def load_at(y: mpmath.mpf) -> mpmath.mpf:
    """The load α(y) = ½ (erf(y)/y − (2/√π) e^{−y²})², for y > 0, at mpmath's current precision.

    Let α be the load, m the overlap with a pattern, αr the variance of the crosstalk, C the
    susceptibility and y = m/√(2αr). The mean-field equations at zero temperature are m = erf(y),
    C = √(2/(παr)) e^{−y²} and r = 1/(1 − C)² [AGS1985]. Elimination of r and C gives the formula.
    """
    return (mpmath.erf(y) / y - 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-y * y)) ** 2 / 2


@checked
def critical_load(digits: Annotated[Count, Within(most=3000)] = 15) -> CriticalLoad:
    """The critical load α_c = 0.1379… of the Hopfield network under Hebb's rule.

    Stable states near the patterns exist up to α_c random patterns per neuron, for infinitely many
    neurons. α_c is the maximum of the load α(y) = ½ (erf(y)/y − (2/√π) e^{−y²})² over y > 0. The
    maximum is attained at y* = 1.5112…, where the overlap of a stable state with its pattern is
    m_c = erf(y*) = 0.9674…. The values are computed to `digits` digits and returned as a
    `CriticalLoad`. The derivative α'(y) has the sign of D(y) = (2/√π) e^{−y²}(y + 2y³) − erf(y).
    D(0) = 0, and the derivative of D is (8/√π) e^{−y²} y²(1 − y²). So D increases up to y = 1 and
    then decreases to −1, and its only zero y* > 0 is the maximiser of α [AGS1985]. It is computed
    by Newton's method.
    """
    with mpmath.workdps(digits + 15):
        y = mpmath.mpf("1.5112")
        for _ in range(math.ceil(math.log2(digits + 15))):  # steps of Newton's method
            density = 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-y * y)
            slope = 4 * density * y**2 * (1 - y**2)
            y -= (density * (y + 2 * y**3) - mpmath.erf(y)) / slope
        values = load_at(y), mpmath.erf(y), y, (1 - mpmath.erf(y)) / 2
    with mpmath.workdps(digits):
        return CriticalLoad(*(+value for value in values))


@checked
def retrieval_overlap(load: Positive, digits: Digits = 15) -> mpmath.mpf:
    """The overlap m of the stable states near a pattern at a load 0 < α ≤ α_c, under Hebb's rule.

    The load α = `load` is the number of random patterns per neuron of a Hopfield network, for
    infinitely many neurons. The overlap of a state s with a pattern ξ is ⟨s, ξ⟩/d, for d neurons.
    Let α(y) = ½ (erf(y)/y − (2/√π) e^{−y²})², and let α_c = α(y*) be its maximum over y > 0 (see
    `critical_load`). The overlap is m = erf(y), where y ≥ y* solves α(y) = α. For y ≥ y*, the
    function α(y) decreases from α_c to 0, and α(y) ≤ 1/(2y²). So the solution satisfies
    y* ≤ y ≤ 1/√(2α) [AGS1985]. The result is computed to `digits` digits.

    Raises `ValueError` for loads above α_c, at which no state near a pattern is stable.
    """
    critical = critical_load(digits + 5)
    if load > float(critical.load):
        raise InputError(
            f"load is {load}, and no state near a pattern is stable above "
            f"α_c = {mpmath.nstr(critical.load, 10)}: give a load of at most α_c"
        )
    with mpmath.workdps(digits + 15):
        alpha = mpmath.mpf(load)  # not at the precision of the caller, which may be lower
        low, high = critical.y, 1 / mpmath.sqrt(2 * alpha)
        # Bisection, because near α_c the two solutions are too close for Newton's method.
        while high - low > mpmath.mpf(10) ** (-digits - 5) * low:
            middle = (low + high) / 2
            if load_at(middle) > alpha:
                low = middle
            else:
                high = middle
        overlap = mpmath.erf(low)
    with mpmath.workdps(digits):
        return +overlap


@checked
def clopper_pearson(
    successes: Annotated[Steps, Within(most="trials")], trials: Size, level: OpenUnit
) -> tuple[float, float]:
    """A confidence interval (low, high) for a binomial probability, with coverage at least `level`.

    The observation is `successes` in `trials` independent trials. Each end of the interval is on
    the wrong side of the true probability with probability at most (1 − level)/2 [Clopper1934].
    """
    k, n, tail = successes, trials, (1 - level) / 2
    low = float(scipy.special.betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(scipy.special.betainccinv(k + 1, n - k, tail)) if k < n else 1.0
    return low, high


def median_interval(values: np.ndarray, level: float) -> tuple[float, float]:
    """A confidence interval (low, high) for the median, from order statistics.

    The values (n,) are independent samples of any distribution, and the coverage is at least
    `level`. For every k, the k-th smallest value exceeds the median with probability at most
    P(Bin(n, 1/2) < k), where Bin(n, 1/2) is a binomial variable. With too few values the interval
    is (−∞, ∞).
    """
    n, tail = len(values), (1 - level) / 2
    # the valid k are 1 … below
    below = int((scipy.special.bdtr(np.arange(n), n, 0.5) < tail).sum())
    if below == 0:
        return -math.inf, math.inf
    ordered = np.sort(values)
    return float(ordered[below - 1]), float(ordered[n - below])
