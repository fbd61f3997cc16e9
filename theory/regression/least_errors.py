"""How small the mean squared error of a polynomial of the prompt can be.

Prompts are Gaussian: X (n, d), w and x_q have independent standard normal entries, and y = Xw.  A
predictor x_qᵀ p(S) Xᵀy with S = XᵀX errs by x_qᵀ (p(S) S − I) w, so over w and x_q

    E (prediction − ⟨w, x_q⟩)² = E tr q(S)²,        q(λ) = 1 − λ p(λ).

So p of t terms stand for the q of degree t with q(0) = 1, and the least error is, up to the factor
d, the Christoffel function at 0 of the mean spectral distribution [Szego1939].  k steps of gradient
descent are q(λ) = (1 − ηλ)^k.  All of it needs the moments E tr S^j only (`wishart.py`), and is
enclosed in balls as they are.  With `largest`, means are over the prompts whose S has no eigenvalue
above it: q grows as λ^t, and the mean over all prompts hangs on the rarest.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from theory import checks
from theory.checks import InputError
from theory.regression.wishart import BITS, wishart_moments

if TYPE_CHECKING:
    from flint import arb


def polynomial_errors(n: int, d: int, terms: int, largest: float | None = None) -> list[arb]:
    """min over p of t coefficients of E (x_qᵀ p(S) Xᵀy − ⟨w, x_q⟩)², for t = 1, …, `terms`.

    For d = 1 and all prompts they are 1/binom(t + n/2, t).

    Raises `ValueError` as `wishart_moments`, and for more terms than its precision serves.
    """
    from flint import ctx

    checks.dimension("terms", terms)
    moments = wishart_moments(n, d, 2 * terms + 1, largest)
    # The quadratic form E tr q(S)² in the coefficients of λ, λ², …, and last of 1, which is given:
    # what elimination leaves there is the least error.
    powers = [*range(1, terms + 1), 0]
    form = [[moments[i + j] for j in powers] for i in powers]
    found = []
    with ctx.workprec(BITS):
        for t in range(terms):
            pivot = form[t]
            for row in form[t + 1 :]:
                share = row[t] / pivot[t]
                for column in range(t, terms + 1):
                    row[column] -= share * pivot[column]
            found.append(form[-1][-1])
    if found[-1].rel_accuracy_bits() < 53:
        raise _too_many("terms", terms)
    return found


def descent_error(n: int, d: int, k: int, step_size: float, largest: float | None = None) -> arb:
    """E tr (I − ηS)^{2k}: the mean squared error of k steps of gradient descent of size η from 0.

    Raises `ValueError` for a k that is not an integer ≥ 0 or more than the precision serves, for a
    step size that is not above 0, and as `wishart_moments`.
    """
    k = checks.step_count("k", k)
    checks.positive("step_size", step_size)
    found = _power(wishart_moments(n, d, 2 * k + 1, largest), 2 * k, step_size)
    if found.rel_accuracy_bits() < 53:
        raise _too_many("k", k)
    return found


def best_step_size(n: int, d: int, k: int, largest: float | None = None) -> float:
    """The η of least `descent_error`, to the precision of a float.

    The error is convex in η; where its derivative, −2k E tr S(I − ηS)^{2k−1}, is 0 is found by
    bisection.  Raises `ValueError` for a k below 1 or more than the precision serves, and as
    `wishart_moments`.
    """
    k = checks.dimension("k", k)
    moments = wishart_moments(n, d, 2 * k + 1, largest)[1:]

    def slope(step_size: float) -> arb:
        return _power(moments, 2 * k - 1, step_size)

    def too_short(step_size: float) -> bool:
        return bool(slope(step_size) > 0)

    low, high = 0.0, 1.0 / n
    while too_short(high):
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if too_short(middle) else (low, middle)
    if not (slope(low * (1 - 1e-9)) > 0 > slope(high * (1 + 1e-9))):
        raise _too_many("k", k)
    return low


def _too_many(name: str, value: int) -> InputError:
    return InputError(f"{name} is {value}: {BITS} bits are not enough for so many; give fewer")


def _power(moments: list[arb], exponent: int, step_size: float) -> arb:
    """Σ_j binom(exponent, j) (−η)^j moments_j."""
    from flint import arb, ctx

    with ctx.workprec(BITS):
        eta = -arb(step_size)
        return sum((comb(exponent, j) * eta**j * moments[j] for j in range(exponent + 1)), arb(0))
