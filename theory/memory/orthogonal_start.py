"""Tokens that start pairwise orthogonal: a scalar differential equation for the inner product γ(t).

    γ' = 2e^{βγ}(1 − γ)((n − 1)γ + 1) / (e^β + (n − 1)e^{βγ})   SA
    γ' = (2/n) e^{βγ}(1 − γ)((n − 1)γ + 1)                      USA,      γ(0) = 0

for n ≥ 2 tokens [Geshkovski2023].  For n = 2 and β = 0, γ = tanh t.

In SA the rate −(ln(1 − γ))' = 2((n − 1)γ + 1)/(e^{β(1−γ)} + n − 1) tends to 2 from below for
all n and β.  With δ = 1 − γ,

    0 ≤ 2 − rate = 2((n − 1)δ + e^{βδ} − 1)/(e^{βδ} + n − 1) ≤ (2/n)(n − 1 + βe^{βδ})·δ,

as e^{βδ} ≥ 1 and e^x − 1 ≤ x·e^x.  At t = 0 the rate is only 2/(e^β + n − 1), so for n = 2 and
large β the tokens take a time of about e^β/(2β) to cluster.  In USA the rate tends to 2e^β.

The equation is solved for u = −ln(1 − γ).  Since u' = rate has no cancellation, 1 − γ = e^{−u} has
a small relative error even if it is tiny.
"""

from __future__ import annotations

from typing import Annotated

import mpmath
import numpy as np

from theory.kinds import Finite, InputError, NonNegative, Within, checked
from theory.memory.kinds import Digits, SizeFrom2, Times
from theory.memory.sphere import SphereForm, integrate


@checked
def orthogonal_start(
    n: SizeFrom2, beta: NonNegative, times: Times, form: SphereForm = "SA"
) -> np.ndarray:
    """The inner product (m,) of any two of n tokens that start orthogonal, at each of m times.

    The n ≥ 2 unit tokens start pairwise orthogonal and move on the unit sphere under softmax
    attention (SA) or unnormalised attention (USA) at inverse temperature `beta`. By symmetry all
    pairs of tokens have the same inner product.

    Raises `ValueError` for USA if e^beta overflows.
    """
    return -np.expm1(_log_gap(n, beta, times, form))


@checked
def orthogonal_gap(
    n: SizeFrom2, beta: NonNegative, times: Times, form: SphereForm = "SA"
) -> np.ndarray:
    """The gap 1 − γ (m,) at each of m times, for n unit tokens that start pairwise orthogonal.

    The tokens move on the unit sphere under softmax attention (SA) or unnormalised attention (USA)
    at inverse temperature `beta`. γ is the inner product of two tokens, which is the same for all
    pairs by symmetry. The result is the gap at times that differ from the given ones by a factor of
    about 1 ± 10⁻¹¹, even if the gap is tiny. Its own relative error is larger for large β, where
    the gap decreases in a short time near the escape time of about e^β/(2β).
    """
    return np.exp(_log_gap(n, beta, times, form))


def _log_gap(n: int, beta: float, times: np.ndarray, form: SphereForm) -> np.ndarray:
    """ln(1 − γ) (m,) at each of m times."""

    # −n·ln(1 − γ) is integrated: γ starts to grow at a rate of order 1/n, and the tolerance of the
    # integration is absolute for small numbers.
    def velocity(_: float, u: np.ndarray) -> np.ndarray:
        return n * _rate(-np.expm1(-u / n), n, beta, form)

    _check_overflow(beta, form)
    u = integrate(velocity, np.zeros(1), times)[:, 0]
    return np.asarray(-u / n)


def gap_rate(gap: np.ndarray, n: int, beta: float, form: SphereForm = "SA") -> np.ndarray:
    """The rate −(ln(1 − γ))' (…) at which 1 − γ decreases, for each value (…) of 1 − γ in `gap`.

    γ is the inner product of any two of n tokens that start orthogonal, as in `orthogonal_start`.
    With β = beta, the rate is 2(n − (n−1)·gap)/(e^{β·gap} + n − 1) in SA and 2(n
    − (n−1)·gap)·e^{β(1−gap)}/n in USA.
    """
    return _rate(np.asarray(1 - gap), n, beta, form)


def _rate(gamma: np.ndarray, n: int, beta: float, form: SphereForm) -> np.ndarray:
    """The rate −(ln(1 − γ))' (…) for inner products γ (…), without cancellation for small γ."""
    pull = 2 * ((n - 1) * gamma + 1)
    if form == "USA":
        return np.asarray(pull * np.exp(beta * gamma) / n)
    with np.errstate(over="ignore"):  # a rate below 1e-308 is 0
        return np.asarray(pull / (np.exp(beta * (1 - gamma)) + (n - 1)))


@checked
def escape_time(
    beta: NonNegative,
    n: SizeFrom2 = 2,
    gamma: Annotated[Finite, Within(least=0, below=1)] = 0.99,
    form: SphereForm = "SA",
    digits: Digits = 30,
) -> float:
    """The time at which n tokens that start pairwise orthogonal have the inner product `gamma`.

    The tokens are unit vectors and move on the unit sphere under softmax attention (SA) or
    unnormalised attention (USA) at inverse temperature β = `beta`. By symmetry all pairs have the
    same inner product g. Let v(g) = dg/dt be its speed, and let γ = `gamma`. The time is ∫_0^γ
    dg/v(g), computed by quadrature to `digits` digits. For n = 2 in softmax attention (SA) the
    integral is ∫_0^γ (e^{β(1−g)} + 1)/(2(1 − g²)) dg, which is about e^β/(2β) for large β.

    Raises `ValueError` for times that overflow float64.
    """
    with mpmath.workdps(digits):
        b, end = mpmath.mpf(beta), mpmath.mpf(gamma)

        def slowness(g: mpmath.mpf) -> mpmath.mpf:
            pull = 2 * (1 - g) * ((n - 1) * g + 1)
            if form == "USA":
                return n * mpmath.exp(-b * g) / pull
            return (mpmath.exp(b * (1 - g)) + n - 1) / pull

        # On the k-th piece e^{−βg} falls by the factor e^{−k}; 1/(1 − g) doubles with each piece.
        pieces = {k / b for k in (1, 4, 16, 64) if b} | {1 - mpmath.mpf(2) ** -k for k in range(50)}
        inner = sorted(point for point in pieces if 0 < point < end)
        time = mpmath.quad(slowness, [0, *inner, end])
    if time > np.finfo(np.float64).max:
        raise InputError(
            f"beta is {beta:g}, and the time of about e^{beta:g}/{2 * beta:g} overflows float64: "
            "give a smaller beta"
        )
    return float(time)


def _check_overflow(beta: float, form: SphereForm) -> None:
    if form == "USA" and beta > np.log(np.finfo(np.float64).max):
        raise InputError(
            f"beta is {beta:g}, and the rate e^beta of unnormalised attention overflows float64: "
            "give a beta of at most 709"
        )
