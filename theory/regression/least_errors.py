"""The smallest mean squared error of predictors x_qᵀ p(S) Xᵀy with a fixed polynomial p.

Prompts are Gaussian: X (n, d), w and x_q have independent standard normal entries, and y = Xw.  The
error of a predictor x_qᵀ p(S) Xᵀy with S = XᵀX is x_qᵀ (p(S) S − I) w, so over w and x_q

    E (prediction − ⟨w, x_q⟩)² = E tr q(S)²,        q(λ) = 1 − λ p(λ).

Polynomials p with t coefficients correspond to polynomials q of degree at most t with q(0) = 1. The
smallest error is, up to the factor d, the Christoffel function at 0 of the mean spectral
distribution [Szego1939]. For k steps of gradient descent, q(λ) = (1 − ηλ)^k. All errors are
functions of the moments E tr S^j (`wishart.py`), and both are enclosed in balls. If `largest` is
given, means are over the prompts for which S has no eigenvalue above `largest`. The mean over all
prompts is dominated by rare prompts with large eigenvalues, because q grows as λ^t.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Annotated, TypeAlias

from theory.kinds import InputError, Positive, Steps, Within, checked
from theory.regression.wishart import BITS, Size, too_small, wishart_moments
from theory.waiting import announced

if TYPE_CHECKING:
    from flint import arb

Terms: TypeAlias = Annotated[Size, Within(most=2000)]
"""An integer from 1 to 2000: a number of terms or steps."""
FewSteps: TypeAlias = Annotated[Steps, Within(most=2000)]
"""An integer from 0 to 2000."""


@checked
def polynomial_errors(
    n: Size, d: Size, n_terms: Terms, largest: Positive | None = None
) -> list[arb]:
    """The least mean squared errors of predictions x_qᵀ p(S) Xᵀy with one p for all prompts.

    The rows of X (n, d) are n examples, y = Xw are their labels for weights w, x_q is the query,
    and S = XᵀX. X, w and x_q have independent standard normal entries. For t = 1, …, `n_terms`,
    entry t − 1 is the minimum of E (x_qᵀ p(S) Xᵀy − ⟨w, x_q⟩)² over the polynomials p with t
    coefficients. The minima are returned as Arb balls, intervals that contain the exact values. If
    `largest` is given, the mean is over the prompts for which S has no eigenvalue above `largest`.
    For d = 1 and without `largest`, the minima are 1/binom(t + n/2, t).

    Raises `ValueError` if n − d is not odd and positive, if `largest` is too small for the
    working precision, or if `n_terms` is too large for it.
    """
    from flint import ctx

    moments = wishart_moments(n, d, 2 * n_terms + 1, largest)
    # E tr q(S)² is a quadratic form in the coefficients of λ, λ², …, and last of the constant,
    # which is 1. Its Schur complement at the constant, by elimination, is the smallest error.
    powers = [*range(1, n_terms + 1), 0]
    form = [[moments[i + j] for j in powers] for i in powers]
    found = []
    with ctx.workprec(BITS):
        for t in announced(range(n_terms), "polynomial_errors"):
            pivot = form[t]
            for row in form[t + 1 :]:
                factor = row[t] / pivot[t]
                for column in range(t, n_terms + 1):
                    row[column] -= factor * pivot[column]
            found.append(form[-1][-1])
            if found[-1].rel_accuracy_bits() < 53:
                raise _too_imprecise("n_terms", n_terms, largest)
    return found


@checked
def gradient_descent_error(
    n: Size, d: Size, k: FewSteps, step_size: Positive, largest: Positive | None = None
) -> arb:
    """The mean squared error of the prediction of k gradient steps, for random normal prompts.

    The steps start at weights 0 and have the step size η = `step_size`. The mean squared error is E
    tr (I − ηS)^{2k}, where S = XᵀX and the rows of X (n, d) are n examples with independent
    standard normal entries. The label of an example x is ⟨w, x⟩ for weights w, without noise. The
    weights w and the query are standard normal too. If `largest` is given, the mean is over the
    prompts for which S has no eigenvalue above `largest`. The result is an Arb ball, an interval
    that contains the exact value.

    Raises `ValueError` if n − d is not odd and positive, if `largest` is too small for the
    working precision, or if `k` is so large that the result would have fewer than 53 correct bits.
    """
    found = _power(wishart_moments(n, d, 2 * k + 1, largest), 2 * k, step_size)
    if found.rel_accuracy_bits() < 53:
        raise _too_imprecise("k", k, largest)
    return found


@checked
def best_step_size(n: Size, d: Size, k: Terms, largest: Positive | None = None) -> float:
    """The step size η that minimises the mean squared error of k steps of gradient descent.

    The mean squared error is `gradient_descent_error`: E tr (I − ηS)^{2k}, where S = XᵀX and the
    matrix X (n, d) of n examples has independent standard normal entries. It is convex in η. Its
    derivative is −2k E tr S(I − ηS)^{2k−1}, and the zero of the derivative is found by bisection.
    If `largest` is given, the mean is over the matrices S without eigenvalues above `largest`.

    Raises `ValueError` if n − d is not odd and positive, if `largest` is too small for the
    working precision, or if `k` is too large for it.
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
        raise _too_imprecise("k", k, largest)
    return low


def _too_imprecise(name: str, value: int, largest: float | None) -> InputError:
    if value == 1 and largest is not None:
        return too_small(largest)
    return InputError(
        f"{name} is {value}, which is too large for {BITS} bits of precision: give a smaller number"
    )


def _power(moments: list[arb], exponent: int, step_size: float) -> arb:
    """Σ_j binom(exponent, j) (−η)^j moments_j."""
    from flint import arb, ctx

    with ctx.workprec(BITS):
        eta = -arb(step_size)
        return sum((comb(exponent, j) * eta**j * moments[j] for j in range(exponent + 1)), arb(0))
