"""Numbers of steps that suffice for a given relative error, with explicit constants.

Hypotheses, throughout: κ = `condition` = λmax/λmin ≥ 1, where λmin is the smallest *non-zero*
eigenvalue of S, and 0 < ε < 1. "Relative error ε" means |R(λ)| ≤ ε for every non-zero eigenvalue,
where R is the residual factor of `theory.regression.residuals`. It implies ‖w_k − S⁺b‖ ≤ ε ‖S⁺b‖
for every b in range(S), in exact arithmetic. Each count is a theorem, not an asymptotic statement:
it suffices for every S of condition number κ.

Proof: let w_k = φ_k(S) b. The error w_k − S⁺b is −R_k(S) S⁺b with R_k(λ) = 1 − λφ_k(λ), so it
suffices to bound R_k. Gradient descent with η = 1/λmax has R_k = (1 − ηλ)^k, and a step multiplies
the error by I − ηS, of norm 1 − 1/κ on range(S). The Newton–Schulz iteration has R_k = ρ(λ)^(2^k)
with 0 ≤ ρ(λ) = 1 − (λ/λmax)^p ≤ 1 − κ^−p, p = 2 from αS and 1 from αI, and a step multiplies the
error by ρ(S)^(2^k). Chebyshev's R_k is at most 1/T_k((κ + 1)/(κ − 1)) ≤ 2ρ^k in size with ρ = (√κ −
1)/(√κ + 1), and conjugate gradients are at least as good in the norm √(eᵀSe), because they minimise
this norm over all polynomials of the same degree.

Formulas are evaluated in float64, enlarged by the factor 1 + 2⁻⁴⁸, which covers their rounding
errors, and rounded upwards: a count is never too small, and below 2⁴⁷ it is too large by one at
most.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Annotated, TypeAlias

from theory.kinds import Finite, InputError, OpenUnit, Within, checked
from theory.regression.hyperpower import Order
from theory.regression.newton import Start

Condition: TypeAlias = Annotated[Finite, Within(least=1)]
"""A condition number, finite and ≥ 1."""

ROUNDING = 1 + 2.0**-48


def _decay(gap: float, above: float) -> float:
    """−ln ρ for ρ = gap/(gap + above), accurate for ρ near 0 and near 1; ∞ if ρ = 0."""
    return math.log1p(above / gap) if gap > 0 else math.inf


def _quotient(target: float, decay: float) -> Fraction:
    """target/decay, enlarged; as a fraction, because the quotient may exceed the largest float."""
    return Fraction(0) if math.isinf(decay) else Fraction(target * ROUNDING) / Fraction(decay)


def _linear_steps(target: float, decay: float) -> int:
    """The smallest k ≥ 1 with k·decay ≥ target."""
    return max(1, math.ceil(_quotient(target, decay)))


@checked
def gradient_descent_steps(condition: Condition, epsilon: OpenUnit) -> int:
    """The number of gradient descent steps of size 1/λmax that guarantees a relative error of ε.

    The number is the smallest k ≥ 1 with (1 − 1/κ)^k ≤ ε, where ε = `epsilon`. κ = `condition` is
    the quotient λmax/λmin of the largest and the smallest non-zero eigenvalue of S = XᵀX, for the
    matrix X of the examples. A step multiplies the error of the weights along an eigenvector of S
    with eigenvalue λ by 1 − λ/λmax, and |1 − λ/λmax| ≤ 1 − 1/κ on [λmin, λmax]. So
    k = ⌈ln(1/ε)/(−ln(1 − 1/κ))⌉ ≤ ⌈κ ln(1/ε)⌉. The result is at least this k: the formula
    is evaluated in float64, enlarged by the factor 1 + 2⁻⁴⁸, and rounded upwards.
    """
    return _linear_steps(-math.log(epsilon), _decay(condition - 1, 1))


@checked
def optimal_gradient_descent_steps(condition: Condition, epsilon: OpenUnit) -> int:
    """The number of gradient descent steps of size 2/(λmax + λmin) for a relative error of ε.

    The number is the smallest k ≥ 1 with ρ^k ≤ ε, where ρ = (κ − 1)/(κ + 1) and ε = `epsilon`.
    κ = `condition` is the quotient λmax/λmin of the largest and the smallest non-zero eigenvalue of
    S = XᵀX, for the matrix X of the examples. A step with step size η multiplies the error of the
    weights along an eigenvector of S with eigenvalue λ by 1 − ηλ. The maximum of |1 − ηλ| over λ in
    [λmin, λmax] is smallest for η = 2/(λmax + λmin), and then equals ρ. The number is approximately
    half the number for η = 1/λmax [Saad2003, Section 4.2.1]. The result is at least this k:
    the formula is evaluated in float64, enlarged by the factor 1 + 2⁻⁴⁸, and rounded upwards.
    """
    return _linear_steps(-math.log(epsilon), _decay(condition - 1, 2))


@checked
def chebyshev_steps(condition: Condition, epsilon: OpenUnit) -> int:
    """The number of steps of the Chebyshev semi-iteration that guarantees a relative error of ε.

    The number is the smallest k ≥ 1 with 2ρ^k ≤ ε, where ε = `epsilon` and ρ = (√κ − 1)/(√κ + 1).
    κ = `condition` is the quotient λmax/λmin of the largest and the smallest non-zero eigenvalue of
    S = XᵀX, for the matrix X of the examples. The semi-iteration for the interval [λmin, λmax]
    starts at w = 0. In k steps, the error of the weights along every eigenvector is multiplied by
    at most 1/T_k((κ + 1)/(κ − 1)) = 2/(ρ^k + ρ^−k) ≤ 2ρ^k, where T_k is the Chebyshev polynomial
    [Saad2003, Section 6.11]. The result is at least this k: the formula is evaluated in float64,
    enlarged by the factor 1 + 2⁻⁴⁸, and rounded upwards.
    """
    root = math.sqrt(condition)
    # √κ − 1 = (κ − 1)/(√κ + 1) without cancellation.
    return _linear_steps(math.log(2) - math.log(epsilon), _decay((condition - 1) / (root + 1), 2))


@checked
def conjugate_gradient_steps(condition: Condition, epsilon: OpenUnit) -> int:
    """The number of steps of conjugate gradients that guarantees a relative error of ε.

    The error e of the weights is measured in the energy norm ‖e‖_S = √(eᵀSe), relative to its value
    at w = 0. Here S = XᵀX for the matrix X of the examples, and ε = `epsilon`. `condition` is the
    quotient κ of the largest and the smallest non-zero eigenvalue of S. The number equals
    `chebyshev_steps(condition, epsilon)`, because in the energy norm the error of conjugate
    gradients is at most the error of any polynomial method with the same number of steps [Saad2003,
    Section 6.11]. (In the Euclidean norm, the relative error can be larger by a factor of at most
    √κ.) Conjugate gradients converge in at most rank(S) steps.
    """
    return chebyshev_steps(condition, epsilon)


@checked
def hyperpower_steps(
    condition: Condition, epsilon: OpenUnit, order: Order, start: Start = "gram"
) -> int:
    """The number of steps of the hyperpower iteration that guarantees a relative error of ε.

    The number is the smallest k ≥ 0 with ρ^(p^k) ≤ ε, where p = `order` and ε = `epsilon`.
    κ = `condition` is the quotient λmax/λmin of the largest and the smallest non-zero eigenvalue of
    S = XᵀX, for the matrix X of the examples. For start "gram", the iteration starts at S/λmax²,
    and ρ = 1 − 1/κ²; for "identity", it starts at I/λmax, and ρ = 1 − 1/κ. In k steps, the error of
    the weights along every eigenvector of S with eigenvalue in [λmin, λmax] is multiplied by a
    factor from 0 to ρ^(p^k). So k = max(0, ⌈log_p(ln(1/ε)/(−ln ρ))⌉) [BenIsrael1965]. The result is
    this k or k + 1, since the formula is evaluated in float64 and rounded upwards.

    Raises `ValueError` if start is "gram" and κ² overflows.
    """
    gap = (condition - 1) * (condition + 1) if start == "gram" else condition - 1
    if math.isinf(gap):
        raise InputError(
            f"condition is {condition:g}, and its square overflows: give a condition number below "
            "1e154, or start='identity'"
        )
    exponent = _quotient(-math.log(epsilon), _decay(gap, 1))
    k, power = 0, 1
    while power < exponent:
        k, power = k + 1, power * order
    return k


@checked
def newton_steps(condition: Condition, epsilon: OpenUnit, start: Start = "gram") -> int:
    """The number of steps of the Newton–Schulz iteration that guarantees a relative error of ε.

    The number is max(0, ⌈log₂(ln(1/ε)/(−ln ρ))⌉), where ε = `epsilon`. κ = `condition` is the
    quotient λmax/λmin of the largest and the smallest non-zero eigenvalue of S = XᵀX, for the
    matrix X of the examples. For start "gram", the iteration starts at S/λmax², and ρ = 1 − 1/κ²;
    for "identity", it starts at I/λmax, and ρ = 1 − 1/κ. The result is `hyperpower_steps` of order
    2, and may exceed this number by 1, since the formula is evaluated in float64 and rounded
    upwards.
    """
    return hyperpower_steps(condition, epsilon, 2, start)


@checked
def newton_steps_estimate(condition: Condition, epsilon: OpenUnit, start: Start = "gram") -> float:
    """An upper estimate of the steps that Newton–Schulz needs, as a real number.

    The number is 2 log₂κ + log₂ ln(1/ε) for start "gram" and log₂κ + log₂ ln(1/ε) for "identity",
    where ε = `epsilon` and κ = `condition` is the condition number of XᵀX, as in [Fu2024]. If the
    number is positive, as many steps as the number rounded up suffice, because −ln(1 − t) ≥ t for
    t = 1/κ² and t = 1/κ. If the number is not positive, 0 steps suffice. The number is evaluated in
    float64 and rounded upwards. `newton_steps` may be one more, where its allowance for rounding
    exceeds the difference.
    """
    power = 2 if start == "gram" else 1
    of_condition, of_epsilon = power * math.log2(condition), math.log2(-math.log(epsilon))
    # The logarithms are within one unit in the last place, and ln(1/ε) is, too.
    rounding = 2 * sys.float_info.epsilon * (of_condition + abs(of_epsilon) + 1)
    return of_condition + of_epsilon + rounding
