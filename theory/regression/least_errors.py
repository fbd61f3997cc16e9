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
from typing import TYPE_CHECKING, Annotated, TypeAlias

from theory.kinds import InputError, Positive, Steps, Within, checked
from theory.regression.wishart import BITS, Size, wishart_moments

if TYPE_CHECKING:
    from flint import arb

Terms: TypeAlias = Annotated[Size, Within(most=2000)]
"""An integer from 1 to 2000, of terms or steps."""
FewSteps: TypeAlias = Annotated[Steps, Within(most=2000)]
"""An integer from 0 to 2000."""


@checked
def polynomial_errors(n: Size, d: Size, terms: Terms, largest: Positive | None = None) -> list[arb]:
    """min over p of t coefficients of E (x_qᵀ p(S) Xᵀy − ⟨w, x_q⟩)², for t = 1, …, `terms`.

    For d = 1 and all prompts they are 1/binom(t + n/2, t).

    Raises `ValueError` as `wishart_moments`, and for more terms than its precision serves.
    """
    from flint import ctx

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


@checked
def descent_error(
    n: Size, d: Size, k: FewSteps, step_size: Positive, largest: Positive | None = None
) -> arb:
    """E tr (I − ηS)^{2k}: the mean squared error of k steps of gradient descent of size η from 0.

    Raises `ValueError` for a k that is more than the precision serves, and as `wishart_moments`.
    """
    found = _power(wishart_moments(n, d, 2 * k + 1, largest), 2 * k, step_size)
    if found.rel_accuracy_bits() < 53:
        raise _too_many("k", k)
    return found


@checked
def best_step_size(n: Size, d: Size, k: Terms, largest: Positive | None = None) -> float:
    """The η of least `descent_error`, to the precision of a float.

    The error is convex in η; where its derivative, −2k E tr S(I − ηS)^{2k−1}, is 0 is found by
    bisection.  Raises `ValueError` for a k that is more than the precision serves, and as
    `wishart_moments`.
    """
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
