"""The Newton–Schulz iteration in multiprecision arithmetic: a step doubles the correct digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import mpmath
import numpy as np

from theory.kinds import Count, Exact, InputError, Positive, Reals, Within, checked
from theory.regression.newton import Start

GUARD_DIGITS = 20


@dataclass(frozen=True)
class Rationals(Reals):
    """A domain of finite real numbers, read as exact fractions.

    A float becomes the fraction equal to it.
    """

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        floats = super()._entries(name, array)
        exact = array if array.dtype.kind in "iuO" else floats
        return np.frompyfunc(_fraction, 1, 1)(exact.astype(object))


def _fraction(entry: Any) -> Fraction:
    """The number as a fraction; of numpy's floats, `Fraction` takes float64 only."""
    return Fraction(*entry.as_integer_ratio() if isinstance(entry, np.floating) else [entry])


Examples: TypeAlias = Annotated[Any, Rationals("n d")]
"""The examples of one prompt, fractions or floats, shape (n, d)."""
Rate: TypeAlias = Annotated[Exact, Within(above=0)] | Positive
"""A number > 0; an integer or a fraction is read exactly."""
Digits: TypeAlias = Annotated[Count, Within(most=10**6)]
"""A number of decimal digits."""


def _exact_gram(x: np.ndarray) -> list[list[Fraction]]:
    """S = XᵀX in rational arithmetic."""
    columns = x.T.tolist()
    return [[sum(map(Fraction.__mul__, u, v), Fraction(0)) for v in columns] for u in columns]


def _rounded(value: Fraction) -> mpmath.mpf:
    """`value` rounded to the current working precision."""
    return mpmath.mpf(value.numerator) / value.denominator


def _matrix(rows: list[list[Fraction]]) -> mpmath.matrix:
    return mpmath.matrix([[_rounded(entry) for entry in row] for row in rows])


@checked
def newton_digits(
    x: Examples, alpha: Rate, start: Start = "gram", digits: Digits = 5000
) -> list[float]:
    """The correct digits −log₁₀‖I − S M_j‖_F of the Newton–Schulz iterates M₀, M₁, ….

    The list ends with the first iterate that has at least `digits` correct digits. S = XᵀX, where
    the rows of X are the n examples x (n, d). The entries of x are rationals or floats, read
    exactly, and S is computed exactly. M₀ is alpha·S (start "gram") or alpha·I ("identity"). A step
    is computed as M + M (I − S M), which equals 2M − M S M. A step squares the residual
    E = I − S M, and ‖E²‖_F ≤ ‖E‖_F², so each number of digits is at least twice the previous number
    [Schulz1933]. Only the last number is limited by the working precision.

    The working precision is at least `digits` + 2 log₁₀κ + 20 decimal digits, and at least `digits`
    + 2 log₁₀κ − log₁₀g + 10, where κ is the condition number of S, and the eigenvalues of I − S M₀
    are from g − 1 to 1 − g. The reasons are that the residual formed from M contains the rounding
    error of M times a factor of at most ‖S‖‖S⁻¹‖ [Soderstrom1974], and that eigenvalues near ±1
    must differ from ±1. The precision is local to the call.

    Raises `ValueError` if S is singular, because the iteration then does not converge to an
    inverse. S counts as singular if its condition number is above 10⁵⁰. Let λmin and λmax be the
    extreme eigenvalues of S, with p = 2 for the start "gram" and p = 1 for the start "identity".
    `ValueError` is also raised if alpha is not below the bound 2/λmaxᵖ for convergence, by a factor
    of at least 1 − 10⁻⁵⁰, and if alpha·λminᵖ is below 10⁻³⁰⁰.
    """
    gram = _exact_gram(x)
    d = len(gram)

    with mpmath.workdps(60):
        spectrum = mpmath.eigsy(_matrix(gram), eigvals_only=True)
        smallest, largest = min(spectrum), max(spectrum)
        # The smallest computed eigenvalue of a singular S is a rounding error.
        if smallest <= largest * mpmath.mpf(10) ** -50:
            raise InputError(
                f"XᵀX is singular to working precision (its extreme eigenvalues are "
                f"{mpmath.nstr(smallest, 3)} and {mpmath.nstr(largest, 3)}): "
                f"give at least d = {d} linearly independent examples"
            )
        power, rate = 2 if start == "gram" else 1, _rounded(Fraction(alpha))
        bound, slowest = 2 / largest**power, rate * smallest**power
        # The eigenvalues of I − S M₀ are from 2·gap − 1 to 1 − slowest.
        if (gap := 1 - rate / bound) <= mpmath.mpf(10) ** -50:
            raise InputError(
                f"alpha is {mpmath.nstr(rate, 6)}: give a number below {mpmath.nstr(bound, 6)}, "
                "for which Newton's method converges"
            )
        if slowest < (least := mpmath.mpf(10) ** -300):
            raise InputError(
                f"alpha is {mpmath.nstr(rate, 6)}: give a number of at least "
                f"{mpmath.nstr(least / smallest**power, 6)}, so that all digits are normal floats"
            )
        guard = GUARD_DIGITS + 2 * math.ceil(mpmath.log10(largest / smallest))
        guard += max(0, math.ceil(-mpmath.log10(g := min(gap, slowest))) - GUARD_DIGITS // 2)
        # ‖I − S M_j‖_F ≤ √d (1 − g)^(2^j) ≤ √d exp(−g 2^j), and one number more for rounding.
        needed = (digits * math.log(10) + math.log(d) / 2) / g
        most = 2 + math.ceil(mpmath.log(needed, 2))

    with mpmath.workdps(digits + guard):
        S = _matrix(gram)
        identity = mpmath.eye(d)
        M = _rounded(Fraction(alpha)) * (S if start == "gram" else identity)
        exponents: list[float] = []
        while not exponents or exponents[-1] < digits:
            residual = identity - S * M
            size = mpmath.mnorm(residual, "f")
            with mpmath.workdps(30):  # a logarithm to all digits would cost most of the time
                exponents.append(math.inf if size == 0 else float(-mpmath.log10(size)))
            if len(exponents) == most and exponents[-1] < digits:
                raise ArithmeticError(
                    f"the residual has {exponents[-1]:.6g} of {digits} digits after {most - 1} "
                    f"steps: {digits + guard} working digits are too few: increase GUARD_DIGITS"
                )
            M = M + M * residual
        return exponents
