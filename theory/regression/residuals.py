"""Exact residual factors R(λ) of regression methods, and the fitted fractions 1 − R(λ).

The weights of each method are w = φ(S) b with φ(λ) = (1 − R(λ))/λ: along an eigenvector of S = XᵀX
with eigenvalue λ > 0, the error of w is R(λ) times the error of w = 0. `<method>_residual` is R;
`<method>_fitted` is 1 − R, computed without the cancellation that `1 - R` suffers for small λ. At λ
= 0, R = 1: the component of w in the null space of S stays 0.

All arguments broadcast against each other. If a divergent R overflows, the result is ±inf.
"""

from __future__ import annotations

import numpy as np

from theory.kinds import NonNegativeArray, PositiveArray, StepsArray, checked
from theory.regression.chebyshev import ordered_bounds
from theory.regression.hyperpower import Order
from theory.regression.newton import Start

LARGEST_FLOAT = np.finfo(np.float64).max


def _log_power(z: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """exponent·ln|1 − z| for z ≥ 0, accurate for small z and any size of the exponent."""
    with np.errstate(divide="ignore", over="ignore"):
        # |1 − z| = |1 − (2 − z)|, and 2 − z is exact where cancellation would matter.
        log = np.log1p(-np.minimum(z, 2 - z))
        # By clipping, z = 1 with exponent 0 gives 0·log = 0, hence (1 − z)⁰ = 1 instead of NaN.
        log = np.clip(log, -LARGEST_FLOAT, LARGEST_FLOAT)
        return np.asarray(np.minimum(exponent, LARGEST_FLOAT) * log)


def _power_residual(z: np.ndarray, exponent: np.ndarray, odd: np.ndarray) -> np.ndarray:
    """(1 − z)^exponent."""
    with np.errstate(over="ignore", under="ignore"):
        magnitude = np.exp(_log_power(z, exponent))
    return np.where(odd & (z > 1), -magnitude, magnitude)


def _power_fitted(z: np.ndarray, exponent: np.ndarray, odd: np.ndarray) -> np.ndarray:
    """1 − (1 − z)^exponent."""
    with np.errstate(over="ignore", under="ignore"):
        fitted = -np.expm1(_log_power(z, exponent))
    # With a negative base and an odd exponent, 1 + |1 − z|^m = 2 − (1 − |1 − z|^m).
    return np.where(odd & (z > 1), 2 - fitted, fitted)


def _descent_power(
    eigenvalue: np.ndarray, k: np.ndarray, step_size: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """z, the exponent and whether it is odd, for gradient descent: R = (1 − ηλ)^k."""
    with np.errstate(over="ignore"):
        z = np.asarray(step_size * eigenvalue)
    return z, k.astype(np.float64), np.asarray(k % 2 == 1)


def _hyperpower_power(
    eigenvalue: np.ndarray, k: np.ndarray, order: int, alpha: np.ndarray, start: Start
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """z, the exponent and whether it is odd, for hyperpower: R = (1 − λ·M₀(λ))^(p^k)."""
    with np.errstate(over="ignore"):
        z = alpha * eigenvalue * (eigenvalue if start == "gram" else 1)
        exponent = np.power(float(order), k)
    return np.asarray(z), np.asarray(exponent), np.asarray((order % 2 == 1) | (k == 0))


@checked
def gradient_descent_residual(
    eigenvalue: NonNegativeArray, k: StepsArray, step_size: PositiveArray
) -> np.ndarray:
    """The factor (1 − ηλ)^k by which k gradient steps multiply the error along an eigenvector.

    λ = `eigenvalue` is the eigenvalue of XᵀX for the eigenvector, and η is the `step_size`.
    """
    return _power_residual(*_descent_power(eigenvalue, k, step_size))


@checked
def gradient_descent_fitted(
    eigenvalue: NonNegativeArray, k: StepsArray, step_size: PositiveArray
) -> np.ndarray:
    """The factor 1 − (1 − ηλ)^k, the part of an error component that k gradient steps remove.

    The error component is the component of the error of the weights along an eigenvector of XᵀX
    with `eigenvalue` λ, and η is the `step_size`. The result has a small relative error for small λ
    too.
    """
    return _power_fitted(*_descent_power(eigenvalue, k, step_size))


@checked
def newton_residual(
    eigenvalue: NonNegativeArray, k: StepsArray, alpha: PositiveArray, start: Start = "gram"
) -> np.ndarray:
    """The factor R(λ) by which k Newton–Schulz steps multiply the error along an eigenvector.

    λ = `eigenvalue` is the eigenvalue of S = XᵀX for the eigenvector, and α = `alpha`. R(λ) is
    (1 − αλ²)^(2^k) if the iteration starts at M₀ = αS (start "gram"), and (1 − αλ)^(2^k) if it
    starts at M₀ = αI ("identity").
    """
    return _power_residual(*_hyperpower_power(eigenvalue, k, 2, alpha, start))


@checked
def newton_fitted(
    eigenvalue: NonNegativeArray, k: StepsArray, alpha: PositiveArray, start: Start = "gram"
) -> np.ndarray:
    """The factor 1 − R(λ), the part of an error component that k Newton–Schulz steps remove.

    The error component is the component of the error of the weights along an eigenvector of XᵀX
    with `eigenvalue` λ. After k steps of the Newton–Schulz iteration, this component is multiplied
    by R(λ), the `newton_residual`. The result has a small relative error for small λ too.
    """
    return _power_fitted(*_hyperpower_power(eigenvalue, k, 2, alpha, start))


@checked
def hyperpower_residual(
    eigenvalue: NonNegativeArray,
    k: StepsArray,
    order: Order,
    alpha: PositiveArray,
    start: Start = "gram",
) -> np.ndarray:
    """The factor R(λ) by which k hyperpower steps multiply the error along an eigenvector.

    λ = `eigenvalue` is the eigenvalue of S = XᵀX for the eigenvector, p = `order` and α = `alpha`.
    R(λ) is (1 − αλ²)^(p^k) if the iteration starts at M₀ = αS (start "gram"), and (1 − αλ)^(p^k) if
    it starts at M₀ = αI ("identity").
    """
    return _power_residual(*_hyperpower_power(eigenvalue, k, order, alpha, start))


@checked
def hyperpower_fitted(
    eigenvalue: NonNegativeArray,
    k: StepsArray,
    order: Order,
    alpha: PositiveArray,
    start: Start = "gram",
) -> np.ndarray:
    """The factor 1 − R(λ), the part of an error component that k hyperpower steps remove.

    The error component is the component of the error of the weights along an eigenvector of XᵀX
    with `eigenvalue` λ. After k steps of the hyperpower iteration, this component is multiplied by
    R(λ), the `hyperpower_residual`. The result has a small relative error for small λ too.
    """
    return _power_fitted(*_hyperpower_power(eigenvalue, k, order, alpha, start))


def _chebyshev(
    eigenvalue: np.ndarray, k: np.ndarray, smallest: np.ndarray, largest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """R(λ) and 1 − R(λ) of the Chebyshev semi-iteration.

    With a = smallest, c = largest, T_k((c + a)/(c − a)) = cosh P and T_k((c + a − 2λ)/(c − a)) is
    cosh F for λ < a, cos Q for a ≤ λ ≤ c, (−1)^k cosh E for λ > c. Everything is written with
    decaying exponentials, and 1 − R with
        cosh P − cosh F = 2 sinh((P + F)/2) sinh D,        D = (P − F)/2,
        sinh(D/k) = λ/(√a √(c − λ) + √c √(a − λ)),
        cosh P − cos Q = 2 sinh²(P/2) + 2 sin²(Q/2),
    so that nothing cancels as λ → 0.
    """
    a, bound = ordered_bounds(smallest, largest)
    single = a == bound
    c = np.where(single, 2 * a, bound)  # a = c is replaced by gradient descent below
    width = c - a
    P = 2 * k * np.arcsinh(np.sqrt(a / width))
    normaliser = 1 + np.exp(-2 * P)

    low = np.minimum(eigenvalue, a)
    D = k * np.arcsinh(low / (np.sqrt(a) * np.sqrt(c - low) + np.sqrt(c) * np.sqrt(a - low)))
    below = np.exp(-2 * D) * (1 + np.exp(-2 * (P - 2 * D))) / normaliser
    below_fitted = np.expm1(-2 * D) * np.expm1(-2 * (P - D)) / normaliser

    with np.errstate(over="ignore"):
        within = np.clip((eigenvalue - a) / width, 0, 1)
        beyond = np.minimum(np.maximum(eigenvalue - c, 0) / width, LARGEST_FLOAT)
    Q = 2 * k * np.arcsin(np.sqrt(within))
    inside = 2 * np.cos(Q) * np.exp(-P) / normaliser
    inside_fitted = (np.expm1(-P) ** 2 + 4 * np.sin(Q / 2) ** 2 * np.exp(-P)) / normaliser

    E = 2 * k * np.arcsinh(np.sqrt(beyond))
    with np.errstate(over="ignore"):
        above = (-1.0) ** k * np.exp(E - P) * (1 + np.exp(-2 * E)) / normaliser

    regions = [eigenvalue < a, eigenvalue <= c]
    residual = np.select(regions, [below, inside], above)
    fitted = np.select(regions, [below_fitted, inside_fitted], 1 - above)
    with np.errstate(over="ignore"):
        z = np.asarray(eigenvalue / a)
    descent = (z, k.astype(np.float64), np.asarray(k % 2 == 1))
    return (
        np.where(single, _power_residual(*descent), residual),
        np.where(single, _power_fitted(*descent), fitted),
    )


@checked
def chebyshev_residual(
    eigenvalue: NonNegativeArray, k: StepsArray, smallest: PositiveArray, largest: PositiveArray
) -> np.ndarray:
    """The factor R(λ) by which k Chebyshev steps multiply the error along an eigenvector.

    R(λ) = T_k((c + a − 2λ)/(c − a)) / T_k((c + a)/(c − a)). Here λ = `eigenvalue` is the eigenvalue
    of XᵀX for the eigenvector, T_k is the Chebyshev polynomial, and a = `smallest` and
    c = `largest` are the ends of the interval of the Chebyshev semi-iteration.

    The maximum of |R| on [a, c] is 1/T_k((c + a)/(c − a)). For every polynomial Q of degree k with
    Q(0) = 1, the maximum of |Q| on [a, c] is at least as large [Saad2003, Section 6.11]. Proof: at
    k + 1 points of [a, c], R takes the values ±1/T_k((c + a)/(c − a)) with alternating signs. If
    |Q| had a smaller maximum on [a, c], R − Q would change its sign between any two neighbouring
    points of these k + 1 points, so R − Q would have k zeros. R − Q also vanishes at 0 < a. A
    polynomial of degree k with k + 1 zeros is 0, so R = Q, a contradiction. Hence, for 0 < ε < 1, a
    polynomial Q with Q(0) = 1 and |Q| ≤ ε on [a, c] has a degree
    k ≥ arcosh(1/ε)/arcosh((c + a)/(c − a)).

    For a = c, R is the limit (1 − λ/a)^k. For λ > a + c, |R(λ)| exceeds 1. Raises `ValueError` if
    smallest > largest.
    """
    return _chebyshev(eigenvalue, k, smallest, largest)[0]


@checked
def chebyshev_fitted(
    eigenvalue: NonNegativeArray, k: StepsArray, smallest: PositiveArray, largest: PositiveArray
) -> np.ndarray:
    """The factor 1 − R(λ), the part of an error component that k Chebyshev steps remove.

    The error component is the component of the error of the weights along an eigenvector of XᵀX
    with `eigenvalue` λ. After k steps of the Chebyshev semi-iteration for the interval [smallest,
    largest], this component is multiplied by R(λ), the `chebyshev_residual`. The result has a small
    relative error for small λ too.
    """
    return _chebyshev(eigenvalue, k, smallest, largest)[1]


@checked
def ridge_residual(eigenvalue: NonNegativeArray, penalty: PositiveArray) -> np.ndarray:
    """The factor penalty/(λ + penalty) by which ridge regression multiplies an error component.

    The error of ridge regression along an eigenvector of XᵀX with `eigenvalue` λ is this factor
    times the error of w = 0. X is the matrix of the examples.
    """
    return np.asarray(penalty / (eigenvalue + penalty))


@checked
def ridge_fitted(eigenvalue: NonNegativeArray, penalty: PositiveArray) -> np.ndarray:
    """The factor λ/(λ + penalty), the part of an error component that ridge regression removes.

    The error component is the component of the error of w = 0 along an eigenvector of XᵀX with
    `eigenvalue` λ, where X is the matrix of the examples.
    """
    return np.asarray(eigenvalue / (eigenvalue + penalty))
