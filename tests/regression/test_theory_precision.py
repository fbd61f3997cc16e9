"""Thousands of digits: each Newton step doubles them."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import sympy
from refusals import rejects

from theory import regression as r
from theory.regression import precision

PROBLEM = [[Fraction(1, 3), 2, 0], [1, 1, 1], [0, 4, Fraction(-5, 7)], [2, 0, 1]]


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_digits_double(start):
    before = mpmath.mp.prec
    exponents = r.newton_digits(PROBLEM, Fraction(1, 1000), start, 1000)
    assert mpmath.mp.prec == before
    assert exponents[-1] >= 1000
    assert all(e < 1000 for e in exponents[:-1])
    for now, after in pairwise(exponents[:-1]):
        # ‖E²‖_F ≤ ‖E‖_F², read as float64 logarithms.
        assert after >= 2 * now - 8 * np.finfo(np.float64).eps * abs(2 * now)


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_first_exponents_in_rational_arithmetic(start):
    x = sympy.Matrix([[sympy.Rational(v) for v in row] for row in PROBLEM])
    S = x.T * x
    E = sympy.eye(3) - (S if start == "gram" else sympy.eye(3)) * S / 1000
    for exponent in r.newton_digits(PROBLEM, Fraction(1, 1000), start, 50)[:6]:
        expected = -sympy.log(sum(v**2 for v in E), 10).evalf(30) / 2
        assert exponent == pytest.approx(float(expected), rel=1e-14, abs=1e-14)
        E = E * E


def test_floats_are_read_exactly():
    x = np.array([[0.1, 0.7], [0.3, -0.2]])
    rational = [[Fraction(v) for v in row] for row in x.tolist()]
    assert r.newton_digits(x, 0.5, digits=300) == r.newton_digits(rational, 0.5, digits=300)
    assert r.newton_digits([[1.0]], 1.0, digits=300) == [np.inf]


def test_lack_of_precision_is_an_error_not_a_hang(monkeypatch):
    monkeypatch.setattr(precision, "GUARD_DIGITS", -50)
    with rejects("200 digits", error=ArithmeticError):
        r.newton_digits(PROBLEM, Fraction(1, 1000), digits=200)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *(("XᵀX", (x, 0.1)) for x in ([[1.0, 1.0]], [[0.0]])),
        *(("alpha", given) for given in (([[2.0]], 0.125), ([[2.0]], 0.5, "identity"))),
    ],
    ids=str,
)
def test_where_newton_does_not_converge_to_the_inverse_it_is_rejected(name, arguments):
    with rejects(name):
        r.newton_digits(*arguments)


@pytest.mark.parametrize("power", [3, 10, 20])
def test_ill_conditioned_examples_are_accepted(power):
    """E = I − S = diag(0, 1 − 10^−2p), so that the digits are −2^j·log₁₀(1 − 10^−2p)."""
    found = r.newton_digits([[1, 0], [0, Fraction(1, 10**power)]], 1, "identity", 20)
    with mpmath.workdps(100):
        step = float(-mpmath.log1p(-(mpmath.mpf(10) ** (-2 * power))) / mpmath.log(10))
    assert found == pytest.approx([step * 2.0**j for j in range(len(found))], rel=1e-6)
    assert found[-2] < 20 <= found[-1]
